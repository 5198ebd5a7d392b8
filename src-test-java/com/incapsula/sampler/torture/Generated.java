// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongUnaryOperator;

/** Classes that are loaded again for each use, so that their code is compiled and freed each time. */
final class Generated {

    /** Has an area whose computation depends on the class. */
    public abstract static class Shape {

        /** Public for reflection. */
        public Shape() {}

        abstract long area(long size);
    }

    /** The only shape that is loaded at first. */
    public static final class Square extends Shape {

        /** Public for reflection. */
        public Square() {}

        @Override
        long area(long size) {
            return size * size;
        }
    }

    /** A shape that is loaded later. */
    public static final class Strip extends Shape {

        /** Public for reflection. */
        public Strip() {}

        @Override
        long area(long size) {
            return size + 3;
        }
    }

    /** A shape that is loaded last. */
    public static final class Ring extends Shape {

        /** Public for reflection. */
        public Ring() {}

        @Override
        long area(long size) {
            return 3 * size * size - size;
        }
    }

    /**
     * Compiled while all shapes are squares. Running it loads another kind of shape and uses it, which invalidates the
     * compiled code while threads are in it.
     */
    public static final class Hopeful implements LongUnaryOperator, Runnable {

        private static final String[] NAMES = {"Strip", "Ring"};
        private final Shape[] shapes = {new Square(), new Square(), new Square(), new Square()};
        private int spoiled;

        /** Public for reflection. */
        public Hopeful() {}

        @Override
        public long applyAsLong(long rounds) {
            long sum = 0;
            for (int i = 0; i < rounds; i++) {
                sum += area(i) + (shapes[0] instanceof Square ? 1 : sum % 7);
            }
            return sum;
        }

        private long area(int i) {
            return shapes[i & 3].area(i) ^ shapes[i + 1 & 3].area(i);
        }

        @Override
        public void run() {
            String name = getClass().getName().replace("Hopeful", NAMES[spoiled % NAMES.length]);
            try {
                Class<?> type = Class.forName(name, true, getClass().getClassLoader());
                shapes[spoiled++ & 3] = (Shape) type.getConstructor().newInstance();
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Methods to compile, some of them inlined into others. */
    public static final class Bulky implements LongUnaryOperator {

        /** Public for reflection. */
        public Bulky() {}

        @Override
        public long applyAsLong(long rounds) {
            long sum = 0;
            for (int i = 0; i < rounds; i++) {
                sum += text(i) + digits(sum) + mixed(sum, i) + tables(i);
            }
            return sum;
        }

        private static long text(int value) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < 5; i++) {
                text.append(value).append(i % 2 == 0 ? 'a' : 'b');
            }
            return text.reverse().toString().hashCode();
        }

        private static long digits(long value) {
            long sum = 0;
            for (long rest = Math.abs(value); rest > 0; rest /= 10) {
                sum += rest % 10;
            }
            return sum;
        }

        private static long mixed(long value, int times) {
            long result = value;
            for (int i = 0; i < times % 20; i++) {
                result = switch ((int) (result & 3)) {
                    case 0 -> result * 31 + i;
                    case 1 -> result ^ result >>> 7;
                    case 2 -> Long.rotateLeft(result, i);
                    default -> result - digits(result);
                };
            }
            return result;
        }

        private static long tables(int value) {
            Map<Integer, Long> table = new HashMap<>();
            for (int i = 0; i < 5; i++) {
                table.merge(value % (i + 1), (long) i, Long::sum);
            }
            return table.values().stream().mapToLong(Long::longValue).sum();
        }
    }

    /** Waits for a moment at the depth of its argument. Its class can be unloaded directly afterwards. */
    public static final class Patient implements LongUnaryOperator {

        /** Public for reflection. */
        public Patient() {}

        @Override
        public long applyAsLong(long depth) {
            if (depth > 0) {
                return applyAsLong(depth - 1) + 1;
            }
            LockSupport.parkNanos(1_000_000);
            return 0;
        }
    }

    /** Loads classes whose names begin with this text itself, and delegates all others to its parent. */
    private static final class Loader extends ClassLoader {

        private final String own;

        Loader(String own) {
            super(Generated.class.getClassLoader());
            this.own = own;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(own)) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> found = findLoadedClass(name);
                return found != null ? found : define(name);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] code = in.readAllBytes();
                return defineClass(name, code, 0, code.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    private Generated() {}

    /** @return an object of a new class with this name */
    static LongUnaryOperator fresh(Class<? extends LongUnaryOperator> type) {
        try {
            return (LongUnaryOperator) new Loader(Generated.class.getName() + "$")
                    .loadClass(type.getName())
                    .getConstructor()
                    .newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** @return a new class with the name and the bytes of this one */
    static Class<?> loadedAnew(Class<?> type) throws ClassNotFoundException {
        return new Loader(type.getName()).loadClass(type.getName());
    }
}
