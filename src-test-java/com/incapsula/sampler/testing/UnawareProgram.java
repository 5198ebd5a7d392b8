// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.IOException;
import java.time.Duration;

/**
 * A program that knows nothing of the sampler. It computes until its standard input ends, and for some CPU time at least,
 * so that its threads are seen also on a busy machine. It needs no module but {@code java.base}.
 */
public final class UnawareProgram {

    /** The name of the thread that computes. */
    public static final String WORKER = "unaware-worker";

    private static final Duration CPU_TIME = Duration.ofMillis(200);

    private static volatile double result;

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
        Duration enough = cpuTime().plus(CPU_TIME);
        while (cpuTime().compareTo(enough) < 0) {
            Thread.sleep(5);
        }
        System.out.println("end of main");
    }

    /* Nearly all of it is the worker's. */
    private static Duration cpuTime() {
        return ProcessHandle.current().info().totalCpuDuration().orElseThrow();
    }

    private static void work() {
        for (double x = 1; ; x++) {
            result += Math.sqrt(x);
        }
    }
}
