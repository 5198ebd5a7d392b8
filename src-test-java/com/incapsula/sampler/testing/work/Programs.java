// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing.work;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Programs whose stacks are hard to walk. A step takes about a millisecond, and is repeated. */
public enum Programs {
    COLLECTIONS("collections and strings") {
        @Override
        public long step() {
            Map<String, Integer> counts = new HashMap<>();
            for (int i = 0; i < 2000; i++) {
                counts.merge("key-" + i % 300, 1, Integer::sum);
            }
            List<String> keys = new ArrayList<>(counts.keySet());
            Collections.sort(keys);
            String joined = String.join(",", keys);
            long length = joined.split(",").length;
            return length
                    + IntStream.range(0, 1000)
                            .filter(i -> i % 3 == 0)
                            .boxed()
                            .collect(Collectors.summingInt(Integer::intValue));
        }
    },

    VIRTUAL_CALLS("interface and virtual calls") {
        private final IntUnaryOperator[] operators = {new Plus(), new Minus(), new Times(), new Xor(), value -> -value};
        private final Shape[] shapes = {new Square(), new Circle(), new Strip()};

        @Override
        public long step() {
            long sum = 0;
            for (int i = 0; i < 100_000; i++) {
                sum += operators[i % operators.length].applyAsInt(i);
                sum += shapes[i % shapes.length].area(i);
            }
            return sum;
        }
    },

    STRING_BUILDER("StringBuilder.delete") {
        @Override
        public long step() {
            StringBuilder text = new StringBuilder("0123456789".repeat(2000));
            for (int i = 0; i < 1000; i++) {
                text.delete(0, 5).append("abcde");
            }
            return text.length();
        }
    },

    DIGEST("MessageDigest") {
        private final byte[] input = new byte[100_000];

        @Override
        public long step() throws Exception {
            long sum = 0;
            for (String algorithm : List.of("SHA-256", "MD5", "SHA-1", "SHA-512")) {
                sum += MessageDigest.getInstance(algorithm).digest(input)[0];
            }
            return sum;
        }
    },

    EXCEPTIONS("exceptions") {
        @Override
        public long step() {
            long caught = 0;
            for (int i = 0; i < 200; i++) {
                try {
                    fall(30, i);
                } catch (IllegalStateException e) {
                    caught += e.getStackTrace().length;
                }
            }
            return caught;
        }

        private int fall(int depth, int value) {
            if (depth == 0) {
                throw new IllegalStateException("thrown " + value);
            }
            return fall(depth - 1, value) + 1;
        }
    },

    RECURSION("recursion, 1,000 deep") {
        @Override
        public long step() {
            long sum = 0;
            for (int i = 0; i < 100; i++) {
                sum += descend(1000, i);
            }
            return sum;
        }

        private long descend(int depth, long value) {
            return depth == 0 ? value : descend(depth - 1, value * 31 + depth) ^ depth;
        }
    },

    REFLECTION("reflection and method handles") {
        private final MethodHandle handle = handle();
        private final Method method = method();

        @Override
        public long step() throws Exception {
            long sum = 0;
            try {
                for (int i = 0; i < 10_000; i++) {
                    sum += (int) handle.invoke(i, 3);
                    sum += (Integer) method.invoke(null, i, 4);
                }
            } catch (Exception e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
            return sum;
        }
    },

    SORTING("sorting of Integers") {
        private final Object[] untyped = new Random(42).ints(4000).boxed().toArray();

        /* With G1, copying references ends with a call into the JVM for which no frame is kept. */
        @Override
        public long step() {
            Integer[] array = Arrays.copyOf(untyped, untyped.length, Integer[].class);
            Arrays.sort(array);
            List<Integer> list = new ArrayList<>(Arrays.asList(array));
            list.sort(Comparator.reverseOrder());
            return array[0] + list.get(0);
        }
    },

    ALLOCATION("allocation") {
        private final Object[] kept = new Object[50_000];
        private int next;

        @Override
        public long step() {
            for (int i = 0; i < 2000; i++) {
                byte[] bytes = new byte[100 + i % 400];
                bytes[0] = (byte) i;
                kept[next++ % kept.length] = new Object[] {bytes, Arrays.asList(i, next)};
            }
            return next;
        }
    };

    private final String title;

    Programs(String title) {
        this.title = title;
    }

    /** @return the title in a table */
    public String title() {
        return title;
    }

    /** @return a result of about a millisecond of work, which the caller must use */
    public abstract long step() throws Exception;

    public static int power(int base, int times) {
        int result = 1;
        for (int i = 0; i < times; i++) {
            result *= base;
        }
        return result;
    }

    private static MethodHandle handle() {
        try {
            return MethodHandles.lookup()
                    .findStatic(Programs.class, "power", MethodType.methodType(int.class, int.class, int.class));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Method method() {
        try {
            return Programs.class.getDeclaredMethod("power", int.class, int.class);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final class Plus implements IntUnaryOperator {
        @Override
        public int applyAsInt(int value) {
            return value + 7;
        }
    }

    private static final class Minus implements IntUnaryOperator {
        @Override
        public int applyAsInt(int value) {
            return value - 7;
        }
    }

    private static final class Times implements IntUnaryOperator {
        @Override
        public int applyAsInt(int value) {
            return value * 7;
        }
    }

    private static final class Xor implements IntUnaryOperator {
        @Override
        public int applyAsInt(int value) {
            return value ^ 7;
        }
    }

    private abstract static class Shape {
        abstract long area(int size);
    }

    private static final class Square extends Shape {
        @Override
        long area(int size) {
            return (long) size * size;
        }
    }

    private static final class Circle extends Shape {
        @Override
        long area(int size) {
            return 3L * size * size;
        }
    }

    private static final class Strip extends Shape {
        @Override
        long area(int size) {
            return size;
        }
    }
}
