// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Arrays;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The properties of Java and the core's table of options are one. */
class OptionIT {

    private static final NativeCallbacks CALLBACKS = new ReportDispatcher().begin(null);

    @BeforeAll
    static void load() {
        LoadedLibrary.require();
    }

    @Test
    void propertiesAreTheRowsOfTheCoresTable() {
        assertThat(NativeBridge.optionTable())
                .containsExactly(Arrays.stream(Option.values()).map(Option::row).toArray(String[]::new));
    }

    @Test
    void coreRefusesWhatIsNotItsTable() {
        OptionValues values = new OptionValues();
        int count = values.integers().length;
        String needed = "options must be " + count + " integers and 6 texts, got ";
        long[] more = Arrays.copyOf(values.integers(), count + 1);
        assertRefused(more, values.texts(), needed + (count + 1) + " and 6");
        assertRefused(values.integers(), new String[0], needed + count + " and 0");
        assertRefused(null, null, needed + "0 and 0");
        assertRefused(
                values.integers(),
                new String[] {null, "", "", "", "", ""},
                "monitoredPackages must not be null and at most 1048576 characters long");
        long[] wrong = values.integers().clone();
        wrong[0] = 0;
        assertRefused(wrong, values.texts(), "samplingFrequencyMillis must be between 1 and 3600000, got 0");
        assertThat(NativeBridge.liveBytes()).isZero();
    }

    private static void assertRefused(long[] integers, String[] texts, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> NativeBridge.create(integers, texts, CALLBACKS))
                .withMessage(message);
    }
}
