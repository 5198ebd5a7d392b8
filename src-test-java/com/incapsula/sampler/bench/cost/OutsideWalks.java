// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.testing.NativeTests;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** The cost of a walk from outside, for similar stacks and for different ones, compared with JVMTI's GetStackTrace. */
public final class OutsideWalks {

    private static final int THREADS = 500;
    private static final int DEPTH = 60;
    private static final int LAYERS = 100;
    private static final int WARM_UP = 20_000;
    private static final int ROUNDS = 20;
    private static final long QUIET_MILLIS = 200;
    private static final long STACK_BYTES = 256 * 1024;

    /** In the order of the library's numbers. */
    private static final String[] WAYS = {
        "GetStackTrace", Peer.HYBRID + ", from outside", "from outside, the clock read twice"
    };

    private static final double EQUAL_BAR = 0.125;
    private static final double VARIED_BAR = 0.25;

    private OutsideWalks() {}

    /**
     * Runs everything.
     *
     * @param plan how often
     * @param only not used
     * @return a table per JDK
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        Path library = NativeTests.buildLibrary("outside_bench");
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            Table table = new Table(
                    "A walk of a waiting thread, JDK " + Jvm.version(jdk),
                    "stacks",
                    "way",
                    "walks",
                    "p50, ns",
                    "p90, ns",
                    "of GetStackTrace's p50",
                    "bar");
            double byJvmti = 0;
            for (String[] cells : Jvm.of(jdk, List.of("-XX:+UseG1GC", "-XX:-UseSerialGC"))
                    .run(OutsideWalks.class, library, plan.scaled(THREADS), plan.rounds() * ROUNDS)) {
                double median = Double.parseDouble(cells[3]);
                byJvmti = cells[1].equals(WAYS[0]) ? median : byJvmti;
                double bar = cells[0].startsWith("alike") ? EQUAL_BAR : VARIED_BAR;
                table.row(
                        cells[0],
                        cells[1],
                        cells[2],
                        median,
                        Double.parseDouble(cells[4]),
                        median / byJvmti,
                        cells[1].startsWith(Peer.HYBRID) ? Table.atMost(median / byJvmti, bar) : "");
            }
            table.note("Parked threads, " + DEPTH + " frames and those of the wait below them; the ways take turns, all"
                    + " threads in each turn. A poll has read the thread's CPU clock before it walks, in both ways;"
                    + " the last row reads it once more. Alike: a recursion, the same for all threads; and a chain of "
                    + LAYERS + " methods in one order. Varied: the same methods, for each thread in an order of its"
                    + " own. Stacks that differ from JVMTI's: none, else the benchmark fails.");
            tables.add(table);
        }
        return tables;
    }

    /** A frame of a generated stack. */
    public interface Step {
        /** Calls the step of the chain at this index. */
        long go(Step[] chain, int at);
    }

    /** Only calls the next step. The class is loaded once for each layer, so each layer has a method of its own. */
    public static final class Layer implements Step {

        /** Public for the class loader. */
        public Layer() {}

        @Override
        public long go(Step[] chain, int at) {
            return chain[at].go(chain, at + 1) + 1;
        }
    }

    /** Defines its own copy of the class Layer. */
    private static final class Loader extends ClassLoader {

        Loader() {
            super(OutsideWalks.class.getClassLoader());
        }

        static Step fresh() throws Exception {
            String name = Layer.class.getName();
            String file = name.substring(name.lastIndexOf('.') + 1) + ".class";
            try (InputStream in = OutsideWalks.class.getResourceAsStream(file)) {
                byte[] bytes = in.readAllBytes();
                return (Step) new Loader()
                        .defineClass(name, bytes, 0, bytes.length)
                        .getConstructor()
                        .newInstance();
            }
        }
    }

    private static native String open();

    private static native int choose(long[] ids);

    private static native long[] times(int way);

    /**
     * The measured program.
     *
     * @param arguments the library, threads, rounds
     */
    public static void main(String... arguments) throws Exception {
        System.load(arguments[0]);
        int threads = Integer.parseInt(arguments[1]);
        int rounds = Integer.parseInt(arguments[2]);
        String refusal = open();
        if (!refusal.isEmpty()) {
            throw new IllegalStateException("nothing is read from outside: " + refusal);
        }
        Step[] layers = new Step[LAYERS];
        for (int i = 0; i < LAYERS; i++) {
            layers[i] = Loader.fresh();
        }
        warmUp(layers);
        Crowd.gather(threads, DEPTH);
        measure("alike, a recursion", Crowd.ids(), rounds);
        Step[] same = chain(layers, new Random(1));
        measure("alike, a chain", park(threads, () -> same), rounds);
        Random random = new Random(2);
        measure("varied", park(threads, () -> chain(layers, random)), rounds);
        System.exit(0);
    }

    /* Runs until all layers are compiled. */
    private static void warmUp(Step[] layers) throws InterruptedException {
        Random random = new Random(3);
        for (int i = 0; i < WARM_UP; i++) {
            Step[] chain = chain(layers, random);
            chain[DEPTH] = (all, at) -> 0;
            chain[0].go(chain, 1);
        }
        awaitCompilers();
    }

    /* Returns when the JIT compilers have been idle for a while. */
    private static void awaitCompilers() throws InterruptedException {
        CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
        long before;
        do {
            before = compilers.getTotalCompilationTime();
            Thread.sleep(QUIET_MILLIS);
        } while (compilers.getTotalCompilationTime() != before);
    }

    private static Step[] chain(Step[] layers, Random random) {
        Step[] chain = new Step[DEPTH + 1];
        for (int i = 0; i < DEPTH; i++) {
            chain[i] = layers[random.nextInt(layers.length)];
        }
        return chain;
    }

    private static long[] park(int threads, Supplier<Step[]> chains) throws InterruptedException {
        CountDownLatch arrived = new CountDownLatch(threads);
        List<Thread> parked = new ArrayList<>();
        long[] ids = new long[threads];
        for (int i = 0; i < threads; i++) {
            Step[] chain = chains.get().clone();
            chain[DEPTH] = (all, at) -> {
                arrived.countDown();
                while (true) {
                    LockSupport.park();
                }
            };
            Thread thread = new Thread(null, () -> chain[0].go(chain, 1), "layered-" + i, STACK_BYTES);
            thread.setDaemon(true);
            thread.start();
            ids[i] = thread.getId();
            parked.add(thread);
        }
        arrived.await();
        Crowd.awaitParked(parked);
        return ids;
    }

    private static void measure(String stacks, long[] ids, int rounds) {
        int wrong = choose(ids);
        if (wrong > 0) {
            throw new IllegalStateException(wrong + " of " + ids.length + " stacks are not JVMTI's: " + stacks);
        }
        List<List<long[]>> times = new ArrayList<>();
        Arrays.stream(WAYS).forEach(way -> times.add(new ArrayList<>()));
        for (int round = 0; round < rounds; round++) {
            for (int turn = 0; turn < WAYS.length; turn++) {
                int way = (round + turn) % WAYS.length;
                times.get(way).add(times(way));
            }
        }
        for (int way = 0; way < WAYS.length; way++) {
            long[] sorted = times.get(way).stream()
                    .flatMapToLong(Arrays::stream)
                    .filter(nanos -> nanos >= 0)
                    .sorted()
                    .toArray();
            Jvm.tell(stacks, WAYS[way], sorted.length, sorted[sorted.length / 2], sorted[sorted.length * 9 / 10]);
        }
    }
}
