// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.price;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.incapsula.sampler.bench.Jvm;
import java.nio.file.Path;
import java.util.List;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;

/** With 4,000 threads at a millisecond the limit is held, and what is seen of the few that work is no biased choice. */
class OverheadLimitIT {

    private static final int THREADS = 4000;
    private static final int MILLIS = Boolean.getBoolean("sampler.test.long") ? 20_000 : 6_000;
    private static final double SHARE_BAR = 2;

    @Test
    void limitIsHeldAndSharesAreUnbiased() throws Exception {
        List<String[]> lines = Jvm.of(Path.of(System.getProperty("java.home")), List.of())
                .run(OverheadLimit.class, THREADS, MILLIS);
        assertThat(lines).hasSize(1);
        String[] cells = lines.get(0);
        System.out.println(String.join(" | ", cells));
        SoftAssertions.assertSoftly(softly -> {
            softly.assertThat(cells[0]).endsWith("(HYBRID)");
            softly.assertThat(Double.parseDouble(cells[1])).as("own CPU %").isLessThanOrEqualTo(OverheadLimit.LIMIT_BAR * OverheadLimit.LIMIT_PERCENT);
            softly.assertThat(Double.parseDouble(cells[5])).as("CPU share of the longer phase, %")
                    .isCloseTo(Double.parseDouble(cells[4]), within(SHARE_BAR + chance(Long.parseLong(cells[3]))));
            softly.assertThat(Double.parseDouble(cells[2])).as("passed over %: there was a limit to hold").isPositive();
        });
    }

    /* Four standard deviations, in points, of a share of 70 % among so many credits. */
    private static double chance(long credits) {
        return 4 * 100 * Math.sqrt(0.7 * 0.3 / credits);
    }
}
