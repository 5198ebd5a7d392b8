// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/** One stack as the JVM shows it and as a report does, in the same words: frames from the root on, with lines. */
public final class ShownStack {

    private static final String LAMBDA = "$$Lambda";
    private static final String HIDDEN = "java.lang.Thread.runWith("; // from JDK 21 on; some ways show it, some do not

    private ShownStack() {}

    /** @return what the JVM shows now */
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
     * Not every JVM shows the frames of classes that it makes for lambdas, and their names differ.
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
