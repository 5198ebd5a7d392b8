// SPDX-License-Identifier: Apache-2.0
package hooked;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** The test library (jvm/hook_calls.c) and the sum of its deltas. */
public final class Hooks {

    private static final int FIELDS = 10;
    private static final int UNCOUNTED = -1;

    /** The position of a thread outside all roots. */
    public static final int OUTSIDE = -2;

    /** Added to a position if the thread is inside a hook. */
    public static final int IN_HOOK = 1 << 30;

    /** The counts of one node. */
    public static final class Row {
        /** The thread; 0: virtual threads. */
        public long tid;

        /** The method's number. */
        public int method;

        /** Entered calls. */
        public long calls;

        /** Inclusive. */
        public long nanos;

        /** The shortest call of a root. */
        public long least;

        /** The longest call of a root. */
        public long most;

        /** The methods from the root on; a root is in brackets. */
        public String path;
    }

    private final Map<String, Row> rows = new HashMap<>();
    private final Map<String, String> paths = new HashMap<>();
    private long uncounted;

    /** Loads the library and defines the hook class. */
    public static void load(String library) {
        System.load(library);
        connect();
    }

    /* Called each time before calls are counted, because another core may have counted in the
     * meantime. */
    private static void connect() {
        String refusal = open();
        if (!refusal.isEmpty()) {
            throw new IllegalStateException(refusal);
        }
    }

    /** Begins to count, with limits that are never reached. */
    public static void begin(boolean exact) {
        begin(exact, 1_000_000, 100_000, 1L << 30);
    }

    /** Begins to count. */
    public static void begin(boolean exact, int nodes, int depth, long bytes) {
        connect();
        int status = start(exact, nodes, depth, bytes);
        if (status != 0) {
            throw new IllegalStateException("status " + status);
        }
    }

    /** Adds the counts since the last read. */
    public Hooks read() {
        long[] deltas = deltas();
        for (int at = 0; at < deltas.length; at += FIELDS) {
            if (deltas[at + 4] == UNCOUNTED) {
                uncounted += deltas[at + 6];
                continue;
            }
            String key = deltas[at] + "#" + deltas[at + 2];
            Row row = rows.computeIfAbsent(key, any -> new Row());
            row.tid = deltas[at + 1];
            row.method = (int) deltas[at + 4];
            row.calls += deltas[at + 6];
            row.nanos += deltas[at + 7];
            row.least = deltas[at + 8];
            row.most = deltas[at + 9];
            String own = deltas[at + 5] == 1 ? "[" + row.method + "]" : String.valueOf(row.method);
            String parent = deltas[at + 3] == 0 ? "" : paths.get(deltas[at] + "#" + deltas[at + 3]) + " ";
            row.path = parent + own;
            paths.put(key, row.path);
        }
        return this;
    }

    /** Resets all calls but keeps the paths. */
    public void forget() {
        rows.clear();
        uncounted = 0;
    }

    /** @return calls of a method */
    public long calls(int method) {
        return rows.values().stream()
                .filter(row -> row.method == method)
                .mapToLong(row -> row.calls)
                .sum();
    }

    /** @return calls of all methods in one thread */
    public long callsOf(long tid) {
        return rows.values().stream()
                .filter(row -> row.tid == tid)
                .mapToLong(row -> row.calls)
                .sum();
    }

    /** @return inclusive times of a method's nodes */
    public long nanos(int method) {
        return rows.values().stream()
                .filter(row -> row.method == method)
                .mapToLong(row -> row.nanos)
                .sum();
    }

    /** @return the first node of a method */
    public Row row(int method) {
        return rows.values().stream()
                .filter(row -> row.method == method)
                .findFirst()
                .orElseThrow();
    }

    /** @return calls by path */
    public Map<String, Long> tree() {
        Map<String, Long> tree = new TreeMap<>();
        rows.values().forEach(row -> tree.merge(row.path, row.calls, Long::sum));
        tree.values().removeIf(calls -> calls == 0);
        return tree;
    }

    /** @return calls past a limit */
    public long uncounted() {
        return uncounted;
    }

    /** @return how many nodes */
    public int size() {
        return rows.size();
    }

    private static native String open();

    private static native int start(boolean exact, int nodes, int depth, long bytes);

    /** Ends counting. */
    public static native void stop();

    private static native long[] deltas();

    /** All counts begin at zero. */
    public static native void reset();

    /** A thread has ended. */
    public static native void retire(long tid);

    /** @return the method in which a thread is */
    public static native int position(long tid);

    /** @return lost roots, used bytes, first entries */
    public static native long[] losses();

    /** Returns how many reflective calls were reported since the last time; later ones may be refused. */
    public static native long reflected(boolean refused);
}
