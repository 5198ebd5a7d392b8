// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot without a core. Its documents show how they were requested. Counts the snapshots that were not released.
 */
public final class FakeSnapshot implements Snapshot {

    /** The flags of {@code ReportOptions.standard()}: 0.5 %, and a short account. */
    public static final int STANDARD_FLAGS = (5 << 20) | 128;

    /** The flag that folds recursions, which texts and pages have by default. */
    public static final int FOLDED = 1 << 31;

    public static final int TEXT_FLAGS = STANDARD_FLAGS | FOLDED;

    /** The number of snapshots with a holder. */
    public static final AtomicInteger LIVE = new AtomicInteger();

    private static final String[] FORMATS = {"TEXT", "COLLAPSED", "PPROF", "SPEEDSCOPE", "JSON", "TOP", "OTLP", "CALLS"
    };

    /** Has one measure more than Java knows, as a newer core may. */
    private static final List<String> MEASURES = List.of(
            "wall", "cpu", "samples", "calls", "running", "runnable", "blocked", "io", "waiting", "idle", "waits");

    private static final int STATES = 6;

    /** The node of the first group. */
    public static final long ROOT = 100;

    private static final long COUNTED_ROOT = 200;

    /* A chain of two rows, a frame in brackets, and a counted method. */
    private static final Map<Long, List<Snapshot.Row>> TREE = Map.of(
            ROOT,
            List.of(
                    row(101, "a.A", "run", "A.java", 7, new long[] {4, 3, 2, 0, 1}, new long[] {1, 1, 1, 0, 1}),
                    row(102, "[thread ended]", null, null, -1, new long[] {1, 0, 0, 0, 0}, new long[] {1, 0, 0, 0, 0})),
            101L,
            List.of(row(103, "b.B", "read", null, -2, new long[] {3, 2, 1, 0, 0}, new long[] {3, 2, 1, 0, 0})),
            COUNTED_ROOT,
            List.of(row(201, "a.A", "run", "A.java", -1, new long[] {2, 1, 0, 6, 0}, new long[] {2, 1, 0, 6, 0})));

    /** Makes a row. Amounts are wall, CPU, samples, calls, waits. */
    public static Snapshot.Row row(
            long node, String className, String method, String file, int line, long[] totals, long[] own) {
        return new Snapshot.Row(
                node, className, method, file, line, withStates(totals), withStates(own), errors(totals));
    }

    /* Wall time has an interval from 1 below to 2 above; samples and calls are exact; the other measures have none. */
    private static long[] errors(long[] totals) {
        long[] errors = new long[2 * (totals.length + STATES)];
        Arrays.fill(errors, -1);
        errors[0] = Math.max(totals[0] - 1, 0);
        errors[1] = totals[0] + 2;
        for (int i = 2; i < 4; i++) {
            errors[2 * i] = errors[2 * i + 1] = totals[i];
        }
        return errors;
    }

    /* Inserts the states, which are all 0. */
    private static long[] withStates(long[] amounts) {
        long[] all = Arrays.copyOf(amounts, amounts.length + STATES);
        all[all.length - 1] = amounts[amounts.length - 1];
        all[amounts.length - 1] = 0;
        return all;
    }

    /** The value of {@code getMeasures()} for these amounts, in its order. */
    public static Map<String, Long> measures(long wall, long cpu, long samples, long calls, long waits) {
        Map<String, Long> measures = new LinkedHashMap<>();
        measures.put("wall", wall);
        measures.put("cpu", cpu);
        measures.put("samples", samples);
        measures.put("calls", calls);
        for (String state : List.of("running", "runnable", "blocked", "io", "waiting", "idle")) {
            measures.put(state, 0L);
        }
        measures.put("waits", waits);
        return measures;
    }

    /** The index of the first total in {@link #figures}. */
    public static final int TOTALS = 10;

    /** How often {@link #children} was called. */
    public final AtomicInteger rowsRead = new AtomicInteger();

    /** The values of snapshotFigures, in their order. */
    public final long[] figures = {
        1_000, 61_000, 59_000_000_000L, 7, 8, 9, 10, 2, 11, 0, 12, 13, 14, 66, 0, 0, 0, 0, 0, 0, 77
    };

    /** Format, measure and flags of the last written document. */
    public volatile String lastRequest;

    /** The document; if empty, one that shows how it was requested. */
    public volatile String document = "";

    /** The rows below each node. */
    public volatile Map<Long, List<Snapshot.Row>> tree = TREE;

    /** The names of the two groups. */
    public volatile List<String> groupNames = List.of("main", "pool");

    /** The values of the two groups, in their order. */
    public volatile long[] groupFigures = {
        2, 1, 9, ROOT, 5, 4, 3, 6, 0, 0, 0, 0, 0, 0, 7, 20, 10, 90, 0, 50, 40, 30, 60, 0, 0, 0, 0, 0, 0, 70
    };

    /** The exception of writing, thrown after the first byte; null if writing succeeds. */
    public volatile Throwable failure;

    /** If true, merging fails once, as for lack of memory. */
    public volatile boolean failsToMergeOnce;

    /** The error of reading the figures, thrown once; null if reading succeeds. */
    public volatile Error failureToRead;

    private int holders = 1;

    public FakeSnapshot() {
        LIVE.incrementAndGet();
    }

    @Override
    public synchronized Snapshot hold() {
        if (holders == 0) {
            throw new IllegalStateException("released");
        }
        holders++;
        return this;
    }

    @Override
    public synchronized void release() {
        if (holders == 0) {
            throw new AssertionError("released too often");
        }
        if (--holders == 0) {
            LIVE.decrementAndGet();
        }
    }

    @Override
    public RawReport figures() {
        Error toRead = failureToRead;
        failureToRead = null;
        if (toRead != null) {
            throw toRead;
        }
        return new RawReport(
                figures,
                MEASURES,
                new RawReport.Groups(groupNames, groupFigures),
                new RawReport.Groups(
                        List.of("main"), new long[] {2, 3, 0, COUNTED_ROOT, 2, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0}),
                RawReport.Groups.NONE,
                List.of("outcome.taken", "outcome.failed", "counter.ticks"),
                new long[] {6, 0, 4});
    }

    @Override
    public void write(int format, int measure, int flags, @Nullable String focus, OutputStream out) throws IOException {
        lastRequest = FORMATS[format] + " " + measure + " " + flags + (focus == null ? "" : " in " + focus);
        byte[] bytes = (document.isEmpty() ? lastRequest : document).getBytes(StandardCharsets.UTF_8);
        if (failure != null) {
            out.write(bytes, 0, 1);
            throwFailure();
        }
        out.write(bytes);
    }

    private void throwFailure() throws IOException {
        if (failure instanceof IOException e) {
            throw e;
        }
        if (failure instanceof Error e) {
            throw e;
        }
        throw (RuntimeException) failure;
    }

    @Override
    public void writeDifference(Snapshot after, int format, int measure, OutputStream out) throws IOException {
        String[] documents = {document, ((FakeSnapshot) after).document};
        out.write((FORMATS[format] + " " + measure + " of " + String.join(" and ", documents))
                .getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public List<Snapshot.HotLine> hotLines(int count) {
        return List.of();
    }

    @Override
    public List<Snapshot.Row> children(long node) {
        rowsRead.incrementAndGet();
        return tree.getOrDefault(node, List.of());
    }

    @Override
    public Snapshot mergedWith(Snapshot other) {
        FakeSnapshot second = (FakeSnapshot) other;
        if (second.failsToMergeOnce) {
            second.failsToMergeOnce = false;
            throw new OutOfMemoryError("for a test");
        }
        FakeSnapshot both = new FakeSnapshot();
        Arrays.setAll(both.figures, i -> figures[i] + second.figures[i]);
        both.tree = tree;
        both.groupFigures = groupFigures;
        both.document = String.join("+", new ArrayList<>(List.of(document, second.document)));
        return both;
    }
}
