// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.stream.IntStream;

/** A thread that computes at the end of a deep stack, and counts its work. */
final class BusyThread extends Thread {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static volatile long sink;

    private final int depth;
    private volatile long steps;

    private BusyThread(int number, int depth) {
        super("busy-" + number);
        this.depth = depth;
        setDaemon(true);
    }

    @Override
    public void run() {
        descend(depth);
    }

    private int descend(int more) {
        if (more > 0) {
            return descend(more - 1) + 1;
        }
        while (true) {
            long value = steps;
            for (int i = 0; i < 5000; i++) {
                value = value * 31 + (value >>> 7) + i;
            }
            sink = value;
            steps++;
        }
    }

    /** Starts threads that run as long as the JVM. */
    static List<BusyThread> start(int threads, int depth) {
        List<BusyThread> all = IntStream.range(0, threads)
                .mapToObj(number -> new BusyThread(number, depth))
                .toList();
        all.forEach(Thread::start);
        return all;
    }

    /** The work done so far, over all threads. */
    static double steps(List<BusyThread> threads) {
        return threads.stream().mapToDouble(thread -> thread.steps).sum();
    }

    /** The CPU time used so far, over all threads. */
    static double cpuNanos(List<BusyThread> threads) {
        return threads.stream()
                .mapToDouble(thread -> THREADS.getThreadCpuTime(thread.getId()))
                .sum();
    }
}
