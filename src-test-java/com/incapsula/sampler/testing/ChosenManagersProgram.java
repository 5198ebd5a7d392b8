// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Set;
import java.util.logging.LogManager;
import javax.management.MBeanServer;
import javax.management.MBeanServerBuilder;
import javax.management.MBeanServerDelegate;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;

/**
 * Chooses its log manager and its MBean server in {@code main}, as application servers do, and prints which ones are in
 * use. With an argument it runs on until its input ends, and prints when the bean of an agent is registered.
 */
public final class ChosenManagersProgram {

    private static final int STEP_MILLIS = 20;

    private ChosenManagersProgram() {}

    /** The chosen log manager. */
    public static final class OwnLogManager extends LogManager {}

    /** Creates the chosen MBean server. */
    public static final class OwnBuilder extends MBeanServerBuilder {

        private static boolean used;

        @Override
        public MBeanServer newMBeanServer(String domain, MBeanServer outer, MBeanServerDelegate delegate) {
            used = true;
            return super.newMBeanServer(domain, outer, delegate);
        }
    }

    /** Runs the program. */
    public static void main(String[] arguments) throws Exception {
        System.setProperty("java.util.logging.manager", OwnLogManager.class.getName());
        System.setProperty("javax.management.builder.initial", OwnBuilder.class.getName());
        System.out.println(
                "log manager: " + LogManager.getLogManager().getClass().getSimpleName());
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        System.out.println("MBean server: " + (OwnBuilder.used ? "own" : "another"));
        if (arguments.length > 0) {
            runOn(server);
        }
        Runtime.getRuntime().halt(0); // without a last report
    }

    private static void runOn(MBeanServer server)
            throws IOException, InterruptedException, MalformedObjectNameException {
        Set<ObjectName> found = Set.of();
        while (found.isEmpty()) {
            Thread.sleep(STEP_MILLIS);
            found = server.queryNames(new ObjectName("com.incapsula.sampler:*"), null);
        }
        System.out.println("bean: " + found);
        while (System.in.read() >= 0) {
            continue;
        }
    }
}
