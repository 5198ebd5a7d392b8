// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.AttachedThreadProgram;
import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.NativeTests;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A native thread attaches in order to call Java: it has the CPU time of that call only. */
class AttachedThreadIT {

    private static long figure(String output, String name) {
        return output.lines()
                .filter(line -> line.startsWith(name + " "))
                .mapToLong(line -> Long.parseLong(line.substring(name.length() + 1)))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @EnumSource(SamplingClock.class)
    void itsTimeIsThatOfTheCall(SamplingClock clock) throws Exception {
        String output = ChildJvm.of(AttachedThreadProgram.class)
                .run(NativeTests.path("libattached_thread.so").toString(), clock.name())
                .assertSaysFine();
        assertThat(figure(output, "worker")).isBetween(1L, AttachedThreadProgram.BEFORE_NANOS);
        if (clock == SamplingClock.WALL) {
            assertThat(figure(output, "worker")).isLessThanOrEqualTo(figure(output, "used"));
        }
        assertThat(figure(output, "jvm")).isLessThan(AttachedThreadProgram.BEFORE_NANOS);
    }
}
