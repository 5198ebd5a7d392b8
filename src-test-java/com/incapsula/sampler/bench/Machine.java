// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench;

import com.incapsula.sampler.bench.peer.AsyncProfilerPeer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.stream.Collectors;
import org.openjdk.jmh.util.Version;

/** The machine of a measurement, described when the measurement began. */
public final class Machine {

    private final String load = read("/proc/loadavg").replaceAll("^(\\S+ \\S+ \\S+).*", "$1");
    private final Instant start = Instant.now();

    private Machine() {}

    static Machine now() {
        return new Machine();
    }

    String describe(Plan plan, String command) {
        String jdks = plan.jdks().stream().map(Jvm::version).collect(Collectors.joining(", "));
        return "- command: `mvn -Pbench test -Dbench=\""
                + command.replaceAll("(--jdk|--out|--before) \\S+", "$1 FOLDER")
                + "\"`\n- date: " + start.truncatedTo(ChronoUnit.SECONDS)
                + "\n- machine: " + Runtime.getRuntime().availableProcessors() + " cores, " + processor() + ", "
                + System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                + System.getProperty("os.arch") + "; load before " + load + ", after "
                + read("/proc/loadavg").replaceAll("^(\\S+ \\S+ \\S+).*", "$1")
                + "\n- JDKs: " + jdks + "; driver on " + System.getProperty("java.runtime.version")
                + "\n- async-profiler " + AsyncProfilerPeer.version() + ", JMH "
                + Version.getPlainVersion().trim() + "\n";
    }

    /**
     * Names the processor.
     *
     * @return its own name with the numbers of its family and model, because a virtual machine may omit the rest of the
     *     name
     */
    public static String processor() {
        return cpuinfo("model name") + " (family " + cpuinfo("cpu family") + ", model " + cpuinfo("model") + ")";
    }

    private static String cpuinfo(String key) {
        return read("/proc/cpuinfo")
                .lines()
                .filter(line -> line.matches(key + "\\s*:.*"))
                .findFirst()
                .map(line -> line.substring(line.indexOf(':') + 1).trim())
                .orElse("?");
    }

    private static String read(String file) {
        try {
            return Files.readString(Path.of(file)).stripTrailing();
        } catch (IOException e) {
            return "?";
        }
    }
}
