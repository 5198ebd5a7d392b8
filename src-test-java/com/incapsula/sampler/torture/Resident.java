// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Resident memory in megabytes. In a storm of classes what the JVM has by its own account grows without a sampler, too.
 */
record Resident(long all, long jvm) {

    /* Without what the C library keeps of freed memory, which differs by tens of megabytes from moment to moment. */
    static Resident read() throws IOException, JMException {
        command("systemTrimNativeHeap", new Object[0]);
        String tracked = command("vmNativeMemory", new Object[] {new String[] {"summary"}}, String[].class.getName());
        String status = Files.readString(Path.of("/proc/self/status"));
        return new Resident(
                kilobytes(status, "VmRSS:\\s*(\\d+) kB") >> 10, kilobytes(tracked, "Total:.*committed=(\\d+)KB") >> 10);
    }

    private static String command(String name, Object[] arguments, String... types) throws JMException {
        return String.valueOf(ManagementFactory.getPlatformMBeanServer()
                .invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"), name, arguments, types));
    }

    /* 0: the JVM does not track its memory. */
    private static long kilobytes(String text, String pattern) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
    }

    long outsideJvm() {
        return all - jvm;
    }

    @Override
    public String toString() {
        return all + " MB are resident"
                + (jvm == 0 ? "" : ", " + outsideJvm() + " of them not by the JVM's own account");
    }
}
