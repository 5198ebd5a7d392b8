// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.Group;
import com.incapsula.sampler.testing.Report;
import com.incapsula.sampler.testing.Samplers;
import com.incapsula.sampler.testing.StoppedProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Time in which the whole process got no CPU is credited to none of its methods. */
class StoppedProcessIT {

    private static final String STOPPED = "[process stopped]";

    /**
     * More than the second from which on it counts as a stop. It does not count if the process computes for a twentieth
     * of this time before the sampler thread gets a CPU.
     */
    private static final long STOP_MILLIS = 5_000;

    /** Ticks may have been skipped for this long when the stop began, because no thread was due. */
    private static final long REST_MILLIS = 1_000;

    private static void send(String signal, long process) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + signal, String.valueOf(process))
                        .inheritIO()
                        .start()
                        .waitFor())
                .isZero();
    }

    private static boolean isStopped(long process) throws IOException {
        try (Stream<Path> tasks = Files.list(Path.of("/proc", String.valueOf(process), "task"))) {
            for (Path task : tasks.toList()) {
                String line = Files.readString(task.resolve("stat"));
                if (!line.substring(line.lastIndexOf(')') + 2).startsWith("T")) {
                    return false;
                }
            }
            return true;
        }
    }

    private static long millisSince(long start) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    }

    @Test
    void theTimeOfAStopHasARowInEachGroup() throws Exception {
        /* The sampler thread may have had no CPU since its first tick; then the gap begins there. */
        long outerStart = System.nanoTime();
        ChildJvm.Running child =
                ChildJvm.of(StoppedProgram.class).withTestLibraries().start();
        try {
            stop(child.awaitOutput("ready"), outerStart);
        } finally {
            child.process().destroyForcibly();
        }
    }

    private static void stop(ChildJvm.Running child, long outerStart) throws Exception {
        long process = child.process().pid();
        send("STOP", process);
        Samplers.patiently().until(() -> isStopped(process));
        long innerStart = System.nanoTime();
        TimeUnit.MILLISECONDS.sleep(STOP_MILLIS);
        long inner = millisSince(innerStart);
        send("CONT", process);
        child.process().getOutputStream().close();
        String output = child.await().assertFine().output();
        long outer = millisSince(outerStart);

        Report report = Report.parse(output.substring(output.indexOf("Report interval")))
                .get(0);
        for (String name : List.of("busy", "idle")) {
            Group group = report.group(name);
            long stopped = group.millisIn(STOPPED);
            assertThat(stopped).as(output).isBetween(inner - REST_MILLIS, outer);
            assertThat(group.cumulativeMillis() - stopped).as(output).isNotNegative();
        }
        assertThat(report.figure("milliseconds in which the process was stopped"))
                .isBetween(inner - REST_MILLIS, outer);
    }
}
