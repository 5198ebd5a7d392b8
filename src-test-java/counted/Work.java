// SPDX-License-Identifier: Apache-2.0
package counted;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntUnaryOperator;

/** A program whose calls are known: {@link #callsOf} says how many each call of {@link #root} makes, by path. */
public final class Work {

    private static final int DEPTH = 5;
    private static volatile int sink;

    private Work() {}

    /** Something with two implementations. */
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

    /** Makes the calls that {@link #callsOf} says. */
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

    /** Calls {@link #root} once it may. */
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

    /** Calls itself, so many times. */
    public static void deeper(int depth) {
        sink += depth;
        if (depth > 0) {
            deeper(depth - 1);
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

    /** @return calls by path, of one call of {@link #root} with this argument */
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

    /** Waits and computes, for tests of time. */
    public static void busy(long computeNanos, long waitNanos) {
        compute(computeNanos);
        waits(waitNanos);
    }

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
