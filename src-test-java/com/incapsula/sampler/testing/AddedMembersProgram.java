// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.Instrumentation;
import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import counted.Changing;
import java.io.IOException;
import java.util.Map;

/**
 * Counts calls of a class to which {@link AddingAgent} adds members: first with probes from its loading on, then with
 * the remaining probes, which the JVM does not remove. With the argument {@code LATE} the class is loaded before, and
 * has no probes.
 */
public final class AddedMembersProgram {

    static final String CHANGED = "counted/Changing$Changed";

    private AddedMembersProgram() {}

    /** Runs the program. */
    public static void main(String[] arguments) throws IOException {
        boolean isLate = arguments.length > 0;
        if (isLate) {
            Changing.root();
        }
        for (int round = 0; round < 2; round++) {
            try (ThreadsSampler sampler = quick(new Recorder())) {
                sampler.setOverheadLimitPercent(100); // no method loses its probes
                sampler.setRootMethods("counted.Changing.root");
                sampler.setInstrumentationFilter("counted");
                sampler.setInstrumentation(Instrumentation.EAGER);
                sampler.init();
                if (isLate) {
                    awaitRefused(sampler);
                } else {
                    Changing.root();
                    assertThat(CallCounts.take(sampler)).as("round " + round).isEqualTo(expected());
                }
            }
        }
        System.out.println("fine");
    }

    private static Map<String, Long> expected() {
        String step = "Changing.root|Changing$Changed.step";
        long times = Changing.TIMES;
        return Map.of("Changing.root", 1L, step, times, step + "|Changing$Changed.inner", times);
    }

    private static void awaitRefused(ThreadsSampler sampler) {
        patiently().untilAsserted(() -> {
            Changing.root();
            try (SamplingReport report = sampler.snapshot()) {
                assertThat(report.toString(ReportFormat.TEXT))
                        .contains("left alone: 2 (another agent adds members, JVMTI error"
                                + " UNSUPPORTED_REDEFINITION_SCHEMA_CHANGED: counted.Changing$Changed.");
            }
        });
    }
}
