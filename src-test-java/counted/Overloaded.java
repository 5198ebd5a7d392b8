// SPDX-License-Identifier: Apache-2.0
package counted;

import java.util.List;

/** A program with methods of one name, and with recursions. */
public final class Overloaded {

    private static volatile int sink;

    private Overloaded() {}

    /** Calls two methods of one name, the second one twice. */
    public static void root(int i) {
        add(i);
        add(List.of("a"), new long[][] {{i}});
        add(List.of("b"), new long[][] {{i}});
    }

    /** Calls one method of a name that two have. */
    public static void half(int i) {
        add(i);
    }

    private static void add(int i) {
        sink += i;
    }

    private static void add(List<String> names, long[][] numbers) {
        sink += names.size() + numbers.length;
    }

    /** Calls itself so many times, and in between, a leaf. */
    public static void down(int depth) {
        leaf();
        if (depth > 0) {
            down(depth - 1);
        }
    }

    /** Calls another method, which calls it, until each has been called so many times. */
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
