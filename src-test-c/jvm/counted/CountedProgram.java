// SPDX-License-Identifier: Apache-2.0
package counted;

import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Counts the calls of Work and compares them with Work's own tally. Arguments: the library, a scheme, EXACT or not.
 */
public final class CountedProgram {

    private static final int THREADS = 64;
    /* The interpreter needs half a minute for some million calls and has only one way through a
     * probe. */
    private static final boolean IS_INTERPRETED =
            System.getProperty("java.vm.info").contains("interpreted");

    private static final int VIRTUAL_THREADS = IS_INTERPRETED ? 100 : 500;
    private static final long HOT_CALLS = IS_INTERPRETED ? 320_000 : 10_000_000;
    private static final int MANY_VIRTUAL_THREADS = 10_000;
    private static final int HOT_CALLS_EACH = IS_INTERPRETED ? 16 : 160;

    private CountedProgram() {}

    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        int scheme = List.of("AUTO", "LAZY", "EAGER", "TOTAL").indexOf(arguments[1]);
        boolean exact = arguments.length > 2 && arguments[2].equals("EXACT");
        Counting.startFine(
                "counted.Work.run, counted.Hot.loop, counted.Deep.run, counted.Initialisers.run", scheme, exact);
        String second = Counting.start("counted.Work.run", Counting.FILTER, scheme, exact, 1000);
        check(second.contains("another sampler counts"), "a second one is refused: " + second);
        Counting.settle(() -> Work.run(1));
        System.out.println("batches " + Counting.batches() + ", methods " + Counting.figures()[1]);
        oneThread();
        manyThreads(Executors.newFixedThreadPool(THREADS), THREADS, "threads");
        ExecutorService virtual = virtualThreads();
        if (virtual != null) {
            manyThreads(virtual, VIRTUAL_THREADS, "virtual threads");
        }
        hot();
        initialisers();
        deep();
        dropped();
        account();
        Counting.stop();
        check(Counting.figures()[4] == 0, "all memory is given back: " + Counting.figures()[4]);
        Work.run(2);
        again(scheme);
        System.out.println("fine");
    }

    static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    private static void oneThread() {
        Counting.counts();
        begin();
        Work.run(50);
        compare("one thread");
    }

    private static void begin() {
        Counting.reset();
        Tally.reset();
    }

    private static void manyThreads(ExecutorService pool, int threads, String what) throws InterruptedException {
        begin();
        for (int i = 0; i < threads; i++) {
            pool.execute(() -> {
                Work.run(3);
                Thread.yield();
                Work.run(1);
            });
        }
        await(pool);
        compare(what);
        check(Counting.inside() == 0, "no thread is inside of a root");
    }

    private static ExecutorService virtualThreads() {
        try {
            return (ExecutorService)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    private static void compare(String what) {
        compare(what, Tally.counts(), Counting.counts());
    }

    static void compare(String what, Map<String, Long> wanted, Map<String, Long> found) {
        TreeSet<String> names = new TreeSet<>(wanted.keySet());
        names.addAll(found.keySet());
        long sum = 0;
        StringBuilder different = new StringBuilder();
        for (String name : names) {
            long calls = wanted.getOrDefault(name, 0L);
            if (calls != found.getOrDefault(name, 0L)) {
                different.append(
                        String.format("%n%s: %d calls, counted %d", name, calls, found.getOrDefault(name, 0L)));
            }
            sum += calls;
        }
        check(different.length() == 0, what + different);
        check(sum > 0, what + ": nothing was called");
        System.out.println(what + ": " + names.size() + " methods, " + sum + " calls");
    }

    /* Known numbers of calls of methods that do not tally. */
    private static void hot() throws InterruptedException {
        Counting.settle(() -> Hot.loop(1600), Counting.hotCalls(1600));
        Counting.reset();
        Hot.loop(HOT_CALLS);
        compare(HOT_CALLS + " calls", Counting.hotCalls(HOT_CALLS), Counting.counts());
        manyVirtualThreads();
    }

    private static void manyVirtualThreads() throws InterruptedException {
        ExecutorService virtual = virtualThreads();
        if (virtual == null) {
            return;
        }
        Counting.reset();
        for (int i = 0; i < MANY_VIRTUAL_THREADS; i++) {
            virtual.execute(() -> {
                Hot.loop(HOT_CALLS_EACH);
                Thread.yield();
                Hot.loop(HOT_CALLS_EACH);
            });
        }
        await(virtual);
        long calls = 2L * HOT_CALLS_EACH * MANY_VIRTUAL_THREADS;
        compare(
                "ten thousand virtual threads",
                Map.of(
                        "counted.Hot.loop",
                        2L * MANY_VIRTUAL_THREADS,
                        "counted.Hot.mix",
                        calls,
                        "counted.Hot.sometimes",
                        calls / 16),
                Counting.counts());
    }

    private static void await(ExecutorService pool) throws InterruptedException {
        pool.shutdown();
        while (!pool.awaitTermination(1, TimeUnit.SECONDS)) {
            /* the threads continue */
        }
    }

    /* Classes that are loaded again get their probes while they are loaded. */
    private static void initialisers() throws InterruptedException {
        Counting.settle(() -> {
            Initialisers.next();
            Initialisers.run();
        });
        Counting.counts();
        begin();
        for (int i = 0; i < 5; i++) {
            Initialisers.next();
            Initialisers.run();
        }
        compare("static initialisers");
    }

    /* Calls after a stack overflow are counted in the right place, wherever the stack ended. */
    private static void deep() throws InterruptedException {
        Counting.settle(Deep::run);
        for (int i = 0; i < 5; i++) {
            Deep.run();
        }
        begin();
        Deep.run();
        Work.run(3);
        Map<String, Long> found = Counting.counts();
        check(found.remove("counted.Deep.run") == 1, "the root");
        check(found.remove("counted.Deep.after") == 10, "what follows an overflow");
        long calls = found.remove("counted.Deep.overflow");
        long uncounted = Counting.figures()[5];
        System.out.println("overflow at " + Deep.depth + ": " + calls + " calls counted, " + uncounted
                + " below the limit of depth");
        check(calls > 900 && calls + uncounted == Deep.depth - 1, "calls of an overflow");
        compare("after an overflow", Tally.counts(), found);
        check(Counting.inside() == 0, "no thread is inside of a root");
    }

    private static void dropped() throws InterruptedException {
        Counting.drop(Counting.numberOf("counted.Work.odd"));
        Counting.settle(() -> Work.run(1));
        Counting.counts();
        begin();
        Work.run(2);
        Map<String, Long> wanted = Tally.counts();
        wanted.remove("counted.Work.odd");
        compare("a method dropped", wanted, Counting.counts());
    }

    private static void account() {
        String account = Counting.account();
        System.out.print(account);
        check(
                account.lines().anyMatch(line -> line.matches("DROPPED 1 since [-0-9:TZ]{20}: counted.Work.odd")),
                "the dropped method is named");
        check(account.contains("INSTRUMENTED "), "methods");
    }

    /* Earlier counts are gone; a rule whose class is not loaded yet waits for it. */
    private static void again(int scheme) throws Exception {
        Counting.startFine("counted.Work.odd, counted.Late.go", scheme, false);
        check(Counting.account().contains("not loaded yet: counted.Late.go"), "not loaded: " + Counting.account());
        begin();
        Late.go();
        Map<String, Long> found = Counting.counts();
        check(found.getOrDefault("counted.Late.go", 0L) == 1, "a root is counted from its first call on: " + found);
        Counting.settle(() -> {
            Work.run(1);
            Late.go();
        });
        Counting.counts();
        Counting.reset();
        Work.run(1);
        found = Counting.counts();
        check(
                found.equals(Map.of("counted.Work.odd", 3L, "counted.Work.even", 3L)),
                "another root, without what is around it: " + found);
        Counting.stop();
        check(Counting.figures()[4] == 0, "all memory is given back");
    }
}
