// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

/**
 * All native methods of the library. {@link #create} returns a session as a {@code long}, {@link #destroy} frees it; it
 * must not be used afterwards, which {@link NativeHandle} ensures.
 *
 * <p>Errors of the core are thrown as exceptions: {@link IllegalArgumentException} for bad options,
 * {@link IllegalStateException} for a call that the session's state forbids or that comes from the sampler's own
 * callback, {@link OutOfMemoryError} for lack of memory, {@link UnsupportedOperationException} for an unsupported
 * platform.
 */
final class NativeBridge {

    /** The version of this interface: {@link #abi()} of the loaded library must be equal. */
    static final int ABI = 9;

    private NativeBridge() {}

    /** @return the version of this interface that the library was built for */
    static native int abi();

    /**
     * Connects these classes with the one core of the JVM, which copies in other class loaders use, too. The core is
     * the library of the first copy, if it has the same version of this interface, else the library of this copy.
     * Called once, after {@link #abi()} and before any other method, under
     * {@link com.incapsula.sampler.internal.loading.NativeLibrary}'s lock.
     *
     * @return why that is not possible, or null
     */
    static native String join();

    /**
     * Registers a class that carries out the commands which the core receives as an agent of the JVM, unless another
     * class is registered. It has the methods of an agent, {@code premain(String)} and {@code agentmain(String)}.
     *
     * @return the registered class
     */
    static native Class<?> serveCommands(Class<?> agent);

    /** @return the core's file, by the path that the JVM has loaded */
    static native String coreFile();

    /**
     * Creates a session; starts nothing, and uses no JVMTI environment.
     *
     * @param integers values in the order of {@code native/src/model/options.h}: numbers; flags and choices as 0 or 1
     * @param texts values in that order
     * @param callbacks receives reports and names groups
     */
    static native long create(long[] integers, String[] texts, NativeCallbacks callbacks);

    /** Starts sampling; returns when every live thread was polled once. */
    static native void start(long session);

    /**
     * Applies changed options at the next tick, or before the next call if that is earlier; waits for neither. All
     * options are passed, not only the changed ones.
     */
    static native void configure(long session, long[] integers, String[] texts);

    /**
     * {@return the core's table of options, one row for each in its order: {@code name NUMBER default min max fixed},
     * {@code name FLAG default fixed}, {@code name CHOICE default others fixed}, {@code name TEXT fixed}}
     */
    static native String[] optionTable();

    /**
     * Sets the thread filter. The core holds the threads weakly; a thread that has not been started yet is sampled once
     * it runs.
     *
     * @param only true: sample these threads only; false: sample all threads ({@code threads} is ignored)
     */
    static native void filterThreads(long session, Thread[] threads, boolean only);

    /** Resets counted calls of the running interval, and their times, to zero. */
    static native void resetCounts(long session);

    static native void pause(long session);

    static native void resume(long session);

    /** Returns when the report of the running interval is written. */
    static native void report(long session);

    /** Takes one sample, credited with one interval, then as {@link #report}. */
    static native void sampleOnce(long session);

    /** Takes the last sample, writes the last report, ends both native threads. Idempotent. */
    static native void stop(long session);

    /** Frees a session; stops it without a report if it still runs. */
    static native void destroy(long session);

    /** @return values in the order of {@link #statisticNames()} */
    static native long[] statistics(long session);

    /**
     * The names of {@link #statistics}. Outcomes and counters occur twice, with a prefix that distinguishes total and
     * interval: {@code total.outcome.<CODE>}, {@code interval.outcome.<CODE>}, {@code total.counter.<CODE>},
     * {@code interval.counter.<CODE>}, and once {@code gauge.<name>}: polls, intervalPolls, threads, nodes, locations,
     * reportsWritten, memoryUsedBytes, memoryPeakBytes, memoryLimitBytes, ownCpuNanos, elapsedNanos,
     * handlerSamplesTimed, handlerNanosTimed, handlerNanosMedian, walksInOtherHandlers.
     */
    static native String[] statisticNames();

    /** @return the live state as text, see {@code native/src/engine/session/dump.h}; waits for no thread */
    static native String dump(long session);

    /** @return the name of a {@link com.incapsula.sampler.SamplingMode}, then code and reason of each limitation */
    static native String[] status(long session);

    /** @return the name of the engine that walks stacks, as text */
    static native String engine(long session);

    /** Makes the calling thread an internal one, which no session samples. */
    static native void hideCurrentThread();

    /**
     * Makes threads of the returned group internal ones, if they are created from now on: no session samples them. All
     * copies of the library share one such group.
     *
     * @param group offered for that
     * @return the first group that was offered
     */
    static native ThreadGroup hide(ThreadGroup group);

    /** @return the bytes that the core holds for all sessions; 0 when all are destroyed. For leak tests. */
    static native long liveBytes();

    /**
     * For tests: the number of walks from outside that were compared with JVMTI's in this process, and the number of
     * differences.
     *
     * @param each if above 0, from now on one of this number of walks is compared
     */
    static native long[] crossChecks(long each);

    /** For tests: describes the last difference; empty if there was none. */
    static native String lastDifference();

    /**
     * Registers a reader, whose first interval begins now. Readers do not affect each other.
     *
     * @return the reader's number for {@link #takeInterval} and {@link #closeReader}; valid until destroy
     */
    static native int openReader(long session);

    /**
     * Keeps the data from now on for windows, until {@link #forgetWindows}. May be called twice.
     *
     * @see #takeWindow
     */
    static native void keepWindows(long session);

    static native void forgetWindows(long session);

    /**
     * Reads a window of recent data, without emptying it. The window ends now; if the last window ended less than a
     * second ago, or reports on demand have cost too much, it ends where the last one did.
     *
     * @param window 0: the last minute; 1: 5 minutes; 2: 15 minutes; 3: since {@link #keepWindows}
     * @return a snapshot, held by the caller
     * @throws IllegalStateException if no windows are kept, or the session does not run
     */
    static native long takeWindow(long session, int window);

    static native void closeReader(long session, int reader);

    /**
     * Makes a tick (unless paused), ends the running interval and returns everything since the reader's last interval.
     *
     * @return a snapshot, freed by {@link #releaseSnapshot}; it outlives the session
     */
    static native long takeInterval(long session, int reader);

    /**
     * For the reporter thread, within a report's callback. @return the report's interval, freed by
     * {@link #releaseSnapshot}
     */
    static native long currentReport(long session);

    /** @return a new snapshot, the sum of both */
    static native long mergeSnapshots(long a, long b);

    static native void releaseSnapshot(long snapshot);

    /**
     * Writes a snapshot to the stream in pieces; an exception of the stream is passed on.
     *
     * @param format ordinal of ReportFormat
     * @param measure the number of a ReportMeasure: 0 wall, 1 CPU, 2 samples, 3 calls; bit 8: PPROF has only this
     *     measure
     * @param flags bit 0 order by time, bit 1 zero-time packages, bit 2 without a summary, bit 3 percent column, bit 4
     *     JSON without frames and nodes, bit 5 slashes in class names of COLLAPSED, bit 6 types of its frames, bit 7 a
     *     short account; from bit 8 on a set of measures with a column of their own, by their numbers; in bits 20 to 29
     *     the thousandths of a group's active time below which rows are one; bit 30 JSON with hot spots by group, bit 31
     *     a recursion is one row; in bits 18 and 19 the ordinal of ReportUnit
     * @param focus for CALLS: the row to whose calls the table is limited; empty: no limit
     */
    static native void writeSnapshot(
            long snapshot, int format, int measure, int flags, String focus, java.io.OutputStream out)
            throws java.io.IOException;

    /**
     * Writes the difference between two snapshots to the stream, in pieces; an exception of the stream is passed on.
     *
     * @param before 0: an empty profile; not both may be 0
     * @param after 0: an empty profile
     * @param format ordinal of ReportFormat: COLLAPSED, or JSON for the tree that the page shows
     *     ({@code native/src/export/difference.c})
     * @param measure for COLLAPSED, as in {@link #writeSnapshot}
     */
    static native void writeDifference(long before, long after, int format, int measure, java.io.OutputStream out)
            throws java.io.IOException;

    /** @return the names of all measures, by their numbers: wall, cpu, samples, calls, and further ones of the core */
    static native String[] measureNames();

    /**
     * The lines of code with the most wall time of their own, each in one group, the hottest first.
     *
     * @param figures receives the line number (-1 unknown, -2 native) and each measure of each line; its length limits
     *     the number of lines
     * @return text, group, class and method of each line; class and method are null for a frame in brackets
     */
    static native String[] hotLines(long snapshot, long[] figures);

    /**
     * {@return from and till wall milliseconds, elapsed ns, own CPU ns, memory used, memory limit, polls, groups,
     * nodes, 1 if times are CPU times; then the total of each measure over all groups}
     */
    static native long[] snapshotFigures(long snapshot);

    /**
     * @param kind as in {@code native/src/model/group_key.h}: 0 sampled groups, 1 groups with counted calls, 2 groups
     *     whose threads have held locks
     * @return names of the groups in descending wall time
     */
    static native String[] snapshotGroups(long snapshot, int kind);

    /**
     * @param kind as in {@link #snapshotGroups}
     * @return for each group, in that order: threads, max depth, polls, root node (0: none); then the total of each
     *     measure
     */
    static native long[] snapshotGroupFigures(long snapshot, int kind);

    /**
     * Reads the rows directly below a row, in descending wall time.
     *
     * @param node of a row, or a group's root
     * @return for each row: node, location, line (-1 unknown, -2 native); the amounts of all measures of the row and
     *     all rows below it; the row's own amounts
     */
    static native long[] childRows(long snapshot, long node);

    /**
     * @param locations as in {@link #childRows}
     * @return for each location: class (for a frame in brackets its text), method (null for a frame in brackets), file
     *     (null if unknown)
     */
    static native String[] locationNames(long snapshot, long[] locations);

    /** @return counts per outcome and counter of the whole snapshot, in the order of {@link #accountNames} */
    static native long[] snapshotAccount(long snapshot);

    /** @return the names of {@link #snapshotAccount}: {@code outcome.<CODE>} and {@code counter.<CODE>} */
    static native String[] accountNames();
}
