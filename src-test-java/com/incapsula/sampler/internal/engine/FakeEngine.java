// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** An engine without threads. It records its calls, and reports when a test demands it. */
final class FakeEngine implements Engine {

    /** Returns one prepared engine after the other. */
    static final class FakeSource implements Source {

        final List<FakeEngine> made = Collections.synchronizedList(new ArrayList<>());
        volatile Consumer<FakeEngine> prepare = engine -> {};
        volatile RuntimeException unavailable;
        volatile int hidden;
        final List<ThreadGroup> hiddenGroups = Collections.synchronizedList(new ArrayList<>());

        FakeEngine last() {
            return made.get(made.size() - 1);
        }

        @Override
        public void require() {
            if (unavailable != null) {
                throw unavailable;
            }
        }

        @Override
        public Engine create(OptionValues options, NativeCallbacks callbacks) {
            FakeEngine engine = new FakeEngine(options, callbacks);
            prepare.accept(engine);
            made.add(engine);
            return engine;
        }

        @Override
        public synchronized void hideCurrentThread() {
            hidden++;
        }

        @Override
        public synchronized ThreadGroup hide(ThreadGroup group) {
            hiddenGroups.add(group);
            return group;
        }
    }

    final List<String> calls = Collections.synchronizedList(new ArrayList<>());
    final NativeCallbacks callbacks;
    volatile String options;
    volatile Runnable onStart = () -> {};
    volatile Runnable onPause = () -> {};
    volatile Runnable onReport = () -> {};
    volatile Runnable onStop = () -> {};
    volatile Runnable onConfigure = () -> {};
    volatile Runnable onFilter = () -> {};
    volatile Runnable onInterval = () -> {};
    volatile Runnable onOpenReader = () -> {};
    volatile Runnable onForgetWindows = () -> {};
    volatile Supplier<FakeSnapshot> interval = FakeSnapshot::new;
    final AtomicInteger readers = new AtomicInteger();
    volatile boolean destroyed;
    volatile boolean keepsWindows;
    volatile Thread[] selected;
    volatile long polls;
    volatile List<String> status = List.of("OWN");
    volatile long waiting;

    private FakeEngine(OptionValues options, NativeCallbacks callbacks) {
        this.options = options.toString();
        this.callbacks = callbacks;
    }

    /** Makes a whole report on a separate thread and waits for it, as the native reporter does. */
    void writeReport() {
        beginReport().run();
    }

    /** Begins a whole report on a separate thread. @return waits for its end */
    Runnable beginReport() {
        Thread reporter = new Thread(
                () -> {
                    if (callbacks.title(0, 1000) && callbacks.record("thread", "row\n")) {
                        callbacks.flush();
                    }
                },
                "fake-reporter");
        reporter.start();
        return () -> awaitEnd(reporter);
    }

    private static void awaitEnd(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void start() {
        note("start");
        onStart.run();
    }

    @Override
    public void configure(OptionValues changed) {
        note("configure");
        onConfigure.run();
        options = changed.toString();
    }

    @Override
    public void filterThreads(Thread[] threads, boolean only) {
        note("filterThreads " + threads.length + " " + only);
        onFilter.run();
        selected = threads;
    }

    @Override
    public void resetCounts() {
        note("resetCounts");
    }

    @Override
    public void pause() {
        note("pause");
        onPause.run();
    }

    @Override
    public void resume() {
        note("resume");
    }

    @Override
    public void report() {
        note("report");
        onReport.run();
    }

    @Override
    public void sampleOnce() {
        note("sampleOnce");
    }

    @Override
    public void stop() {
        note("stop");
        onStop.run();
    }

    @Override
    public int openReader() {
        onOpenReader.run();
        return readers.incrementAndGet();
    }

    @Override
    public void closeReader(int reader) {
        note("closeReader " + reader);
    }

    @Override
    public Snapshot takeInterval(int reader) {
        note("takeInterval " + reader);
        onInterval.run();
        return interval.get();
    }

    @Override
    public void keepWindows() {
        onOpenReader.run();
        if (destroyed) {
            throw new IllegalStateException("destroyed");
        }
        keepsWindows = true;
    }

    @Override
    public void forgetWindows() {
        onForgetWindows.run();
        keepsWindows = false;
    }

    @Override
    public Snapshot takeWindow(int window) {
        note("takeWindow " + window);
        onInterval.run();
        if (!keepsWindows) {
            throw new IllegalStateException("no windows are kept");
        }
        return interval.get();
    }

    @Override
    public Snapshot currentReport() {
        return interval.get();
    }

    @Override
    public String dump() {
        note("dump");
        if (destroyed) {
            throw new IllegalStateException("destroyed");
        }
        return "fake dump\n";
    }

    @Override
    public RawStatistics statistics() {
        if (destroyed) {
            throw new IllegalStateException("destroyed");
        }
        if (waiting == 0) {
            return new RawStatistics("fake", status, List.of("gauge.polls"), List.of(polls));
        }
        return new RawStatistics(
                "fake",
                status,
                List.of("total.counter.FAILED_REPORTS", "gauge.polls", "gauge.reportsWaiting"),
                List.of(0L, polls, waiting));
    }

    @Override
    public void destroy() {
        note("destroy");
        destroyed = true;
    }

    private void note(String call) {
        if (destroyed) {
            throw new IllegalStateException("destroyed");
        }
        calls.add(call);
    }
}
