// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.accuracy.VirtualThreads;
import com.incapsula.sampler.bench.peer.BuildPeer;
import com.incapsula.sampler.bench.peer.Peer;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** How often virtual threads switch while two hundred waiting platform threads are sampled every millisecond. */
public final class SwitchRate {

    private static final int WAITING = 200;
    private static final int VIRTUAL = 200;
    private static final long SLEEP_MILLIS = 5;
    private static final String NOTHING = "no profiler";
    private static final LongAdder SWITCHES = new LongAdder();

    private SwitchRate() {}

    /**
     * Runs everything.
     *
     * @param plan before: the build to compare with; JDKs without virtual threads are skipped
     * @param only not used
     * @return a table per JDK
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            if (Integer.parseInt(Jvm.version(jdk).split("\\D")[0]) < VirtualThreads.FIRST_JDK) {
                continue;
            }
            int waiting = plan.scaled(WAITING);
            Table table = new Table(
                    "Switches of virtual threads, beside " + waiting
                            + " waiting platform threads that are sampled every" + " ms, JDK " + Jvm.version(jdk),
                    "build",
                    "switches per s",
                    "spread",
                    "of none",
                    "own CPU, ms per s",
                    "of none, in the CPU time left",
                    "bar");
            Map<String, List<Double>> windows = new LinkedHashMap<>();
            Map<String, List<Double>> cpus = new LinkedHashMap<>();
            Map<String, String> notes = new LinkedHashMap<>();
            for (String[] cells : BuildPeer.inTurn(plan, jdk, SwitchRate.class, waiting)) {
                windows.computeIfAbsent(cells[0], name -> new ArrayList<>()).add(Double.parseDouble(cells[1]));
                cpus.computeIfAbsent(cells[0], name -> new ArrayList<>()).add(Double.parseDouble(cells[2]));
                notes.put(cells[0], cells[3]);
            }
            double none = Figures.median(windows.get(NOTHING));
            double noise = Figures.spread(windows.get(NOTHING)) / none;
            windows.forEach((name, figures) -> {
                double share = Figures.median(figures) / none;
                double cpu = Figures.median(cpus.get(name));
                double left = 1 - cpu / 1000 / Runtime.getRuntime().availableProcessors();
                table.row(
                        name,
                        Figures.median(figures),
                        Figures.spread(figures),
                        share,
                        cpu,
                        share / left,
                        name.equals(Peer.HYBRID) ? Table.atLeast(share / left, 1 - noise) : "");
            });
            table.note(VIRTUAL + " virtual threads that yield all the time. The waiting threads sleep " + SLEEP_MILLIS
                    + " ms again and again, so that their stacks have to be walked; only they are sampled. Medians of "
                    + plan.rounds() + " windows of " + plan.windowMillis()
                    + " ms, builds in turn, each in a JVM of its own with one window without a profiler. The sampler's own"
                    + " CPU time is taken from the carriers, which use all processors; the bar is about the rest: 1 less"
                    + " the spread of the windows without a profiler. A profiler has been started once before the"
                    + " first window: from then on each switch costs more.");
            notes.forEach((name, note) -> {
                if (!name.equals(NOTHING)) {
                    table.note("Polls of " + name + " in the last window: " + note);
                }
            });
            tables.add(table);
        }
        return tables;
    }

    /**
     * The measured program.
     *
     * @param arguments the number of waiting threads, milliseconds of a window, a jar or ""
     */
    public static void main(String... arguments) throws Exception {
        long window = Long.parseLong(arguments[1]);
        List<Thread> waiting = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
            Thread thread = new Thread(SwitchRate::sleepForEver, "sleeper-" + i);
            thread.setDaemon(true);
            thread.start();
            waiting.add(thread);
        }
        BuildPeer build = BuildPeer.of(arguments[2], 1);
        Method startVirtual = Thread.class.getMethod("startVirtualThread", Runnable.class);
        for (int i = 0; i < VIRTUAL; i++) {
            startVirtual.invoke(null, (Runnable) SwitchRate::yieldForEver);
        }
        measure(build, waiting, Math.min(window, 500));
        for (BuildPeer measured : new BuildPeer[] {null, build}) {
            String[] figures = measure(measured, waiting, window);
            Jvm.tell(measured == null ? NOTHING : build.name(), figures[0], figures[1], figures[2]);
        }
        System.exit(0);
    }

    private static void sleepForEver() {
        try {
            while (true) {
                Thread.sleep(SLEEP_MILLIS);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void yieldForEver() {
        while (true) {
            SWITCHES.increment();
            Thread.yield();
        }
    }

    private static String[] measure(BuildPeer build, List<Thread> waiting, long window) throws Exception {
        if (build != null) {
            build.start(waiting);
        }
        Thread.sleep(Math.min(1000, window));
        long ownBefore = build == null ? 0 : build.ownCpuNanos();
        long before = SWITCHES.sum();
        long start = System.nanoTime();
        Thread.sleep(window);
        double rate = (SWITCHES.sum() - before) * 1e9 / (System.nanoTime() - start);
        double cpu = build == null ? 0 : (build.ownCpuNanos() - ownBefore) * 1e3 / (System.nanoTime() - start);
        String note = build == null ? "" : build.describe();
        if (build != null) {
            build.stop();
        }
        return new String[] {String.valueOf(rate), String.valueOf(cpu), note};
    }
}
