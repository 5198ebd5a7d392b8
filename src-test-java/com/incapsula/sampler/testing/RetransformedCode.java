// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntUnaryOperator;
import java.util.regex.Pattern;

/** Methods of all shapes that end in all possible ways. Its probes are counted. */
public final class RetransformedCode {

    /** Code to run. */
    @FunctionalInterface
    public interface Body {
        /** @return a result that must not change */
        String run() throws Exception;
    }

    /** The constructor runs code before it calls super(), and throws on demand after that. */
    static class Base {
        final int value;

        Base(int value) {
            this.value = value;
        }
    }

    static final class Chosen extends Base {
        final String name;

        Chosen(int value, boolean fails) {
            super(value > 3 ? new Base(value).value : "abc".length());
            if (fails) {
                throw new IllegalArgumentException("after super");
            }
            name = new String("n" + value);
        }

        Chosen(String text) {
            this(text.isEmpty() ? 1 : 7, false);
        }
    }

    private static final int DEPTH = 5;

    private final StringBuilder out = new StringBuilder();

    private RetransformedCode() {}

    static String run() {
        RetransformedCode code = new RetransformedCode();
        code.out.append(loop(10)).append(' ').append(fibonacci(12));
        code.switches();
        code.exceptions();
        code.constructors();
        code.lambdas();
        code.locks();
        code.longs(3L, 4.5, new long[][] {{1, 2}, {3}});
        return code.out.toString();
    }

    /* The first instruction is the target of a jump. */
    static int loop(int n) {
        do {
            n--;
        } while (n > 0);
        return n;
    }

    static int fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }

    static String dense(int n) {
        switch (n) {
            case 0:
                return "zero";
            case 1:
                return "one";
            case 2:
            case 3:
                break;
            default:
                return "many";
        }
        return "some";
    }

    static int sparse(String text) {
        return switch (text) {
            case "a" -> 1;
            case "bb" -> 22;
            case "ccc" -> {
                try {
                    yield Integer.parseInt("x");
                } catch (NumberFormatException e) {
                    yield -1;
                }
            }
            default -> throw new IllegalStateException(text);
        };
    }

    private void switches() {
        for (int i = -1; i < 5; i++) {
            out.append(dense(i));
        }
        for (String text : List.of("a", "bb", "ccc", "dddd")) {
            try {
                out.append(sparse(text));
            } catch (IllegalStateException e) {
                out.append(e.getMessage());
            }
        }
    }

    static int down(int depth) {
        if (depth == 0) {
            throw new UnsupportedOperationException("down");
        }
        try {
            return down(depth - 1) + 1;
        } finally {
            sink += depth;
        }
    }

    private static int sink;

    static int rethrown(int n) throws Exception {
        try {
            if (n > 2) {
                throw new Exception("checked");
            }
            return n;
        } catch (RuntimeException e) {
            return -1;
        } finally {
            if (n == 4) {
                sink++;
            }
        }
    }

    private void exceptions() {
        try {
            down(DEPTH);
        } catch (UnsupportedOperationException e) {
            out.append(e.getMessage());
        }
        for (int i = 0; i < DEPTH; i++) {
            try {
                out.append(rethrown(i));
            } catch (Exception e) {
                out.append(e.getMessage());
            }
        }
        try {
            out.append(((Object) "text").getClass().cast(null)).append(new int[2][3][1].length);
            Object[] array = new String[1];
            array[0] = 1;
        } catch (ArrayStoreException e) {
            out.append("store");
        }
    }

    private void constructors() {
        out.append(new Chosen(5, false).name).append(new Chosen("").value).append(new Chosen("x").value);
        try {
            new Chosen(2, true);
        } catch (IllegalArgumentException e) {
            out.append(e.getMessage());
        }
    }

    private void lambdas() {
        int base = out.length();
        IntUnaryOperator add = n -> n + base;
        out.append(add.andThen(RetransformedCode::loop).applyAsInt(4));
        Runnable fails = () -> {
            throw new IllegalStateException("in a lambda");
        };
        try {
            fails.run();
        } catch (IllegalStateException e) {
            out.append(e.getMessage());
        }
    }

    private synchronized void locks() {
        synchronized (out) {
            try {
                out.append(down(2));
            } catch (UnsupportedOperationException e) {
                out.append("unlocked");
            }
        }
    }

    private long longs(long a, double b, long[][] c) {
        long sum = 0;
        for (long[] row : c) {
            for (long cell : row) {
                sum += cell > 1 ? (long) (cell * b) : a;
            }
        }
        out.append(sum);
        return sum;
    }

    /** Runs classes of the JDK, including methods that exceptions pass through. */
    static String useTheImage() {
        Map<String, Integer> map = new HashMap<>();
        Map<Integer, List<String>> sorted = new TreeMap<>();
        ConcurrentHashMap<String, Integer> shared = new ConcurrentHashMap<>();
        for (int i = 0; i < 200; i++) {
            String text = String.format("%05d-%x", i * 7919 % 1000, i);
            map.merge(text.substring(0, 3), 1, Integer::sum);
            sorted.computeIfAbsent(i % 13, key -> new ArrayList<>()).add(text);
            shared.compute(text.substring(0, 2), (key, value) -> value == null ? 1 : value + 1);
        }
        StringBuilder out = new StringBuilder().append(map).append(sorted).append(new TreeMap<>(shared));
        out.append(Pattern.compile("(\\d)(\\d+)-").matcher(out).replaceAll("$2$1"));
        try {
            new ArrayList<>(List.of(1, 2)).forEach(each -> {
                throw new IllegalStateException("through forEach");
            });
        } catch (IllegalStateException e) {
            out.append(e.getMessage());
        }
        for (String number : List.of("12", "x", "", "99999999999")) {
            try {
                out.append(Integer.parseInt(number));
            } catch (NumberFormatException e) {
                out.append(e.getMessage());
            }
        }
        try (Scanner scanner = new Scanner("1 2 three")) {
            out.append(scanner.nextInt() + scanner.nextInt()).append(scanner.hasNextInt());
        }
        out.append(CompletableFuture.completedFuture(3)
                .thenApply(n -> n / 0)
                .exceptionally(e -> -1)
                .join());
        return out.toString();
    }
}
