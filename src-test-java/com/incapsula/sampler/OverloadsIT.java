// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Samplers;
import counted.Overloaded;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Rows of overloads, and of recursive methods. */
@ExtendWith(NothingLeft.class)
@Timeout(Samplers.HANG_SECONDS)
class OverloadsIT {

    private static final int DEPTH = 150;
    private static final int TURNS = 200;

    private final ThreadsSampler sampler = quick(new Recorder());

    OverloadsIT() {
        Overloaded.root(1); // loads the class
        sampler.setOverheadLimitPercent(100); // no method loses its probes
        sampler.setInstrumentationFilter("counted.Overloaded");
        sampler.setInstrumentation(Instrumentation.TOTAL);
    }

    @AfterEach
    void close() throws IOException {
        sampler.close();
    }

    /* Counts one run of the program, once all of its calls are counted, so that the report has the row. */
    private SamplingReport counted(String roots, Runnable program, String row) {
        AtomicReference<SamplingReport> last = new AtomicReference<>();
        sampler.setRootMethods(roots);
        sampler.init();
        patiently().until(() -> {
            sampler.snapshot().close();
            program.run();
            SamplingReport report = sampler.snapshot();
            if (calls(report).contains(row)) {
                last.set(report);
            } else {
                report.close();
            }
            return last.get() != null;
        });
        return last.get();
    }

    private static String calls(SamplingReport report) {
        return written(report, ReportFormat.COLLAPSED, ReportOptions.standard().withMeasure(ReportMeasure.CALLS));
    }

    private static String written(SamplingReport report, ReportFormat format, ReportOptions options) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            report.writeTo(format, options, out);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    private static int rows(String text, String method) {
        return (int) Pattern.compile("^ *" + Pattern.quote(method) + "\\(", Pattern.MULTILINE)
                .matcher(text.substring(text.indexOf("Counted thread: ")))
                .results()
                .count();
    }

    @Test
    void overloadsThatBothOccurShowTheirParameters() {
        String second = ";counted.Overloaded.add(List, long[][])(Overloaded.java) 2\n";
        try (SamplingReport report =
                counted("counted.Overloaded.root", () -> Overloaded.root(1), "add(List, long[][])")) {
            assertThat(calls(report))
                    .contains("counted.Overloaded.root(Overloaded.java) 1\n")
                    .contains(";counted.Overloaded.add(int)(Overloaded.java) 1\n")
                    .contains(second);
            assertThat(report.toString(ReportFormat.TEXT))
                    .contains("\n  counted.Overloaded.add(int)(Overloaded.java) ")
                    .containsPattern(
                            "counted\\.Overloaded\\.add\\(List, long\\[]\\[]\\)\\(Overloaded.java\\) .*, Calls: 2");
            assertThat(written(
                            report, ReportFormat.TOP, ReportOptions.standard().withMeasure(ReportMeasure.CALLS)))
                    .contains("  counted.Overloaded.add(List, long[][]) ");
            assertThat(report.toString(ReportFormat.JSON)).contains("\"method\":\"add(int)\"");
        }
    }

    @Test
    void anOverloadThatOccursAloneHasItsNameAlone() {
        try (SamplingReport report = counted(
                "counted.Overloaded.half", () -> Overloaded.half(1), "counted.Overloaded.add(Overloaded.java)")) {
            assertThat(calls(report))
                    .contains(";counted.Overloaded.add(Overloaded.java) 1\n")
                    .doesNotContain("add(int)");
        }
    }

    @Test
    void aRecursionIsOneRowWithItsDepth() {
        String deepest = ";counted.Overloaded.down(Overloaded.java)".repeat(DEPTH) + " 1\n";
        try (SamplingReport report = counted("counted.Overloaded.down", () -> Overloaded.down(DEPTH), deepest)) {
            String text = report.toString(ReportFormat.TEXT);
            assertThat(text)
                    .containsPattern("\ncounted\\.Overloaded\\.down\\(Overloaded.java\\) .*, Calls: " + (DEPTH + 1)
                            + ".*, Recursion depth: " + (DEPTH + 1) + "\n")
                    .containsPattern("\n  counted\\.Overloaded\\.leaf\\(Overloaded.java\\) .*, Calls: " + (DEPTH + 1));
            assertThat(rows(text, "counted.Overloaded.down")).isEqualTo(1);
            assertThat(calls(report)).as("an exact format").contains(deepest);
            ReportOptions folded = ReportOptions.standard().withFoldRecursion(true);
            assertThat(written(report, ReportFormat.COLLAPSED, folded.withMeasure(ReportMeasure.CALLS)))
                    .contains(";counted.Overloaded.down(Overloaded.java) " + (DEPTH + 1) + "\n");
            assertThat(written(report, ReportFormat.HTML, ReportOptions.standard()))
                    .contains("\"recursion\":[[");
            assertThat(written(
                            report, ReportFormat.TEXT, ReportOptions.standard().withFoldRecursion(false)))
                    .satisfies(all ->
                            assertThat(rows(all, "counted.Overloaded.down")).isEqualTo(DEPTH + 1));
        }
    }

    @Test
    void methodsThatCallEachOtherAreOneTurnMoreThanACycle() {
        try (SamplingReport report =
                counted("counted.Overloaded.even", () -> Overloaded.even(TURNS), ";counted.Overloaded.odd(")) {
            String text = report.toString(ReportFormat.TEXT);
            assertThat(text)
                    .containsPattern("counted\\.Overloaded\\.odd\\(Overloaded.java\\) .*, Calls: " + TURNS
                            + ".*, Recursion depth: " + TURNS + "\n");
            assertThat(rows(text, "counted.Overloaded.even")).isEqualTo(2);
            assertThat(rows(text, "counted.Overloaded.odd")).isEqualTo(1);
        }
    }

    @Test
    void aSamplerThatDoesNotFoldHasARowForEachDepth() {
        sampler.setFoldRecursion(false);
        try (SamplingReport report = counted(
                "counted.Overloaded.down",
                () -> Overloaded.down(9),
                ";counted.Overloaded.down(Overloaded.java)".repeat(9))) {
            assertThat(rows(report.toString(ReportFormat.TEXT), "counted.Overloaded.down"))
                    .isEqualTo(10);
        }
    }
}
