// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.json.Json;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A line of your code, with the time that it and its callees spent in one state. See {@link SamplingSummary}.
 *
 * <p>Threads: immutable.
 *
 * @since 1.0
 */
public final class SamplingHotSpot {

    private final String state;
    private final long nanos;
    private final long runnableNanos;
    private final @Nullable ErrorRange error95;
    private final String className;
    private final String methodName;
    private final @Nullable String fileName;
    private final int line;
    private final @Nullable String callee;
    private final String group;
    private final int groupCount;
    private final long calls;
    private final @Nullable String lockClass;
    private final @Nullable String holdingLine;
    private final @Nullable String holderGroup;

    /** @param spot as JSON has it, complete */
    SamplingHotSpot(Map<String, Object> spot) {
        state = text(spot, "state", "");
        nanos = SamplingSummary.number(spot, "nanos", 0);
        runnableNanos = SamplingSummary.number(spot, "runnableNanos", 0);
        error95 = SamplingSummary.range(spot, "error95");
        className = text(spot, "class", "");
        methodName = text(spot, "method", "");
        fileName = textOrNull(spot, "file");
        line = (int) SamplingSummary.number(spot, "line", -1);
        callee = textOrNull(spot, "callee");
        group = text(spot, "group", "");
        groupCount = (int) SamplingSummary.number(spot, "groups", 1);
        calls = SamplingSummary.number(spot, "calls", 0);
        lockClass = textOrNull(spot, "lock");
        holdingLine = textOrNull(spot, "holding");
        holderGroup = textOrNull(spot, "holder");
    }

    private static @Nullable String textOrNull(Map<String, Object> spot, String name) {
        Object value = Json.get(spot, name);
        return value == null ? null : value.toString();
    }

    private static String text(Map<String, Object> spot, String name, String standard) {
        String value = textOrNull(spot, name);
        return value == null ? standard : value;
    }

    /**
     * The state of the threads: {@code running}, {@code runnable}, {@code blocked}, {@code io} or {@code waiting};
     * {@code cpu} with {@link SamplingClock#CPU}, {@code wall} if states are not known. Running and runnable time of a
     * line is one hot spot: {@code runnable} if the line waited for a CPU for most of that time, else {@code running}.
     *
     * @return the name of a measure
     */
    public String getState() {
        return state;
    }

    /** {@return the time in that state in all thread groups, in nanoseconds} */
    public long getNanos() {
        return nanos;
    }

    /**
     * {@return the part of that time in which threads waited for a CPU, in nanoseconds; 0 unless the state is
     * {@code running} or {@code runnable}}
     */
    public long getRunnableNanos() {
        return runnableNanos;
    }

    /**
     * {@return the 95 % confidence interval of {@link #getNanos()}, in nanoseconds; null if it is not known, as without
     * {@code errorBars}}
     */
    public @Nullable ErrorRange getError95() {
        return error95;
    }

    /** {@return the full name of the class} */
    public String getClassName() {
        return className;
    }

    /** {@return the name of the method} */
    public String getMethodName() {
        return methodName;
    }

    /** {@return the name of the source file, or null if it is not known} */
    public @Nullable String getFileName() {
        return fileName;
    }

    /** {@return the line, or -1 if it is not known} */
    public int getLine() {
        return line;
    }

    /**
     * {@return the method called by the line that took most of the time, with its callees:
     * {@code java.lang.Thread.sleep}; null if the line itself took most of it}
     */
    public @Nullable String getCallee() {
        return callee;
    }

    /** {@return the name of the thread group that has most of the time} */
    public String getGroup() {
        return group;
    }

    /** {@return how many thread groups have some of the time, 1 or more} */
    public int getGroupCount() {
        return groupCount;
    }

    /** {@return how often the method was called, in all groups; 0 if its calls are not counted} */
    public long getCalls() {
        return calls;
    }

    /**
     * {@return the class of the lock that threads waited for; null unless the state is {@code blocked} and the lock is
     * known} If there are several locks, it is the one with the longest wait.
     */
    public @Nullable String getLockClass() {
        return lockClass;
    }

    /**
     * {@return the line that held the lock for most of that time, as {@link SamplingLock#getHoldingLine}; null if there
     * is no lock}
     */
    public @Nullable String getHoldingLine() {
        return holdingLine;
    }

    /** {@return the name of the thread group that held locks there for most of the time, or null if it is not known} */
    public @Nullable String getHolderGroup() {
        return holderGroup;
    }

    /** State, time, place, callee and group. */
    @Override
    public String toString() {
        return state + " " + nanos + " ns in " + className + "." + methodName + "("
                + (fileName == null ? "Unknown Source" : fileName) + (line > 0 ? ":" + line : "") + ")"
                + (callee == null ? "" : ", in " + callee) + " by " + group;
    }
}
