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

/**
 * A native snapshot that counts its holders. A snapshot that was forgotten without a {@link #release()}, and that the
 * garbage collector has found, is freed when the next one is made: a thread of its own for this would have to be hidden
 * and would hold the class loader.
 *
 * <p>Threads: any. A snapshot does not change, so the native side needs no lock; the lock here guards its end.
 */
final class NativeSnapshot implements Snapshot {

    private static final ReferenceQueue<NativeSnapshot> FORGOTTEN = new ReferenceQueue<>();
    private static final Set<Net> NETS = ConcurrentHashMap.newKeySet();

    /** Has the address after the snapshot itself was collected. */
    private static final class Net extends PhantomReference<NativeSnapshot> {

        private final long address;

        Net(NativeSnapshot snapshot, long address) {
            super(snapshot, FORGOTTEN);
            this.address = address;
        }

        /** Frees the snapshot, the first time. */
        void free() {
            if (NETS.remove(this)) {
                NativeBridge.releaseSnapshot(address);
            }
        }
    }

    private final Net net;
    private int holders = 1; // guarded by this

    private NativeSnapshot(long address) {
        net = new Net(this, address);
        NETS.add(net);
    }

    /** @param address a native snapshot; the result releases it */
    static Snapshot adopt(long address) {
        for (Reference<?> lost = FORGOTTEN.poll(); lost != null; lost = FORGOTTEN.poll()) {
            ((Net) lost).free();
        }
        return new NativeSnapshot(address);
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
                    List.of(NativeBridge.snapshotGroups(address)),
                    NativeBridge.snapshotGroupFigures(address),
                    List.of(NativeBridge.accountNames()),
                    NativeBridge.snapshotAccount(address));
        } finally {
            release();
        }
    }

    @Override
    public void write(int format, int weight, int flags, OutputStream out) throws IOException {
        hold();
        try {
            NativeBridge.writeSnapshot(net.address, format, weight, flags, out);
        } finally {
            release();
        }
    }

    @Override
    public void writeDifference(Snapshot after, int format, int weight, OutputStream out) throws IOException {
        hold();
        try {
            after.hold();
            try {
                NativeBridge.writeDifference(net.address, addressOf(after), format, weight, out);
            } finally {
                after.release();
            }
        } finally {
            release();
        }
    }

    /** Writes what differs between nothing and this one. */
    void writeAsNew(int format, int weight, OutputStream out) throws IOException {
        hold();
        try {
            NativeBridge.writeDifference(0, net.address, format, weight, out);
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
            int measures = NativeBridge.measureNames().length;
            long[] figures = new long[measures * count];
            String[] texts = NativeBridge.hotLines(net.address, figures);
            return IntStream.range(0, texts.length)
                    .mapToObj(i -> hotLine(texts[i], figures, measures * i, measures * (i + 1)))
                    .toList();
        } finally {
            release();
        }
    }

    private static HotLine hotLine(String text, long[] figures, int from, int till) {
        return new HotLine(text, Arrays.stream(figures, from, till).boxed().toList());
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
                return adopt(NativeBridge.mergeSnapshots(net.address, second.net.address));
            } finally {
                second.release();
            }
        } finally {
            release();
        }
    }
}
