// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Latches.awaitReleased;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Samplers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Properties that are set while the sampler runs. */
@Timeout(Samplers.HANG_SECONDS)
class RunningOptionsIT {

    private static final int CHANGES = 300;

    @Test
    void aSetterWaitsForNoTick() throws Exception {
        CountDownLatch inTick = new CountDownLatch(1);
        CountDownLatch open = new CountDownLatch(1);
        AtomicBoolean holds = new AtomicBoolean();
        try (ThreadsSampler sampler = Samplers.quick(new Recorder())) {
            sampler.setThreadNameManipulator(thread -> {
                if (holds.get()) {
                    inTick.countDown();
                    awaitReleased(open);
                }
                return "all";
            });
            sampler.init();
            holds.set(true);
            inTick.await();
            try {
                sampler.setReportCpuTime(true);
                sampler.setSamplingFrequencyMillis(33);
                sampler.setReportCpuTime(false);
                assertThat(sampler.dump()).doesNotContain("\noption samplingFrequencyMillis: 33\n");
            } finally {
                holds.set(false);
                open.countDown();
            }
            sampler.printReport();
            assertThat(sampler.dump())
                    .contains("\noption samplingFrequencyMillis: 33\n", "\noption reportCpuTime: false\n");
        }
    }

    @Test
    void propertiesSetByTwoThreadsDoNotLoseEachOther() throws Exception {
        try (ThreadsSampler sampler = Samplers.quick(new Recorder())) {
            sampler.init();
            List<Throwable> failures = new ArrayList<>();
            Thread one = change(value -> sampler.setSamplingFrequencyMillis(10 + value), failures);
            Thread other = change(value -> sampler.setReportFrequencySeconds(1000 + value), failures);
            one.join();
            other.join();
            assertThat(failures).isEmpty();
            sampler.printReport();
            assertThat(sampler.dump())
                    .contains(
                            "\noption samplingFrequencyMillis: " + (10 + CHANGES) + "\n",
                            "\noption reportFrequencySeconds: " + (1000 + CHANGES) + "\n");
        }
    }

    private static Thread change(LongConsumer setter, List<Throwable> failures) {
        Thread thread = new Thread(() -> {
            for (int i = 1; i <= CHANGES; i++) {
                setter.accept(i);
            }
        });
        thread.setUncaughtExceptionHandler((failed, cause) -> {
            synchronized (failures) {
                failures.add(cause);
            }
        });
        thread.start();
        return thread;
    }
}
