// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The first seconds of an application. BeforeMainIT tests them with an agent. */
class ApplicationStartTest {

    private final List<String> done = new ArrayList<>();

    @AfterEach
    void goOn() {
        ApplicationStart.exit();
    }

    @Test
    void withoutAnAgentNothingWaits() {
        assertThat(ApplicationStart.isPending()).isFalse();
        ApplicationStart.whenOver(() -> done.add("at once"));
        ApplicationStart.sleepUntilOver();
        assertThat(done).containsExactly("at once");
    }

    @Test
    void atTheExitNothingIsBegunAndNothingWaitsAnyMore() {
        ApplicationStart.begin();
        ApplicationStart.whenOver(() -> done.add("later"));
        ApplicationStart.exit();
        ApplicationStart.sleepUntilOver();
        assertThat(ApplicationStart.isPending()).isFalse();
        assertThat(done).isEmpty();
    }

    @Test
    void messagesGoToStandardErrorMeanwhile() {
        PrintStream before = System.err;
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        ApplicationStart.begin();
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
        try {
            LibraryLog.log(System.Logger.Level.WARNING, "text", new IllegalStateException("cause"));
        } finally {
            System.setErr(before);
        }
        assertThat(written.toString(StandardCharsets.UTF_8))
                .startsWith("threads-sampler: WARNING: text\n")
                .contains("java.lang.IllegalStateException: cause\n\tat ");
    }

    /** A slow agent may come after ours, and JavaFX has its main in the launcher. */
    @ParameterizedTest
    @CsvSource({
        "sun.instrument.InstrumentationImpl, loadClassAndCallPremain, true",
        "sun.launcher.LauncherHelper, checkAndLoadMain, true",
        "com.incapsula.sampler.internal.agent.Agent, premain, true",
        "sun.launcher.LauncherHelper$FXHelper, main, false",
        "com.acme.Main, main, false",
        "com.acme.Embedded, run, false"
    })
    void noTimeCountsBeforeMain(String type, String method, boolean isOfStart) {
        assertThat(ApplicationStart.isOfStart(new StackTraceElement(type, method, null, -1)))
                .isEqualTo(isOfStart);
    }
}
