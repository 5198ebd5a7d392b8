// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** A thread that computes at the end of a deep stack, and counts its work. */
final class BusyThread extends Thread {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static volatile long sink;

    private final int depth;
    private volatile long steps;

    BusyThread(int number, int depth) {
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

    /** The work so far. */
    long steps() {
        return steps;
    }

    double cpuNanos() {
        return THREADS.getThreadCpuTime(getId());
    }
}
