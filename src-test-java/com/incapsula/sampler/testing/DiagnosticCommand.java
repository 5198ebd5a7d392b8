// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;

/** Commands of {@code jcmd}, to this JVM. */
public final class DiagnosticCommand {

    private DiagnosticCommand() {}

    /**
     * Runs one without arguments.
     *
     * @param name as the JVM's bean has it: {@code systemTrimNativeHeap}
     * @return what it printed
     */
    public static String run(String name) throws JMException {
        return run(name, new Object[0]);
    }

    /**
     * Runs one that takes arguments.
     *
     * @param name as above
     * @param arguments of the command, perhaps none
     * @return what it printed
     */
    public static String runWith(String name, String... arguments) throws JMException {
        return run(name, new Object[] {arguments}, String[].class.getName());
    }

    private static String run(String name, Object[] arguments, String... types) throws JMException {
        return String.valueOf(ManagementFactory.getPlatformMBeanServer()
                .invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"), name, arguments, types));
    }
}
