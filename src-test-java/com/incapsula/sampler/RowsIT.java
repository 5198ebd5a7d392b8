// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.CollapsedStacks;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Samplers;
import counted.Work;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The rows of a real report equal its collapsed format. */
@ExtendWith(NothingLeft.class)
@Timeout(Samplers.HANG_SECONDS)
class RowsIT {

    private final ThreadsSampler sampler = quick(new Recorder());

    @AfterEach
    void close() throws IOException {
        sampler.close();
    }

    private static Map<String, Long> collapsed(SamplingReport report, ReportMeasure measure) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        report.writeTo(ReportFormat.COLLAPSED, ReportOptions.standard().withMeasure(measure), out);
        return CollapsedStacks.parse(out.toString(StandardCharsets.UTF_8));
    }

    private static Map<String, Long> fromRows(
            SamplingReport report, List<SamplingGroup> groups, ToLongFunction<SamplingRow> own) {
        Map<String, Long> stacks = new TreeMap<>();
        for (SamplingGroup group : groups) {
            addBelow(group.getName(), report.rows(group), own, stacks);
        }
        return stacks;
    }

    private static void addBelow(
            String above, List<SamplingRow> rows, ToLongFunction<SamplingRow> own, Map<String, Long> stacks) {
        for (SamplingRow row : rows) {
            String stack = above + ";"
                    + row.toString().replaceFirst(", Calls: \\d+$", "").replace(";", "\\u003b");
            if (own.applyAsLong(row) != 0) {
                stacks.merge(stack, own.applyAsLong(row), Long::sum);
            }
            addBelow(stack, row.children(), own, stacks);
        }
    }

    private static void assertOrderAndSums(List<SamplingRow> rows, long wall) {
        assertThat(rows).extracting(SamplingRow::getWallNanos).isSortedAccordingTo((a, b) -> Long.compare(b, a));
        assertThat(rows.stream().mapToLong(SamplingRow::getWallNanos).sum()).isEqualTo(wall);
        for (SamplingRow row : rows) {
            assertOrderAndSums(row.children(), row.getWallNanos() - row.getOwnWallNanos());
        }
    }

    @Test
    void rowsAreTheStacksOfTheCollapsedForm() throws IOException {
        sampler.init();
        Samplers.awaitTicks(sampler, 20);
        try (SamplingReport report = sampler.snapshot()) {
            assertThat(report.getGroups()).isNotEmpty();
            List<SamplingGroup> groups = report.getGroups();
            assertThat(fromRows(report, groups, SamplingRow::getOwnWallNanos))
                    .isEqualTo(collapsed(report, ReportMeasure.WALL));
            assertThat(fromRows(report, groups, SamplingRow::getOwnCpuNanos))
                    .isEqualTo(collapsed(report, ReportMeasure.CPU));
            assertThat(fromRows(report, groups, SamplingRow::getOwnSamples))
                    .isEqualTo(collapsed(report, ReportMeasure.SAMPLES));
            groups.forEach(group -> assertOrderAndSums(report.rows(group), group.getWallNanos()));
        }
    }

    @Test
    void formsOfFramesChangeNothingElse() throws IOException {
        sampler.init();
        Samplers.awaitTicks(sampler, 5);
        try (SamplingReport report = sampler.snapshot()) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            report.writeTo(
                    ReportFormat.COLLAPSED,
                    ReportOptions.standard().withJavaSlashes(true).withFrameTypes(true),
                    out);
            String marked = out.toString(StandardCharsets.UTF_8);
            assertThat(marked).contains(";java/lang/Thread.run(Thread.java:");
            assertThat(marked.replace("_[j]", "").replace('/', '.'))
                    .isEqualTo(report.toString(ReportFormat.COLLAPSED).replace('/', '.'));
        }
    }

    @Test
    void rowsAreThereAfterTheSamplerIsClosed() throws IOException {
        sampler.init();
        SamplingReport report = sampler.snapshot();
        Map<String, Long> before = fromRows(report, report.getGroups(), SamplingRow::getOwnWallNanos);
        sampler.close();
        assertThat(fromRows(report, report.getGroups(), SamplingRow::getOwnWallNanos))
                .isEqualTo(before)
                .isNotEmpty();
        report.close();
    }

    @Test
    void aDeepStackIsReadWithoutRecursion() throws Exception {
        int depth = 5_000;
        sampler.setMaxDepthFrames(2 * depth);
        sampler.init();
        Thread deep = new Thread(() -> deeper(depth), "deep");
        deep.start();
        try {
            List<SamplingRow> rows = new ArrayList<>();
            patiently().until(() -> {
                rows.clear();
                try (SamplingReport report = sampler.snapshot()) {
                    report.getGroups().stream()
                            .filter(group -> group.getName().equals("deep"))
                            .flatMap(group -> report.rows(group).stream())
                            .flatMap(SamplingRow::stream)
                            .filter(row -> row.getMethodName().equals("deeper"))
                            .forEach(rows::add);
                }
                return rows.size() >= depth;
            });
        } finally {
            deep.interrupt();
            deep.join();
        }
    }

    private static void deeper(int left) {
        if (left > 0) {
            deeper(left - 1);
            return;
        }
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException seen) {
            // the walk is done
        }
    }

    @Test
    void countedGroupsHaveTheCalls() throws IOException {
        sampler.setOverheadLimitPercent(100); // no method loses its probes
        sampler.setRootMethods("counted.Work.root");
        sampler.init();
        patiently().until(() -> {
            Work.root(10);
            try (SamplingReport report = sampler.snapshot()) {
                return !report.getCountedGroups().isEmpty();
            }
        });
        Work.root(10);
        try (SamplingReport report = sampler.snapshot()) {
            assertThat(fromRows(report, report.getCountedGroups(), SamplingRow::getCalls))
                    .isEqualTo(collapsed(report, ReportMeasure.CALLS))
                    .isNotEmpty();
            assertThat(fromRows(report, report.getGroups(), SamplingRow::getCalls))
                    .isEmpty();
            SamplingGroup counted = report.getCountedGroups().get(0);
            assertThat(report.rows(counted).get(0).getMethodName()).isEqualTo("root");
            assertOrderAndSums(report.rows(counted), counted.getWallNanos());
        }
    }

    @Test
    void aReportWithoutSamplesHasNoRows() throws IOException {
        sampler.setActive(false);
        sampler.init();
        try (SamplingReport report = sampler.snapshot()) {
            assertThat(report.getCountedGroups()).isEmpty();
            report.getGroups().forEach(group -> assertThat(report.rows(group)).isEmpty());
        }
    }
}
