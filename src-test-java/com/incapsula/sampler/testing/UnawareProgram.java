// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/**
 * A program that does not use the sampler. It computes now and then until its standard input ends, and then
 * continuously until it has used some CPU time, so that its threads are seen even on a busy machine. It needs only the
 * module {@code java.base}.
 */
public final class UnawareProgram {

    /** The name of the computing thread. */
    public static final String WORKER = "unaware-worker";

    private static final int CPU_TICKS = 20; // of 10 ms each

    /* The index of the user time in proc(5)'s stat, counted from the field after the name. The system time is next. */
    private static final int USER_TIME = 11;

    private static final long PAUSE_NANOS = 5_000_000;
    private static final int ROUNDS = 100_000; // 0.5 to 1 ms

    private static volatile double result;
    private static volatile boolean isEnding;

    private UnawareProgram() {}

    /** Runs the program. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Thread worker = new Thread(UnawareProgram::work, WORKER);
        worker.setDaemon(true);
        worker.start();
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // until the input ends
        }
        isEnding = true;
        long enough = cpuTicks() + CPU_TICKS;
        while (cpuTicks() < enough) {
            Thread.sleep(5);
        }
        System.out.println("end of main");
    }

    /*
     * The CPU time of the process, nearly all of which is the worker's. ProcessHandle would use the process id inside a
     * process namespace, which outside belongs to another process.
     */
    private static long cpuTicks() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return Long.parseLong(fields[USER_TIME]) + Long.parseLong(fields[USER_TIME + 1]);
    }

    private static void work() {
        for (int round = 1; ; round = round % ROUNDS + 1) {
            result += Math.sqrt(round);
            if (round == ROUNDS && !isEnding) {
                LockSupport.parkNanos(PAUSE_NANOS); // leaves the processor to concurrent tests
            }
        }
    }
}
