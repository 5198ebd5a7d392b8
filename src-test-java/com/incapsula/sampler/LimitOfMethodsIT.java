// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Samplers;
import counted.Crowd;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * At the limit of methods, the methods with the most calls are counted, in whatever order they are found; the account
 * has the others.
 */
@ExtendWith(NothingLeft.class)
@Timeout(Samplers.HANG_SECONDS)
class LimitOfMethodsIT {

    private static final Pattern COUNTED = Pattern.compile("methods counted: (\\d+)\n");
    private static final Pattern LEFT_ALONE = Pattern.compile("over the limit of methods: (\\d+) \\(");
    private static final int LIMIT = 6;
    private static final int TIMES = 10;

    private final ThreadsSampler sampler = quick(new Recorder());

    @AfterEach
    void close() throws IOException {
        sampler.close();
    }

    private static Map<String, Long> expected() {
        Map<String, Long> expected = new TreeMap<>();
        expected.put("root", (long) TIMES);
        expected.put("busiest", TIMES * (2L * Crowd.callsOf(Crowd.METHODS) - 1));
        for (int i = Crowd.METHODS; expected.size() < LIMIT; i--) {
            expected.put("m" + i, (long) TIMES * Crowd.callsOf(i));
        }
        return expected;
    }

    private static void run() {
        for (int i = 0; i < TIMES; i++) {
            Crowd.root();
        }
    }

    private static Map<String, Long> countsOf(SamplingReport report) {
        Map<String, Long> counts = new TreeMap<>();
        for (SamplingGroup group : report.getCountedGroups()) {
            for (SamplingRow root : report.rows(group)) {
                root.stream()
                        .filter(row -> row.getCalls() > 0)
                        .forEach(row -> counts.merge(row.getMethodName(), row.getCalls(), Long::sum));
            }
        }
        return counts;
    }

    private static int number(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        assertThat(matcher.find()).as(text).isTrue();
        return Integer.parseInt(matcher.group(1));
    }

    @ParameterizedTest
    @EnumSource(Instrumentation.class)
    void thoseThatAreCalledMostAreCounted(Instrumentation how) {
        sampler.setOverheadLimitPercent(100); // no method loses its probes
        sampler.setRootMethods("counted.Crowd.root");
        sampler.setInstrumentationFilter("counted.Crowd");
        sampler.setInstrumentation(how);
        sampler.setMaxCountedMethods(LIMIT);
        sampler.init();
        patiently().untilAsserted(() -> {
            run();
            sampler.snapshot().close();
            run();
            try (SamplingReport report = sampler.snapshot()) {
                assertThat(countsOf(report)).isEqualTo(expected());
                String text = report.toString(ReportFormat.TEXT);
                // Plus the root and the busiest method; TOTAL also wants the constructor and callsOf.
                assertThat(number(COUNTED, text) + number(LEFT_ALONE, text))
                        .isBetween(Crowd.METHODS + 2, Crowd.METHODS + 4);
                assertThat(number(COUNTED, text)).isEqualTo(LIMIT);
            }
        });
    }
}
