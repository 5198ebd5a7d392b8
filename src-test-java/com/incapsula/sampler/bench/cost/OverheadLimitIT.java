// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.testing.Measures;
import java.nio.file.Path;
import java.util.List;
import org.assertj.core.api.SoftAssertions;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/**
 * With 4,000 threads at a millisecond the limit is kept, and shares are right nevertheless. Within the limit there are
 * only some hundred polls a second, so the test takes a minute. test_overhead_limit.c checks the same in simulated time
 * in every run.
 */
@Measures
class OverheadLimitIT {

    private static final int THREADS = 4000;
    private static final boolean IS_LONG = Boolean.getBoolean("sampler.test.long");
    private static final int MILLIS = IS_LONG ? 60_000 : 6_000;

    @Test
    void limitIsHeld() throws Exception {
        List<String[]> lines =
                Jvm.of(Path.of(System.getProperty("java.home")), List.of()).run(OverheadLimit.class, THREADS, MILLIS);
        assertThat(lines).hasSize(1);
        String[] cells = lines.get(0);
        System.out.println(String.join(" | ", cells));
        SoftAssertions.assertSoftly(softly -> {
            softly.assertThat(cells[0]).endsWith("(HYBRID)");
            softly.assertThat(Double.parseDouble(cells[1]))
                    .as("own CPU %")
                    .isLessThanOrEqualTo(OverheadLimit.LIMIT_BAR * OverheadLimit.LIMIT_PERCENT);
            softly.assertThat(Double.parseDouble(cells[2]))
                    .as("skipped %: there was a limit to hold")
                    .isPositive();
            if (IS_LONG) {
                softly.assertThat(Double.parseDouble(cells[5]))
                        .as("longer phase, seen %")
                        .isCloseTo(Double.parseDouble(cells[4]), Offset.offset(OverheadLimit.SHARE_BAR));
            }
        });
    }
}
