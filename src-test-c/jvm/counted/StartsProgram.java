// SPDX-License-Identifier: Apache-2.0
package counted;

import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Several threads try to count at the same time, repeatedly: one of them counts its calls; the others are refused,
 * which changes nothing. Arguments: the library, the number of counts.
 */
public final class StartsProgram {

    private static final int THREADS = 4;
    private static final int CALLS = 1000;
    private static final AtomicInteger COUNTING = new AtomicInteger();
    private static final AtomicInteger COUNTS = new AtomicInteger();
    private static final AtomicInteger REFUSALS = new AtomicInteger();
    private static final AtomicReference<Throwable> FAILED = new AtomicReference<>();
    private static final AtomicBoolean ENDS = new AtomicBoolean();

    private StartsProgram() {}

    /* The next count may begin as soon as this one stops. */
    private static void countOnce(int scheme) throws InterruptedException {
        String refusal = Counting.start("counted.Hot.loop", Counting.FILTER, scheme, false, 32768);
        if (!refusal.isEmpty()) {
            CountedProgram.check(
                    refusal.equals("calls cannot be counted: another sampler counts calls in this JVM"), refusal);
            REFUSALS.incrementAndGet();
            return;
        }
        CountedProgram.check(COUNTING.incrementAndGet() == 1, "one counts at a time");
        Hot.loop(CALLS);
        Map<String, Long> found = Counting.counts();
        CountedProgram.check(Long.valueOf(1).equals(found.get("counted.Hot.loop")), "the root is counted: " + found);
        COUNTING.decrementAndGet();
        COUNTS.incrementAndGet();
        Counting.stop();
    }

    private static void countOften(CountDownLatch together, int scheme) {
        try {
            together.countDown();
            together.await();
            while (!ENDS.get() && FAILED.get() == null) {
                countOnce(scheme);
            }
        } catch (Throwable e) {
            FAILED.compareAndSet(null, e);
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        int wanted = Integer.parseInt(arguments[1]);
        CountDownLatch together = new CountDownLatch(THREADS);
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int scheme = i % 2;
            threads[i] = new Thread(() -> countOften(together, scheme), "starts-" + i);
            threads[i].start();
        }
        while ((COUNTS.get() < wanted || REFUSALS.get() == 0) && FAILED.get() == null) {
            Thread.sleep(1);
        }
        ENDS.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        if (FAILED.get() != null) {
            throw new AssertionError(FAILED.get());
        }
        System.out.println(COUNTS + " counts, " + REFUSALS + " refusals");
        CountedProgram.check(Counting.figures()[4] == 0, "all memory is given back: " + Counting.figures()[4]);
        System.out.println("fine");
    }
}
