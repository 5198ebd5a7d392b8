// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.HiddenWork;
import com.incapsula.sampler.testing.NoIdsProgram;
import com.incapsula.sampler.testing.RedefinedWork;
import com.incapsula.sampler.testing.RedefiningAgent;
import com.incapsula.sampler.testing.Report;
import com.incapsula.sampler.testing.WithDefault;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Methods that the JVM has made no ids for have their names, files and lines all the same. */
class NoIdsIT {

    private static final String NAMELESS = "[method without an id]";
    private static final int POLLS = 600;

    @TempDir
    Path folder;

    private String output;
    private Report report;

    @BeforeEach
    void run() throws Exception {
        Path jar = folder.resolve("agent.jar");
        Path file = folder.resolve("report.log");
        RedefiningAgent.writeJar(jar);
        /* Compiled methods have ids. */
        output = ChildJvm.of(NoIdsProgram.class)
                .option("-javaagent:" + jar, "-Xint")
                .run(file.toString(), String.valueOf(POLLS), folder.toString())
                .assertFine()
                .output();
        report = Report.parse(Files.readString(file)).get(0);
    }

    @Test
    void eachMethodHasItsNameAndItsLine() {
        assertThat(output).contains("version " + RedefinedWork.NEXT);
        for (String name : List.of("spinner", "waiter", "conflict", "hidden")) {
            assertThat(report.group(name).rows())
                    .as(name)
                    .noneMatch(row -> row.frame().startsWith(NAMELESS));
        }
        assertThat(report.figures()).doesNotContainKey("samples taken, a method without an id");
        assertThat(placesOf("spinner", RedefinedWork.class.getName() + ".spin"))
                .contains("RedefinedWork.java:" + number("spin line"))
                .allMatch(place -> place.startsWith("RedefinedWork.java:"));
        assertThat(placesOf("waiter", RedefinedWork.class.getName() + ".waitHere"))
                .contains("RedefinedWork.java:" + number("wait line"))
                .allMatch(place -> place.startsWith("RedefinedWork.java:"));
        assertThat(placesOf("conflict", "Conflict.run")).containsExactly("Conflict.java");
        assertThat(placesOf("hidden", WithDefault.class.getName() + ".workByDefault"))
                .containsExactly("WithDefault.java:" + number("default line"));
        assertThat(placesOf("hidden", HiddenWork.class.getName() + ".work"))
                .isNotEmpty()
                .allMatch(place -> place.startsWith("HiddenWork.java:"));
    }

    /* Of each row of the method: a place that stands twice below one caller would be two nodes. */
    private List<String> placesOf(String group, String method) {
        return report.group(group).rows().stream()
                .filter(row -> row.method().equals(method))
                .map(row -> row.frame().substring(method.length() + 1, row.frame().length() - 1))
                .toList();
    }

    private int number(String name) {
        return output.lines()
                .filter(line -> line.startsWith(name + " "))
                .mapToInt(line -> Integer.parseInt(line.substring(name.length() + 1)))
                .findFirst()
                .orElseThrow();
    }
}
