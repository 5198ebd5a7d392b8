// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.bench.peer.Frame;
import com.incapsula.sampler.bench.peer.Frame.Kind;
import com.incapsula.sampler.testing.SourceLines;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** The true distribution of one benchmark's time, and the judge of stacks. */
final class Truth {

    /** The verdict on a sample, from the worst to the best. Each one includes those before it. */
    enum Verdict {
        /** The benchmark was not running. Not counted. */
        OUTSIDE,
        /** The profiler says that it did not poll. Not counted, but printed. */
        SKIPPED,
        /** There is no stack, or the stack does not reach the benchmark. */
        FAILED,
        /** A complete stack that blames other code. */
        ELSEWHERE,
        /** The right method, but another line. */
        METHOD,
        /** The right line. */
        LINE,
        /** The right line, with the stub or the callee above it. */
        LEAF
    }

    private final String method;
    private final Set<Integer> lines;

    private Truth(String method, Set<Integer> lines) {
        this.method = method;
        this.lines = lines;
    }

    /** Reads the lines that are marked as hot. */
    static Truth of(Path sources, String benchmark) throws IOException {
        return new Truth(
                SafepointBias.class.getName() + "." + benchmark, hotLines(sources, SafepointBias.class, benchmark));
    }

    /** The lines of a class that end with "// hot: " and this name; at least one. */
    static Set<Integer> hotLines(Path sources, Class<?> type, String benchmark) throws IOException {
        return SourceLines.endingIn(sources, type, "// hot: " + benchmark);
    }

    /** Whether the time is spent in a callee without byte code. */
    static boolean isIntrinsic(String benchmark) {
        return callee(benchmark) != null;
    }

    private static String callee(String benchmark) {
        return switch (benchmark.substring(benchmark.lastIndexOf('.') + 1)) {
            case "systemArrayCopy" -> "java.lang.System.arraycopy";
            case "adler32", "crc32" -> "java.util.zip.";
            default -> null;
        };
    }

    /** stack: leaf first. */
    Verdict judge(List<Frame> stack) {
        if (stack.stream().anyMatch(frame -> frame.kind() == Kind.SKIPPED)) {
            return Verdict.SKIPPED;
        }
        if (stack.stream().anyMatch(frame -> frame.kind() == Kind.FAILED)) {
            return Verdict.FAILED;
        }
        if (stack.stream().noneMatch(Truth::isBenchmark)) {
            /* A complete stack outside the benchmark: the worker before its first or after its last call. */
            boolean whole = stack.stream().anyMatch(frame -> frame.method().equals("java.lang.Thread.run"));
            return whole ? Verdict.OUTSIDE : Verdict.FAILED;
        }
        return judgeTop(stack);
    }

    /* Includes the generated code around the loop, because a report omits rows that add nothing to their parent. */
    private static boolean isBenchmark(Frame frame) {
        return frame.method().contains(".jmh_generated.") || frame.method().startsWith(SafepointBias.class.getName());
    }

    private Verdict judgeTop(List<Frame> stack) {
        String callee = callee(method);
        for (int i = 0; i < stack.size(); i++) {
            Frame frame = stack.get(i);
            if (frame.method().equals(method)) {
                if (!lines.contains(frame.line())) {
                    return Verdict.METHOD;
                }
                return i > 0 ? Verdict.LEAF : Verdict.LINE;
            }
            boolean ofTheLine = frame.kind() == Kind.CODE
                    || callee != null && frame.method().startsWith(callee);
            if (!ofTheLine) {
                return Verdict.ELSEWHERE;
            }
        }
        return Verdict.ELSEWHERE;
    }
}
