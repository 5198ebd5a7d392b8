// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/**
 * One stack in the same words, once as the JVM shows it and once as a report does: frames from the root on, with lines.
 */
public final class ShownStack {

    private static final String LAMBDA = "$$Lambda";
    private static final String HIDDEN = "java.lang.Thread.runWith("; // exists from JDK 21 on; some walks show it

    private ShownStack() {}

    /** @return the stack that the JVM shows now */
    public static String of(Thread thread) {
        List<StackTraceElement> frames = new ArrayList<>(Arrays.asList(thread.getStackTrace()));
        Collections.reverse(frames);
        return frames.stream()
                .filter(frame -> !frame.getClassName().contains(LAMBDA))
                .map(ShownStack::textOf)
                .filter(frame -> !frame.startsWith(HIDDEN))
                .collect(Collectors.joining(";"));
    }

    private static String textOf(StackTraceElement frame) {
        String place = frame.isNativeMethod() ? "Native Method" : frame.getFileName() + ":" + frame.getLineNumber();
        return frame.getClassName() + "." + frame.getMethodName() + "(" + place + ")";
    }

    /**
     * Frames of classes that the JVM generates for lambdas are dropped, because not every JVM shows them, and their
     * names differ.
     *
     * @param line of a collapsed report: group, frames, weight
     * @return its frames
     */
    public static String ofLine(String line) {
        String frames = line.substring(line.indexOf(';') + 1, line.lastIndexOf(' '));
        return Arrays.stream(frames.split(";"))
                .filter(frame -> !frame.contains(LAMBDA) && !frame.startsWith(HIDDEN))
                .collect(Collectors.joining(";"));
    }
}
