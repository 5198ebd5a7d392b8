// SPDX-License-Identifier: Apache-2.0
package counted;

import java.util.List;

/** A program with overloads and recursions. */
public final class Overloaded {

    private static volatile int sink;

    private Overloaded() {}

    /** Calls two overloads, the second one twice. */
    public static void root(int i) {
        add(i);
        add(List.of("a"), new long[][] {{i}});
        add(List.of("b"), new long[][] {{i}});
    }

    /** Calls one of the two overloads. */
    public static void half(int i) {
        add(i);
    }

    private static void add(int i) {
        sink += i;
    }

    private static void add(List<String> names, long[][] numbers) {
        sink += names.size() + numbers.length;
    }

    /** Calls itself this many times, and a leaf each time. */
    public static void down(int depth) {
        leaf();
        if (depth > 0) {
            down(depth - 1);
        }
    }

    /** Calls another method, which calls this one, until each was called this many times. */
    public static void even(int turns) {
        odd(turns);
    }

    private static void odd(int turns) {
        leaf();
        if (turns > 1) {
            even(turns - 1);
        }
    }

    private static void leaf() {
        sink++;
    }
}
