// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A native snapshot that counts its holders. If the garbage collector finds a snapshot without a {@link #release()}, it
 * is freed when the next snapshot is made. A thread for this would have to be an internal one, and would hold the class
 * loader.
 *
 * <p>Threads: any. A snapshot does not change, so the native side needs no lock; the lock here guards the number of
 * holders.
 */
final class NativeSnapshot implements Snapshot {

    /* Kinds of groups, see NativeBridge.snapshotGroups. */
    private static final int SAMPLED = 0;
    private static final int COUNTED = 1;
    private static final int HOLDERS = 2;

    /* Indices of the figures and texts of NativeBridge.hotLines. */
    private static final int LINE_MEASURES = 1;
    private static final int TEXTS_PER_LINE = 4;

    /* Indices of the figures of NativeBridge.childRows and the names of NativeBridge.locationNames. */
    private static final int ROW_LOCATION = 1;
    private static final int ROW_LINE = 2;
    private static final int ROW_MEASURES = 3;
    private static final int NAMES_PER_LOCATION = 3;

    private static final long NONE = 0; // an address

    private static final ReferenceQueue<NativeSnapshot> FORGOTTEN = new ReferenceQueue<>();
    private static final Set<Net> NETS = ConcurrentHashMap.newKeySet();

    /** Keeps the address after the snapshot itself was collected. */
    private static final class Net extends PhantomReference<NativeSnapshot> {

        private volatile long address = NONE; // set once, before others see the snapshot

        Net(NativeSnapshot snapshot) {
            super(snapshot, FORGOTTEN);
        }

        /** Frees the snapshot, the first time. */
        void free() {
            if (NETS.remove(this) && address != NONE) {
                NativeBridge.releaseSnapshot(address);
            }
        }
    }

    private final Net net = new Net(this);
    private int holders = 1; // guarded by this

    /* The address is set last, directly from the native call: no failure in between, for lack of memory or of room
     * on the stack, can lose it. */
    private NativeSnapshot() {
        for (Reference<?> lost = FORGOTTEN.poll(); lost != null; lost = FORGOTTEN.poll()) {
            ((Net) lost).free();
        }
        NETS.add(net);
    }

    /** @return the data that a reader has not read yet, held by the caller */
    static Snapshot ofInterval(long session, int reader) {
        NativeSnapshot taken = new NativeSnapshot();
        try {
            taken.net.address = NativeBridge.takeInterval(session, reader);
            return taken;
        } catch (RuntimeException | Error e) {
            taken.net.free();
            throw e;
        }
    }

    /** @return the data of a window, held by the caller */
    static Snapshot ofWindow(long session, int window) {
        NativeSnapshot taken = new NativeSnapshot();
        try {
            taken.net.address = NativeBridge.takeWindow(session, window);
            return taken;
        } catch (RuntimeException | Error e) {
            taken.net.free();
            throw e;
        }
    }

    /** For the reporter thread. @return the interval of the report, held by the caller */
    static Snapshot ofReport(long session) {
        NativeSnapshot current = new NativeSnapshot();
        try {
            current.net.address = NativeBridge.currentReport(session);
            return current;
        } catch (RuntimeException | Error e) {
            current.net.free();
            throw e;
        }
    }

    private static Snapshot merged(NativeSnapshot a, NativeSnapshot b) {
        NativeSnapshot both = new NativeSnapshot();
        try {
            both.net.address = NativeBridge.mergeSnapshots(a.net.address, b.net.address);
            return both;
        } catch (RuntimeException | Error e) {
            both.net.free();
            throw e;
        }
    }

    /** @return the number of snapshots that are not freed */
    static int live() {
        return NETS.size();
    }

    @Override
    public synchronized Snapshot hold() {
        if (holders == 0) {
            throw new IllegalStateException("the snapshot was released");
        }
        holders++;
        return this;
    }

    @Override
    public void release() {
        boolean last;
        synchronized (this) {
            last = --holders == 0;
        }
        if (last) {
            net.free();
        }
    }

    @Override
    public RawReport figures() {
        hold();
        try {
            long address = net.address;
            return new RawReport(
                    NativeBridge.snapshotFigures(address),
                    List.of(NativeBridge.measureNames()),
                    groups(address, SAMPLED),
                    groups(address, COUNTED),
                    groups(address, HOLDERS),
                    List.of(NativeBridge.accountNames()),
                    NativeBridge.snapshotAccount(address));
        } finally {
            release();
        }
    }

    private static RawReport.Groups groups(long address, int kind) {
        return new RawReport.Groups(
                List.of(NativeBridge.snapshotGroups(address, kind)), NativeBridge.snapshotGroupFigures(address, kind));
    }

    @Override
    public void write(int format, int measure, int flags, @Nullable String focus, OutputStream out) throws IOException {
        hold();
        try {
            NativeBridge.writeSnapshot(net.address, format, measure, flags, focus == null ? "" : focus, out);
        } finally {
            release();
        }
    }

    @Override
    public void writeDifference(Snapshot after, int format, int measure, OutputStream out) throws IOException {
        hold();
        try {
            after.hold();
            try {
                NativeBridge.writeDifference(net.address, addressOf(after), format, measure, out);
            } finally {
                after.release();
            }
        } finally {
            release();
        }
    }

    /** Writes the difference between an empty profile and this one. */
    void writeAsNew(int format, int measure, OutputStream out) throws IOException {
        hold();
        try {
            NativeBridge.writeDifference(0, net.address, format, measure, out);
        } finally {
            release();
        }
    }

    private static long addressOf(Snapshot snapshot) {
        return snapshot instanceof NativeSnapshot one ? one.net.address : 0;
    }

    @Override
    public List<HotLine> hotLines(int count) {
        hold();
        try {
            int width = LINE_MEASURES + NativeBridge.measureNames().length;
            long[] figures = new long[width * count];
            String[] texts = NativeBridge.hotLines(net.address, figures);
            return IntStream.range(0, texts.length / TEXTS_PER_LINE)
                    .mapToObj(i -> hotLine(texts, i * TEXTS_PER_LINE, figures, i * width, width))
                    .toList();
        } finally {
            release();
        }
    }

    private static HotLine hotLine(@Nullable String[] texts, int textAt, long[] figures, int at, int width) {
        return new HotLine(
                String.valueOf(texts[textAt]),
                String.valueOf(texts[textAt + 1]),
                texts[textAt + 2],
                texts[textAt + 3],
                (int) figures[at],
                Arrays.stream(figures, at + LINE_MEASURES, at + width).boxed().toList());
    }

    @Override
    public List<Row> children(long node) {
        hold();
        try {
            int measures = NativeBridge.measureNames().length;
            int width = ROW_MEASURES + 4 * measures;
            long[] figures = NativeBridge.childRows(net.address, node);
            int rows = figures.length / width;
            String[] names = NativeBridge.locationNames(
                    net.address,
                    IntStream.range(0, rows)
                            .mapToLong(i -> figures[i * width + ROW_LOCATION])
                            .toArray());
            return IntStream.range(0, rows)
                    .mapToObj(i -> row(figures, i * width, measures, names, i * NAMES_PER_LOCATION))
                    .toList();
        } finally {
            release();
        }
    }

    private static Row row(long[] figures, int at, int measures, @Nullable String[] names, int nameAt) {
        int own = at + ROW_MEASURES + measures;
        return new Row(
                figures[at],
                String.valueOf(names[nameAt]),
                names[nameAt + 1],
                names[nameAt + 2],
                (int) figures[at + ROW_LINE],
                Arrays.copyOfRange(figures, at + ROW_MEASURES, own),
                Arrays.copyOfRange(figures, own, own + measures),
                Arrays.copyOfRange(figures, own + measures, own + 3 * measures));
    }

    @Override
    public Snapshot mergedWith(Snapshot other) {
        if (other instanceof InertSnapshot) {
            return hold();
        }
        NativeSnapshot second = (NativeSnapshot) other;
        hold();
        try {
            second.hold();
            try {
                return merged(this, second);
            } finally {
                second.release();
            }
        } finally {
            release();
        }
    }
}
