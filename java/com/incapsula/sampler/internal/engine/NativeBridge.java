// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

/**
 * Every native method of the library. A session is a {@code long} that {@link #create} gives and {@link #destroy}
 * takes; no call may have it after {@code destroy}, which {@link NativeHandle} makes sure of.
 *
 * <p>Statuses of the core become exceptions: bad options {@link IllegalArgumentException}, a call that the session's
 * state forbids or that comes from the sampler's own callback {@link IllegalStateException}, lack of memory
 * {@link OutOfMemoryError}, an unsupported platform {@link UnsupportedOperationException}.
 */
final class NativeBridge {

    /** The seam's version: {@link #abi()} of the loaded library must be equal. */
    static final int ABI = 9;

    private NativeBridge() {}

    /** @return the version of this seam the library was built for */
    static native int abi();

    /**
     * Connects these classes with the JVM's one core, which the copies in other class loaders use, too: the first copy's
     * file of the library, if it has the same seam, else this one's. Called once, after {@link #abi()} and before any
     * other method, under {@link com.incapsula.sampler.internal.loading.NativeLibrary}'s lock.
     *
     * @return why that is not possible, or null
     */
    static native String join();

    /**
     * From now on this class carries out the commands that reach the core as an agent of the JVM, unless another one does
     * already. It has the methods of an agent, {@code premain(String)} and {@code agentmain(String)}.
     *
     * @return the class that does
     */
    static native Class<?> serveCommands(Class<?> agent);

    /** @return the core's file, as the JVM has loaded it */
    static native String coreFile();

    /**
     * Makes a session; starts nothing, touches no JVMTI environment.
     *
     * @param integers values in the order of {@code native/src/model/options.h}: numbers; flags and choices as 0 or 1
     * @param texts values in that order
     * @param callbacks receives reports and gives group names
     */
    static native long create(long[] integers, String[] texts, NativeCallbacks callbacks);

    /** Starts sampling; returns when every live thread was polled once. */
    static native void start(long session);

    /**
     * Applies changed options at the next tick, and before whatever is called next; waits for neither. All options are
     * given, not only the changed ones.
     */
    static native void configure(long session, long[] integers, String[] texts);

    /**
     * @return the core's table of options, a row each in its order: {@code name NUMBER default min max fixed},
     *     {@code name FLAG default fixed}, {@code name CHOICE default others fixed}, {@code name TEXT fixed}
     */
    static native String[] optionTable();

    /**
     * Sets the thread filter. The core holds the threads weakly; a thread that has not been started yet counts once it
     * runs.
     *
     * @param only true: sample these threads only; false: sample all threads ({@code threads} is ignored)
     */
    static native void filterThreads(long session, Thread[] threads, boolean only);

    /** Counted calls of the running interval, and their times, begin at zero. */
    static native void resetCounts(long session);

    static native void pause(long session);

    static native void resume(long session);

    /** Returns when the report of the running interval is written. */
    static native void report(long session);

    /** One sample credited with one interval, then as {@link #report}. */
    static native void sampleOnce(long session);

    /** Takes the last sample, writes the last report, ends both native threads. Idempotent. */
    static native void stop(long session);

    /** Frees a session; stops it without a report if it still runs. */
    static native void destroy(long session);

    /** @return values in the order of {@link #statisticNames()} */
    static native long[] statistics(long session);

    /**
     * The names of {@link #statistics}. Outcomes and counters stand twice, with a prefix that says what it counts:
     * {@code total.outcome.<CODE>}, {@code interval.outcome.<CODE>}, {@code total.counter.<CODE>},
     * {@code interval.counter.<CODE>}, and once {@code gauge.<name>}: polls, intervalPolls, threads,
     * nodes, locations, reportsWritten, memoryUsedBytes, memoryPeakBytes, memoryLimitBytes, ownCpuNanos,
     * elapsedNanos, handlerSamplesTimed, handlerNanosTimed, handlerNanosMedian, walksInOtherHandlers.
     */
    static native String[] statisticNames();

    /** @return the live state as text, see {@code native/src/engine/session/dump.h}; waits for no thread */
    static native String dump(long session);

    /** @return the name of a {@link com.incapsula.sampler.SamplingMode}; then of each limitation its code and its reason */
    static native String[] status(long session);

    /** @return the name of the engine that walks stacks, as text */
    static native String engine(long session);

    /** From now on the calling thread is an internal one: no session samples it. */
    static native void hideCurrentThread();

    /**
     * From now on threads that are created in the returned group are internal ones: no session samples them, from their
     * start on. All copies of the library have one such group.
     *
     * @param group offered for that
     * @return the first that was offered
     */
    static native ThreadGroup hide(ThreadGroup group);

    /** @return bytes the core holds over all sessions; 0 when all are destroyed. For leak tests. */
    static native long liveBytes();

    /**
     * For tests: how many walks from outside were compared with JVMTI's in this process, and how many of them differed.
     *
     * @param each above 0: from now on one walk in so many is compared
     */
    static native long[] crossChecks(long each);

    /** For tests: where the two stacks of the last one that differed do; empty: there was none. */
    static native String lastDifference();

    /**
     * Registers a reader, whose first interval begins now. Readers do not affect each other.
     *
     * @return the reader's number for {@link #takeInterval} and {@link #closeReader}; valid until destroy
     */
    static native int openReader(long session);

    /**
     * Keeps what is sampled from now on for windows, until {@link #forgetWindows}. Twice is fine.
     *
     * @see #takeWindow
     */
    static native void keepWindows(long session);

    static native void forgetWindows(long session);

    /**
     * Gives what was sampled of late, and empties nothing. It ends now; or where it ended last, if that was less than a
     * second ago, or reports on demand have cost too much.
     *
     * @param window 0: the last minute; 1: 5 minutes; 2: 15 minutes; 3: since {@link #keepWindows}
     * @return a snapshot, held by the caller
     * @throws IllegalStateException if no windows are kept, or the session does not run
     */
    static native long takeWindow(long session, int window);

    static native void closeReader(long session, int reader);

    /**
     * Makes a tick (unless paused), ends the running interval and gives everything since the reader's last one.
     *
     * @return a snapshot, freed by {@link #releaseSnapshot}; it outlives the session
     */
    static native long takeInterval(long session, int reader);

    /**
     * For the reporter thread, from within a callback of a report.
     *
     * @return the interval of the report, freed by {@link #releaseSnapshot}
     */
    static native long currentReport(long session);

    /** @return a new snapshot with both in it */
    static native long mergeSnapshots(long a, long b);

    static native void releaseSnapshot(long snapshot);

    /**
     * Writes a snapshot into the stream in pieces; an exception of the stream is thrown on.
     *
     * @param format ordinal of ReportFormat
     * @param measure the number of a ReportMeasure: 0 wall, 1 CPU, 2 samples, 3 calls; bit
     *     8: PPROF has no other one
     * @param flags bit 0 order by time, bit 1 zero-time packages, bit 2 without a summary, bit 3 percent column, bit 4
     *     JSON without frames and nodes, bit 5 slashes in class names of COLLAPSED, bit 6 types of its frames, bit 7 a
     *     short account; from bit 8 on a set of measures with a column of their own, by their numbers; in bits 20 to 29
     *     the thousandths of a group's active time below which rows are one; bit 30 JSON whose hot spots are of one
     *     group each, bit 31 a recursion is one row; in bits 18 and 19 the ordinal of ReportUnit
     * @param focus of CALLS: the row inside of whose calls the others are; empty: all are there
     */
    static native void writeSnapshot(
            long snapshot, int format, int measure, int flags, String focus, java.io.OutputStream out)
            throws java.io.IOException;

    /**
     * Writes what differs between two snapshots into the stream, in pieces; an exception of the stream is thrown on.
     *
     * @param before 0: nothing was sampled; not both
     * @param after likewise
     * @param format ordinal of ReportFormat: COLLAPSED, or JSON for the tree that the page shows
     *     ({@code native/src/export/difference.c})
     * @param measure for COLLAPSED, as in {@link #writeSnapshot}
     */
    static native void writeDifference(long before, long after, int format, int measure, java.io.OutputStream out)
            throws java.io.IOException;

    /** @return the names of all measures, by their numbers: wall, cpu, samples, calls, and what the core has more */
    static native String[] measureNames();

    /**
     * The lines of code with the most wall time of their own, each in one group, the hottest first.
     *
     * @param figures receives of each line its number (-1 unknown, -2 native), and each measure; its length says how many
     *     lines are wanted
     * @return of each line its text, its group, its class and its method (both null: a frame in brackets)
     */
    static native String[] hotLines(long snapshot, long[] figures);

    /**
     * @return from and till wall milliseconds, elapsed ns, own CPU ns, memory used, memory limit, polls,
     *     groups, nodes, 1 if times are CPU times; and of each measure the total of all groups
     */
    static native long[] snapshotFigures(long snapshot);

    /**
     * @param kind as in {@code native/src/model/group_key.h}: 0 sampled groups, 1 those whose calls are counted, 2 those
     *     whose threads have held locks
     * @return names of the groups in descending wall time
     */
    static native String[] snapshotGroups(long snapshot, int kind);

    /**
     * @param kind as in {@link #snapshotGroups}
     * @return for each group, in that order: threads, max depth, polls, root node (0: none); and of each measure the
     *     total
     */
    static native long[] snapshotGroupFigures(long snapshot, int kind);

    /**
     * The rows right below a row, in descending wall time.
     *
     * @param node of a row, or a group's root
     * @return for each row: node, location, line (-1 unknown, -2 native); of each measure the amount of the row and all
     *     below it; of each measure the row's own amount
     */
    static native long[] childRows(long snapshot, long node);

    /**
     * @param locations as {@link #childRows} gives them
     * @return for each location: class (of a frame in brackets its text), method (null: a frame in brackets), file (null:
     *     unknown)
     */
    static native String[] locationNames(long snapshot, long[] locations);

    /** @return counts per outcome and counter of the whole snapshot, in the order of {@link #accountNames} */
    static native long[] snapshotAccount(long snapshot);

    /** @return the names of {@link #snapshotAccount}: {@code outcome.<CODE>} and {@code counter.<CODE>} */
    static native String[] accountNames();
}
