// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.QuietMachine.Reading;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class QuietMachineTest {

    private static final Reading BEFORE = new Reading(1000, 10, 300, 200);

    @Test
    void figuresAreOfAllCpusAndOfThisProcessWithItsChildren() {
        String stat = "cpu  400 10 50 1000 20 3 7 90 5 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n";
        String self = "42 (a (b) c) S 1 42 42 0 -1 4194560 100 0 0 0 11 12 13 14 20 0 1 0 5 6 7\n";

        String child = "43 (d) R 1 42 42 0 -1 4194560 100 0 0 0 1 2 3 4 20 0 1 0 5 6 7\n";

        assertThat(Reading.of(stat, Stream.of(self, child))).isEqualTo(new Reading(1580, 90, 470, 60));
    }

    @Test
    void theProcessItselfIsNoDisturbance() {
        assertThat(new Reading(2000, 10, 1300, 1200).disturbanceSince(BEFORE)).isNull();
    }

    @Test
    void aHostThatTakesCpusIsADisturbance() {
        assertThat(new Reading(2000, 30, 300, 200).disturbanceSince(BEFORE))
                .isEqualTo("the machine was not quiet: its host took 2.0 % of the CPU time, other processes 0.0 %");
    }

    @Test
    void otherProcessesAreADisturbance() {
        assertThat(new Reading(2000, 10, 900, 300).disturbanceSince(BEFORE)).endsWith("other processes 50.0 %");
    }
}
