// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.testing.Measures;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Together with another profiler, whose handler ours interrupts, the sampler finds the right line as often as alone.
 */
@Measures(besideOthers = true)
class CompanyIT {

    private static final boolean LONG = Boolean.getBoolean("sampler.test.long");
    private static final int MILLIS = LONG ? 5000 : 1000;
    /* If walks that begin in another handler are not corrected, the share is 0 to 20 %. */
    private static final double LEAST_PERCENT = 50;
    private static final double BAR = 1;
    private static final double SIGMAS = 3;
    private static final String CTIMER = "async-profiler ctimer";
    private static final String ALONE = "-";

    static List<String> programs() {
        return LONG ? Company.programs() : List.of("systemArrayCopy");
    }

    /* The handlers of JFR interrupt Java code, too; its CPU-time sampler exists from JDK 25 on. */
    private static List<String> companions() {
        List<String> all = new ArrayList<>(LONG ? Company.COMPANIONS : List.of(Peer.JFR, Peer.JFR_CPU, CTIMER));
        all.removeIf(name -> name.equals(Peer.JFR_CPU) && Runtime.version().feature() < 25);
        return all;
    }

    @ParameterizedTest
    @MethodSource("programs")
    void isAsRightAsAlone(String program) throws Exception {
        List<Object> arguments = new ArrayList<>(
                List.of(program, MILLIS, 1, Path.of("src-test-java").toAbsolutePath()));
        arguments.addAll(companions());
        List<String[]> lines =
                Jvm.of(Path.of(System.getProperty("java.home")), List.of()).run(Company.class, arguments.toArray());
        Map<String, String[]> alone = new HashMap<>();
        SoftAssertions.assertSoftly(softly -> {
            for (String[] cells : lines) {
                System.out.println(program + ": " + String.join("  ", cells));
                if (cells[1].equals(ALONE)) {
                    alone.put(cells[0], cells);
                } else if (cells[0].startsWith("ours")) {
                    check(softly, cells, alone.get(cells[0]));
                }
            }
        });
        /* The counter is shared by the JVM, so the last line has the total. */
        long inHandlers = lines.stream()
                .filter(cells -> cells[0].startsWith("ours"))
                .mapToLong(cells -> Long.parseLong(cells[7]))
                .max()
                .orElse(0);
        assertThat(inHandlers).as("walks that began in another handler").isPositive();
    }

    private static void check(SoftAssertions softly, String[] cells, String[] alone) {
        String what = String.join(" ", List.of(cells).subList(0, 3)) + ": " + cells[6];
        double total = Double.parseDouble(cells[3]);
        double right = 100 * Double.parseDouble(cells[4]) / total;
        double failed = 100 * Double.parseDouble(cells[5]) / total;
        softly.assertThat(total).as(what).isPositive();
        if (!LONG) {
            softly.assertThat(right).as("right %, " + what).isGreaterThan(LEAST_PERCENT);
            return;
        }
        double totalAlone = Double.parseDouble(alone[3]);
        double noise = SIGMAS * Math.sqrt(100 * (100 - Math.min(right, 99)) * (1 / total + 1 / totalAlone));
        softly.assertThat(right)
                .as("right %, " + what)
                .isGreaterThan(100 * Double.parseDouble(alone[4]) / totalAlone - BAR - noise);
        softly.assertThat(failed)
                .as("failed %, " + what)
                .isLessThan(100 * Double.parseDouble(alone[5]) / totalAlone + BAR + noise);
    }
}
