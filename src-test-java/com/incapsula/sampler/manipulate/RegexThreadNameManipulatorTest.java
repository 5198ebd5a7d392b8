// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.manipulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RegexThreadNameManipulatorTest {

    private final RegexThreadNameManipulator manipulator = new RegexThreadNameManipulator();

    @ParameterizedTest
    @CsvSource({
        "http-nio-8080-exec-12, http-nio--exec-",
        "main, main",
        "pool-1-thread-2, pool--thread-",
        "10.0.0.1:8080, [unnamed]",
        "42, [unnamed]",
        "0123456789abcdef, [unnamed]",
        "job-0123456789abcdef0-end, job--end",
        "job-0123456789abcde-end, job--end",
        "req-1b4e28ba-2fa1-11d2-883f-0016d3cca427, req-",
        "req-1B4E28BA-2FA1-11D2-883F-0016D3CCA427-end, req--end",
        "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee, [unnamed]",
        "deadbeef, deadbeef",
        "deadbeef1, [unnamed]",
        "Foo@1A2b3c4d, Foo@",
        "1a2b3c4, abc",
        "my-facade12, my-",
        "pool-1-thread-12, pool--thread-",
        "DEADBEEFDEADBEEF, DEADBEEFDEADBEEF",
        "worker-\u0663, worker-\u0663",
    })
    void removesIdentifiersThenNumbers(String name, String group) {
        assertThat(manipulator.getManipulatedThreadName(new Thread(name))).isEqualTo(group);
    }

    @Test
    void emptyNameIsUnnamed() {
        assertThat(manipulator.getManipulatedThreadName(new Thread(""))).isEqualTo("[unnamed]");
    }

    @Test
    void ownPatternsReplaceTheDefaults() {
        manipulator.setThreadNameRemovalPatterns(List.of("^a+", "b"));

        assertThat(manipulator.getManipulatedThreadName(new Thread("aaab1b2"))).isEqualTo("12");
        assertThat(manipulator.getThreadNameRemovalPatterns()).containsExactly("^a+", "b");
    }

    @Test
    void noPatternsLeaveNamesAlone() {
        manipulator.setThreadNameRemovalPatterns(List.of());

        assertThat(manipulator.getManipulatedThreadName(new Thread("t-1"))).isEqualTo("t-1");
    }

    @Test
    void defaultsCanBeRead() {
        assertThat(manipulator.getThreadNameRemovalPatterns()).hasSize(4).endsWith("[0-9a-f]{16,}", "[\\.:\\d]+");
    }

    @Test
    void wrongPatternsAreNamedAndChangeNothing() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> manipulator.setThreadNameRemovalPatterns(List.of("a", "(")))
                .withMessage("threadNameRemovalPatterns[1] must be a regular expression, got (: Unclosed group");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> manipulator.setThreadNameRemovalPatterns(Arrays.asList("a", null)))
                .withMessage("threadNameRemovalPatterns[1] must not be null");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> manipulator.setThreadNameRemovalPatterns(null))
                .withMessage("threadNameRemovalPatterns must not be null");
        assertThat(manipulator.getThreadNameRemovalPatterns())
                .isEqualTo(new RegexThreadNameManipulator().getThreadNameRemovalPatterns());
    }
}
