// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.incapsula.sampler.ReportAccount;
import com.incapsula.sampler.SamplerStatistics;
import com.incapsula.sampler.SamplingGroup;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.awaitility.core.ConditionFactory;

/** Samplers for tests, waits for them, and checks that hold for each. */
public final class Samplers {

    /**
     * The limit of waits: no machine is so slow that something takes longer without hanging. Also Awaitility's default,
     * see {@link Patience}.
     */
    public static final Duration LONG = Duration.ofMinutes(2);

    /**
     * For {@code @Timeout} of tests: longer than {@link #LONG}, so that a wait in the test fails first and says what it
     * waited for.
     */
    public static final long HANG_SECONDS = 300;

    private Samplers() {}

    /** Asserts that each poll has ended in exactly one outcome. */
    public static void assertEachPollHasItsOutcome(SamplerStatistics statistics) {
        assertThat(sum(statistics.getOutcomes())).as(statistics.toString()).isEqualTo(statistics.getPolls());
    }

    /** @return the sum over all figures */
    public static long sum(Map<String, Long> figures) {
        return figures.values().stream().mapToLong(Long::longValue).sum();
    }

    /**
     * Creates a sampler whose reports omit nothing, because tests look for small rows and figures.
     *
     * @return a sampler that samples all threads every 5 ms and reports on demand; not started
     */
    public static ThreadsSampler quick(SamplingOutputer outputer) {
        ThreadsSampler sampler = new ThreadsSampler();
        sampler.setReportMinPercent(0);
        sampler.setReportAccount(ReportAccount.FULL);
        sampler.setSamplingFrequencyMillis(5);
        sampler.setReportFrequencySeconds(0);
        sampler.setSamplingOutputer(outputer);
        ChosenEngine.set(sampler);
        return sampler;
    }

    /** @return a wait with the limit {@link #LONG} that polls often */
    public static ConditionFactory patiently() {
        return await().atMost(LONG).pollInterval(Duration.ofMillis(2));
    }

    /** @return the number of ticks so far, including ticks that were skipped because no thread was due */
    public static long ticks(ThreadsSampler sampler) {
        Map<String, Long> counters = sampler.getStatistics().getCounters();
        return counters.getOrDefault("TICKS", 0L) + counters.getOrDefault("IDLE_TICKS", 0L);
    }

    /**
     * Waits until the method was on stacks of the group for two milliseconds. A busy thread answers when it has a CPU,
     * so the number of ticks depends on the load of the machine. Takes snapshots. A report has the same stacks, but if
     * all of them continue to one callee, as in interpreted code that reads the clock, the report shows that callee in
     * place of the method: see {@link #awaitSeenOnTop}.
     */
    public static void awaitSeen(ThreadsSampler sampler, String group, String method) {
        awaitStack(sampler, group, stack -> stack.contains(method + "("));
    }

    /**
     * As {@link #awaitSeen}, for stacks that end in the method: the next report has a row for it, with time of its own.
     */
    public static void awaitSeenOnTop(ThreadsSampler sampler, String group, String method) {
        awaitStack(sampler, group, stack -> stack.startsWith(method + "(", stack.lastIndexOf(';') + 1));
    }

    /* Waits for two milliseconds of all such stacks, and one millisecond of one of them. */
    private static void awaitStack(ThreadsSampler sampler, String group, Predicate<String> isWanted) {
        Map<String, Long> seen = new HashMap<>();
        patiently().until(() -> {
            try (SamplingReport report = sampler.snapshot()) {
                CollapsedStacks.of(report).forEach((stack, nanos) -> {
                    if (stack.startsWith(group + ";") && isWanted.test(stack)) {
                        seen.merge(stack, nanos, Long::sum);
                    }
                });
            }
            return sum(seen) >= 2_000_000 && seen.values().stream().anyMatch(nanos -> nanos >= 1_000_000);
        });
    }

    /** The CPU time of a group, in nanoseconds; 0 if the report does not have the group. */
    public static long cpuOf(SamplingReport report, String group) {
        return report.getGroups().stream()
                .filter(found -> found.getName().equals(group))
                .mapToLong(SamplingGroup::getCpuNanos)
                .sum();
    }

    /* Ticks without the skipped ones. */
    private static long made(ThreadsSampler sampler) {
        return sampler.getStatistics().getCounters().getOrDefault("TICKS", 0L);
    }

    /**
     * Waits for further ticks. If there are two or more, at least one of them begins after this call, so everything
     * that a tick does was done. The tick that is running now may be past that point; it is counted together with all
     * ticks that were skipped before it.
     */
    public static void awaitTicks(ThreadsSampler sampler, int more) {
        long enough = ticks(sampler) + more;
        long enoughMade = made(sampler) + Math.min(more, 2);
        patiently().until(() -> ticks(sampler) >= enough && made(sampler) >= enoughMade);
    }
}
