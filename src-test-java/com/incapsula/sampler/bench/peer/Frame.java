// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

/**
 * One row of a stack as a profiler reported it.
 *
 * @param kind what the row represents
 * @param method package.Class.method for Java, otherwise the profiler's own text
 * @param line of the source, or 0
 */
public record Frame(Kind kind, String method, int line) {

    /** The meaning of a row. */
    public enum Kind {
        /** A Java method, including native methods. */
        JAVA,
        /** Code without a Java method: a stub of the JVM, a native function, the kernel. */
        CODE,
        /** Not code: the profiler reports that it could not walk the stack. */
        FAILED,
        /** Not code: the profiler reports that it did not try. */
        SKIPPED
    }

    @Override
    public String toString() {
        return line > 0 ? method + ":" + line : method;
    }
}
