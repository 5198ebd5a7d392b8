// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** The time of one thread in each of its phases, which a profiler of that thread should find. */
final class PhaseClock {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final long thread = Thread.currentThread().getId();
    private final long[] wall;
    private final long[] cpu;
    private final long[] entered;
    private int phase;
    private long wallSince = System.nanoTime();
    private long cpuSince = THREADS.getCurrentThreadCpuTime();

    /** The time in each phase, in nanoseconds, and the number of entries. */
    record Times(long[] wall, long[] cpu, long[] entered) {

        Times minus(Times before) {
            return new Times(sum(wall, before.wall, -1), sum(cpu, before.cpu, -1), sum(entered, before.entered, -1));
        }

        Times plus(Times other) {
            return new Times(sum(wall, other.wall, 1), sum(cpu, other.cpu, 1), sum(entered, other.entered, 1));
        }

        private static long[] sum(long[] left, long[] right, int sign) {
            long[] sum = left.clone();
            for (int i = 0; i < sum.length; i++) {
                sum[i] += sign * right[i];
            }
            return sum;
        }
    }

    /** Creates the clock of the calling thread, which is in phase 0. */
    PhaseClock(int phases) {
        wall = new long[phases];
        cpu = new long[phases];
        entered = new long[phases];
    }

    /** Begins a phase. Called by the thread itself. */
    void enter(int next) {
        long cpuNow = THREADS.getCurrentThreadCpuTime();
        synchronized (this) {
            long now = System.nanoTime();
            wall[phase] += now - wallSince;
            cpu[phase] += cpuNow - cpuSince;
            entered[next]++;
            phase = next;
            wallSince = now;
            cpuSince = cpuNow;
        }
    }

    /** Reads the times. Any thread may call this, also in the middle of a phase. */
    synchronized Times now() {
        Times times = new Times(wall.clone(), cpu.clone(), entered.clone());
        times.wall[phase] += System.nanoTime() - wallSince;
        times.cpu[phase] += Math.max(0, THREADS.getThreadCpuTime(thread) - cpuSince);
        return times;
    }

    /** Computes until the calling thread has used that much CPU time. */
    static long compute(long nanos, long seed) {
        long end = THREADS.getCurrentThreadCpuTime() + nanos;
        long value = seed;
        do {
            for (int i = 0; i < 10_000; i++) {
                value = value * 31 + i;
            }
        } while (THREADS.getCurrentThreadCpuTime() < end);
        return value;
    }
}
