// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FileNamesTest {

    @Test
    void namesOfFilesHaveProcessAndHost() {
        assertThat(FileNames.expand("/r/%h/%p-%t-%n.html", "42", "box")).isEqualTo("/r/box/42-%t-%n.html");
        assertThat(FileNames.expand("100%%p%", "42", "box")).isEqualTo("100%%p%");
        assertThat(FileNames.expand("%p"))
                .isEqualTo(String.valueOf(ProcessHandle.current().pid()));
    }
}
