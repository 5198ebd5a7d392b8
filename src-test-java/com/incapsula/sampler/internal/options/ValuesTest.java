// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Times and sizes as users write them. */
class ValuesTest {

    @Test
    void timesHaveUnits() {
        assertThat(Values.millis("x", "7", 1)).isEqualTo(7);
        assertThat(Values.millis("x", "7", 1000)).isEqualTo(7000);
        assertThat(Values.millis("x", "7ms", 1000)).isEqualTo(7);
        assertThat(Values.millis("x", "2s", 1)).isEqualTo(2000);
        assertThat(Values.millis("x", "3m", 1)).isEqualTo(180_000);
        assertThat(Values.millis("x", "3min", 1)).isEqualTo(180_000);
        assertThat(Values.millis("x", "2h", 1)).isEqualTo(7_200_000);
        assertThat(Values.wholeSeconds("x", "1d")).isEqualTo(86_400);
        for (String wrong : List.of("", "ms", "-1s", "1.5s", "1 s", "1w", "9223372036854775807s")) {
            assertThatIllegalArgumentException()
                    .as(wrong)
                    .isThrownBy(() -> Values.millis("x", wrong, 1))
                    .withMessage("x must be a time such as 20ms, 10s, 5m or 1h, got \"" + wrong + "\"");
        }
    }

    @Test
    void durationsAreWholeUnits() {
        assertThat(Values.wholeMillis("x", Duration.ofSeconds(2))).isEqualTo(2000);
        assertThat(Values.wholeSeconds("x", Duration.ofMinutes(2))).isEqualTo(120);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Values.wholeMillis("x", Duration.ofNanos(1)))
                .withMessage("x must be whole milliseconds, got PT0.000000001S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Values.wholeSeconds("x", Duration.ofMillis(1500)))
                .withMessage("x must be whole seconds, got PT1.5S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Values.wholeMillis("x", Duration.ofSeconds(Long.MAX_VALUE)))
                .withMessageStartingWith("x is too long: ");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Values.wholeSeconds("x", (Duration) null))
                .withMessage("x must not be null");
    }
}
