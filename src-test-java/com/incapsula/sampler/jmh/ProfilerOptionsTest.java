// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.jmh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.incapsula.sampler.ReportFormat;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openjdk.jmh.profile.Profiler;
import org.openjdk.jmh.profile.ProfilerException;

/** The options after the colon. */
class ProfilerOptionsTest {

    @Test
    void nothingIsTheDefaults() throws ProfilerException {
        ProfilerOptions defaults = new ProfilerOptions(10, 20, ReportFormat.HTML, "");
        assertThat(ProfilerOptions.parse("")).isEqualTo(defaults);
        assertThat(ProfilerOptions.parse(" ; ")).isEqualTo(defaults);
        assertThat(new SamplerProfiler().getDescription()).startsWith("threads-sampler");
    }

    @Test
    void eachOptionIsTaken() throws ProfilerException {
        assertThat(ProfilerOptions.parse("interval=5;lines=30; format=PProf ;folder=out/jmh"))
                .isEqualTo(new ProfilerOptions(5, 30, ReportFormat.PPROF, "out/jmh"));
        assertThat(ProfilerOptions.parse("format=none").format()).isNull();
        assertThat(ProfilerOptions.parse("folder=a=b").folder()).isEqualTo("a=b");
    }

    /* JMH's own profilers do the same. */
    @Test
    void helpPrintsTheOptionsAndRunsNothing() {
        PrintStream out = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            assertThatExceptionOfType(ProfilerException.class)
                    .isThrownBy(() -> new SamplerProfiler("help"))
                    .withMessage("Help requested.");
        } finally {
            System.setOut(out);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8))
                .contains("interval=MILLISECONDS", "lines=NUMBER", "pprof", "folder=FOLDER");
    }

    /* "-lprof" lists profilers that are services. */
    @Test
    void jmhFindsTheProfiler() {
        assertThat(ServiceLoader.load(Profiler.class)).hasAtLeastOneElementOfType(SamplerProfiler.class);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "interval=0     | interval must be a number between 1 and 3600000, got \"0\"",
                "interval=x     | interval must be a number between 1 and 3600000, got \"x\"",
                "interval       | interval must be a number between 1 and 3600000, got \"\"",
                "lines=-1       | lines must be a number between 1 and 2147483647, got \"-1\"",
                "folder=        | folder must not be empty",
                "intervall=5    | option intervall is not known; the options are interval, lines, format, folder and"
                        + " help, separated by semicolons",
                "format=svg     | format must be one of text, collapsed, pprof, speedscope, json, top, otlp, calls, html, none,"
                        + " got \"svg\"",
            })
    void wrongOptionsAreNamed(String options, String message) {
        assertThatExceptionOfType(ProfilerException.class)
                .isThrownBy(() -> new SamplerProfiler(options))
                .withMessage(message);
    }
}
