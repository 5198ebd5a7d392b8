// SPDX-License-Identifier: Apache-2.0
package counted;

/**
 * A random program whose calls fail wherever they can: before and in {@code super()}, in synchronized code, in
 * recursive constructors, at the end of the stack. {@link Edges} records each call with its caller.
 */
public final class Failures {

    /** The names of the methods with their classes, by number. */
    static final String[] METHODS = {
        "outside",
        "Failures.root",
        "Failures.next",
        "Failures.catching",
        "Failures.finishing",
        "Failures.passing",
        "Failures.leaf",
        "Failures.thrower",
        "Failures.locking",
        "Failures$Base.<init>",
        "Failures$Derived.<init>",
        "Failures$Nested.<init>",
        "Failures.building",
        "Failures.checked",
        "Failures.full",
        "Failures.recursion",
    };

    private static final int OUTSIDE = 0;
    private static final int ROOT = 1;
    private static final int NEXT = 2;
    private static final int CATCHING = 3;
    private static final int FINISHING = 4;
    private static final int PASSING = 5;
    private static final int LEAF = 6;
    private static final int THROWER = 7;
    private static final int LOCKING = 8;
    private static final int BASE = 9;
    private static final int DERIVED = 10;
    private static final int NESTED = 11;
    private static final int BUILDING = 12;
    private static final int CHECKED = 13;
    private static final int FULL = 14;
    private static final int RECURSION = 15;
    private static final int ALL = METHODS.length;

    private static final Object LOCK = new Object();
    private static final int DEPTH = 12;

    private static volatile int sink;
    private static boolean overflows;

    private Failures() {}

    /** @param full true if the stack may overflow, too */
    public static void run(long seed, int times, boolean full) {
        Edges.seed(seed);
        overflows = full;
        root(OUTSIDE, times);
    }

    private static void root(int caller, int times) {
        Edges.COUNTS[caller * ALL + ROOT]++;
        for (int i = 0; i < times; i++) {
            try {
                next(ROOT, DEPTH);
            } catch (IllegalStateException | IllegalArgumentException | Edges.Death e) {
                leaf(ROOT);
            }
            try {
                new Derived(ROOT);
            } catch (IllegalStateException | IllegalArgumentException e) {
                sink++;
            }
            leaf(ROOT);
            if (overflows && i % 50 == 0) {
                try {
                    full(ROOT, 0);
                } catch (StackOverflowError e) {
                    leaf(ROOT);
                }
                recursion(ROOT, 0);
                leaf(ROOT);
            }
        }
    }

    private static void next(int caller, int depth) {
        Edges.COUNTS[caller * ALL + NEXT]++;
        if (depth == 0) {
            leaf(NEXT);
            return;
        }
        switch (Edges.random(8)) {
            case 0:
                catching(NEXT, depth - 1);
                break;
            case 1:
                finishing(NEXT, depth - 1);
                break;
            case 2:
                passing(NEXT, depth - 1);
                break;
            case 3:
                locking(NEXT, depth - 1);
                break;
            case 4:
                new Nested(NEXT, depth - 1);
                break;
            case 5:
                building(NEXT);
                break;
            case 6:
                thrower(NEXT);
                break;
            default:
                leaf(NEXT);
                break;
        }
    }

    private static void catching(int caller, int depth) {
        Edges.COUNTS[caller * ALL + CATCHING]++;
        try {
            next(CATCHING, depth);
            next(CATCHING, depth);
        } catch (IllegalStateException | Edges.Death e) {
            leaf(CATCHING);
        }
        next(CATCHING, depth / 2);
    }

    private static void finishing(int caller, int depth) {
        Edges.COUNTS[caller * ALL + FINISHING]++;
        try {
            next(FINISHING, depth);
        } finally {
            leaf(FINISHING);
        }
    }

    private static void passing(int caller, int depth) {
        Edges.COUNTS[caller * ALL + PASSING]++;
        next(PASSING, depth);
        next(PASSING, depth);
    }

    private static void leaf(int caller) {
        Edges.COUNTS[caller * ALL + LEAF]++;
        sink++;
    }

    private static void thrower(int caller) {
        Edges.COUNTS[caller * ALL + THROWER]++;
        switch (Edges.random(3)) {
            case 0:
                throw new IllegalStateException();
            case 1:
                throw new IllegalArgumentException();
            default:
                throw new Edges.Death();
        }
    }

    private static void locking(int caller, int depth) {
        Edges.COUNTS[caller * ALL + LOCKING]++;
        synchronized (LOCK) {
            try {
                next(LOCKING, depth);
            } catch (IllegalArgumentException e) {
                synchronized (METHODS) {
                    next(LOCKING, depth / 2);
                }
            }
            leaf(LOCKING);
        }
    }

    private static void building(int caller) {
        Edges.COUNTS[caller * ALL + BUILDING]++;
        for (int i = 0; i < 4; i++) {
            try {
                new Derived(BUILDING);
            } catch (IllegalStateException e) {
                leaf(BUILDING);
            }
        }
    }

    private static int checked(int caller) {
        Edges.COUNTS[caller * ALL + CHECKED]++;
        switch (Edges.random(6)) {
            case 0:
                throw new IllegalStateException();
            case 1:
                throw new IllegalArgumentException();
            default:
                return 1;
        }
    }

    private static class Base {
        Base(long calls, int caller) {
            sink++;
            if (Edges.random(4) == 0) {
                throw new IllegalStateException();
            }
            leaf(BASE);
        }
    }

    private static final class Derived extends Base {
        Derived(int caller) {
            super(
                    Edges.COUNTS[caller * ALL + DERIVED]++ + checked(DERIVED) + Edges.COUNTS[DERIVED * ALL + BASE]++,
                    DERIVED);
            leaf(DERIVED);
        }
    }

    /* Creates further objects of its class, and continues if these fail. */
    private static final class Nested extends Base {
        Nested(int caller, int depth) {
            super(
                    Edges.COUNTS[caller * ALL + NESTED]++ + checked(NESTED) + Edges.COUNTS[NESTED * ALL + BASE]++,
                    NESTED);
            try {
                if (depth > 0) {
                    new Nested(NESTED, depth - 1);
                }
                next(NESTED, depth / 2);
            } catch (IllegalStateException e) {
                leaf(NESTED);
            }
            leaf(NESTED);
        }
    }

    /* Recurses until the stack overflows. */
    private static void full(int caller, int depth) {
        Edges.COUNTS[caller * ALL + FULL]++;
        try {
            full(FULL, depth + 1);
        } finally {
            if (depth < 100) {
                leaf(FULL);
            }
        }
    }

    /* Recurses in the same way, but continues after the overflow. */
    private static int recursion(int caller, int depth) {
        Edges.COUNTS[caller * ALL + RECURSION]++;
        int found = 0;
        try {
            found = recursion(RECURSION, depth + 1);
        } catch (StackOverflowError e) {
            found = depth % 8 == 0 ? depth : 0;
            if (found == 0) {
                throw e;
            }
        }
        if (depth < 100) {
            leaf(RECURSION);
        }
        return found;
    }
}
