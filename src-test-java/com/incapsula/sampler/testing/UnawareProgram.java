// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.IOException;

/** A program that knows nothing of the sampler. It computes until its standard input ends. */
public final class UnawareProgram {

    /** The name of the thread that computes. */
    public static final String WORKER = "unaware-worker";

    private static volatile double result;

    private UnawareProgram() {}

    /** Runs it. */
    public static void main(String[] arguments) throws IOException {
        Thread worker = new Thread(UnawareProgram::work, WORKER);
        worker.setDaemon(true);
        worker.start();
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // until the end
        }
        System.out.println("end of main");
    }

    private static void work() {
        for (double x = 1; ; x++) {
            result += Math.sqrt(x);
        }
    }
}
