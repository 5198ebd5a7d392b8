// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static com.incapsula.sampler.testing.NothingLeft.fileDescriptors;
import static com.incapsula.sampler.testing.NothingLeft.nativeThreads;
import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.ThreadsSampler;
import java.io.IOException;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Starts and stops samplers of both engines while threads work, start and end. At the end no thread, file descriptor or
 * byte is left.
 */
public final class StartStopProgram {

    private static final int WARM_UP = 20;

    private StartStopProgram() {}

    /**
     * Runs it.
     *
     * @param arguments the number of cycles
     */
    public static void main(String... arguments) throws Exception {
        int cycles = Integer.parseInt(arguments[0]);
        Random random = new Random(1);
        try (Worker waiting = Worker.waiting("waiting");
                Worker busy = Worker.busy("busy");
                Worker churn = Worker.doing("churn", StartStopProgram::calmChurn)) {
            for (int i = 0; i < WARM_UP; i++) {
                cycle(random);
            }
            int threads = nativeThreads();
            int files = fileDescriptors();
            for (int i = 0; i < cycles; i++) {
                cycle(random);
            }
            NothingLeft.assertNothingLeft();
            patiently().untilAsserted(() -> {
                assertThat(nativeThreads()).as("native threads").isLessThanOrEqualTo(threads + 3);
                assertThat(fileDescriptors()).as("file descriptors").isLessThanOrEqualTo(files + 3);
            });
            assertThat(waiting.thread().isAlive()
                            && busy.thread().isAlive()
                            && churn.thread().isAlive())
                    .isTrue();
        }
        System.out.println(cycles + " times");
    }

    /*
     * Pauses between cycles, because a start passes control between threads, and each waits for a core if all are in
     * use.
     */
    private static void calmChurn(CountDownLatch goHome) throws InterruptedException {
        while (!goHome.await(1, TimeUnit.MILLISECONDS)) {
            Thread thread = new Thread(() -> {}, "churn");
            thread.start();
            thread.join();
        }
    }

    /**
     * One short life of a sampler.
     *
     * @param random chooses the engine and the calls
     */
    public static void cycle(Random random) throws IOException {
        Recorder recorder = new Recorder();
        ThreadsSampler sampler = quick(recorder);
        sampler.setSamplingFrequencyMillis(1);
        if (random.nextBoolean()) {
            sampler.setEngine(SamplingEngine.JVMTI);
        }
        sampler.init();
        switch (random.nextInt(8)) {
            case 0 -> sampler.printReport();
            case 1 -> sampler.pauseSampling();
            case 2 -> sampler.setThreadToBeSampled(Thread.currentThread());
            case 3 -> sampler.setThreadNameManipulator(Thread::getName);
            case 4 -> awaitTicks(sampler, 1);
            default -> {
                // closed immediately
            }
        }
        sampler.close();
        assertThat(recorder.calls()).endsWith("close").doesNotContain("error");
        assertThat(recorder.reports()).hasSizeLessThanOrEqualTo(2);
    }
}
