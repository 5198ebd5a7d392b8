// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.ColdStartProgram;
import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.Report;
import com.incapsula.sampler.testing.Row;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A sampler that starts with its program sees methods that were never compiled, in classes that were just loaded.
 * Stacks are complete down to their roots, and methods have names.
 */
class ColdStartIT {

    private static final int POLLS = 300;
    private static final String NAMELESS = "[method without an id]";

    @TempDir
    Path folder;

    @Test
    void stacksOfANewProgramAreSeen() throws Exception {
        Report report = Report.parse(reportOfANewProgram()).get(0);
        assertThat(report.figure("polls")).isGreaterThanOrEqualTo(POLLS);
        assertThat(report.group("main").millisIn(ColdStartProgram.class.getName() + ".main"))
                .isPositive();
    }

    private String reportOfANewProgram() throws Exception {
        Path file = folder.resolve("report.log");
        ChildJvm.of(ColdStartProgram.class)
                .run(file.toString(), String.valueOf(POLLS))
                .assertFine();
        return Files.readString(file);
    }

    @Test
    @Measures(besideOthers = true)
    void stacksOfANewProgramHaveTheirNamesAndRoots() throws Exception {
        String text = reportOfANewProgram();
        Report report = Report.parse(text).get(0);
        long polls = report.figure("polls");
        assertThat(report.figure("samples taken, a method without an id"))
                .as(text)
                .isLessThanOrEqualTo(polls / 100);
        List<Row> rows = report.group("main").rows();
        long millis = report.group("main").cumulativeMillis();
        assertThat(rows.stream()
                        .filter(row -> row.frame().equals(NAMELESS))
                        .mapToLong(Row::cumulativeMillis)
                        .sum())
                .as(text)
                .isLessThanOrEqualTo(millis / 100);
        assertThat(millisBesides(rows, ColdStartProgram.class.getName() + ".main"))
                .as(text)
                .isLessThanOrEqualTo(millis / 100);
    }

    /* Time of stacks that end in another root. Time without a stack does not count. */
    private static long millisBesides(List<Row> rows, String root) {
        return rows.stream()
                .filter(row -> row.depth() == 0 && !row.frame().startsWith("["))
                .filter(row -> !row.method().equals(root))
                .mapToLong(Row::cumulativeMillis)
                .sum();
    }
}
