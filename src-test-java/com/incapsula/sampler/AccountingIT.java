// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.assertEachPollHasItsOutcome;
import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.quick;
import static com.incapsula.sampler.testing.Samplers.sum;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.OutcomeTable;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Report;
import com.incapsula.sampler.testing.Worker;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Each poll ends in exactly one outcome: in the statistics, in total and per interval, and in the printed account. */
@ExtendWith(NothingLeft.class)
class AccountingIT {

    private final Recorder recorder = new Recorder();

    @Test
    void pollsAreTheSumOfOutcomes() throws IOException {
        ThreadsSampler sampler = quick(recorder);
        sampler.setSamplingFrequencyMillis(1);
        sampler.init();
        try (Worker waiting = Worker.waiting("waiting");
                Worker busy = Worker.busy("busy")) {
            for (int round = 0; round < 20; round++) {
                List<Worker> guests = new ArrayList<>();
                for (int i = 0; i < 10; i++) {
                    guests.add(Worker.waiting("guest-" + i));
                }
                if (round == 0) {
                    awaitTicks(sampler, 2); // each guest is polled before it ends, however late the sampler gets a CPU
                }
                guests.forEach(Worker::close);
                assertAgrees(sampler.getStatistics());
            }
            sampler.printReport();
            assertAgrees(sampler.getStatistics());
            awaitTicks(sampler, 10);
        }
        sampler.close();
        SamplerStatistics last = sampler.getStatistics();
        assertAgrees(last);
        assertThat(recorder.reports()).hasSize(2);
        long printed = 0;
        for (Report report : recorder.reports()) {
            printed += report.figure("polls");
            assertThat(sumOfOutcomes(report.figures(), last)).isEqualTo(report.figure("polls"));
        }
        assertThat(printed).isEqualTo(last.getPolls());
        assertThat(last.getOutcomes().get("WALKED")).isPositive();
        assertThat(last.getOutcomes().get("THREAD_ENDED")).isPositive();
    }

    private static void assertAgrees(SamplerStatistics statistics) {
        assertEachPollHasItsOutcome(statistics);
        assertThat(sum(statistics.getIntervalOutcomes())).isEqualTo(statistics.getIntervalPolls());
        assertThat(statistics.getIntervalPolls()).isLessThanOrEqualTo(statistics.getPolls());
    }

    private static long sumOfOutcomes(Map<String, Long> printed, SamplerStatistics names) {
        return names.getOutcomes().keySet().stream()
                .mapToLong(code -> printed.getOrDefault(OutcomeTable.textOf(code), 0L))
                .sum();
    }
}
