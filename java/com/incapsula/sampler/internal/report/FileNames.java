// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Names of report files: {@code %p} is the process and {@code %h} the host, also in names of folders.
 * {@code FileSamplingOutputer} replaces {@code %t}, {@code %n} and {@code %%}.
 */
final class FileNames {

    private static final Path HOST = Path.of("/proc/sys/kernel/hostname");

    private FileNames() {}

    /** @return the name in this JVM */
    static String expand(String pattern) {
        return expand(pattern, String.valueOf(ProcessHandle.current().pid()));
    }

    /** @return the name for another process of this host */
    static String expand(String pattern, String process) {
        return expand(pattern, process, pattern.contains("%h") ? host() : "");
    }

    @SuppressWarnings("IncrementInForLoopAndHeader") // a percent sign takes the character behind it
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
                name.append(c).append(next); // %% too, so that the p of %%p is left alone
            } else {
                name.append(c);
                continue;
            }
            i++;
        }
        return name.toString();
    }

    /* Without a question to a name server. */
    private static String host() {
        try {
            String name = Files.readString(HOST).strip().replace("%", "");
            return name.isEmpty() ? "localhost" : name.replace('/', '_');
        } catch (IOException unknown) {
            return "localhost";
        }
    }
}
