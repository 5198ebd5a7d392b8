// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.ColdCallsProgram;
import com.incapsula.sampler.testing.Report;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The calls of an ordinary program, from the first setter to {@code close()}, link no lambda, no method reference and
 * no string concatenation of the library, because a JVM that has just started would have to load and generate their
 * infrastructure for us alone.
 */
class ColdCallsIT {

    /* Names of classes that JDK 17 and 25 generate at run time: Lifecycle$$Lambda$14/0x, Lifecycle$$Lambda/0x. */
    private static final String MADE_FOR_US = ".* com[./]incapsula[./]sampler[./][^ ]*\\$\\$[^ ]*/0x.*";
    private static final String CONCATENATION = ".*StringConcat/0x.*";

    @TempDir
    Path folder;

    @Test
    void nothingIsLinked() throws Exception {
        Path log = folder.resolve("classes.log");
        Path file = folder.resolve("report.log");
        ChildJvm.of(ColdCallsProgram.class)
                .option("-Xlog:class+load:file=" + log + ":none")
                .run(file.toString())
                .assertSaysFine();
        assertThat(Report.parse(Files.readString(file))).isNotEmpty();
        List<String> loaded = Files.readAllLines(log);
        assertThat(loaded).anyMatch(line -> line.contains(SamplerStatistics.class.getName()));
        assertThat(loaded).noneMatch(line -> line.matches(MADE_FOR_US));
        assertThat(loaded).noneMatch(line -> line.matches(CONCATENATION));
    }
}
