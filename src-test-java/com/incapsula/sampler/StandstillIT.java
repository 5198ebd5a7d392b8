// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.OverflowProgram;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Beside a stack that overflows again and again, the longest standstill of another thread is at most twice as long as
 * without the sampler. Compares the longest one of several runs. With {@code -Dsampler.test.long=true} ten runs of ten
 * seconds.
 */
@Measures
class StandstillIT {

    private static final boolean LONG = Boolean.getBoolean("sampler.test.long");
    private static final int RUNS = LONG ? 10 : 3;
    private static final int MILLIS = LONG ? 10_000 : 4_000;

    @ParameterizedTest
    @ValueSource(ints = {50, 1})
    void noThreadStandsStillForADeepStack(int intervalMillis) throws Exception {
        long without = 0;
        long with = 0;
        for (int run = 0; run < RUNS; run++) {
            without = Math.max(without, standstillMillis(0));
            with = Math.max(with, standstillMillis(intervalMillis));
        }
        System.out.printf("each %d ms: %d ms, without the sampler %d ms%n", intervalMillis, with, without);
        assertThat(with).isLessThanOrEqualTo(2 * without);
    }

    private static long standstillMillis(int intervalMillis) throws Exception {
        String output = ChildJvm.of(OverflowProgram.class)
                .likeAServer()
                .run(Integer.toString(intervalMillis), Integer.toString(MILLIS))
                .assertFine()
                .output();
        return Long.parseLong(output.strip());
    }
}
