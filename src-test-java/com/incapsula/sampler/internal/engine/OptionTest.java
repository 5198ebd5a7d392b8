// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OptionTest {

    @ParameterizedTest
    @CsvSource({
        "SAMPLING_FREQUENCY_MILLIS, 1, 3600000",
        "REPORT_FREQUENCY_SECONDS, 0, 31536000",
        "MEMORY_LIMIT_BYTES, 4194304, 1099511627776",
        "MAX_DEPTH_FRAMES, 16, 65536",
        "IDLE_LOOKBACK_MILLIS, 1, 60000",
        "OVERHEAD_LIMIT_PER_MILLE, 1, 1000",
        "SAMPLING_SIGNAL, 34, 64",
        "MAX_COUNTED_METHODS, 1, 1048576",
        "MAX_CALL_NODES, 64, 100000000",
        "MAX_CALL_DEPTH, 1, 1000000",
        "MAX_GROUPS, 1, 20000",
    })
    void numbersHaveARange(Option option, long min, long max) {
        assertThat(option.check(min)).isEqualTo(min);
        assertThat(option.check(max)).isEqualTo(max);
        for (long wrong : new long[] {min - 1, max + 1, Long.MIN_VALUE, Long.MAX_VALUE}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> option.check(wrong))
                    .withMessage(option.text() + " must be between " + min + " and " + max + ", got " + wrong);
        }
    }

    @ParameterizedTest
    @CsvSource(
            value = {
                "''|''",
                "com.acme|com.acme",
                "' com.acme ,\tcom.mprv '|com.acme,com.mprv",
                "',,com.acme, ,'|com.acme",
                "'\n    com.acme,\r\n    com.mprv.\n'|com.acme,com.mprv.",
                "com.ac*|com.ac*",
                "' '|''",
            },
            delimiter = '|')
    void packagesAreTrimmedAndEmptyPartsIgnored(String given, String kept) {
        assertThat(Option.MONITORED_PACKAGES.check(given)).isEqualTo(kept);
    }

    @ParameterizedTest
    @ValueSource(strings = {"com acme", "com.a,com\nacme", "a\u0000b", "a\tb", "com.acme\u007f", "x\u2028y"})
    void whiteSpaceInsideAPackageIsRefused(String given) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Option.MONITORED_PACKAGES.check(given))
                .withMessageStartingWith("monitoredPackages must be package prefixes separated by commas, without"
                        + " white space or control characters inside, got \"");
    }

    @ParameterizedTest
    @CsvSource(
            value = {
                "com.a;com.b|parts are separated by commas, not by semicolons|com.a;com.b",
                "com/acme|parts of a name are separated by dots, not by slashes|com/acme",
                "com.acme,com.*.x|an asterisk may only be the last character|com.*.x",
                "*.x|an asterisk may only be the last character|*.x",
                "com.acme**|an asterisk may only be the last character|com.acme**",
                "${app.packages}|this is a placeholder that was not replaced|${app.packages}",
                "com.acme,#{packages}|this is a placeholder that was not replaced|#{packages}",
            },
            delimiter = '|')
    void aPrefixThatMatchesNoClassIsRefused(String given, String problem, String part) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Option.MONITORED_PACKAGES.check(given))
                .withMessage("monitoredPackages must be package prefixes separated by commas, such as"
                        + " com.acme,org.example.app: " + problem + ", got \"" + part + "\"");
    }

    @Test
    void controlCharactersAreShownInTheMessage() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Option.MONITORED_PACKAGES.check("com.a,b\nc"))
                .withMessageEndingWith("got \"b\\u000ac\"");
    }

    @Test
    void packagesAreLimitedInNumberAndLength() {
        String longest = "\u00e4".repeat(500);
        assertThat(Option.MONITORED_PACKAGES.check(longest)).isEqualTo(longest);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Option.MONITORED_PACKAGES.check(longest + "x"))
                .withMessage("monitoredPackages must have parts of at most 1000 bytes, got one of 1001 bytes");
        String most = "a,".repeat(1000);
        assertThat(Option.MONITORED_PACKAGES.check(most)).isEqualTo(most.substring(0, most.length() - 1));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Option.MONITORED_PACKAGES.check(most + "a"))
                .withMessage("monitoredPackages must have at most 1000 parts, got 1001");
    }

    @Test
    void nullIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Option.MONITORED_PACKAGES.check(null))
                .withMessage("monitoredPackages must not be null");
    }

    @Test
    void choiceIsOneOfTwo() {
        assertThat(Option.ENGINE.check("JVMTI")).isEqualTo("JVMTI");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Option.ENGINE.check("FAST"))
                .withMessage("engine must be AUTO or JVMTI, got FAST");
    }

    @Test
    void choiceIsOneOfFour() {
        assertThat(Option.INSTRUMENTATION.check("TOTAL")).isEqualTo("TOTAL");
        assertThat(Option.INSTRUMENTATION.toInteger("TOTAL")).isEqualTo(3);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Option.INSTRUMENTATION.check("SLOW"))
                .withMessage("instrumentation must be AUTO, LAZY, EAGER or TOTAL, got SLOW");
    }

    @Test
    void rootsAreTrimmedAndEmptyPartsIgnored() {
        assertThat(Option.ROOT_METHODS.check(" com.a.B.run ,, \n com.a.B.add(int, String) ,"))
                .isEqualTo("com.a.B.run,com.a.B.add(int, String)");
        assertThat(Option.INSTRUMENTATION_FILTER.check(" com.acme , -com.acme.util,"))
                .isEqualTo("com.acme,-com.acme.util");
        assertThat(Option.ROOT_METHODS.check(" ")).isEqualTo("");
    }
}
