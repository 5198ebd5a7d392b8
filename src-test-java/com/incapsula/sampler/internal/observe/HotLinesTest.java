// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.incapsula.sampler.internal.engine.FakeSnapshot;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class HotLinesTest {

    @Test
    void hotLinesAreLeavesOverAllGroups() throws IOException {
        FakeSnapshot snapshot = new FakeSnapshot();
        snapshot.document = "main;a;x y(F.java:1) 5\npool;b;c;x y(F.java:1) 6\npool;z 11\nmain;w 12\nonly 3\n";
        assertThat(HotLines.of(snapshot, 3))
                .extracting(HotLines.Line::text, HotLines.Line::wallNanos, HotLines.Line::cpuNanos,
                        HotLines.Line::samples)
                .containsExactly(tuple("w", 12L, 12L, 12L), tuple("x y(F.java:1)", 11L, 11L, 11L),
                        tuple("z", 11L, 11L, 11L));
        snapshot.release();
    }
}
