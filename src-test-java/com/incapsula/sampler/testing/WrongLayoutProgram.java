// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Changes each number that our own walks take from libjvm, one at a time, and prints the result of the check. Argument:
 * the test library.
 */
public final class WrongLayoutProgram {

    /* The offset of the next field, and of the previous one. */
    private static final int[] CHANGES = {8, -8};

    /* For a bound of reads: less than is needed. */
    private static final int MUCH_LESS = -64;

    /* Compiled methods to wait for, because the JIT compilers may have had no CPU yet. */
    private static final int ENOUGH_METHODS = 100;

    private WrongLayoutProgram() {}

    private static native int rows();

    private static native String name(int row);

    private static native String check(int row, int change);

    private static native long compared(boolean frames);

    public static void main(String[] arguments) {
        System.load(arguments[0]);
        warmUp();
        int rows = rows();
        System.out.println("rows: " + rows);
        String reason = check(-1, 0);
        while (reason.isEmpty() && compared(false) < ENOUGH_METHODS) {
            warmUp();
            reason = check(-1, 0);
        }
        describe("nothing", 0, reason);
        System.out.println("compared: " + compared(false) + " methods, " + compared(true) + " frames");
        for (int row = 0; row < rows; row++) {
            boolean isRefused = false;
            for (int change : CHANGES) {
                isRefused |= describe(name(row), change, check(row, change));
            }
            if (!isRefused) {
                describe(name(row), MUCH_LESS, check(row, MUCH_LESS));
            }
        }
        describe("nothing", 0, check(-1, 0));
        System.out.println("fine");
    }

    /* Prints the result. Returns true if the layout was refused. */
    private static boolean describe(String name, int change, String reason) {
        boolean isRefused = !reason.isEmpty();
        System.out.println((isRefused ? "refused " : "USED ")
                + name
                + (change < 0 ? " " : " +")
                + change
                + (isRefused ? ": " + reason : ""));
        return isRefused;
    }

    /* Provides compiled methods with inlined callees. */
    private static void warmUp() {
        long sum = 0;
        for (int i = 0; i < 20_000; i++) {
            List<Integer> list = new ArrayList<>();
            IntStream.range(0, 20).map(x -> x * 31 % 17).forEach(list::add);
            list.sort(null);
            sum += list.stream()
                    .map(Object::toString)
                    .collect(Collectors.joining(","))
                    .hashCode();
        }
        System.out.println("sum: " + sum);
    }
}
