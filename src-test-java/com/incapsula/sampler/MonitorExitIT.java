// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.SourceLines;
import com.incapsula.sampler.testing.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;

/**
 * C1's code that releases a lock for which another thread waits is attributed to the method that holds the lock, and to
 * the right line.
 */
@EnabledOnOs(architectures = "amd64")
class MonitorExitIT {

    /** Several threads contend for two locks; prints the stacks of those that release one. */
    static final class Program {

        private static final int THREADS = 4;
        private static final int STACKS = 20;
        private static final int MOST_STACKS = 2000;
        private static final Object LOCK = new Object();

        private static long added;
        private static long blocked;
        private static volatile Object made;

        private Program() {}

        private static long burn(long value) {
            long burnt = value;
            for (int i = 0; i < 300; i++) {
                burnt = burnt * 31 + i;
            }
            return burnt;
        }

        private static synchronized void add() {
            added = burn(added); // added
        } // added

        private static void block(long[] values) {
            synchronized (LOCK) { // held
                blocked = burn(blocked); // held
                values[0] = blocked; // held
            } // held
            values[1]++;
            made = new Object();
        }

        private static void run(long[] values) {
            add();
            values[2]++;
            made = new Object();
            block(values);
            values[3]++;
        }

        /* Called often, so that the method is compiled as a whole soon, and not later, while its loop runs. */
        private static void runSome(long[] values) {
            for (int i = 0; i < 20; i++) {
                run(values);
            }
        }

        private static void work(CountDownLatch goHome) {
            long[] values = new long[4];
            while (goHome.getCount() > 0) {
                runSome(values);
            }
        }

        public static void main(String[] arguments) throws Exception {
            ThreadsSampler sampler = quick(new Recorder());
            sampler.setSamplingFrequencyMillis(1);
            sampler.setOverheadLimitPercent(100);
            sampler.init();
            List<Worker> workers = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                workers.add(Worker.doing("worker", Program::work));
            }
            collect(sampler); // the JVM reports new code a little after it has begun to run
            List<String> seen = collect(sampler);
            Worker.closeAll(workers);
            sampler.close();
            seen.forEach(System.out::println);
        }

        private static List<String> collect(ThreadsSampler sampler) {
            List<String> seen = new ArrayList<>();
            patiently().until(() -> {
                try (SamplingReport report = sampler.snapshot()) {
                    report.toString(ReportFormat.COLLAPSED)
                            .lines()
                            .filter(line -> line.contains("Program.work(")
                                    && line.contains(";[")
                                    && line.contains("monitorexit"))
                            .forEach(seen::add);
                }
                return seen.size() >= MOST_STACKS || (hasEnough(seen, "add") && hasEnough(seen, "block"));
            });
            return seen;
        }

        private static boolean hasEnough(List<String> seen, String method) {
            return seen.stream()
                            .filter(stack -> stack.contains("Program." + method + "("))
                            .count()
                    >= STACKS;
        }
    }

    /*
     * Compiles each method as soon as it was called often enough, however busy the machine is, and never the loop
     * around them: otherwise code could be compiled while the last stacks are collected.
     */
    private static final String[] COMPILED_AT_ONCE = {
        "-Xbatch", "-XX:CompileCommand=quiet", "-XX:CompileCommand=exclude," + Program.class.getName() + "::work"
    };

    @Test
    void aLockEndsWhereItIsHeld() throws Exception {
        String output = ChildJvm.of(Program.class)
                .option("-XX:TieredStopAtLevel=1")
                .option(COMPILED_AT_ONCE)
                .withTestLibraries()
                .run()
                .assertFine()
                .output();
        Pattern stack = Pattern.compile("Program\\.(\\w+)\\(MonitorExitIT\\.java:(\\d+)\\);\\[[^;]*monitorexit");
        Set<String> places = new TreeSet<>();
        Matcher matcher = stack.matcher(output);
        while (matcher.find()) {
            places.add(matcher.group(1) + ":" + matcher.group(2));
        }
        Set<String> held = new TreeSet<>();
        SourceLines.endingIn(SourceLines.TESTS, MonitorExitIT.class, "// held")
                .forEach(line -> held.add("block:" + line));
        SourceLines.endingIn(SourceLines.TESTS, MonitorExitIT.class, "// added")
                .forEach(line -> held.add("add:" + line));
        assertThat(places)
                .isSubsetOf(held)
                .anyMatch(place -> place.startsWith("add:"))
                .anyMatch(place -> place.startsWith("block:"));
    }
}
