// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import one.profiler.AsyncProfiler;

/**
 * Services with planted faults: after how many rows does a profiler name each of them? All profilers are attached to
 * the same process, with their defaults, one after the other.
 *
 * <p>Needs the examples and their jars: see the README of the benchmarks.
 */
public final class FoundFaults {

    /* The jars of each service are in a folder of its name below target/faults. */
    private enum Service {
        ORDERS("order-service", "com.example.orders.OrderService"),
        BOOKINGS("booking-service", "com.example.bookings.BookingService"),
        KIOSK("spring-boot", "com.example.kiosk.Kiosk");

        private final String example;
        private final String main;

        Service(String example, String main) {
            this.example = example;
            this.main = main;
        }

        /** @return the faults that the example's own tests look for, too */
        private List<Fault> faults() throws IOException {
            try (Stream<String> lines = Files.lines(Path.of("examples", example, "faults.txt"))) {
                return lines.filter(line -> !line.startsWith("#"))
                        .map(line -> Fault.of(line.split("\\|", Fault.COLUMNS)))
                        .toList();
            }
        }
    }

    private record Fault(String name, String method, List<String> states, boolean isHeld) {

        private static final int COLUMNS = 8;

        /** The columns are described in the first lines of a faults.txt. */
        private static Fault of(String... columns) {
            return new Fault(
                    columns[0].strip(),
                    columns[1].strip(),
                    List.of(columns[4].strip().split(", ")),
                    !columns[5].isBlank());
        }

        private boolean isNamedIn(String line) {
            return line.contains(method);
        }

        private boolean isInState(String line) {
            return states.stream().anyMatch(state -> line.contains(" " + state + " "));
        }
    }

    private static final long WARM_UP_SECONDS = 8;
    private static final long MORE_SECONDS = 40;
    private static final long HANG_MINUTES = 3;
    private static final List<String> VIEWS = List.of(
            "hot-methods",
            "cpu-time-hot-methods",
            "contention-by-site",
            "contention-by-class",
            "latencies-by-type",
            "exception-by-site",
            "socket-reads-by-host");
    private static final String NOT_NAMED = "–";

    private FoundFaults() {}

    /**
     * Runs everything.
     *
     * @param plan the window is the time for which each profiler is attached
     * @param only not used
     * @return a table per JDK
     */
    public static List<Table> run(Plan plan, String only) throws Exception {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            Table table = new Table(
                    "Planted faults: the row that names each, " + plan.windowMillis() + " ms per profiler, JDK "
                            + Jvm.version(jdk),
                    "service",
                    "fault",
                    "ours: line of the summary",
                    "says its line, state, holder",
                    "async-profiler, wall: line of its traces",
                    "JFR, profile: row of a view");
            for (Service service : Service.values()) {
                addRows(table, plan, jdk, service);
            }
            note(table);
            tables.add(table);
        }
        return tables;
    }

    private static void note(Table table) {
        table.note(
                "Ours: `java -jar threads-sampler.jar PID`, the lines of the terminal. async-profiler: text form of the"
                        + " profile (`traces`), whose rows are stacks from the hottest one on, each with its frames; it has no line"
                        + " numbers there, no state and no holder. JFR: the best row over the views "
                        + String.join(", ", VIEWS)
                        + " of `jfr view`; the view is named. –: not in the first 2,000 rows.");
    }

    private static void addRows(Table table, Plan plan, Path jdk, Service service) throws Exception {
        String name = service.name().toLowerCase(Locale.ROOT);
        String tests = Path.of(FoundFaults.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI())
                .toString();
        Process process = new ProcessBuilder(
                        Jvm.executable(jdk),
                        "-cp",
                        Path.of("target", "faults", name).toAbsolutePath() + "/*:" + tests,
                        ServiceProgram.class.getName(),
                        service.main,
                        String.valueOf(WARM_UP_SECONDS + MORE_SECONDS + 3 * plan.windowMillis() / 1000))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            TimeUnit.SECONDS.sleep(WARM_UP_SECONDS);
            Path scratch = Files.createTempDirectory("faults");
            List<String> ours = ours(process.pid(), plan, jdk);
            List<String> traces = traces(process.pid(), plan, scratch);
            List<List<String>> views = views(process.pid(), plan, jdk, scratch);
            for (Fault fault : service.faults()) {
                String line = ours.stream()
                        .filter(text -> fault.isNamedIn(text) && fault.isInState(text))
                        .findFirst()
                        .orElse("");
                table.row(
                        name,
                        fault.name,
                        line.isEmpty() ? NOT_NAMED : ours.indexOf(line) + 1,
                        saidIn(line, fault),
                        rowOf(traces, fault),
                        bestRowOf(views, fault));
            }
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    private static String saidIn(String line, Fault fault) {
        if (line.isEmpty()) {
            return NOT_NAMED;
        }
        List<String> said = new ArrayList<>();
        if (line.matches(".*\\.java:\\d+\\).*")) {
            said.add("line");
        }
        said.add("state");
        if (fault.isHeld && line.contains("held in")) {
            said.add("holder");
        }
        return String.join(", ", said);
    }

    private static String rowOf(List<String> rows, Fault fault) {
        for (int i = 0; i < rows.size(); i++) {
            if (fault.isNamedIn(rows.get(i))) {
                return String.valueOf(i + 1);
            }
        }
        return NOT_NAMED;
    }

    private static String bestRowOf(List<List<String>> views, Fault fault) {
        String best = NOT_NAMED;
        int least = Integer.MAX_VALUE;
        for (int i = 0; i < views.size(); i++) {
            String row = rowOf(views.get(i), fault);
            if (!row.equals(NOT_NAMED) && Integer.parseInt(row) < least) {
                least = Integer.parseInt(row);
                best = row + ", " + VIEWS.get(i);
            }
        }
        return best;
    }

    private static List<String> ours(long pid, Plan plan, Path jdk) throws Exception {
        return output(List.of(
                Jvm.executable(jdk),
                "-jar",
                shippedJar(),
                String.valueOf(pid),
                "-d",
                plan.windowMillis() / 1000 + "s"));
    }

    private static String shippedJar() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("target").toAbsolutePath())) {
            return files.map(Path::toString)
                    .filter(name -> name.matches(".*/threads-sampler-[^/]*\\.jar"))
                    .filter(name -> !name.matches(".*-(sources|javadoc)\\.jar"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static List<String> traces(long pid, Plan plan, Path scratch) throws Exception {
        String library = unpacked(scratch.resolve("libasyncProfiler.so"));
        Path file = scratch.resolve("traces.txt");
        VirtualMachine vm = VirtualMachine.attach(String.valueOf(pid));
        try {
            vm.loadAgentPath(library, "start,event=wall,interval=20ms,jstackdepth=2048");
            Thread.sleep(plan.windowMillis());
            vm.loadAgentPath(library, "stop,traces=2000,file=" + file);
        } finally {
            vm.detach();
        }
        List<String> rows = new ArrayList<>(Files.readAllLines(file));
        rows.removeIf(row -> !row.startsWith("---") && !row.startsWith("  ["));
        return rows;
    }

    private static String unpacked(Path file) throws IOException {
        String processor = System.getProperty("os.arch").equals("aarch64") ? "arm64" : "x64";
        try (InputStream library =
                AsyncProfiler.class.getResourceAsStream("/linux-" + processor + "/libasyncProfiler.so")) {
            Files.copy(library, file);
        }
        return file.toString();
    }

    private static List<List<String>> views(long pid, Plan plan, Path jdk, Path scratch) throws Exception {
        Path file = scratch.resolve("recording.jfr");
        String bin = jdk.resolve("bin").toString();
        output(List.of(bin + "/jcmd", String.valueOf(pid), "JFR.start", "name=faults", "settings=profile"));
        Thread.sleep(plan.windowMillis());
        output(List.of(bin + "/jcmd", String.valueOf(pid), "JFR.stop", "name=faults", "filename=" + file));
        List<List<String>> views = new ArrayList<>();
        for (String view : VIEWS) {
            List<String> rows =
                    new ArrayList<>(output(List.of(bin + "/jfr", "view", "--width", "240", view, file.toString())));
            int heading = 0;
            while (heading < rows.size() && !rows.get(heading).startsWith("---")) {
                heading++;
            }
            views.add(rows.subList(Math.min(heading + 1, rows.size()), rows.size()));
        }
        return views;
    }

    private static List<String> output(List<String> command) throws Exception {
        Path file = Files.createTempFile("faults", ".out");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(file.toFile())
                .start();
        if (!process.waitFor(HANG_MINUTES, TimeUnit.MINUTES)) {
            process.destroyForcibly();
            throw new IllegalStateException("no end of " + command);
        }
        List<String> lines = Files.readAllLines(file);
        Files.delete(file);
        return lines;
    }
}
