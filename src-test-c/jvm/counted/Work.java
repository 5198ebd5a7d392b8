// SPDX-License-Identifier: Apache-2.0
package counted;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

/** All the ways in which a method can be called and left. Each method except trivial ones tallies itself. */
class Work {

    static int sink;

    Work() {
        Tally.hit();
    }

    /** The root. */
    static void run(int rounds) {
        Tally.hit();
        for (int i = 0; i < rounds; i++) {
            recursion(5);
            even(6);
            exceptions();
            interruption();
            constructors(i);
            new Initialised().touch();
            dispatch();
            synchronizedMethods();
            lambdas(i);
            reflection();
            handles();
            switches(i);
            wide(1L, 2.0, i);
            /* Reflective calls and calls through handles do not appear in byte code. */
            sink += reflected(i) + handled(i);
        }
    }

    static int recursion(int depth) {
        Tally.hit();
        return depth == 0 ? 0 : recursion(depth - 1) + recursion(depth - 1);
    }

    static boolean even(int n) {
        Tally.hit();
        return n == 0 || odd(n - 1);
    }

    static boolean odd(int n) {
        Tally.hit();
        return n != 0 && even(n - 1);
    }

    /** Another agent changes this number (OtherAgent). */
    static int marked() {
        return 0x12345677 + sink - sink;
    }

    /* ---- exceptions ---- */

    static void exceptions() {
        Tally.hit();
        for (int i = 0; i < 3; i++) {
            try {
                level1(i);
            } catch (IllegalStateException e) {
                caught();
            } finally {
                last();
            }
        }
    }

    static void caught() {
        Tally.hit();
        sink++;
    }

    static void last() {
        Tally.hit();
        sink++;
    }

    static void level1(int n) {
        Tally.hit();
        level2(n);
    }

    static void level2(int n) {
        Tally.hit();
        try {
            level3(n);
        } finally {
            last();
        }
    }

    static void level3(int n) {
        Tally.hit();
        level4(n);
        last();
    }

    static void level4(int n) {
        Tally.hit();
        level5(n);
    }

    static void level5(int n) {
        Tally.hit();
        if (n != 1) {
            throw new IllegalStateException();
        }
    }

    /* ---- interruption ---- */

    static void interruption() {
        Tally.hit();
        for (int i = 0; i < 3; i++) {
            Thread.currentThread().interrupt();
            try {
                waiting(i);
            } catch (InterruptedException e) {
                caught();
            }
        }
    }

    static void waiting(int how) throws InterruptedException {
        Tally.hit();
        try {
            interrupted(how);
        } finally {
            last();
        }
    }

    static void interrupted(int how) throws InterruptedException {
        Tally.hit();
        switch (how) {
            case 0 -> Thread.sleep(60_000);
            case 1 -> new CountDownLatch(1).await();
            default -> waitsForNobody();
        }
        last();
    }

    static synchronized void waitsForNobody() throws InterruptedException {
        Tally.hit();
        Work.class.wait();
    }

    /* ---- constructors ---- */

    static void constructors(int n) {
        Tally.hit();
        sink += new Sub(n).value();
        try {
            sink += new Sub("thrown before super").value();
        } catch (IllegalArgumentException e) {
            caught();
        }
        try {
            sink += new Failing(n).hashCode();
        } catch (IllegalStateException e) {
            caught();
        }
    }

    static class Base {
        int number;

        Base(int number) {
            Tally.hit();
            this.number = number;
        }

        int value() {
            Tally.hit();
            return number + 1;
        }
    }

    static class Sub extends Base {
        Sub(int number) {
            super(checked(number));
            Tally.hit();
        }

        /* Its entry is counted; its exit is found by the exit of its caller. */
        Sub(String text) {
            this(checked(text, Tally2.hitConstructor()));
            last();
        }

        static int checked(int number) {
            Tally.hit();
            return number;
        }

        static int checked(String text, int number) {
            Tally.hit();
            throw new IllegalArgumentException(text);
        }
    }

    static class Failing {
        Failing(int number) {
            Tally.hit();
            if (number >= 0) {
                throw new IllegalStateException();
            }
        }
    }

    static class Initialised {
        static int count;

        static {
            count = 1;
        }

        Initialised() {
            Tally.hit();
        }

        void touch() {
            Tally.hit();
            count++;
        }
    }

    /* ---- dispatch ---- */

    interface Shape {
        double area(int scale);

        default double twice(int scale) {
            Tally.hit();
            return 2 * area(scale);
        }

        static Shape unit() {
            Tally.hit();
            return new Square(1);
        }
    }

    static class Square implements Shape {
        final int side;

        Square(int side) {
            Tally.hit();
            this.side = side;
        }

        @Override
        public double area(int scale) {
            Tally.hit();
            return side * side * scale;
        }
    }

    static class Doubled extends Square {
        Doubled(int side) {
            super(side);
            Tally.hit();
        }

        @Override
        public double area(int scale) {
            Tally.hit();
            return super.area(scale) * 2;
        }

        @Override
        public double twice(int scale) {
            Tally.hit();
            return Square.class.cast(this).side + area(scale);
        }
    }

    abstract static class Box<T> {
        Box() {
            Tally.hit();
        }

        abstract T open(T content);
    }

    /* Called by its bridge, open(Object). */
    static class TextBox extends Box<String> {
        TextBox() {
            Tally.hit();
        }

        @Override
        String open(String content) {
            Tally.hit();
            return content + "!";
        }
    }

    static void dispatch() {
        Tally.hit();
        Shape[] shapes = {Shape.unit(), new Doubled(3)};
        for (Shape shape : shapes) {
            sink += (int) shape.area(2) + (int) shape.twice(1);
        }
        Box<String> box = new TextBox();
        sink += box.open("text").length();
        List<Integer> list = new Counted();
        list.add(1);
        sink += list.get(0);
    }

    /** Its methods are called by a class of the JDK, and so through bridges. */
    static class Counted extends ArrayList<Integer> {
        private static final long serialVersionUID = 1;

        Counted() {
            Tally.hit();
        }

        @Override
        public boolean add(Integer number) {
            Tally.hit();
            return super.add(number);
        }

        @Override
        public Integer get(int index) {
            Tally.hit();
            return super.get(index);
        }
    }

    static synchronized void synchronizedStatic() {
        Tally.hit();
        sink++;
    }

    synchronized void synchronizedOne() {
        Tally.hit();
        synchronized (this) {
            sink++;
        }
    }

    static void synchronizedMethods() {
        Tally.hit();
        synchronizedStatic();
        new Work().synchronizedOne();
    }

    /* ---- lambdas ---- */

    static int apply(IntUnaryOperator operator, int n) {
        Tally.hit();
        return operator.applyAsInt(n);
    }

    static int addOne(int n) {
        Tally.hit();
        return n + 1;
    }

    int addOwn(int n) {
        Tally.hit();
        return n + 2;
    }

    static void lambdas(int n) {
        Tally.hit();
        sink += apply(
                x -> {
                    Tally.hit();
                    return x + n;
                },
                1);
        sink += apply(Work::addOne, 2);
        sink += apply(new Work()::addOwn, 3);
        Supplier<Square> maker = () -> {
            Tally.hit();
            return new Square(2);
        };
        sink += maker.get().side;
        List.of(1, 2, 3).forEach(number -> {
            Tally.hit();
            sink += number;
        });
    }

    /* ---- reflection and method handles ---- */

    public static int reflected(int n) {
        Tally.hit();
        return n * 2;
    }

    static void reflection() {
        Tally.hit();
        try {
            sink += (Integer)
                    Work.class.getDeclaredMethod("reflected", int.class).invoke(null, 3);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static final MethodHandle HANDLE = handle();

    private static MethodHandle handle() {
        try {
            return MethodHandles.lookup()
                    .findStatic(Work.class, "handled", MethodType.methodType(int.class, int.class));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    static int handled(int n) {
        Tally.hit();
        return n * 3;
    }

    static void handles() {
        Tally.hit();
        try {
            sink += (int) HANDLE.invokeExact(4);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /* ---- code ---- */

    static int switches(int n) {
        Tally.hit();
        switch (n % 5) {
            case 0:
                return 1;
            case 1:
                return 2;
            case 3:
                return addOne(n);
            default:
                break;
        }
        switch (n) {
            case 1_000_000:
                return 5;
            case -7:
                return 6;
            default:
                return 7;
        }
    }

    static double wide(long a, double b, int c) {
        Tally.hit();
        double sum = 0;
        for (long i = 0; i < 3; i++) {
            if (i == a) {
                continue;
            }
            sum += b * i + c;
        }
        return sum;
    }

    /** Tallies a constructor, which cannot tally itself before this(). */
    static final class Tally2 {
        private Tally2() {}

        static int hitConstructor() {
            Tally.hit();
            Tally.hit("counted.Work$Sub.<init>");
            return 1;
        }
    }
}
