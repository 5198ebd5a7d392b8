// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** Reads {@code /proc/self/status}. */
final class ProcessStatus {

    private ProcessStatus() {}

    /**
     * The last value of a line.
     *
     * @param key the text before the colon
     * @return empty if there is no such line
     */
    static String last(String key) {
        String text = "\n" + read();
        int line = text.indexOf("\n" + key + ":\t");
        int end = line < 0 ? -1 : text.indexOf('\n', line + 1);
        return end < 0 ? "" : text.substring(text.lastIndexOf('\t', end) + 1, end);
    }

    private static String read() {
        try (InputStream in = new FileInputStream("/proc/self/status")) {
            return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }
}
