// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.ThreadsSampler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Threads wait under many compiled frames of a class that is redefined. Each walk is compared with the JVM's walk,
 * before and after the redefinition.
 */
public final class RedefinedStacksProgram {

    private static final int DEPTH = 60;
    private static final int THREADS = 4;
    private static final int COMPARED = 300;
    private static final int ENOUGH_CALLS = 20_000;

    private RedefinedStacksProgram() {}

    /** Prints the number of different walks, and the engine. */
    public static void main(String... arguments) throws Exception {
        CountDownLatch goHome = new CountDownLatch(1);
        compile();
        CrossChecks.ofAllWalks();
        List<Thread> threads = new ArrayList<>();
        try (ThreadsSampler sampler = new ThreadsSampler()) {
            sampler.setSamplingFrequencyMillis(1);
            sampler.setReportFrequencySeconds(0);
            sampler.setOverheadLimitPercent(100);
            ChosenEngine.set(sampler);
            for (int i = 0; i < THREADS; i++) {
                threads.add(start(DEPTH + i, goHome));
            }
            sampler.setSampleTheseThreadsOnly(threads);
            sampler.init();
            awaitCompared(sampler);
            RedefiningAgent.redefine();
            awaitCompared(sampler);
            System.out.println("version " + RedefinedWork.version());
            System.out.println("different " + CrossChecks.different());
            System.out.println("engine " + sampler.getStatistics().getEngine());
            goHome.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
        }
    }

    private static void compile() throws InterruptedException {
        CountDownLatch open = new CountDownLatch(0);
        for (int i = 0; i < ENOUGH_CALLS; i++) {
            RedefinedWork.changed(DEPTH + i % 2, open);
        }
    }

    private static Thread start(int depth, CountDownLatch goHome) {
        Thread thread = new Thread(
                () -> {
                    try {
                        RedefinedWork.changed(depth, goHome);
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                },
                "waiter");
        thread.start();
        return thread;
    }

    /* An engine that was refused no longer compares walks. */
    private static void awaitCompared(ThreadsSampler sampler) throws InterruptedException {
        long enough = CrossChecks.compared() + COMPARED;
        while (CrossChecks.compared() < enough
                && !sampler.getStatistics().getEngine().contains("wrong")) {
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }
}
