// SPDX-License-Identifier: Apache-2.0
package counted;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntUnaryOperator;

/** A program with known calls: {@link #callsOf} has the calls that a call of {@link #root} makes, by path. */
public final class Work {

    private static final int DEPTH = 5;
    private static volatile int sink;

    private Work() {}

    /** An interface with two implementations. */
    interface Shape {
        int area(int side);
    }

    static final class Square implements Shape {
        @Override
        public int area(int side) {
            return side * side + sink % 2;
        }
    }

    static final class Circle implements Shape {
        @Override
        public int area(int side) {
            return 3 * side * side + sink % 2;
        }
    }

    static class Item {
        final int price;

        Item(int price) {
            this.price = price * 31 + sink % 2;
        }
    }

    static final class SpecialItem extends Item {
        SpecialItem(int price) {
            super(price + 1);
            sink += price;
        }
    }

    /** The constructor throws before it has called that of its superclass, if the price is negative. */
    static final class CheckedItem extends Item {
        CheckedItem(int price) {
            super(checked(price));
            sink += leaf(price);
        }

        private static int checked(int price) {
            if (price < 0) {
                throw new IllegalArgumentException("negative");
            }
            return price + sink % 2;
        }
    }

    /**
     * Makes an object whose constructor calls {@link #leaf}; throws IllegalArgumentException if the price is negative.
     */
    public static void checkedItem(int price) {
        sink += new CheckedItem(price).price;
    }

    /** Makes the calls that {@link #callsOf} returns. */
    public static void root(int times) {
        Shape[] shapes = {new Square(), new Circle()};
        for (int i = 0; i < times; i++) {
            sink += leaf(i) + shapes[i % 2].area(i) + new SpecialItem(i).price + apply(x -> x * 3 + sink % 2, i);
            sink += apply(Work::leaf, i) + locked(i);
        }
        recurse(DEPTH);
        even(DEPTH);
        try {
            first(times);
        } catch (IllegalStateException expected) {
            sink++;
        }
    }

    /** Calls {@link #root} as soon as the latch is released. */
    public static void rootAfter(CountDownLatch entered, CountDownLatch mayGoOn, int times) {
        entered.countDown();
        try {
            mayGoOn.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        root(times);
    }

    private static int leaf(int i) {
        return i * 7 + sink % 3;
    }

    private static int apply(IntUnaryOperator operator, int i) {
        return operator.applyAsInt(i) + sink % 2;
    }

    private static synchronized int locked(int i) {
        return leaf(i) + 1;
    }

    private static void recurse(int depth) {
        sink += depth;
        if (depth > 0) {
            recurse(depth - 1);
        }
    }

    /** Calls itself this many times. */
    public static void deeper(int depth) {
        sink += depth;
        if (depth > 0) {
            deeper(depth - 1);
        }
    }

    /** Calls {@link #deeper}, and another method this many times. */
    public static void deepThenWide(int depth, int times) {
        if (depth > 0) {
            deeper(depth);
        }
        for (int i = 0; i < times; i++) {
            sink += leaf(i);
        }
    }

    private static void even(int depth) {
        sink += depth;
        if (depth > 0) {
            odd(depth - 1);
        }
    }

    private static void odd(int depth) {
        sink -= depth;
        if (depth > 0) {
            even(depth - 1);
        }
    }

    private static void first(int i) {
        second(i);
        sink++;
    }

    private static void second(int i) {
        third(i);
        sink++;
    }

    private static void third(int i) {
        if (i >= 0) {
            throw new IllegalStateException("thrown through three methods");
        }
        sink++;
    }

    /** @return the calls by path in a call of {@link #root} with this argument */
    public static Map<String, Long> callsOf(long times) {
        Map<String, Long> calls = new LinkedHashMap<>();
        calls.put("Work.root", 1L);
        for (String path : new String[] {
            "Work.leaf",
            "Work$SpecialItem.<init>",
            "Work$SpecialItem.<init>|Work$Item.<init>",
            "Work.locked",
            "Work.locked|Work.leaf",
            "Work.apply|Work.lambda$root$0",
            "Work.apply|Work.leaf"
        }) {
            calls.put("Work.root|" + path, times);
        }
        calls.put("Work.root|Work.apply", 2 * times);
        calls.put("Work.root|Work$Square.area", (times + 1) / 2);
        calls.put("Work.root|Work$Circle.area", times / 2);
        String recursion = "Work.root";
        String mutual = "Work.root";
        for (int i = 0; i <= DEPTH; i++) {
            recursion += "|Work.recurse";
            mutual += i % 2 == 0 ? "|Work.even" : "|Work.odd";
            calls.put(recursion, 1L);
            calls.put(mutual, 1L);
        }
        calls.put("Work.root|Work$Square.<init>", 1L);
        calls.put("Work.root|Work$Circle.<init>", 1L);
        calls.put("Work.root|Work.first", 1L);
        calls.put("Work.root|Work.first|Work.second", 1L);
        calls.put("Work.root|Work.first|Work.second|Work.third", 1L);
        calls.values().removeIf(number -> number == 0);
        return calls;
    }

    /** Computes and waits, for tests of times. */
    public static void busy(long computeNanos, long waitNanos) {
        compute(computeNanos);
        waits(waitNanos);
    }

    /** The times of the methods of known length by their own clock, in nanoseconds: see {@link #known}. */
    public static final class Known {
        /** Time in the methods, from their first clock reading to their last. */
        public final long[] nanos = new long[METHODS.length];

        /** The number of calls. */
        public final long[] calls = new long[METHODS.length];

        /**
         * Time around the methods: from the caller's reading before a call to its reading afterwards, without {@link
         * #nanos}. Added only if the thread lost its CPU in it.
         */
        public final long[] waits = new long[METHODS.length];

        /** All of the time around the methods: the probes and clock readings of a call, and {@link #waits}. */
        public final long[] around = new long[METHODS.length];

        private long quickNanos;
        private long quickReadings;

        private void add(int method, long before, long took) {
            long aroundNanos = System.nanoTime() - before - took;
            nanos[method] += took;
            calls[method]++;
            around[method] += aroundNanos;
            if (aroundNanos > WAIT_NANOS) {
                waits[method] += aroundNanos;
            }
            if (method == 0 && took < 2 * KNOWN_NANOS[method]) {
                quickNanos += took;
                quickReadings += lastReadings;
            }
        }

        /**
         * The nanoseconds of a call. There are n intervals between n + 1 clock readings, and a call takes one more:
         * half of one before its first reading, half after its last one. Short calls in which the thread kept its CPU
         * show the length of an interval.
         */
        public double nanosOfCall(int method) {
            return (double) nanos[method] / calls[method] + (double) quickNanos / quickReadings;
        }

        /** @return nanoseconds by which another clock may exceed these for a call, because of waits around it */
        public double waitsOfCall(int method) {
            return (double) waits[method] / calls[method];
        }

        /** @return the nanoseconds of a call from its caller's reading before it to the one after it, without its own */
        public double aroundCall(int method) {
            return (double) around[method] / calls[method];
        }
    }

    /** The methods of {@link #known}, by length. */
    public static final String[] METHODS = {"micro", "tenMicros", "milli", "hundredMillis"};

    private static final long PART_NANOS = 100_000_000;
    private static final int[] KNOWN_NANOS = {1_000, 10_000, 1_000_000, 100_000_000};

    private static final long WAIT_NANOS = 20_000; // a hundred times as long as two readings and two probes

    private static int lastReadings;

    /** Calls each of {@link #METHODS} for a tenth of a second of wall time. */
    public static void known(Known known) {
        long start;
        start = System.nanoTime();
        do {
            known.add(0, System.nanoTime(), micro());
        } while (System.nanoTime() - start < PART_NANOS);
        start = System.nanoTime();
        do {
            known.add(1, System.nanoTime(), tenMicros());
        } while (System.nanoTime() - start < PART_NANOS);
        start = System.nanoTime();
        do {
            known.add(2, System.nanoTime(), milli());
        } while (System.nanoTime() - start < PART_NANOS);
        start = System.nanoTime();
        do {
            known.add(3, System.nanoTime(), hundredMillis());
        } while (System.nanoTime() - start < PART_NANOS);
    }

    private static long micro() {
        long start = System.nanoTime();
        long now = start;
        int readings = 0;
        while (now - start < KNOWN_NANOS[0]) {
            now = System.nanoTime();
            readings++;
        }
        lastReadings = readings;
        return now - start;
    }

    private static long tenMicros() {
        long start = System.nanoTime();
        long now = start;
        int readings = 0;
        while (now - start < KNOWN_NANOS[1]) {
            now = System.nanoTime();
            readings++;
        }
        lastReadings = readings;
        return now - start;
    }

    private static long milli() {
        long start = System.nanoTime();
        long now = start;
        int readings = 0;
        while (now - start < KNOWN_NANOS[2]) {
            now = System.nanoTime();
            readings++;
        }
        lastReadings = readings;
        return now - start;
    }

    private static long hundredMillis() {
        long start = System.nanoTime();
        long now = start;
        int readings = 0;
        while (now - start < KNOWN_NANOS[3]) {
            now = System.nanoTime();
            readings++;
        }
        lastReadings = readings;
        return now - start;
    }

    /** A root that only makes calls which are hardly longer than their probes. */
    public static void hot(long calls) {
        for (long i = 0; i < calls; i++) {
            mix((int) i);
        }
    }

    private static void mix(int i) {
        mixed = mixed * 31 + i;
        if (mixed == 0) {
            mixed = i;
        }
    }

    private static int mixed = 1;

    private static void compute(long nanos) {
        long until = System.nanoTime() + nanos;
        while (System.nanoTime() < until) {
            sink++;
        }
    }

    private static void waits(long nanos) {
        long until = System.nanoTime() + nanos;
        while (System.nanoTime() < until) {
            LockSupport.parkNanos(nanos / 4 + 1);
        }
    }
}
