// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.Instrumentation;
import com.incapsula.sampler.MethodTiming;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.testing.CallCounts;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Worker;
import counted.Ledger;
import counted.Storms;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Counts the calls of a storm, compares the counts with those of the methods themselves, and checks that nothing is
 * left at the end. Arguments: the storm and its milliseconds, or {@code START_STOP} and the number of cycles; the
 * library of {@link ProbedClasses}.
 */
final class CallTorture {

    private static final long MEMORY_LIMIT = 256L << 20;
    /*
     * Limits of methods and nodes. Classes that are loaded again and again need more than that in a minute, so both
     * must be reused.
     */
    private static final int METHODS = 1 << 16;
    private static final int NODES = 20_000;
    private static final AtomicReference<Throwable> FAILURE = new AtomicReference<>();

    private CallTorture() {}

    public static void main(String[] arguments) {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> FAILURE.compareAndSet(null, e));
        try {
            run(arguments[0], Long.parseLong(arguments[1]), Path.of(arguments[2]));
            System.out.println("fine");
        } catch (Exception | Error e) {
            e.printStackTrace();
            System.exit(1); // ends all other threads
        }
    }

    private static void run(String storm, long amount, Path library) throws Exception {
        ProbedClasses.load(library);
        if (storm.equals("START_STOP")) {
            startAndStop(amount);
        } else {
            count(CallStorm.valueOf(storm), amount);
        }
        assertThat(FAILURE.get()).isNull();
        ProbedClasses.assertNone();
        NothingLeft.assertNothingLeft();
    }

    private static ThreadsSampler sampler() {
        ThreadsSampler sampler = quick(new Recorder());
        sampler.setOverheadLimitPercent(100); // no method loses its probes
        sampler.setMemoryLimitBytes(MEMORY_LIMIT);
        sampler.setRootMethods(Storms.ROOTS);
        sampler.setInstrumentationFilter("counted, -counted.Ledger");
        sampler.setMaxCountedMethods(METHODS);
        sampler.setMaxCallNodes(NODES);
        return sampler;
    }

    private static void count(CallStorm storm, long millis) throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        Worker late;
        try (ThreadsSampler sampler = sampler()) {
            sampler.setInstrumentation(storm.instrumentation());
            sampler.init();
            settle(sampler, storm);
            ProbedClasses.assertSome();
            late = Worker.doing("late", goHome -> Storms.stay(inside, goHome));
            inside.await();
            Map<String, Long> counted = weather(sampler, storm, millis);
            Map<String, Long> called = Ledger.calls();
            System.out.println(storm + " counted " + counted);
            assertThat(sampler.getStatistics().getEngine()).doesNotContain("not counted");
            if (storm.isExact()) {
                assertThat(counted).isEqualTo(called);
            } else {
                assertThat(counted.keySet()).containsAll(called.keySet());
            }
        }
        /* The late thread is still inside a root, in code with probes, and does not know that counting has ended. */
        ProbedClasses.assertNone();
        late.close();
    }

    /* Repeats steps until counts are exact, which they are from the second entry of a root after the last batch on. */
    private static void settle(ThreadsSampler sampler, CallStorm storm) {
        patiently().until(() -> {
            CallCounts.take(sampler);
            Ledger.reset();
            storm.step();
            return byMethod(CallCounts.take(sampler)).equals(Ledger.calls());
        });
        Ledger.reset();
    }

    private static Map<String, Long> weather(ThreadsSampler sampler, CallStorm storm, long millis) throws Exception {
        Map<String, Long> counted = new TreeMap<>();
        long begun = System.nanoTime();
        List<Worker> workers = storm.begin();
        while (System.nanoTime() - begun < TimeUnit.MILLISECONDS.toNanos(millis) && FAILURE.get() == null) {
            awaitTicks(sampler, 20);
            add(counted, CallCounts.take(sampler));
            assertThat(NothingLeft.liveBytes()).isLessThan(MEMORY_LIMIT + MEMORY_LIMIT / 2);
        }
        workers.forEach(Worker::close);
        add(counted, CallCounts.take(sampler));
        return counted;
    }

    private static void add(Map<String, Long> sum, Map<String, Long> paths) {
        byMethod(paths).forEach((method, calls) -> sum.merge(method, calls, Long::sum));
    }

    private static Map<String, Long> byMethod(Map<String, Long> paths) {
        Map<String, Long> calls = new TreeMap<>();
        paths.forEach((path, number) -> calls.merge(path.substring(path.lastIndexOf('|') + 1), number, Long::sum));
        return calls;
    }

    private static void startAndStop(long times) throws Exception {
        Instrumentation[] schemes = Instrumentation.values();
        MethodTiming[] timings = MethodTiming.values();
        long inInit = 0;
        long inClose = 0;
        List<Worker> load = CallStorm.load();
        for (int i = 0; i < times && FAILURE.get() == null; i++) {
            ThreadsSampler sampler = sampler();
            sampler.setInstrumentation(schemes[i % schemes.length]);
            sampler.setMethodTiming(timings[i / schemes.length % timings.length]);
            inInit -= System.nanoTime();
            sampler.init();
            inInit += System.nanoTime();
            awaitTicks(sampler, i % 4);
            assertThat(sampler.getStatistics().getEngine()).doesNotContain("not counted");
            inClose -= System.nanoTime();
            sampler.close();
            inClose += System.nanoTime();
        }
        load.forEach(Worker::close);
        System.out.printf(
                "START_STOP %d times, init() %d ms each, close() %d%n",
                times, inInit / times / 1_000_000, inClose / times / 1_000_000);
    }
}
