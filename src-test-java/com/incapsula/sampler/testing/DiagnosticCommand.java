// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;

/** Runs commands of {@code jcmd} in this JVM. */
public final class DiagnosticCommand {

    private DiagnosticCommand() {}

    /**
     * Runs a command without arguments.
     *
     * @param name as in the JVM's bean, such as {@code systemTrimNativeHeap}
     * @return the command's output
     */
    public static String run(String name) throws JMException {
        return run(name, new Object[0]);
    }

    /**
     * Runs a command that takes arguments.
     *
     * @param name as above
     * @param arguments of the command; may be empty
     * @return the command's output
     */
    public static String runWith(String name, String... arguments) throws JMException {
        return run(name, new Object[] {arguments}, String[].class.getName());
    }

    private static String run(String name, Object[] arguments, String... types) throws JMException {
        return String.valueOf(ManagementFactory.getPlatformMBeanServer()
                .invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"), name, arguments, types));
    }
}
