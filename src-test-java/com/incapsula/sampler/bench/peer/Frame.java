// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

/**
 * One row of a stack as a profiler reported it.
 *
 * @param kind what the row stands for
 * @param method package.Class.method for Java, otherwise the profiler's own text
 * @param line of the source, or 0
 */
public record Frame(Kind kind, String method, int line) {

    /** What a row stands for. */
    public enum Kind {
        /** A Java method, native ones among them. */
        JAVA,
        /** Code without a Java method: a stub of the JVM, a native function, the kernel. */
        CODE,
        /** Not code: the profiler says that it could not walk the stack. */
        FAILED,
        /** Not code: the profiler says that it did not try. */
        SKIPPED
    }

    @Override
    public String toString() {
        return line > 0 ? method + ":" + line : method;
    }
}
