// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static com.incapsula.sampler.testing.Samplers.ticks;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Worker;
import com.incapsula.sampler.testing.work.Desk;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** The cost of a sampler for the JVM in the steady state. */
@ExtendWith(NothingLeft.class)
class SteadyStateIT {

    private static final int TICKS = 1000;

    @TempDir
    Path folder;

    @Test
    void aTickAllocatesNothingOnTheJavaHeap() throws IOException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        ThreadsSampler sampler = quick(new Recorder());
        sampler.setSamplingFrequencyMillis(1);
        sampler.setOverheadLimitPercent(100);
        try (Worker waiting = Worker.waiting("waiting");
                Worker busy = Worker.busy("busy")) {
            sampler.init();
            long id = idOf("threads-sampler");
            awaitTicks(sampler, 100);
            long bytesBefore = threads.getThreadAllocatedBytes(id);
            long pollsBefore = sampler.getStatistics().getPolls();
            awaitTicks(sampler, TICKS);
            patiently().until(() -> sampler.getStatistics().getPolls() - pollsBefore >= TICKS);
            assertThat(threads.getThreadAllocatedBytes(id))
                    .isEqualTo(bytesBefore)
                    .isNotNegative();
            assertThat(waiting.thread().isAlive() && busy.thread().isAlive()).isTrue();
        }
        sampler.close();
    }

    @SuppressWarnings("deprecation") // threadId() came with Java 19
    private static long idOf(String name) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(name))
                .mapToLong(Thread::getId)
                .findFirst()
                .orElseThrow();
    }

    /** Works for a while with a sampler, without one, or with something that a sampler must not do. */
    static final class Program {

        private Program() {}

        public static void main(String[] arguments) throws Exception {
            CountDownLatch goHome = new CountDownLatch(1);
            for (int i = 0; i < 5; i++) {
                Thread thread = new Thread(() -> serve(goHome), "waiting-" + i);
                thread.start();
            }
            new Thread(() -> Desk.calculate(goHome), "busy").start();
            switch (arguments[0]) {
                case "sampler" -> sample();
                case "nothing" -> Thread.sleep(500);
                case "dumps" -> dump();
                default -> throw new AssertionError(arguments[0]);
            }
            goHome.countDown();
        }

        private static void serve(CountDownLatch goHome) {
            try {
                Desk.serve(goHome);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        private static void sample() throws Exception {
            try (ThreadsSampler sampler = new ThreadsSampler()) {
                sampler.setSamplingFrequencyMillis(2);
                sampler.init();
                while (ticks(sampler) < TICKS) {
                    Thread.sleep(50); // rarely, because the call itself allocates
                }
            }
        }

        private static void dump() {
            for (int i = 0; i < TICKS; i++) {
                Thread.getAllStackTraces();
            }
        }
    }

    @Test
    void samplingCausesNoSafepoints() throws Exception {
        long without = safepoints("nothing");
        long with = safepoints("sampler");
        assertThat(safepoints("dumps")).as("safepoints are counted").isGreaterThanOrEqualTo(TICKS);
        assertThat(with)
                .as("in " + TICKS + " ticks; without a sampler: " + without)
                .isLessThanOrEqualTo(without + TICKS / 50);
    }

    private long safepoints(String what) throws Exception {
        Path log = folder.resolve(what + ".log");
        /*
         * Without the JVM's regular safepoints, and with memory for all that the program allocates while it waits:
         * their number would depend on the duration.
         */
        ChildJvm.of(Program.class)
                .with(Awaitility.class)
                .option(
                        "-XX:+UnlockDiagnosticVMOptions",
                        "-XX:GuaranteedSafepointInterval=0",
                        "-Xmn160m",
                        "-Xlog:safepoint:file=" + log)
                .run(what)
                .assertFine();
        return Files.readAllLines(log).stream()
                .filter(line -> line.contains("Safepoint \""))
                .count();
    }
}
