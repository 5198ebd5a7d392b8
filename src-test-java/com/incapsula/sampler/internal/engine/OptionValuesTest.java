// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNoException;

import java.util.List;
import org.junit.jupiter.api.Test;

class OptionValuesTest {

    @Test
    void defaultsAsOptionValues() {
        OptionValues values = new OptionValues();
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
        OptionValues before = new OptionValues();
        OptionValues after = before.with(Option.ACTIVE, false).with(Option.MONITORED_PACKAGES, "a\n,b");

        assertThat(before.get(Option.ACTIVE)).isEqualTo(true);
        assertThat(after.get(Option.ACTIVE)).isEqualTo(false);
        assertThat(after.toString()).contains("active=false\n", "monitoredPackages=a,b\n");
        assertThat(after.isSameAs(before)).isFalse();
        assertThat(after.isSameAs(after.with(Option.ACTIVE, true).with(Option.ACTIVE, false)))
                .isTrue();
        assertThat(before.with(Option.MONITORED_PACKAGES, "a").isSameAs(before)).isFalse();
    }

    @Test
    void choicesAreNumbered() {
        OptionValues values = new OptionValues().with(Option.ENGINE, "JVMTI").with(Option.REPORT_ORDER, "BY_TIME");
        assertThat(values.integers()).endsWith(1, 0, 1, 0, 0, 0);
        assertThat(values.toString()).contains("engine=JVMTI\nclock=WALL\nreportOrder=BY_TIME\n");
    }

    @Test
    void cpuTimeNeedsAsynchronousWalks() {
        OptionValues values = new OptionValues().with(Option.CLOCK, "CPU").with(Option.ENGINE, "JVMTI");
        assertThatIllegalArgumentException()
                .isThrownBy(values::checkTogether)
                .withMessage("clock CPU needs engine AUTO, got JVMTI");
        assertThatNoException().isThrownBy(values.with(Option.ENGINE, "AUTO")::checkTogether);
        assertThatNoException().isThrownBy(values.with(Option.CLOCK, "WALL")::checkTogether);
    }

    @Test
    void exactTimesAreNoCpuTimes() {
        OptionValues values = new OptionValues().with(Option.CLOCK, "CPU").with(Option.METHOD_TIMING, "EXACT");
        assertThatNoException().isThrownBy(values::checkTogether); // no calls are counted
        for (OptionValues counting :
                List.of(values.with(Option.ROOT_METHODS, "a.B.c"), values.with(Option.INSTRUMENTATION, "TOTAL"))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(counting::checkTogether)
                    .withMessage("clock CPU needs methodTiming SAMPLED or NONE, got EXACT: to read a thread's CPU"
                            + " clock at each call takes longer than most calls");
            assertThatNoException().isThrownBy(counting.with(Option.METHOD_TIMING, "NONE")::checkTogether);
            assertThatNoException().isThrownBy(counting.with(Option.CLOCK, "WALL")::checkTogether);
        }
    }

    @Test
    void reportMayNotBeShorterThanASample() {
        OptionValues values = new OptionValues()
                .with(Option.SAMPLING_FREQUENCY_MILLIS, 2000L)
                .with(Option.REPORT_FREQUENCY_SECONDS, 1L);
        assertThatIllegalArgumentException()
                .isThrownBy(values::checkTogether)
                .withMessage("reportFrequencySeconds must be 0 or not shorter than samplingFrequencyMillis,"
                        + " got 1 s and 2000 ms");
        assertThatNoException().isThrownBy(values.with(Option.REPORT_FREQUENCY_SECONDS, 2L)::checkTogether);
        assertThatNoException().isThrownBy(values.with(Option.REPORT_FREQUENCY_SECONDS, 0L)::checkTogether);
    }
}
