// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.ThreadsSampler;
import java.util.List;

/** Calls a sampler from threads whose stack is almost full, over and over; then prints a report and closes it. */
public final class FullStackProgram {

    private static final int ROUNDS = 5;
    private static final int STACK_BYTES = 512 * 1024;

    private FullStackProgram() {}

    /* Each frame on the way back from the end of the stack leaves a little more room to the next call. */
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
                // it has called enough
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
                // the call threw it, or this method
            }
        }
    }

    /** Runs it. */
    public static void main(String[] arguments) throws Exception {
        Recorder recorder = new Recorder();
        try (ThreadsSampler sampler = Samplers.quick(recorder);
                Worker worker = Worker.waiting("worker")) {
            sampler.init();
            List<Runnable> calls = List.of(
                    sampler::pauseSampling,
                    sampler::getStatistics,
                    sampler::resumeSampling,
                    () -> sampler.setSamplingFrequencyMillis(5 + sampler.getSamplingFrequencyMillis() % 5),
                    sampler::isPaused,
                    () -> sampler.openCursor().close());
            calls.forEach(Runnable::run); // what is linked at the first call needs more room
            for (int i = 0; i < ROUNDS; i++) {
                Thread thread = new Thread(null, new FullStack(calls), "full stack", STACK_BYTES);
                thread.start();
                thread.join();
            }
            sampler.resumeSampling();
            Samplers.awaitTicks(sampler, 3);
            sampler.printReport();
            System.out.println("sampled: "
                    + recorder.last().names().contains(worker.thread().getName()));
        }
        System.out.println("closed");
    }
}
