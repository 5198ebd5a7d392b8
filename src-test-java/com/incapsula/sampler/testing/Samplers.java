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

    /**
     * A sampler with reports that leave nothing out: tests look for rows and figures that are small.
     *
     * @return one that samples all threads every 5 ms and reports on request; not started
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
     * a CPU; how many ticks that takes depends on what else the machine does. Takes snapshots. A report has the same
     * stacks, but of those that all go on to one callee, as interpreted code does that asks for the time, it shows the
     * callee and not the method: see {@link #awaitSeenOnTop}.
     */
    public static void awaitSeen(ThreadsSampler sampler, String group, String method) {
        awaitStack(sampler, group, stack -> stack.contains(method + "("));
    }

    /** The same of stacks that end in the method: the next report has a row of it, with time of its own. */
    public static void awaitSeenOnTop(ThreadsSampler sampler, String group, String method) {
        awaitStack(sampler, group, stack -> stack.startsWith(method + "(", stack.lastIndexOf(';') + 1));
    }

    /* For two milliseconds, of all such stacks; one of them for one. */
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

    /** The CPU time of a group, in nanoseconds; 0 where the report does not have it. */
    public static long cpuOf(SamplingReport report, String group) {
        return report.getGroups().stream()
                .filter(found -> found.getName().equals(group))
                .mapToLong(SamplingGroup::getCpuNanos)
                .sum();
    }

    /* Without those that were skipped. */
    private static long made(ThreadsSampler sampler) {
        return sampler.getStatistics().getCounters().getOrDefault("TICKS", 0L);
    }

    /**
     * Waits for so many ticks more. If these are two or more, one of them at least is made after this call from its
     * beginning on: what it does has been done. The one that runs now may be past that, and is counted together with
     * all that were skipped before it.
     */
    public static void awaitTicks(ThreadsSampler sampler, int more) {
        long enough = ticks(sampler) + more;
        long enoughMade = made(sampler) + Math.min(more, 2);
        patiently().until(() -> ticks(sampler) >= enough && made(sampler) >= enoughMade);
    }
}
