// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench;

import com.incapsula.sampler.bench.accuracy.Accuracy;
import com.incapsula.sampler.bench.accuracy.ColdStart;
import com.incapsula.sampler.bench.accuracy.Company;
import com.incapsula.sampler.bench.accuracy.Failures;
import com.incapsula.sampler.bench.accuracy.FoundFaults;
import com.incapsula.sampler.bench.accuracy.G1Objects;
import com.incapsula.sampler.bench.accuracy.MostlySleeping;
import com.incapsula.sampler.bench.accuracy.Oracle;
import com.incapsula.sampler.bench.accuracy.Starved;
import com.incapsula.sampler.bench.accuracy.TimedTruth;
import com.incapsula.sampler.bench.accuracy.VirtualThreads;
import com.incapsula.sampler.bench.accuracy.WaitReasons;
import com.incapsula.sampler.bench.cost.AgentStart;
import com.incapsula.sampler.bench.cost.CallCost;
import com.incapsula.sampler.bench.cost.CallHooks;
import com.incapsula.sampler.bench.cost.ContextSwitches;
import com.incapsula.sampler.bench.cost.CountedStarts;
import com.incapsula.sampler.bench.cost.Counting;
import com.incapsula.sampler.bench.cost.CpuClock;
import com.incapsula.sampler.bench.cost.Exports;
import com.incapsula.sampler.bench.cost.FirstSample;
import com.incapsula.sampler.bench.cost.HandlerCost;
import com.incapsula.sampler.bench.cost.IdleThreads;
import com.incapsula.sampler.bench.cost.LateCounting;
import com.incapsula.sampler.bench.cost.Memory;
import com.incapsula.sampler.bench.cost.NativeHeavy;
import com.incapsula.sampler.bench.cost.OnePass;
import com.incapsula.sampler.bench.cost.OutsideWalks;
import com.incapsula.sampler.bench.cost.OverheadLimit;
import com.incapsula.sampler.bench.cost.Scale;
import com.incapsula.sampler.bench.cost.SwitchRate;
import com.incapsula.sampler.bench.cost.Throughput;
import com.incapsula.sampler.bench.cost.Unmounted;
import com.incapsula.sampler.bench.cost.WokenThreads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Runs benchmarks and writes their tables as Markdown:
 *
 * <pre>{@code mvn -Pbench test -Dbench="accuracy --jdk /path/to/jdk17 --jdk /path/to/jdk25"}</pre>
 *
 * <p>Options: {@code --jdk HOME} (any number; the running one by default), {@code --seconds S}: the length of one
 * window; {@code --rounds N}: the number of windows; {@code --scale F}: a factor for thread counts; {@code --out
 * FOLDER}: the folder for result files; {@code --only REGEX}: the programs to run; {@code --before JAR}: an older build
 * to compare with.
 */
public final class Bench {

    /** One benchmark. */
    @FunctionalInterface
    interface Program {
        List<Table> run(Plan plan, String only) throws Exception;
    }

    /** The benchmarks of what a sampler costs. The others check what it reports. */
    private static final List<String> COST = List.of(
            "idle",
            "scale",
            "pass",
            "throughput",
            "cpu-clock",
            "native",
            "handler-cost",
            "first-sample",
            "start",
            "memory",
            "switches",
            "limit",
            "outside",
            "woken",
            "switch-rate",
            "unmounted",
            "call-hooks",
            "call-cost",
            "counting",
            "counted-starts",
            "late-counting");

    private static final Path SOURCES = Path.of("src-test-java").toAbsolutePath();

    private Bench() {}

    /** All benchmarks by name, in the order they run. */
    static Map<String, Program> programs() {
        Map<String, Program> programs = new LinkedHashMap<>();
        programs.put("accuracy", Accuracy::run);
        programs.put("truth", TimedTruth::run);
        programs.put("starved", Starved::run);
        programs.put("failures", Failures::run);
        programs.put("oracle", Oracle::run);
        programs.put("sleeping", MostlySleeping::run);
        programs.put("waits", WaitReasons::run);
        programs.put("faults", FoundFaults::run);
        programs.put("virtual-threads", VirtualThreads::run);
        programs.put("g1-objects", G1Objects::run);
        programs.put("company", Company::run);
        programs.put("cold-start", ColdStart::run);
        programs.put("idle", IdleThreads::run);
        programs.put("scale", Scale::run);
        programs.put("pass", OnePass::run);
        programs.put("throughput", Throughput::run);
        programs.put("cpu-clock", CpuClock::run);
        programs.put("native", NativeHeavy::run);
        programs.put("handler-cost", HandlerCost::run);
        programs.put("first-sample", FirstSample::run);
        programs.put("start", AgentStart::run);
        programs.put("memory", Memory::run);
        programs.put("switches", ContextSwitches::run);
        programs.put("exports", Exports::run);
        programs.put("limit", OverheadLimit::run);
        programs.put("outside", OutsideWalks::run);
        programs.put("woken", WokenThreads::run);
        programs.put("switch-rate", SwitchRate::run);
        programs.put("unmounted", Unmounted::run);
        programs.put("call-hooks", CallHooks::run);
        programs.put("call-cost", CallCost::run);
        programs.put("counting", Counting::run);
        programs.put("counted-starts", CountedStarts::run);
        programs.put("late-counting", LateCounting::run);
        return programs;
    }

    /**
     * Runs benchmarks.
     *
     * @param arguments names of benchmarks, "cost" or "all", and options
     */
    public static void main(String... arguments) throws Exception {
        List<String> names = new ArrayList<>();
        List<Path> jdks = new ArrayList<>();
        double seconds = 1;
        int rounds = 5;
        double scale = 1;
        String only = ".*";
        Path before = null;
        Path out = SOURCES.resolve("com/incapsula/sampler/bench/results");
        for (int i = 0; i < arguments.length; i++) {
            switch (arguments[i]) {
                case "--jdk" -> jdks.add(Path.of(arguments[++i]));
                case "--seconds" -> seconds = Double.parseDouble(arguments[++i]);
                case "--rounds" -> rounds = Integer.parseInt(arguments[++i]);
                case "--scale" -> scale = Double.parseDouble(arguments[++i]);
                case "--only" -> only = arguments[++i];
                case "--out" -> out = Path.of(arguments[++i]);
                case "--before" -> before = Path.of(arguments[++i]);
                default -> names.add(arguments[i]);
            }
        }
        if (jdks.isEmpty()) {
            jdks.add(Path.of(System.getProperty("java.home")));
        }
        if (names.remove("cost")) {
            names.addAll(COST);
        }
        if (names.isEmpty() || names.contains("all")) {
            names = List.copyOf(programs().keySet());
        }
        Plan plan = new Plan(jdks, Math.round(seconds * 1000), rounds, scale, SOURCES, before);
        for (String name : names) {
            run(name, plan, only, out, String.join(" ", arguments));
        }
    }

    private static void run(String name, Plan plan, String only, Path out, String command) throws Exception {
        Program program = programs().get(name);
        if (program == null) {
            throw new IllegalArgumentException(
                    "no benchmark " + name + "; there are " + programs().keySet());
        }
        Machine machine = Machine.now();
        Consumer<List<Table>> writer = tables -> {
            StringBuilder text = new StringBuilder("# " + name + "\n\n");
            text.append(machine.describe(plan, command)).append('\n');
            tables.forEach(text::append);
            write(out.resolve(name + ".md"), text.toString().stripTrailing() + "\n");
        };
        List<Table> tables = program.run(plan.shownTo(writer), only);
        writer.accept(tables);
        tables.forEach(System.out::println);
    }

    private static void write(Path file, String text) {
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
