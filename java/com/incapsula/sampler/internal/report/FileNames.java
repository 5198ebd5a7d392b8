// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Replaces {@code %p} by the process and {@code %h} by the host in names of report files and their folders.
 * {@link FileSeries} replaces {@code %t}, {@code %n} and {@code %%}.
 */
public final class FileNames {

    private static final Path HOST = Path.of("/proc/sys/kernel/hostname");

    private FileNames() {}

    /**
     * Makes the name for this JVM.
     *
     * @param pattern may have %p and %h
     * @return the pattern with both replaced
     */
    public static String expand(String pattern) {
        return expand(pattern, ownProcess());
    }

    /**
     * Makes the name for a process of this host.
     *
     * @param pattern may have %p and %h
     * @param process its id
     * @return the pattern with both replaced
     */
    public static String expand(String pattern, String process) {
        return expand(pattern, process, pattern.contains("%h") ? host() : "");
    }

    @SuppressWarnings("IncrementInForLoopAndHeader") // a percent sign includes the next character
    static String expand(String pattern, String process, String host) {
        StringBuilder name = new StringBuilder();
        for (int i = 0; i < pattern.length(); i++) {
            char c = pattern.charAt(i);
            char next = i + 1 < pattern.length() ? pattern.charAt(i + 1) : 0;
            if (c == '%' && next == 'p') {
                name.append(process);
            } else if (c == '%' && next == 'h') {
                name.append(host);
            } else if (c == '%' && next != 0) {
                name.append(c).append(next); // includes %%, so that the p of %%p is kept
            } else {
                name.append(c);
                continue;
            }
            i++;
        }
        return name.toString();
    }

    /* ProcessHandle would start a pool of threads that wait for processes to end. */
    static String ownProcess() {
        String id = ProcessStatus.last("NSpid");
        return id.isEmpty() ? String.valueOf(ProcessHandle.current().pid()) : id;
    }

    static String host() {
        String name = hostName().replace("%", "");
        return name.isEmpty() ? "localhost" : name.replace('/', '_');
    }

    /** {@return the name of this host, or empty if it is not known} Uses no name server. */
    public static String hostName() {
        try {
            return Files.readString(HOST).strip();
        } catch (IOException unknown) {
            return "";
        }
    }
}
