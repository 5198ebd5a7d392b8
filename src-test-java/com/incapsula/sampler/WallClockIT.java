// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.quick;
import static com.incapsula.sampler.testing.Samplers.ticks;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.Preload;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Report;
import java.nio.file.Path;
import java.util.TreeSet;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A step of the wall clock does not affect credited time. The machine's clock is not changed: a preloaded library makes
 * the child JVM's wall clock jump by hours at every reading.
 */
class WallClockIT {

    @TempDir
    Path folder;

    /** Samples its main thread while it works, and prints the figures. */
    static final class Program {

        private Program() {}

        public static void main(String[] arguments) throws Exception {
            TreeSet<Long> hours = new TreeSet<>();
            Recorder recorder = new Recorder();
            ThreadsSampler sampler = quick(recorder);
            sampler.setReportFrequencySeconds(1);
            sampler.setThreadToBeSampled(Thread.currentThread());
            long outer = System.nanoTime();
            sampler.init();
            long inner = System.nanoTime();
            while (recorder.reports().size() < 2 || ticks(sampler) < 300) {
                hours.add(System.currentTimeMillis() / 3_600_000);
                Thread.sleep(5);
            }
            long atLeast = (System.nanoTime() - inner) / 1_000_000;
            sampler.close();
            long atMost = (System.nanoTime() - outer) / 1_000_000;
            int rounding = 10 + recorder.reports().size();
            long credited = 0;
            for (Report report : recorder.reports()) {
                credited += report.group("main").cumulativeMillis();
            }
            System.out.println("hours seen: " + hours.size());
            System.out.println("reports: " + recorder.reports().size());
            System.out.println("credited: "
                    + (credited >= atLeast - rounding && credited <= atMost + rounding
                            ? "right"
                            : credited + " not between " + atLeast + " and " + atMost));
        }
    }

    @Test
    void steppingTheWallClockHasNoEffectOnCreditedTime() throws Exception {
        String output = ChildJvm.of(Program.class)
                .with(Awaitility.class)
                .environment(
                        "LD_PRELOAD", Preload.compile("stepped_clock.c", folder).toString())
                .run()
                .assertFine()
                .output();
        assertThat(output.replaceAll("hours seen: ([4-9]|\\d\\d+)\n", "hours seen: several\n")
                        .replaceAll("reports: ([2-9]|\\d\\d+)\n", "reports: several\n"))
                .isEqualTo("hours seen: several\nreports: several\ncredited: right\n");
    }
}
