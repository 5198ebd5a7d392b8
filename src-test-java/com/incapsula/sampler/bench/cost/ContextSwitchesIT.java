// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.testing.Measures;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The sampler neither wakes nor interrupts nor walks a parked thread, however often it polls the thread. */
@Measures(besideOthers = true)
class ContextSwitchesIT {

    private static final int THREADS = 200;
    private static final int MILLIS = Boolean.getBoolean("sampler.test.long") ? 10_000 : 3_000;

    @Test
    void parkedThreadsGoOnWaiting() throws Exception {
        List<String[]> lines = Jvm.of(Path.of(System.getProperty("java.home")), List.of())
                .run(ContextSwitches.class, THREADS, MILLIS, "hybrid only");
        assertThat(lines).extracting(cells -> cells[0]).containsExactly("ours, hybrid (HYBRID)", "walks");
        assertThat(lines.get(0)[1]).as("context switches of parked threads").isEqualTo("0");
        /* Only threads that ran meanwhile are walked; otherwise it would be THREADS walks a millisecond. */
        assertThat(Long.parseLong(lines.get(1)[1])).as("walks").isLessThan((long) THREADS * MILLIS / 50);
    }
}
