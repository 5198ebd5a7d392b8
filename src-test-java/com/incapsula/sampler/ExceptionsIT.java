// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Stacks of code that an exception passes through: no method is missing while the JVM looks for the handler. */
class ExceptionsIT {

    private static final String STUB = "handle_exception_from_callee";
    private static final String SEEN = "stack ";

    /** Prints its stacks when enough of them contain the JVM's stub, which only methods compiled by C1 call. */
    static final class Program {

        private static final long ENOUGH_MILLIS = 150;
        private static final int KINDS = 2;
        private static final RuntimeException THROWN = new RuntimeException("always", null, false, false) {
            private static final long serialVersionUID = 1;
        };

        private static volatile long sink;

        private Program() {}

        static int thrower(int i) {
            if (i >= 0) {
                throw THROWN;
            }
            return i;
        }

        /** If this method is missing from a stack, its caller takes its place. */
        static int passer(int i) {
            sink++;
            return thrower(i);
        }

        static int catcher(int i) {
            int result = 0;
            try {
                result = passer(i);
            } catch (RuntimeException e) {
                result = 1;
            }
            return result;
        }

        static int outer(int i) {
            return catcher(i) + 1;
        }

        private static List<String> stacks(ThreadsSampler sampler) throws IOException {
            try (SamplingReport report = sampler.snapshot()) {
                return report.toString(ReportFormat.COLLAPSED)
                        .lines()
                        .filter(line -> line.contains(STUB) && !line.contains("sampler.internal."))
                        .collect(Collectors.toList());
            }
        }

        private static long millis(List<String> stacks) {
            return stacks.stream()
                    .mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
                    .sum();
        }

        public static void main(String[] arguments) throws IOException {
            try (ThreadsSampler sampler = new ThreadsSampler()) {
                sampler.setSamplingFrequencyMillis(1);
                sampler.setReportFrequencySeconds(0);
                sampler.setOverheadLimitPercent(100);
                sampler.setThreadToBeSampled(Thread.currentThread());
                for (int i = 0; i < 200_000; i++) { // all are compiled
                    sink += outer(i);
                }
                sampler.init();
                List<String> stacks = List.of();
                while (stacks.size() < KINDS || millis(stacks) < ENOUGH_MILLIS) {
                    for (int i = 0; i < 1_000_000; i++) {
                        sink += outer(i);
                    }
                    stacks = stacks(sampler);
                }
                stacks.forEach(line -> System.out.println(SEEN + line));
            }
        }
    }

    /**
     * The exception either passes through {@code passer} or is caught in {@code catcher}; both must be at the line of
     * their call.
     */
    @Test
    void noMethodIsMissingWhereAHandlerIsLookedFor() throws Exception {
        String methods = Program.class.getName();
        String output = ChildJvm.of(Program.class)
                .option("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline," + methods + "::*")
                .run()
                .assertFine()
                .output();
        List<String> above = output.lines()
                .filter(line -> line.startsWith(SEEN))
                .map(line -> line.replaceAll(".*Program\\.main\\([^;]*;", "")
                        .replaceAll("[\\w.]*ExceptionsIT\\$Program\\.", "")
                        .replaceAll("\\(ExceptionsIT.java:(\\d+)\\)", ":$1")
                        .replaceAll(";\\[[^]]*\\] \\d+$", ""))
                .distinct()
                .collect(Collectors.toList());
        int passes = line("return thrower(i);");
        int catches = line("result = passer(i);");
        int calls = line("return catcher(i) + 1;");
        assertThat(above)
                .containsExactlyInAnyOrder(
                        "outer:" + calls + ";catcher:" + catches,
                        "outer:" + calls + ";catcher:" + catches + ";passer:" + passes);
    }

    private static int line(String text) throws IOException {
        List<String> lines = Files.readAllLines(Path.of("src-test-java/com/incapsula/sampler/ExceptionsIT.java"));
        return 1
                + lines.indexOf(lines.stream()
                        .filter(line -> line.strip().equals(text))
                        .findFirst()
                        .orElseThrow());
    }
}
