// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * A native session, protected against use after free: after {@link #destroy()} a call fails here, in Java, and
 * {@code destroy} waits for calls under way before it frees the session.
 *
 * <p>Threads: any. A call holds the read lock, {@code destroy} the write lock. {@code destroy} is called only after
 * {@code stop()}, when a call under way no longer waits for the session.
 *
 * <p>No Cleaner is needed: the shutdown hook holds a running session until it is closed, and {@link Lifecycle} destroys
 * a session that cannot be started.
 */
final class NativeHandle implements Engine {

    private static final long NO_SESSION = 0;

    private final ReadWriteLock gate = new ReentrantReadWriteLock();
    private long session; // guarded by gate

    private NativeHandle(long session) {
        this.session = session;
    }

    /** Creates engines of the native library, which is loaded at its first use. */
    static final class Source implements Engine.Source {

        @Override
        public void require() {
            LoadedLibrary.require();
        }

        @Override
        public Engine create(OptionValues options, NativeCallbacks callbacks) {
            return new NativeHandle(NativeBridge.create(options.integers(), options.texts(), callbacks));
        }

        @Override
        public void hideCurrentThread() {
            NativeBridge.hideCurrentThread();
        }

        @Override
        public ThreadGroup hide(ThreadGroup group) {
            return NativeBridge.hide(group);
        }
    }

    @Override
    public void start() {
        try (Use use = new Use()) {
            if (ThreadFilter.isVirtual(Thread.currentThread())) {
                startOnPlatformThread(use.address);
            } else {
                NativeBridge.start(use.address);
            }
        }
    }

    /* The core checks its walks on the thread that starts it, and a virtual thread's stack does not reach the root. */
    private static void startOnPlatformThread(long address) {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Runnable work = () -> {
            try {
                NativeBridge.start(address);
            } catch (RuntimeException | Error e) {
                failure.set(e);
            }
        };
        InternalThreads.await(
                InternalThreads.start(InternalThreads.hidden(), "threads-sampler-start", work), Long.MAX_VALUE);
        if (failure.get() instanceof Error error) {
            throw error;
        }
        if (failure.get() instanceof RuntimeException exception) {
            throw exception;
        }
    }

    @Override
    public void configure(OptionValues options) {
        try (Use use = new Use()) {
            NativeBridge.configure(use.address, options.integers(), options.texts());
        }
    }

    @Override
    public void filterThreads(Thread[] threads, boolean only) {
        try (Use use = new Use()) {
            NativeBridge.filterThreads(use.address, threads, only);
        }
    }

    @Override
    public void resetCounts() {
        try (Use use = new Use()) {
            NativeBridge.resetCounts(use.address);
        }
    }

    @Override
    public void pause() {
        try (Use use = new Use()) {
            NativeBridge.pause(use.address);
        }
    }

    @Override
    public void resume() {
        try (Use use = new Use()) {
            NativeBridge.resume(use.address);
        }
    }

    @Override
    public void report() {
        try (Use use = new Use()) {
            NativeBridge.report(use.address);
        }
    }

    @Override
    public void sampleOnce() {
        try (Use use = new Use()) {
            NativeBridge.sampleOnce(use.address);
        }
    }

    @Override
    public void stop() {
        try (Use use = new Use()) {
            NativeBridge.stop(use.address);
        }
    }

    @Override
    public RawStatistics statistics() {
        try (Use use = new Use()) {
            List<Long> values = new ArrayList<>();
            for (long value : NativeBridge.statistics(use.address)) {
                values.add(value);
            }
            return new RawStatistics(
                    NativeBridge.engine(use.address),
                    List.of(NativeBridge.status(use.address)),
                    List.of(NativeBridge.statisticNames()),
                    values);
        }
    }

    @Override
    public String dump() {
        try (Use use = new Use()) {
            return NativeBridge.dump(use.address);
        }
    }

    @Override
    public int openReader() {
        try (Use use = new Use()) {
            return NativeBridge.openReader(use.address);
        }
    }

    @Override
    public void closeReader(int reader) {
        try (Use use = new Use()) {
            NativeBridge.closeReader(use.address, reader);
        }
    }

    @Override
    public Snapshot takeInterval(int reader) {
        try (Use use = new Use()) {
            return NativeSnapshot.ofInterval(use.address, reader);
        }
    }

    @Override
    public void keepWindows() {
        try (Use use = new Use()) {
            NativeBridge.keepWindows(use.address);
        }
    }

    @Override
    public void forgetWindows() {
        try (Use use = new Use()) {
            NativeBridge.forgetWindows(use.address);
        }
    }

    @Override
    public Snapshot takeWindow(int window) {
        try (Use use = new Use()) {
            return NativeSnapshot.ofWindow(use.address, window);
        }
    }

    @Override
    public Snapshot currentReport() {
        try (Use use = new Use()) {
            return NativeSnapshot.ofReport(use.address);
        }
    }

    @Override
    public void destroy() {
        gate.writeLock().lock();
        try {
            if (session != NO_SESSION) {
                NativeBridge.destroy(session);
                session = NO_SESSION;
            }
        } finally {
            gate.writeLock().unlock();
        }
    }

    /** A call, which holds the read lock. A class, as lambdas would be linked at their first use. */
    private final class Use implements AutoCloseable {

        private final long address;

        /** @throws IllegalStateException after {@link #destroy()} */
        Use() {
            gate.readLock().lock();
            address = session;
            if (address == NO_SESSION) {
                gate.readLock().unlock();
                throw new IllegalStateException("the sampler is closed");
            }
        }

        @Override
        public void close() {
            gate.readLock().unlock();
        }
    }
}
