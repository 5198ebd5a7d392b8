// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FramesTest {

    @Test
    void aLongNameIsNotCutWithinACharacter() {
        String face = "\uD83D\uDE00";
        String name = "a" + face.repeat(200) + "b";

        String cut = Frames.clean(name);

        assertThat(cut).isEqualTo("a" + face.repeat(39) + "..." + face.repeat(39) + "b");
    }
}
