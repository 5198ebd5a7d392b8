// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.ReportMeasure;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import com.incapsula.sampler.testing.CollapsedStacks;
import com.incapsula.sampler.testing.Samplers;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The memory of native snapshots, and their documents. */
@Timeout(Samplers.HANG_SECONDS)
class NativeSnapshotIT {

    /* The number of figures of a group before its measures, see NativeBridge.snapshotGroupFigures. */
    private static final int GROUP_MEASURES = 4;

    private static Lifecycle start() {
        Lifecycle lifecycle = new Lifecycle();
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
        lifecycle.options().setOutputer(new PrintStreamSamplingOutputer(nowhere));
        lifecycle.options().set(Option.SAMPLING_FREQUENCY_MILLIS, 5L);
        lifecycle.init();
        return lifecycle;
    }

    @Test
    void memoryIsGivenBackWithTheLastHolder() throws IOException {
        LoadedLibrary.require();
        long before = NativeBridge.liveBytes();
        Lifecycle lifecycle = start();
        Snapshot first = lifecycle.readers().snapshot(taken -> taken);
        Snapshot second = lifecycle.readers().snapshot(taken -> taken);
        Snapshot both = first.mergedWith(second);
        lifecycle.close();
        assertThat(NativeBridge.liveBytes()).isGreaterThan(before);

        first.hold();
        first.release();
        first.release();
        second.release();
        assertThat(both.figures().figures()).hasSize(RawReport.Figure.values().length + ReportMeasure.values().length);
        both.release();
        assertThat(NativeBridge.liveBytes()).isEqualTo(before);
        assertThatIllegalStateException().isThrownBy(both::figures).withMessage("the snapshot was released");
        assertThatIllegalStateException().isThrownBy(() -> both.write(0, 0, 0, null, OutputStream.nullOutputStream()));
    }

    private static String written(Snapshot snapshot, ReportFormat format, ReportMeasure measure) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        snapshot.write(format.ordinal(), measure.ordinal(), 0, null, out);
        return out.toString(StandardCharsets.UTF_8);
    }

    private static String difference(Snapshot before, Snapshot after, ReportFormat format, ReportMeasure measure)
            throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        before.writeDifference(after, format.ordinal(), measure.ordinal(), out);
        return out.toString(StandardCharsets.UTF_8);
    }

    /* Amounts by stack in the order of the document; each stack occurs once. */
    private static Map<String, Long> stacks(Snapshot snapshot, ReportMeasure measure) throws IOException {
        return CollapsedStacks.parse(written(snapshot, ReportFormat.COLLAPSED, measure));
    }

    private static String expectedDifference(Snapshot before, Snapshot after, ReportMeasure measure)
            throws IOException {
        Map<String, Long> first = stacks(before, measure);
        StringBuilder lines = new StringBuilder();
        stacks(after, measure).forEach((stack, amount) -> {
            Long old = first.remove(stack);
            lines.append(stack)
                    .append(' ')
                    .append(old == null ? 0 : old)
                    .append(' ')
                    .append(amount)
                    .append('\n');
        });
        first.forEach((stack, amount) ->
                lines.append(stack).append(' ').append(amount).append(" 0\n"));
        return lines.toString();
    }

    @Test
    void differenceIsThatOfTheCollapsedForms() throws IOException {
        Lifecycle lifecycle = start();
        Snapshot before = lifecycle.readers().snapshot(taken -> taken);
        Thread waiting = new Thread(NativeSnapshotIT::waitForInterrupt, "only after");
        waiting.start();
        await().until(() -> waiting.getState() == Thread.State.TIMED_WAITING);
        Snapshot after = snapshotThatShows("waitForInterrupt", lifecycle);
        waiting.interrupt();
        lifecycle.close();
        Snapshot none = new InertSnapshot(0, "a test");
        for (ReportMeasure measure : ReportMeasure.values()) {
            assertThat(difference(before, after, ReportFormat.COLLAPSED, measure))
                    .isEqualTo(expectedDifference(before, after, measure));
            assertThat(difference(after, before, ReportFormat.COLLAPSED, measure))
                    .isEqualTo(expectedDifference(after, before, measure));
            assertThat(difference(before, none, ReportFormat.COLLAPSED, measure))
                    .isEqualTo(expectedDifference(before, none, measure));
            assertThat(difference(none, after, ReportFormat.COLLAPSED, measure))
                    .isEqualTo(expectedDifference(none, after, measure));
        }
        assertThat(difference(before, after, ReportFormat.JSON, ReportMeasure.WALL))
                .contains("\"method\":\"waitForInterrupt\"");
        assertThat(difference(none, none, ReportFormat.COLLAPSED, ReportMeasure.WALL))
                .isEmpty();
        assertThat(difference(none, none, ReportFormat.JSON, ReportMeasure.WALL))
                .isEqualTo(withoutErrors(
                        withEmptyArrays(difference(before, after, ReportFormat.JSON, ReportMeasure.WALL))));
        before.release();
        after.release();
    }

    /* Repeated, because the thread may have to wait for a CPU before it can be walked. */
    private static Snapshot snapshotThatShows(String method, Lifecycle lifecycle) {
        AtomicReference<Snapshot> found = new AtomicReference<>();
        await().until(() -> {
            Snapshot taken = lifecycle.readers().snapshot(each -> each);
            if (written(taken, ReportFormat.JSON, ReportMeasure.WALL).contains("\"method\":\"" + method + "\"")) {
                found.set(taken);
            } else {
                taken.release();
            }
            return found.get() != null;
        });
        return found.get();
    }

    /* Removes the error bars: a difference with an empty profile has none. */
    private static String withoutErrors(String json) {
        return json.replaceFirst(",\n\"error95\":\\{\"before\":\\{[^}]*},\"after\":\\{[^}]*}}", "");
    }

    private static String withEmptyArrays(String json) {
        String emptied = json.replaceAll("\\[[^\\[\\]]*\\]", "#");
        return emptied.equals(json) ? json.replace("#", "[]") : withEmptyArrays(emptied);
    }

    private static void waitForInterrupt() {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException expected) {
            // the sampler has seen the thread
        }
    }

    @Test
    void differenceThatCannotBeMadeSaysWhy() throws IOException {
        Lifecycle lifecycle = start();
        Snapshot snapshot = lifecycle.readers().snapshot(taken -> taken);
        lifecycle.close();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> difference(snapshot, snapshot, ReportFormat.TOP, ReportMeasure.WALL));
        assertThatIllegalArgumentException().isThrownBy(() -> snapshot.writeDifference(snapshot, 1, 0, null));
        IOException full = new IOException("no space left");
        assertThatIOException()
                .isThrownBy(() -> snapshot.writeDifference(snapshot, 1, 0, new OutputStream() {
                    @Override
                    public void write(int value) throws IOException {
                        throw full;
                    }
                }))
                .isSameAs(full);
        snapshot.release();
        assertThatIllegalStateException().isThrownBy(() -> snapshot.hotLines(1));
    }

    @Test
    void hotLinesAreTheLeavesOfTheCollapsedForms() throws IOException {
        Lifecycle lifecycle = start();
        Snapshot snapshot = lifecycle.readers().snapshot(taken -> taken);
        lifecycle.close();
        Map<String, List<Long>> leaves = Arrays.stream(ReportMeasure.values())
                .flatMap(measure -> stacksOf(snapshot, measure).keySet().stream())
                .map(stack -> stack.substring(0, stack.indexOf(';')) + stack.substring(stack.lastIndexOf(';')))
                .distinct()
                .collect(Collectors.toMap(leaf -> leaf, leaf -> sumOfLeaf(snapshot, leaf)));
        List<Snapshot.HotLine> lines = snapshot.hotLines(1_000);
        assertThat(lines).isNotEmpty();
        assertThat(lines.stream()
                        .collect(Collectors.toMap(line -> line.group() + ";" + line.text(), Snapshot.HotLine::amounts)))
                .isEqualTo(leaves);
        assertThat(lines)
                .isSortedAccordingTo(Comparator.comparingLong((Snapshot.HotLine line) -> line.of(ReportMeasure.WALL))
                        .reversed()
                        .thenComparing(Snapshot.HotLine::text));
        assertThat(snapshot.hotLines(1)).isEqualTo(lines.subList(0, 1));
        assertThat(snapshot.hotLines(0)).isEmpty();
        lines.forEach(line -> assertThat(line.text()).isEqualTo(textOf(line)));
        snapshot.release();
    }

    private static List<Long> sumOfLeaf(Snapshot snapshot, String leaf) {
        String group = leaf.substring(0, leaf.indexOf(';') + 1);
        String text = leaf.substring(leaf.indexOf(';'));
        return Arrays.stream(ReportMeasure.values())
                .map(measure -> stacksOf(snapshot, measure).entrySet().stream()
                        .filter(stack -> stack.getKey().startsWith(group))
                        .filter(stack -> stack.getKey().endsWith(text))
                        .mapToLong(Map.Entry::getValue)
                        .sum())
                .toList();
    }

    private static Map<String, Long> stacksOf(Snapshot snapshot, ReportMeasure measure) {
        try {
            return stacks(snapshot, measure);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /* Only the text names the file. */
    private static String textOf(Snapshot.HotLine line) {
        if (line.method() == null) {
            assertThat(line.className()).isNull();
            return line.text();
        }
        String file = line.text().replaceAll(".*\\((.*?)(:\\d+)?\\)", "$1");
        String place = line.line() > 0 ? file + ":" + line.line() : line.line() == -2 ? "Native Method" : file;
        return line.className() + "." + line.method() + "(" + place + ")";
    }

    /** The core defines the list (measure.h); Java's enum names its first entries. */
    @Test
    void measuresAreThoseOfTheCore() throws IOException {
        LoadedLibrary.require();
        Lifecycle lifecycle = start();
        await().until(() -> {
            RawStatistics statistics = lifecycle.statistics();
            return statistics.values().get(statistics.names().indexOf("gauge.polls")) > 100;
        });
        Snapshot snapshot = lifecycle.readers().snapshot(taken -> taken);
        lifecycle.close();
        RawReport raw = snapshot.figures();
        assertThat(raw.measures())
                .containsExactlyElementsOf(Arrays.stream(ReportMeasure.values())
                        .map(measure -> measure.name().toLowerCase(Locale.ROOT))
                        .toList());
        String json = written(snapshot, ReportFormat.JSON, ReportMeasure.WALL);
        for (ReportMeasure measure : ReportMeasure.values()) {
            long inFigures = raw.total(measure.ordinal());
            assertThat(sumOf(json, measure.name().toLowerCase(Locale.ROOT)))
                    .as(measure.name())
                    .isEqualTo(inFigures);
            assertThat(Samplers.sum(stacks(snapshot, measure)))
                    .as(measure.name())
                    .isEqualTo(inFigures);
            assertThat(IntStream.range(0, raw.groups().names().size())
                            .mapToLong(group -> raw.groups().figuresOf(group)[GROUP_MEASURES + measure.ordinal()])
                            .sum())
                    .as(measure.name())
                    .isEqualTo(inFigures);
        }
        assertThat(raw.total(ReportMeasure.SAMPLES)).isPositive();
        snapshot.release();
    }

    /**
     * The sum of a column over all groups, without lock holders: they have the time of blocked threads once more, for
     * example of threads that another test left behind.
     */
    private static long sumOf(String json, String column) {
        int holders = json.indexOf("\"lockHolders\":");
        return Pattern.compile("\n\"" + column + "\":\\[([0-9,]*)]")
                .matcher(holders < 0 ? json : json.substring(0, holders))
                .results()
                .flatMapToLong(found -> Arrays.stream(found.group(1).split(","))
                        .filter(each -> !each.isEmpty())
                        .mapToLong(Long::parseLong))
                .sum();
    }

    @Test
    void forgottenOnesAreFreedWhenTheNextComes() throws IOException {
        LoadedLibrary.require();
        long before = NativeBridge.liveBytes();
        Lifecycle lifecycle = start();
        forgetSome(lifecycle);
        await().until(() -> {
            System.gc();
            lifecycle.readers().snapshot(taken -> taken).release();
            return NativeSnapshot.live() == 0;
        });
        lifecycle.close();
        assertThat(NativeBridge.liveBytes()).isEqualTo(before);
    }

    private static void forgetSome(Lifecycle lifecycle) {
        List<Snapshot> forgotten = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            forgotten.add(lifecycle.readers().snapshot(taken -> taken));
        }
        assertThat(NativeSnapshot.live()).isGreaterThanOrEqualTo(forgotten.size());
    }
}
