// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static java.lang.System.nanoTime;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.SourceLines;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Code that calls C functions of the JVM directly from compiled methods is attributed to the lines of these calls. */
@Measures(besideOthers = true)
class LeafCallsIT {

    private static final String SEEN = "seen ";

    /** The least share of a loop's time that belongs to its calls; the rest is the code around them. */
    private static final double SHARE = 0.95;

    /* The loop with a lock makes five calls, and the lock takes between half a call and a whole one. */
    private static final double SHARE_BESIDE_A_LOCK = 0.8;

    /**
     * Prints its stacks with their CPU time in nanoseconds. Unlike wall time, CPU time has no waits for a CPU, which
     * belong to no line.
     */
    static final class Program {

        private static final long PART_NANOS = TimeUnit.MILLISECONDS.toNanos(800);
        private static final long CALL_NANOS = 20_000;
        /* Reading the CPU clock is a system call, which may take as long as one of the measured calls. */
        private static final int CALLS_BETWEEN_READINGS = 50;
        private static final Object LOCK = new Object();
        private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

        private static volatile long sink;

        private Program() {}

        /** C2 shares the thread object, whose line is the first one's, with all safepoint polls below. */
        static long run(int part) {
            sink += Thread.currentThread().hashCode();
            switch (part) {
                case 0:
                    return nanos();
                case 1:
                    return millis();
                case 2:
                    return locked();
                default:
                    throw new IllegalArgumentException("part " + part);
            }
        }

        private static long nanos() {
            long start = System.nanoTime();
            long now = start;
            while (now - start < CALL_NANOS) {
                now = System.nanoTime(); // nanos
            }
            return now;
        }

        private static long millis() {
            long start = System.currentTimeMillis();
            long now = start;
            for (int i = 0; i < CALL_NANOS / 20; i++) {
                now = System.currentTimeMillis(); // millis
            }
            return now - start;
        }

        private static long locked() {
            long start = System.nanoTime();
            long now = start;
            while (now - start < CALL_NANOS) {
                now = nanoTime() + nanoTime() - nanoTime() + nanoTime() - nanoTime(); // locked
                synchronized (LOCK) {
                    start++;
                }
            }
            return now;
        }

        private static void runParts() {
            for (int part = 0; part < 3; part++) {
                long until = THREADS.getCurrentThreadCpuTime() + PART_NANOS;
                while (THREADS.getCurrentThreadCpuTime() < until) {
                    for (int i = 0; i < CALLS_BETWEEN_READINGS; i++) {
                        sink += run(part);
                    }
                }
            }
        }

        public static void main(String[] arguments) throws IOException {
            try (ThreadsSampler sampler = new ThreadsSampler()) {
                sampler.setSamplingFrequencyMillis(1);
                sampler.setReportFrequencySeconds(0);
                sampler.setOverheadLimitPercent(100);
                sampler.setThreadToBeSampled(Thread.currentThread());
                sampler.init();
                runParts(); // all are compiled
                sampler.snapshot().close();
                runParts();
                try (SamplingReport report = sampler.snapshot()) {
                    ByteArrayOutputStream stacks = new ByteArrayOutputStream();
                    report.writeTo(
                            ReportFormat.COLLAPSED, ReportOptions.standard().withMeasure(ReportMeasure.CPU), stacks);
                    stacks.toString(StandardCharsets.UTF_8)
                            .lines()
                            .filter(line -> line.contains("Program.run("))
                            .forEach(line -> System.out.println(SEEN + line));
                }
            }
        }
    }

    @Test
    void loopsAreAtTheLinesOfTheirCalls() throws Exception {
        String program = Program.class.getName();
        Map<String, Long> seen = nanosByPlace(ChildJvm.of(Program.class)
                .option("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline," + program + "::run")
                .run()
                .assertFine()
                .output());
        long firstUse = seen.getOrDefault("run:" + line("sink += Thread.currentThread().hashCode();"), 0L);
        assertThat(firstUse)
                .as("the first use of the thread's object in %s", seen)
                .isLessThan((long) ((1 - SHARE) * Program.PART_NANOS));
        assertShare(seen, "nanos", SHARE);
        assertShare(seen, "millis", SHARE);
        assertShare(seen, "locked", SHARE_BESIDE_A_LOCK);
    }

    private static void assertShare(Map<String, Long> seen, String method, double least) throws IOException {
        long all = seen.entrySet().stream()
                .filter(place -> place.getKey().startsWith(method + ":"))
                .mapToLong(Map.Entry::getValue)
                .sum();
        assertThat(all).as("%s in %s", method, seen).isGreaterThan(Program.PART_NANOS / 2);
        assertThat(seen.getOrDefault(method + ":" + line("// " + method), 0L))
                .as("calls of %s in %s", method, seen)
                .isGreaterThan((long) (least * all));
    }

    /* Nanoseconds by "method:line" of the program's innermost frame. */
    private static Map<String, Long> nanosByPlace(String output) {
        Pattern frame = Pattern.compile("LeafCallsIT\\$Program\\.(\\w+)\\(LeafCallsIT\\.java:(\\d+)\\)");
        Map<String, Long> nanos = new HashMap<>();
        output.lines().filter(line -> line.startsWith(SEEN)).forEach(line -> {
            Matcher matcher = frame.matcher(line);
            String place = "";
            while (matcher.find()) {
                place = matcher.group(1) + ":" + matcher.group(2);
            }
            long amount = Long.parseLong(line.substring(line.lastIndexOf(' ') + 1));
            nanos.merge(place, amount, Long::sum);
        });
        return nanos;
    }

    private static int line(String text) throws IOException {
        return SourceLines.endingIn(SourceLines.TESTS, LeafCallsIT.class, text).first();
    }
}
