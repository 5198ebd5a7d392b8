// SPDX-License-Identifier: Apache-2.0
package hooked;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Methods with hand-written calls of the hooks, as instrumentation adds them; their counts are known. Compiled with
 * the source of the hook class (src-test-c/CMakeLists.txt). Arguments: the test library, then "exact" or "counts".
 */
public final class HookedCalls {

    private static final int ROOT = 1;
    private static final int LEAF = 2;
    private static final int FIRST = 3;
    private static final int SECOND = 4;
    private static final int THROWER = 5;
    private static final int NO_EXIT = 40;
    private static final int INNER_ROOT = 50;

    private static final int CALLS = 10_000_000;
    private static final int THREADS = 64;
    private static final int VIRTUAL_THREADS = 10_000;
    private static final int SLOTS = 16_384;

    private static boolean exact;
    private static long sink;

    private HookedCalls() {}

    /** Runs all checks. */
    public static void main(String... arguments) throws Exception {
        Hooks.load(arguments[0]);
        exact = arguments[1].equals("exact");
        beforeCounting();
        tenMillionCalls();
        recursion();
        mutualRecursion();
        exceptionsThroughFiveLevels();
        lostExits();
        rootsInsideRoots();
        reset();
        reflection();
        stackOverflow();
        phaseAfterAnOverflow();
        deepRecursionPastTheLimit();
        manyMethods();
        fullTree();
        overriddenId();
        sameSlot();
        position();
        threads();
        lateExits();
        startAndStopUnderLoad();
        stoppedThread();
        virtualThreads();
        check("bytes left", 0, Hooks.losses()[1]);
        System.out.println("fine");
    }

    private static void check(String what, long expected, long found) {
        System.out.println(what + ": " + found);
        if (expected != found) {
            throw new AssertionError(what + ": expected " + expected + ", found " + found);
        }
    }

    private static void check(String what, boolean holds) {
        check(what, 1, holds ? 1 : 0);
    }

    private static void begin() {
        Hooks.begin(exact);
    }

    private static void end() {
        Hooks.stop();
        Hooks.retire(id(Thread.currentThread()));
    }

    @SuppressWarnings("deprecation")
    private static long id(Thread thread) {
        return thread.getId();
    }

    /* ---- instrumented by hand ---- */

    private static void leaf() {
        ThreadsSamplerHook.enter(LEAF);
        try {
            sink++;
        } catch (Throwable e) {
            ThreadsSamplerHook.exit(LEAF);
            throw e;
        }
        ThreadsSamplerHook.exit(LEAF);
    }

    private static void leaves(int count) {
        ThreadsSamplerHook.enterRoot(ROOT);
        try {
            for (int i = 0; i < count; i++) {
                leaf();
            }
        } finally {
            ThreadsSamplerHook.exitRoot(ROOT);
        }
    }

    private static int fibonacci(int n) {
        ThreadsSamplerHook.enter(FIRST);
        int sum;
        try {
            sum = n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
        } catch (Throwable e) {
            ThreadsSamplerHook.exit(FIRST);
            throw e;
        }
        ThreadsSamplerHook.exit(FIRST);
        return sum;
    }

    private static boolean isEven(int n) {
        ThreadsSamplerHook.enter(FIRST);
        try {
            return n == 0 || isOdd(n - 1);
        } finally {
            ThreadsSamplerHook.exit(FIRST);
        }
    }

    private static boolean isOdd(int n) {
        ThreadsSamplerHook.enter(SECOND);
        try {
            return n != 0 && isEven(n - 1);
        } finally {
            ThreadsSamplerHook.exit(SECOND);
        }
    }

    private static void rooted(Runnable body) {
        ThreadsSamplerHook.enterRoot(ROOT);
        try {
            body.run();
        } finally {
            ThreadsSamplerHook.exitRoot(ROOT);
        }
    }

    /* Methods THROWER + 5 ... THROWER; the innermost one throws. */
    private static void throwThrough(int levels) {
        ThreadsSamplerHook.enter(THROWER + levels);
        try {
            if (levels == 0) {
                throw new IllegalStateException("on purpose");
            }
            throwThrough(levels - 1);
        } catch (Throwable e) {
            ThreadsSamplerHook.exit(THROWER + levels);
            throw e;
        }
        ThreadsSamplerHook.exit(THROWER + levels);
    }

    /* As in a constructor before super(): an exception loses the exit. */
    private static void loseExit(int method, boolean fails) {
        ThreadsSamplerHook.enter(method);
        if (fails) {
            throw new IllegalStateException("on purpose");
        }
        ThreadsSamplerHook.exit(method);
    }

    private static long entered;
    private static long leftInHook;

    private static void overflow() {
        ThreadsSamplerHook.enter(FIRST);
        try {
            entered++;
            overflow();
        } catch (Throwable e) {
            ThreadsSamplerHook.exit(FIRST);
            throw e;
        }
        ThreadsSamplerHook.exit(FIRST);
    }

    /* ---- the expected counts ---- */

    private static void beforeCounting() {
        leaves(1000);
        check("news before counting", 0, Hooks.losses()[2]);
    }

    private static void tenMillionCalls() {
        begin();
        for (int i = 0; i < 1000; i++) {
            leaf();
        }
        for (int i = 0; i < 100; i++) {
            leaves(CALLS / 100);
        }
        Hooks hooks = new Hooks().read();
        check("calls of the leaf", CALLS, hooks.calls(LEAF));
        check("calls of the root", 100, hooks.calls(ROOT));
        check("nodes", 2, hooks.size());
        check("time of the root", hooks.nanos(ROOT) > 0);
        check("time of the leaf", exact == hooks.nanos(LEAF) > 0);
        check("the root's time contains the leaf's", hooks.nanos(LEAF) < hooks.nanos(ROOT));
        Hooks.Row root = hooks.row(ROOT);
        check(
                "least, mean and most",
                root.least > 0 && root.least <= root.nanos / 100 && root.nanos / 100 <= root.most);
        end();
    }

    private static void recursion() {
        begin();
        rooted(() -> sink += fibonacci(22));
        /* The calls of fibonacci(n): 2 F(n + 1) - 1. */
        Hooks hooks = new Hooks().read();
        check("calls of a recursion", 2 * 28657 - 1, hooks.calls(FIRST));
        check("its nodes, one for each depth", 1 + 22, hooks.size());
        end();
    }

    private static void mutualRecursion() {
        begin();
        for (int i = 0; i < 1000; i++) {
            rooted(() -> sink += isEven(9) ? 1 : 0);
        }
        Hooks hooks = new Hooks().read();
        check("calls of the first", 5000, hooks.calls(FIRST));
        check("calls of the second", 5000, hooks.calls(SECOND));
        check("path", hooks.tree().containsKey("[1] 3 4 3 4 3 4 3 4 3 4"));
        end();
    }

    private static void throwTimes(int times) {
        for (int i = 0; i < times; i++) {
            try {
                throwThrough(5);
            } catch (IllegalStateException e) {
                leaf();
            }
        }
    }

    private static void exceptionsThroughFiveLevels() {
        begin();
        rooted(() -> throwTimes(20_000));
        Map<String, Long> tree = new Hooks().read().tree();
        Map<String, Long> expected = Map.of(
                "[1]", 1L,
                "[1] 2", 20_000L,
                "[1] 10", 20_000L,
                "[1] 10 9", 20_000L,
                "[1] 10 9 8", 20_000L,
                "[1] 10 9 8 7", 20_000L,
                "[1] 10 9 8 7 6", 20_000L,
                "[1] 10 9 8 7 6 5", 20_000L);
        check("tree of exceptions " + tree, tree.equals(expected));
        end();
    }

    private static void callLosing(int i) {
        ThreadsSamplerHook.enter(SECOND);
        try {
            loseExit(NO_EXIT, i % 2 == 0);
        } catch (IllegalStateException e) {
            sink++;
        }
        ThreadsSamplerHook.exit(SECOND);
    }

    private static void lostExits() {
        begin();
        rooted(() -> {
            for (int i = 0; i < 10_000; i++) {
                callLosing(i);
                leaf();
            }
        });
        Map<String, Long> tree = new Hooks().read().tree();
        Map<String, Long> expected = Map.of("[1]", 1L, "[1] 2", 10_000L, "[1] 4", 10_000L, "[1] 4 40", 10_000L);
        check("tree with lost exits " + tree, tree.equals(expected));
        end();
    }

    private static void innerRoot(int depth) {
        ThreadsSamplerHook.enterRoot(INNER_ROOT);
        try {
            leaf();
            if (depth > 0) {
                innerRoot(depth - 1);
            }
            /* a method called outside the root; it must not end the root */
            ThreadsSamplerHook.exit(FIRST);
        } finally {
            ThreadsSamplerHook.exitRoot(INNER_ROOT);
        }
    }

    private static void rootsInsideRoots() {
        begin();
        innerRoot(0);
        rooted(() -> {
            ThreadsSamplerHook.enter(FIRST);
            innerRoot(1);
            leaf();
            ThreadsSamplerHook.exit(FIRST);
        });
        Map<String, Long> tree = new Hooks().read().tree();
        Map<String, Long> expected = Map.of(
                "[1]", 1L,
                "[1] 3", 1L,
                "[1] 3 2", 1L,
                "[1] 3 [50]", 1L,
                "[1] 3 [50] 2", 1L,
                "[1] 3 [50] [50]", 1L,
                "[1] 3 [50] [50] 2", 1L,
                "[50]", 1L,
                "[50] 2", 1L);
        check("tree of roots " + tree, tree.equals(expected));
        end();
    }

    private static void reset() {
        begin();
        Hooks hooks = new Hooks();
        rooted(() -> {
            leaf();
            leaf();
            Hooks.reset();
            leaf();
            hooks.read();
        });
        check("calls since the reset", 1, hooks.calls(LEAF));
        check("the running root was entered before", 0, hooks.calls(ROOT));
        hooks.read();
        check("time of the root goes on", hooks.nanos(ROOT) > 0);
        end();
    }

    /* As Method.invoke reports it. Each call is reported once, by method and class of the
     * receiver. */
    private static void reflection() throws ReflectiveOperationException {
        Method none = HookedCalls.class.getDeclaredMethod("work");
        Method text = Object.class.getMethod("toString");
        Method[] waits = {
            Object.class.getMethod("wait"),
            Object.class.getMethod("wait", long.class),
            Object.class.getMethod("wait", long.class, int.class)
        };
        Runnable all = () -> {
            for (int i = 0; i < 100; i++) {
                ThreadsSamplerHook.reflected(none, null);
                ThreadsSamplerHook.reflected(text, i);
                ThreadsSamplerHook.reflected(text, "text");
                ThreadsSamplerHook.reflected(Integer.class.getConstructors()[0], null);
                ThreadsSamplerHook.reflected(Integer.class.getConstructors()[1], null);
                for (Method overload : waits) {
                    ThreadsSamplerHook.reflected(overload, "text");
                }
            }
        };
        Hooks.reflected(false);
        begin();
        all.run();
        check("outside of a root", 0, Hooks.reflected(false));
        rooted(all);
        check("each once", 8, Hooks.reflected(false));
        rooted(all);
        check("again", 0, Hooks.reflected(true));
        end();
        begin();
        rooted(all);
        check("refused", 800, Hooks.reflected(false));
        rooted(all);
        rooted(all);
        check("counted anew", 8, Hooks.reflected(false));
        end();
        ThreadsSamplerHook.reflected("neither", null);
    }

    /* An entry that has no stack left throws. Only calls that have begun are counted. */
    private static void stackOverflow() throws InterruptedException {
        begin();
        Thread thread = new Thread(null, () -> rooted(HookedCalls::overflowTimes), "overflowing", 512 * 1024);
        thread.start();
        thread.join();
        Hooks hooks = new Hooks().read();
        long counted = hooks.calls(FIRST) + hooks.uncounted();
        check("entered before the stack was full", entered, counted);
        check("leaves in the right place", 20, hooks.tree().getOrDefault("[1] 2", 0L));
        Hooks.stop();
        Hooks.retire(id(thread));
    }

    /* Without exits, so that the last hook's stack contents remain. */
    private static void dig() {
        ThreadsSamplerHook.enter(FIRST);
        dig();
    }

    /* Lets the stack end in another place of a hook each time. */
    private static void digBelow(int frames) {
        if (frames > 0) {
            digBelow(frames - 1);
        } else {
            dig();
        }
    }

    private static void overflowInHooks() {
        for (int i = 0; i < 300; i++) {
            try {
                digBelow(i % 30);
            } catch (StackOverflowError e) {
                sink++;
            }
            if (Hooks.position(id(Thread.currentThread())) >= Hooks.IN_HOOK) {
                leftInHook++;
            }
        }
    }

    private static void phaseAfterAnOverflow() throws InterruptedException {
        for (boolean exact : new boolean[] {false, true}) {
            Hooks.begin(exact);
            leftInHook = 0;
            Thread thread = new Thread(null, () -> rooted(HookedCalls::overflowInHooks), "digging", 256 * 1024);
            thread.start();
            thread.join();
            check("threads that seem to be in a hook after it", 0, leftInHook);
            Hooks.stop();
            Hooks.retire(id(thread));
        }
    }

    private static void overflowTimes() {
        entered = 0;
        for (int i = 0; i < 20; i++) {
            try {
                ThreadsSamplerHook.enter(SECOND);
                overflow();
            } catch (StackOverflowError e) {
                sink++;
            }
            ThreadsSamplerHook.exit(SECOND);
            leaf();
        }
    }

    private static void deepRecursionPastTheLimit() {
        Hooks.begin(exact, 1_000_000, 10, 1 << 24);
        for (int i = 0; i < 1000; i++) {
            rooted(() -> {
                sink += isEven(50) ? 1 : 0;
                leaf();
            });
        }
        Hooks hooks = new Hooks().read();
        check("past the depth", 1000 * (51 - 9), hooks.uncounted());
        check("above it", 1000 * 9, hooks.calls(FIRST) + hooks.calls(SECOND));
        check("leaves in the right place", 1000, hooks.tree().get("[1] 2"));
        end();
    }

    private static void manyMethods() {
        Hooks.begin(exact, 1000, 100, 1 << 24);
        rooted(() -> {
            for (int round = 0; round < 3; round++) {
                for (int method = 100; method < 5100; method++) {
                    ThreadsSamplerHook.enter(method);
                    ThreadsSamplerHook.exit(method);
                }
            }
        });
        Hooks hooks = new Hooks().read();
        check("nodes are limited", hooks.size() > 900 && hooks.size() <= 1000);
        check("no call is missing", 15_000, hooks.callsOf(id(Thread.currentThread())) - 1 + hooks.uncounted());
        end();
    }

    /* Nested calls without a node, including roots; then a call with a node is in its place. */
    private static void fullTree() {
        Hooks.begin(exact, 1000, 100, 1 << 24);
        rooted(() -> {
            leaf();
            for (int method = 100; method < 5100; method++) {
                ThreadsSamplerHook.enter(method);
                ThreadsSamplerHook.exit(method);
            }
        });
        long before = new Hooks().read().uncounted();
        for (int i = 0; i < 1000; i++) {
            rooted(() -> {
                leaf();
                ThreadsSamplerHook.enter(SECOND);
                rooted(() -> {
                    sink += isEven(50) ? 1 : 0;
                    leaf();
                });
                ThreadsSamplerHook.exit(SECOND);
                leaf();
            });
        }
        Hooks hooks = new Hooks().read();
        check("filled", before > 4000);
        check("without a node", 1000 * (1 + 1 + 51 + 1), hooks.uncounted());
        check("leaves with one", 2000, hooks.tree().get("[1] 2"));
        check("outside", Hooks.OUTSIDE, Hooks.position(id(Thread.currentThread())));
        end();
    }

    /** Makes all threads look like one. */
    private static final class OneId extends Thread {

        OneId(Runnable body) {
            super(body);
        }

        @Override
        @SuppressWarnings({"deprecation", "removal"})
        public long getId() {
            return 1;
        }
    }

    private static void overriddenId() throws InterruptedException {
        begin();
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new OneId(() -> leaves(10_000));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Hooks hooks = new Hooks().read();
        check("calls of threads with one overridden id", 40_000, hooks.calls(LEAF));
        check("nodes", 8, hooks.size());
        end();
    }

    /* Ids that differ by a multiple of the number of slots. */
    private static void sameSlot() throws InterruptedException {
        begin();
        long own = id(Thread.currentThread());
        List<Thread> threads = new ArrayList<>();
        while (threads.size() < 2) {
            Thread thread = new Thread(() -> leaves(500));
            if ((id(thread) - own) % SLOTS == 0) {
                threads.add(thread);
            }
        }
        rooted(() -> {
            for (Thread thread : threads) {
                leaf();
                thread.start();
                try {
                    thread.join();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        });
        Hooks hooks = new Hooks().read();
        check("calls of the slot's first thread", 3, hooks.callsOf(own));
        check("calls of its second thread", 501, hooks.callsOf(id(threads.get(0))));
        check("calls of its third thread", 501, hooks.callsOf(id(threads.get(1))));
        threads.forEach(thread -> Hooks.retire(id(thread)));
        new Hooks().read();
        end();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void position() throws InterruptedException {
        begin();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Thread thread = new Thread(() -> rooted(() -> {
            ThreadsSamplerHook.enter(SECOND);
            leaf();
            inside.countDown();
            await(goOn);
            ThreadsSamplerHook.exit(SECOND);
        }));
        thread.start();
        inside.await();
        check("position", SECOND, Hooks.position(id(thread)));
        check("position outside", Hooks.OUTSIDE, Hooks.position(id(Thread.currentThread())));
        goOn.countDown();
        thread.join();
        check("position at the end", Hooks.OUTSIDE, Hooks.position(id(thread)));
        Hooks.stop();
        Hooks.retire(id(thread));
    }

    private static void threads() throws InterruptedException {
        begin();
        CountDownLatch go = new CountDownLatch(1);
        Hooks hooks = new Hooks();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int calls = 10_000 + i;
            Thread thread = new Thread(() -> {
                await(go);
                leaves(calls);
                rooted(() -> throwTimes(100));
            });
            thread.start();
            threads.add(thread);
        }
        go.countDown();
        for (Thread thread : threads) {
            hooks.read();
            thread.join();
        }
        hooks.read();
        for (int i = 0; i < THREADS; i++) {
            long expected = 10_000 + i + 2 + 100 * (6 + 1);
            long found = hooks.callsOf(id(threads.get(i)));
            if (found != expected) {
                check("calls of thread " + i, expected, found);
            }
            Hooks.retire(id(threads.get(i)));
        }
        check("calls of the leaf", THREADS * 10_100L + THREADS * (THREADS - 1) / 2, hooks.calls(LEAF));
        hooks.read();
        Hooks.stop();
    }

    /* A thread is inside its root while counting ends and begins again. */
    private static void lateExits() throws InterruptedException {
        begin();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Thread thread = new Thread(() -> {
            rooted(() -> {
                ThreadsSamplerHook.enter(SECOND);
                inside.countDown();
                await(goOn);
                throwTimes(10);
                ThreadsSamplerHook.exit(SECOND);
            });
            leaves(7);
        });
        thread.start();
        inside.await();
        Hooks.stop();
        check("what it needs is still there", Hooks.losses()[1] > 0);
        begin();
        goOn.countDown();
        thread.join();
        Hooks hooks = new Hooks().read();
        check("calls of the root since", 1, hooks.calls(ROOT));
        check("calls of the leaf since", 7, hooks.calls(LEAF));
        Hooks.stop();
        Hooks.retire(id(thread));
    }

    private static void startAndStopUnderLoad() throws InterruptedException {
        AtomicInteger over = new AtomicInteger();
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                while (over.get() == 0) {
                    leaves(100);
                    rooted(() -> throwTimes(10));
                    rooted(() -> sink += isEven(30) ? 1 : 0);
                }
            });
            threads[i].start();
        }
        for (int i = 0; i < 200; i++) {
            begin();
            Hooks hooks = new Hooks().read();
            Hooks.reset();
            hooks.read();
            Hooks.stop();
        }
        over.set(1);
        for (Thread thread : threads) {
            thread.join();
            Hooks.retire(id(thread));
        }
        check("bytes after 200 starts", 0, Hooks.losses()[1]);
    }

    /* Much of the time is outside hooks. */
    private static void work() {
        long sum = 0;
        for (int i = 0; i < 20_000; i++) {
            sum += Long.numberOfTrailingZeros(sum + i * 31L);
        }
        sink += sum & 1;
    }

    /* Stops the thread repeatedly: an exception inside a hook does not leave the hook. */
    private static void stop(Thread thread) throws InterruptedException {
        while (thread.isAlive()) {
            try {
                Thread.class.getMethod("stop").invoke(thread);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
            thread.join(5);
        }
    }

    /* JDK 17 only: an exception that may come at any time, also inside a hook. */
    private static void stoppedThread() throws InterruptedException {
        if (Runtime.version().feature() > 17) {
            return;
        }
        begin();
        for (int i = 0; i < 50; i++) {
            AtomicLong leaves = new AtomicLong();
            Thread thread = new Thread(() -> {
                try {
                    while (true) {
                        leaves(100);
                        leaves.addAndGet(100);
                        work();
                    }
                } catch (Throwable e) {
                    sink++;
                }
                leaves(3);
            });
            thread.start();
            while (leaves.get() == 0) {
                Thread.onSpinWait();
            }
            stop(thread);
            long found = new Hooks().read().calls(LEAF);
            if (found < leaves.get() - 100 || found > leaves.get() + 100 + 3) {
                check("leaves of a stopped thread", leaves.get(), found);
            }
            Hooks.retire(id(thread));
            new Hooks().read();
        }
        end();
    }

    private static ExecutorService virtualExecutor() {
        try {
            return (ExecutorService)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    /* All threads are inside their roots at the same time, and change their carriers there. */
    private static void virtualThreads() throws InterruptedException {
        ExecutorService executor = virtualExecutor();
        if (executor == null) {
            return;
        }
        begin();
        CountDownLatch inside = new CountDownLatch(VIRTUAL_THREADS);
        CountDownLatch goOn = new CountDownLatch(1);
        for (int i = 0; i < VIRTUAL_THREADS; i++) {
            int calls = i % 100;
            executor.execute(() -> {
                leaves(calls);
                rooted(() -> {
                    ThreadsSamplerHook.enter(SECOND);
                    leaf();
                    inside.countDown();
                    await(goOn);
                    leaf();
                    ThreadsSamplerHook.exit(SECOND);
                });
            });
        }
        inside.await();
        Hooks hooks = new Hooks().read();
        check("roots that were refused", 0, Hooks.losses()[0]);
        goOn.countDown();
        executor.shutdown();
        check("ended", executor.awaitTermination(3, TimeUnit.MINUTES));
        hooks.read();
        check("calls of the root", 2 * VIRTUAL_THREADS, hooks.calls(ROOT));
        check("calls of the second", VIRTUAL_THREADS, hooks.calls(SECOND));
        check("calls of the leaf", VIRTUAL_THREADS / 100 * 4950L + 2 * VIRTUAL_THREADS, hooks.calls(LEAF));
        check("none has a name", hooks.callsOf(0), hooks.calls(ROOT) + hooks.calls(SECOND) + hooks.calls(LEAF));
        check("trees are used again", hooks.size() <= 4 * (VIRTUAL_THREADS + 100));
        Hooks.stop();
    }
}
