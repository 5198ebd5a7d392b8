// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Latches.awaitReleased;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Samplers;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The dump of the live state: its content, and that it waits for no thread of the sampler. */
@Timeout(Samplers.HANG_SECONDS)
class DumpIT {

    private static final String NOT_RUNNING = "threads-sampler, live state\nstate: not started, or closed\n";

    @Test
    void showsThreadsQueuesMemoryThrottleOptionsAndCounts() throws Exception {
        ThreadsSampler sampler = new ThreadsSampler();
        assertThat(sampler.dump()).isEqualTo(NOT_RUNNING);
        sampler.setSamplingOutputer(new Recorder());
        sampler.setSamplingFrequencyMillis(20);
        sampler.setMonitoredPackages("com.acme,org.example");
        sampler.init();
        try {
            assertThat(sampler.dump())
                    .hasSizeLessThan(16_384)
                    .startsWith("threads-sampler, live state\nengine: "
                            + sampler.getStatistics().getEngine() + "\n")
                    .contains(
                            "\nstate: running, sampling\n",
                            "\nlast tick: ",
                            "\nthreads sampled, idle: ",
                            "\nreports waiting for output: 0 of ",
                            "\nmemory, names of methods: ",
                            "\nthrottle, polls made: ",
                            "\noption samplingFrequencyMillis: 20\n",
                            "\noption monitoredPackages: com.acme,org.example\n",
                            "\ncounter TICKS: ")
                    .endsWith("\n");
            sampler.setSamplingFrequencyMillis(30);
            sampler.pauseSampling();
            assertThat(sampler.dump())
                    .contains("\nstate: running, not sampling\n", "\noption samplingFrequencyMillis: 30\n");
        } finally {
            sampler.close();
        }
        assertThat(sampler.dump()).isEqualTo(NOT_RUNNING);
    }

    /** Options have the user's names and values, not the core's, and derived options are not shown. */
    @Test
    void optionsAreTheUsersProperties() throws Exception {
        try (ThreadsSampler sampler = new ThreadsSampler()) {
            sampler.setSamplingOutputer(new Recorder());
            sampler.setOverheadLimitPercent(2.5);
            sampler.init();
            String dump = sampler.dump();
            List<String> setters = Arrays.stream(ThreadsSampler.class.getMethods())
                    .map(method -> method.getName().toLowerCase(Locale.ROOT))
                    .toList();
            assertThat(dump.lines().filter(line -> line.startsWith("option ")))
                    .hasSizeGreaterThan(10)
                    .allSatisfy(line ->
                            assertThat(setters).contains("set" + line.split("[ :]")[1].toLowerCase(Locale.ROOT)));
            assertThat(dump).contains("\noption overheadLimitPercent: 2.5\n");
        }
    }

    @Test
    void answersWhileTheSamplerThreadIsStuck() throws Exception {
        CountDownLatch stuck = new CountDownLatch(1);
        CountDownLatch free = new CountDownLatch(1);
        ThreadsSampler sampler = new ThreadsSampler();
        sampler.setSamplingOutputer(new Recorder());
        sampler.setSamplingFrequencyMillis(5);
        boolean[] blocks = {false};
        sampler.setThreadNameManipulator(thread -> {
            synchronized (blocks) {
                if (!blocks[0]) {
                    return "all";
                }
            }
            stuck.countDown();
            awaitReleased(free);
            return "all";
        });
        sampler.init();
        try {
            synchronized (blocks) {
                blocks[0] = true;
            }
            stuck.await();
            assertThat(sampler.dump()).contains("\nstate: running, sampling\nlast tick: ");
        } finally {
            free.countDown();
            sampler.close();
        }
    }
}
