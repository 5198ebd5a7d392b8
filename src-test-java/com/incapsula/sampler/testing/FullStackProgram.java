// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import java.util.List;
import java.util.function.Supplier;

/**
 * Calls a sampler again and again from threads whose stack is almost full, then prints a report and closes the sampler.
 */
public final class FullStackProgram {

    private static final int ROUNDS = 5;
    private static final int STACK_BYTES = 512 * 1024;

    private FullStackProgram() {}

    /* Descends to the end of the stack. On the way back each frame leaves a little more room for the next call. */
    private static final class FullStack implements Runnable {

        private static final int FRAMES = 100;

        private final List<Runnable> calls;
        private int frames;

        FullStack(List<Runnable> calls) {
            this.calls = calls;
        }

        @Override
        public void run() {
            try {
                descend();
            } catch (StackOverflowError | IllegalStateException end) {
                // enough calls were made
            }
        }

        private void descend() {
            try {
                descend();
            } catch (StackOverflowError end) {
                if (frames++ == FRAMES) {
                    throw new IllegalStateException("up to the root", end);
                }
                callOne();
                throw end;
            }
        }

        private void callOne() {
            try {
                calls.get(frames % calls.size()).run();
            } catch (StackOverflowError expected) {
                // thrown by the call, or by this method
            }
        }
    }

    /* Stores results without a further call, for which there might be no room on the stack. */
    private static final class Taker implements Runnable {

        private final Supplier<SamplingReport> source;
        private final SamplingReport[] taken = new SamplingReport[2 + ROUNDS * (1 + FullStack.FRAMES)];
        private int count;

        Taker(Supplier<SamplingReport> source) {
            this.source = source;
        }

        @Override
        public void run() {
            taken[count++] = source.get();
        }

        long polls() {
            long polls = 0;
            for (SamplingReport report : taken) {
                polls += report == null ? 0 : report.getPolls();
            }
            return polls;
        }
    }

    /** Runs the program. */
    public static void main(String[] arguments) throws Exception {
        Recorder recorder = new Recorder();
        try (ThreadsSampler sampler = Samplers.quick(recorder);
                Worker worker = Worker.waiting("worker")) {
            sampler.init();
            sampler.pauseSampling();
            Taker snapshots = new Taker(sampler::snapshot);
            Taker intervals = new Taker(sampler.openCursor()::next);
            long before = sampler.getStatistics().getPolls();
            sampler.resumeSampling();
            List<Runnable> calls = List.of(
                    snapshots,
                    intervals,
                    sampler::pauseSampling,
                    sampler::getStatistics,
                    sampler::resumeSampling,
                    () -> sampler.setSamplingFrequencyMillis(5 + sampler.getSamplingFrequencyMillis() % 5),
                    sampler::isPaused,
                    () -> sampler.openCursor().close());
            calls.forEach(Runnable::run); // linking, at the first call, needs more room on the stack
            for (int i = 0; i < ROUNDS; i++) {
                Thread thread = new Thread(null, new FullStack(calls), "full stack", STACK_BYTES);
                thread.start();
                thread.join();
            }
            sampler.resumeSampling();
            Samplers.awaitTicks(sampler, 3);
            sampler.printReport();
            sampler.pauseSampling();
            snapshots.run();
            intervals.run();
            long polls = sampler.getStatistics().getPolls();
            System.out.println("lost: " + (polls - snapshots.polls()) + " " + (polls - before - intervals.polls()));
            System.out.println("sampled: "
                    + recorder.last().names().contains(worker.thread().getName()));
        }
        System.out.println("closed");
    }
}
