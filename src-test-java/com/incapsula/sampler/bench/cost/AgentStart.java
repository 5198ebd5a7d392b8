// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.testing.AgentJar;
import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.HelloProgram;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import one.profiler.AsyncProfiler;

/**
 * The cost that an agent adds to a program which prints a line and ends: wall and CPU time of the process, including
 * the report at its end, and loaded classes.
 */
public final class AgentStart {

    private static final double BAR = 120;
    private static final int RUNS_PER_ROUND = 2;
    private static final double MILLIS = 1000;
    private static final String PROCESSOR = System.getProperty("os.arch").replace("amd64", "x86_64");
    private static final String NONE = "no agent";
    private static final String EMPTY = "-javaagent that does nothing";
    private static final String OURS = Peer.HYBRID + ", -javaagent";
    private static final String OURS_NATIVE = Peer.HYBRID + ", -agentpath";
    private static final String ASYNC = "async-profiler, -agentpath";
    private static final String JFR = "JFR";

    private AgentStart() {}

    /**
     * Runs everything.
     *
     * @param plan two processes of each kind per round
     * @param only not used
     * @return a table
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        Table table = new Table(
                "A program that says hello, from the start of its process to the end",
                "JDK",
                "agent",
                "wall, ms",
                "spread",
                "CPU, ms",
                "added wall, ms",
                "added CPU, ms",
                "of async-profiler's wall",
                "more classes",
                "not from the archive",
                "bar");
        Path folder = Files.createTempDirectory("bench");
        try {
            Map<String, List<String>> agents = agents(folder);
            for (Path jdk : plan.jdks()) {
                measure(table, plan, jdk, agents, folder);
            }
        } finally {
            delete(folder);
        }
        table.note("Processes in turn, " + plan.rounds() * RUNS_PER_ROUND
                + " of each kind; medians. What is added is beside no agent. Classes are those of a process more, by"
                + " -Xlog:class+load. The library's file was there before; ours and async-profiler write a page at the"
                + " end, JFR its recording.");
        return List.of(table);
    }

    private static Map<String, List<String>> agents(Path folder) throws IOException {
        Path jar = AgentJar.in(folder);
        AgentJar.hello(folder);
        Path library = folder.resolve("libthreads-sampler.so");
        Files.copy(
                ChildJvm.placeOf(ThreadsSampler.class)
                        .resolve("META-INF/native/linux-" + PROCESSOR + "/libthreads-sampler.so"),
                library);
        Map<String, List<String>> agents = new LinkedHashMap<>();
        agents.put(NONE, List.of());
        agents.put(EMPTY, List.of("-javaagent:" + AgentJar.empty(folder)));
        agents.put(OURS, List.of("-javaagent:" + jar + "=file=" + folder.resolve("ours.html")));
        agents.put(OURS_NATIVE, List.of("-agentpath:" + library + "=file=" + folder.resolve("native.html")));
        agents.put(
                ASYNC,
                List.of("-agentpath:" + asyncProfiler(folder) + "=start,event=ctimer,file="
                        + folder.resolve("async.html")));
        agents.put(JFR, List.of("-XX:StartFlightRecording:filename=" + folder.resolve("jfr.jfr")));
        return agents;
    }

    private static Path asyncProfiler(Path folder) throws IOException {
        Path file = folder.resolve("libasyncProfiler.so");
        String name = "/linux-" + (PROCESSOR.equals("x86_64") ? "x64" : "arm64") + "/libasyncProfiler.so";
        try (InputStream in = AsyncProfiler.class.getResourceAsStream(name)) {
            Files.copy(in, file);
        }
        return file;
    }

    private static void measure(Table table, Plan plan, Path jdk, Map<String, List<String>> agents, Path folder)
            throws IOException, InterruptedException {
        Map<String, List<double[]>> runs = new LinkedHashMap<>();
        for (List<String> agent : agents.values()) {
            time(jdk, agent, folder); // loads files into the page cache
        }
        for (int i = 0; i < plan.rounds() * RUNS_PER_ROUND; i++) {
            for (Map.Entry<String, List<String>> agent : agents.entrySet()) {
                runs.computeIfAbsent(agent.getKey(), name -> new ArrayList<>())
                        .add(time(jdk, agent.getValue(), folder));
            }
        }
        int[] plain = classes(jdk, List.of(), folder);
        double bareWall = median(runs.get(NONE), 0);
        double bareCpu = median(runs.get(NONE), 1);
        double peerWall = median(runs.get(ASYNC), 0);
        for (Map.Entry<String, List<double[]>> run : runs.entrySet()) {
            double wall = median(run.getValue(), 0);
            double cpu = median(run.getValue(), 1);
            int[] loaded = classes(jdk, agents.get(run.getKey()), folder);
            table.row(
                    Jvm.version(jdk),
                    run.getKey(),
                    wall,
                    Figures.spread(run.getValue().stream().map(each -> each[0]).toList()),
                    cpu,
                    wall - bareWall,
                    cpu - bareCpu,
                    wall / peerWall,
                    loaded[0] - plain[0],
                    loaded[1] - plain[1],
                    run.getKey().equals(OURS) ? Table.atMost(wall - bareWall, BAR) : "");
        }
    }

    private static double median(List<double[]> runs, int column) {
        return Figures.median(runs.stream().map(run -> run[column]).toList());
    }

    private static List<String> command(Path jdk, List<String> options, Path hello) {
        List<String> command = new ArrayList<>();
        command.add(Jvm.executable(jdk));
        command.add("--enable-native-access=ALL-UNNAMED");
        command.addAll(options);
        command.addAll(List.of("-cp", hello.toString(), HelloProgram.class.getName()));
        return command;
    }

    /* Milliseconds of wall and CPU time, measured by the shell, which waits for the process. */
    private static double[] time(Path jdk, List<String> options, Path folder) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(
                List.of("bash", "-c", "TIMEFORMAT='%R %U %S'; { time \"$@\" >\"$0.out\" 2>&1; } 2>\"$0.time\""));
        command.add(folder.resolve("run").toString());
        command.addAll(command(jdk, options, folder.resolve("hello")));
        Process process = new ProcessBuilder(command).inheritIO().start();
        String output = process.waitFor() + "\n" + Files.readString(folder.resolve("run.out"));
        if (!output.startsWith("0\n") || !output.contains("hello")) {
            throw new IllegalStateException(String.join(" ", command) + "\n" + output);
        }
        String[] seconds = Files.readString(folder.resolve("run.time"))
                .strip()
                .toLowerCase(Locale.ROOT)
                .split(" ");
        return new double[] {
            Double.parseDouble(seconds[0]) * MILLIS,
            (Double.parseDouble(seconds[1]) + Double.parseDouble(seconds[2])) * MILLIS
        };
    }

    /* The number of all loaded classes, and of those that are not in the JDK's archive. */
    private static int[] classes(Path jdk, List<String> options, Path folder) throws IOException, InterruptedException {
        Path log = folder.resolve("classes.log");
        List<String> more = new ArrayList<>(options);
        more.add("-Xlog:class+load:file=" + log + ":none");
        Process process = new ProcessBuilder(command(jdk, more, folder.resolve("hello")))
                .redirectErrorStream(true)
                .redirectOutput(new File(folder.toFile(), "run.out"))
                .start();
        if (process.waitFor() != 0) {
            throw new IllegalStateException(Files.readString(folder.resolve("run.out"), StandardCharsets.UTF_8));
        }
        List<String> loaded = Files.readAllLines(log).stream()
                .filter(line -> line.contains(" source: "))
                .toList();
        long elsewhere = loaded.stream()
                .filter(line -> !line.contains("source: shared objects file"))
                .count();
        return new int[] {loaded.size(), (int) elsewhere};
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
