// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import com.incapsula.sampler.testing.DiagnosticCommand;
import com.incapsula.sampler.testing.ProcessStatus;
import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMException;

/**
 * Resident memory in megabytes: all of it, and the part that the JVM accounts for. In a storm of classes, that part
 * also grows without a sampler.
 */
record Resident(long all, long jvm) {

    private static final Pattern COMMITTED = Pattern.compile("Total:.*committed=(\\d+)KB");

    /* Trims the C library's heap first, because the freed memory that it keeps varies by tens of megabytes. */
    static Resident read() throws IOException, JMException {
        DiagnosticCommand.run("systemTrimNativeHeap");
        String tracked = DiagnosticCommand.runWith("vmNativeMemory", "summary");
        Matcher committed = COMMITTED.matcher(tracked);
        long jvm = committed.find() ? Long.parseLong(committed.group(1)) : 0; // 0 if the JVM does not track it
        return new Resident(ProcessStatus.kilobytes("VmRSS") >> 10, jvm >> 10);
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
