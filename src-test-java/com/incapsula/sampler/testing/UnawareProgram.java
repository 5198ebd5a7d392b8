// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/**
 * A program that knows nothing of the sampler. It computes now and then until its standard input ends, and then all the time
 * until it has had some CPU time, so that its threads are seen also on a busy machine. It needs no module but
 * {@code java.base}.
 */
public final class UnawareProgram {

    /** The name of the thread that computes. */
    public static final String WORKER = "unaware-worker";

    private static final int CPU_TICKS = 20; // of 10 ms each

    /* Of proc(5)'s stat, counted from the one after the name: user time. System time follows. */
    private static final int USER_TIME = 11;

    private static final long PAUSE_NANOS = 5_000_000;
    private static final int ROUNDS = 100_000; // half a millisecond or one

    private static volatile double result;
    private static volatile long rounds;
    private static volatile boolean isEnding;

    private UnawareProgram() {}

    /** Runs it. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Thread worker = new Thread(UnawareProgram::work, WORKER);
        worker.setDaemon(true);
        worker.start();
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // until the end
        }
        isEnding = true;
        long enough = cpuTicks() + CPU_TICKS;
        while (cpuTicks() < enough) {
            Thread.sleep(5);
        }
        System.out.println("end of main");
    }

    /* Nearly all of it is the worker's. Not by ProcessHandle: in a process namespace of its own it would be that of another
     * process, which has this number outside. */
    private static long cpuTicks() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return Long.parseLong(fields[USER_TIME]) + Long.parseLong(fields[USER_TIME + 1]);
    }

    /* Once in each round, so that its calls can be counted. */
    private static void round() {
        rounds++;
    }

    private static void work() {
        for (int round = 1; ; round = round % ROUNDS + 1) {
            result += Math.sqrt(round);
            if (round == 1) {
                round();
            }
            if (round == ROUNDS && !isEnding) {
                LockSupport.parkNanos(PAUSE_NANOS); // tests that run beside it need the processor, too
            }
        }
    }
}
