// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;

/**
 * A native session behind a gate: after {@link #destroy()} a call fails here, in Java, and {@code destroy} waits for
 * calls under way before it frees the session.
 *
 * <p>Threads: any. A call holds the read lock, {@code destroy} the write lock. {@code destroy} comes after
 * {@code stop()} only, when a call under way has nothing left to wait for.
 *
 * <p>No Cleaner is needed: the shutdown hook holds a session that runs until it is closed, and {@link Lifecycle} destroys
 * one that cannot be started.
 */
final class NativeHandle implements Engine {

    private static final long NO_SESSION = 0;

    private final ReadWriteLock gate = new ReentrantReadWriteLock();
    private long session; // guarded by gate

    private NativeHandle(long session) {
        this.session = session;
    }

    /** Makes engines of the native library, which it loads at the first need. */
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
        run(NativeBridge::start);
    }

    @Override
    public void configure(OptionValues options) {
        run(address -> NativeBridge.configure(address, options.integers(), options.texts()));
    }

    @Override
    public void filterThreads(Thread[] threads, boolean only) {
        run(address -> NativeBridge.filterThreads(address, threads, only));
    }

    @Override
    public void resetCounts() {
        run(NativeBridge::resetCounts);
    }

    @Override
    public void pause() {
        run(NativeBridge::pause);
    }

    @Override
    public void resume() {
        run(NativeBridge::resume);
    }

    @Override
    public void report() {
        run(NativeBridge::report);
    }

    @Override
    public void sampleOnce() {
        run(NativeBridge::sampleOnce);
    }

    @Override
    public void stop() {
        run(NativeBridge::stop);
    }

    @Override
    public RawStatistics statistics() {
        return use(address -> {
            List<Long> values =
                    Arrays.stream(NativeBridge.statistics(address)).boxed().toList();
            return new RawStatistics(NativeBridge.engine(address), List.of(NativeBridge.statisticNames()), values);
        });
    }

    @Override
    public String dump() {
        return use(NativeBridge::dump);
    }

    @Override
    public int openReader() {
        return use(NativeBridge::openReader);
    }

    @Override
    public void closeReader(int reader) {
        run(address -> NativeBridge.closeReader(address, reader));
    }

    @Override
    public Snapshot takeInterval(int reader) {
        return use(address -> NativeSnapshot.adopt(NativeBridge.takeInterval(address, reader)));
    }

    @Override
    public Snapshot currentReport() {
        return use(address -> NativeSnapshot.adopt(NativeBridge.currentReport(address)));
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

    private void run(LongConsumer call) {
        gate.readLock().lock();
        try {
            call.accept(open());
        } finally {
            gate.readLock().unlock();
        }
    }

    private <T> T use(LongFunction<T> call) {
        gate.readLock().lock();
        try {
            return call.apply(open());
        } finally {
            gate.readLock().unlock();
        }
    }

    private long open() {
        if (session == NO_SESSION) {
            throw new IllegalStateException("the sampler is closed");
        }
        return session;
    }
}
