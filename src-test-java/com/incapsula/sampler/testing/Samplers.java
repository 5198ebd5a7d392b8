// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplerStatistics;
import com.incapsula.sampler.SamplingGroup;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.core.ConditionFactory;

/** Samplers for tests, waiting for them, and what holds for each. */
public final class Samplers {

    /** What takes longer hangs: no machine is so slow. Also how long Awaitility waits by itself, see {@link Patience}. */
    public static final Duration LONG = Duration.ofMinutes(2);

    /** For {@code @Timeout} of tests, each of which may wait for {@link #LONG} and then says for what. */
    public static final long HANG_SECONDS = 300;

    private Samplers() {}

    /** Asserts that each poll has ended in one outcome. */
    public static void assertEachPollHasItsOutcome(SamplerStatistics statistics) {
        assertThat(sum(statistics.getOutcomes())).as(statistics.toString()).isEqualTo(statistics.getPolls());
    }

    /** @return of all figures */
    public static long sum(Map<String, Long> figures) {
        return figures.values().stream().mapToLong(Long::longValue).sum();
    }

    /** @return one that samples all threads every 5 ms and reports on request; not started */
    public static ThreadsSampler quick(SamplingOutputer outputer) {
        ThreadsSampler sampler = new ThreadsSampler();
        sampler.setSamplingFrequencyMillis(5);
        sampler.setReportFrequencySeconds(0);
        sampler.setSamplingOutputer(outputer);
        ChosenEngine.set(sampler);
        return sampler;
    }

    /** @return waits for {@link #LONG}, polling often */
    public static ConditionFactory patiently() {
        return await().atMost(LONG).pollInterval(Duration.ofMillis(2));
    }

    /** @return ticks so far, those skipped because no thread was due among them */
    public static long ticks(ThreadsSampler sampler) {
        Map<String, Long> counters = sampler.getStatistics().getCounters();
        return counters.getOrDefault("TICKS", 0L) + counters.getOrDefault("IDLE_TICKS", 0L);
    }

    /**
     * Waits until threads of the group were seen in the method for two milliseconds. A busy thread answers when it has
     * a CPU; how many ticks that takes depends on what else the machine does. Takes snapshots, of which a later poll may
     * give time back to another method.
     */
    public static void awaitSeen(ThreadsSampler sampler, String group, String method) {
        AtomicLong nanos = new AtomicLong();
        patiently().until(() -> {
            try (SamplingReport report = sampler.snapshot()) {
                report.toString(ReportFormat.COLLAPSED)
                        .lines()
                        .filter(line -> line.startsWith(group + ";") && line.contains(method + "("))
                        .forEach(line -> nanos.addAndGet(Long.parseLong(line.substring(line.lastIndexOf(' ') + 1))));
            }
            return nanos.get() >= 2_000_000;
        });
    }

    /** The CPU time of a group, in nanoseconds; 0 where the report does not have it. */
    public static long cpuOf(SamplingReport report, String group) {
        return report.getGroups().stream()
                .filter(found -> found.getName().equals(group))
                .mapToLong(SamplingGroup::getCpuNanos)
                .sum();
    }

    /** Waits for so many ticks more. */
    public static void awaitTicks(ThreadsSampler sampler, int more) {
        long enough = ticks(sampler) + more;
        patiently().until(() -> ticks(sampler) >= enough);
    }
}
