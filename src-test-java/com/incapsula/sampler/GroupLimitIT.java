// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitSeen;
import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.CollapsedStacks;
import com.incapsula.sampler.testing.Group;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Samplers;
import com.incapsula.sampler.testing.Worker;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** A sampler with more thread groups than a report shows. */
@ExtendWith(NothingLeft.class)
@Timeout(Samplers.HANG_SECONDS)
class GroupLimitIT {

    private static final String OTHER = "[other threads]";
    private static final int THREADS = 30;
    private static final int SHOWN = 4;

    private final Recorder recorder = new Recorder();
    private final ThreadsSampler sampler = quick(recorder);
    private final List<Worker> workers = new ArrayList<>();

    @BeforeEach
    void start() {
        sampler.setReportJvmThreads(false);
        sampler.setMaxGroups(SHOWN);
        sampler.setIdleMethods("com.incapsula.sampler.testing.work.Desk.serve");
        workers.add(Worker.busy("busy"));
        for (int i = 0; i < THREADS; i++) {
            workers.add(Worker.waiting("waits " + (char) ('A' + i / 26) + (char) ('a' + i % 26)));
        }
        workers.forEach(worker -> sampler.setThreadToBeSampled(worker.thread()));
        sampler.init();
        awaitSeen(sampler, "busy", "");
    }

    @AfterEach
    void end() throws IOException {
        sampler.close();
        workers.forEach(Worker::close);
    }

    @Test
    void theTextReportShowsTheMostActive() {
        sampler.printReport();
        assertThat(recorder.last().names()).hasSize(SHOWN + 1).contains("busy", OTHER);
        Group other = recorder.last().group(OTHER);
        int joined = THREADS + 1 - SHOWN;
        assertThat(other.distinctThreads()).isEqualTo(joined);
        assertThat(other.title()).endsWith(" of " + joined + " groups");
        assertThat(other.methods()).contains("com.incapsula.sampler.testing.work.Desk.serve");
        sampler.setMaxGroups(THREADS + 1);
        awaitTicks(sampler, 3);
        sampler.printReport();
        assertThat(recorder.last().names()).hasSize(THREADS + 1).doesNotContain(OTHER);
    }

    @Test
    void everyFormHasTheSameGroupsAndAllTime() throws IOException {
        try (SamplingReport report = sampler.snapshot()) {
            assertThat(report.getGroups())
                    .hasSize(SHOWN + 1)
                    .extracting(SamplingGroup::getName)
                    .contains("busy", OTHER);
            assertThat(report.getGroups().stream()
                            .mapToLong(SamplingGroup::getThreads)
                            .sum())
                    .isEqualTo(THREADS + 1);
            assertThat(report.toString(ReportFormat.JSON))
                    .containsOnlyOnce("\"joinedGroups\":" + (THREADS + 1 - SHOWN));
            long all = report.getGroups().stream()
                    .mapToLong(SamplingGroup::getWallNanos)
                    .sum();
            assertThat(report.getGroups().stream()
                            .flatMap(group -> report.rows(group).stream())
                            .mapToLong(SamplingRow::getWallNanos)
                            .sum())
                    .isEqualTo(all);
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            report.writeTo(ReportFormat.COLLAPSED, out);
            Map<String, Long> stacks = CollapsedStacks.parse(out.toString(StandardCharsets.UTF_8));
            assertThat(stacks.values().stream().mapToLong(Long::longValue).sum())
                    .isEqualTo(all);
            assertThat(stacks.keySet().stream()
                            .map(stack -> stack.split(";", 2)[0])
                            .distinct())
                    .hasSize(SHOWN + 1);
        }
    }
}
