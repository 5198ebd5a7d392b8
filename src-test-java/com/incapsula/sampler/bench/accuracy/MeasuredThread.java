// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

/** A thread that runs the steps of a program, one after the other, until it is closed. */
final class MeasuredThread implements AutoCloseable {

    /** The outermost method of all its stacks, except {@code Thread.run}. */
    static final String ROOT = MeasuredThread.class.getName() + ".work";

    private static volatile long sink;

    private final Thread thread;
    private volatile boolean running = true;

    /** A step of about a millisecond. */
    @FunctionalInterface
    interface Step {
        long run() throws Exception;
    }

    /** Starts. */
    MeasuredThread(String name, Step step) {
        thread = new Thread(() -> work(step), name);
        thread.start();
    }

    private void work(Step step) {
        try {
            while (running) {
                sink += step.run();
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns when its last step is done. */
    @Override
    public void close() throws InterruptedException {
        running = false;
        thread.join();
    }
}
