// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNoException;

import java.util.List;
import org.junit.jupiter.api.Test;

class SettingsTest {

    @Test
    void defaultsAsOptionValues() {
        OptionValues values = new Settings().toOptionValues();
        assertThat(values.integers())
                .containsExactly(
                        50, 900, 64 << 20, 1024, 1000, 10, 38, 32_768, 100_000, 1000, 500, 5, 1, 0, 0, 0, 1, 1, 1, 0, 0,
                        1, 0, 1, 0, 0, 0, 0, 0, 0, 0);
        assertThat(values.texts()).containsExactly("", "", "", "", "", "");
        assertThat(values)
                .hasToString("samplingFrequencyMillis=50\n"
                        + "reportFrequencySeconds=900\n"
                        + "memoryLimitBytes=67108864\n"
                        + "maxDepthFrames=1024\n"
                        + "idleLookbackMillis=1000\n"
                        + "overheadLimitPerMille=10\n"
                        + "samplingSignal=38\n"
                        + "maxCountedMethods=32768\n"
                        + "maxCallNodes=100000\n"
                        + "maxCallDepth=1000\n"
                        + "maxGroups=500\n"
                        + "reportMinPerMille=5\n"
                        + "active=true\n"
                        + "skipDaemonThreads=false\n"
                        + "reportZeroTimePackages=false\n"
                        + "reportPercent=false\n"
                        + "reportSummary=true\n"
                        + "foldRecursion=true\n"
                        + "defaultThreadNameRule=true\n"
                        + "reportCpuTime=false\n"
                        + "reportStates=false\n"
                        + "reportJvmThreads=true\n"
                        + "sampleUnmountedVirtualThreads=false\n"
                        + "errorBars=true\n"
                        + "discardWarmUp=false\n"
                        + "engine=AUTO\n"
                        + "clock=WALL\n"
                        + "reportOrder=BY_NAME\n"
                        + "reportAccount=SHORT\n"
                        + "instrumentation=AUTO\n"
                        + "methodTiming=SAMPLED\n"
                        + "monitoredPackages=\n"
                        + "rootMethods=\n"
                        + "instrumentationFilter=\n"
                        + "ioMethods=\n"
                        + "idleMethods=\n"
                        + "mainPackages=\n");
    }

    @Test
    void withChangesACopy() {
        Settings before = new Settings();
        Settings after = before.with(Property.ACTIVE, false).with(Property.MONITORED_PACKAGES, "a\n,b");

        assertThat(before.is(Property.ACTIVE)).isTrue();
        assertThat(after.is(Property.ACTIVE)).isFalse();
        assertThat(after.toOptionValues().toString()).contains("active=false\n", "monitoredPackages=a,b\n");
        assertThat(after.toOptionValues())
                .isNotEqualTo(before.toOptionValues())
                .isEqualTo(after.with(Property.ACTIVE, true)
                        .with(Property.ACTIVE, false)
                        .toOptionValues())
                .hasSameHashCodeAs(after.toOptionValues());
        assertThat(before.with(Property.MONITORED_PACKAGES, "a").toOptionValues())
                .isNotEqualTo(before.toOptionValues());
    }

    @Test
    void choicesAreNumbered() {
        Settings settings = new Settings().with(Property.ENGINE, "JVMTI").with(Property.REPORT_ORDER, "BY_TIME");
        assertThat(settings.toOptionValues().integers()).endsWith(1, 0, 1, 0, 0, 0);
        assertThat(settings.toOptionValues().toString()).contains("engine=JVMTI\nclock=WALL\nreportOrder=BY_TIME\n");
    }

    @Test
    void cpuTimeNeedsAsynchronousWalks() {
        Settings settings = new Settings().with(Property.CLOCK, "CPU").with(Property.ENGINE, "JVMTI");
        assertThatIllegalArgumentException()
                .isThrownBy(settings::checkTogether)
                .withMessage("clock CPU needs engine AUTO, got JVMTI");
        assertThatNoException().isThrownBy(settings.with(Property.ENGINE, "AUTO")::checkTogether);
        assertThatNoException().isThrownBy(settings.with(Property.CLOCK, "WALL")::checkTogether);
    }

    @Test
    void exactTimesAreNoCpuTimes() {
        Settings settings = new Settings().with(Property.CLOCK, "CPU").with(Property.METHOD_TIMING, "EXACT");
        assertThatNoException().isThrownBy(settings::checkTogether); // no calls are counted
        for (Settings counting : List.of(
                settings.with(Property.ROOT_METHODS, "a.B.c"), settings.with(Property.INSTRUMENTATION, "TOTAL"))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(counting::checkTogether)
                    .withMessage("clock CPU needs methodTiming SAMPLED or NONE, got EXACT: to read a thread's CPU"
                            + " clock at each call takes longer than most calls");
            assertThatNoException().isThrownBy(counting.with(Property.METHOD_TIMING, "NONE")::checkTogether);
            assertThatNoException().isThrownBy(counting.with(Property.CLOCK, "WALL")::checkTogether);
        }
    }

    @Test
    void reportMayNotBeShorterThanASample() {
        Settings settings = new Settings()
                .with(Property.SAMPLING_FREQUENCY_MILLIS, 2000L)
                .with(Property.REPORT_FREQUENCY_SECONDS, 1L);
        assertThatIllegalArgumentException()
                .isThrownBy(settings::checkTogether)
                .withMessage("reportFrequencySeconds must be 0 or not shorter than samplingFrequencyMillis,"
                        + " got 1 s and 2000 ms");
        assertThatNoException().isThrownBy(settings.with(Property.REPORT_FREQUENCY_SECONDS, 2L)::checkTogether);
        assertThatNoException().isThrownBy(settings.with(Property.REPORT_FREQUENCY_SECONDS, 0L)::checkTogether);
    }
}
