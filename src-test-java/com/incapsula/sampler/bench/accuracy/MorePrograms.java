// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.testing.work.Programs;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.math.BigInteger;
import java.util.Vector;
import java.util.function.IntBinaryOperator;
import java.util.function.IntUnaryOperator;
import java.util.function.LongUnaryOperator;
import java.util.zip.Adler32;
import java.util.zip.CRC32;

/** Further {@link Programs}, for the benchmark oracle only. */
enum MorePrograms {
    CHECKSUMS("CRC32 and Adler32") {
        private final byte[] input = new byte[20_000];

        @Override
        long step() {
            CRC32 crc = new CRC32();
            Adler32 adler = new Adler32();
            for (int i = 0; i < 20; i++) {
                crc.update(input, i, input.length - i);
                adler.update(input, i, input.length - i);
            }
            return crc.getValue() + adler.getValue();
        }
    },

    LAMBDAS("lambdas and combined method handles") {
        private final MethodHandle combined = combined();

        @Override
        long step() throws Exception {
            long sum = 0;
            for (int i = 0; i < 2000; i++) {
                int added = i & 7;
                IntBinaryOperator plus = (x, y) -> x + y + added;
                IntUnaryOperator twice = x -> plus.applyAsInt(x, x);
                sum += twice.andThen(x -> x ^ added).applyAsInt(i);
                sum += call(i);
            }
            return sum;
        }

        private int call(int value) {
            try {
                return (int) combined.invokeExact(value);
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
        }
    },

    MONITORS("Vector and synchronized methods") {
        private final Vector<Integer> vector = new Vector<>();

        @Override
        long step() {
            vector.clear();
            for (int i = 0; i < 3000; i++) {
                vector.add(i);
            }
            long sum = 0;
            for (int i = 0; i < 3000; i++) {
                sum += vector.get(i) + locked(i);
            }
            return sum + vector.indexOf(2900);
        }

        private synchronized int locked(int value) {
            return value * 31 + vector.size();
        }
    },

    CONTENTION("a lock that other threads wait for") {
        private final Rivals rivals = new Rivals();

        @Override
        long step() {
            rivals.want();
            long sum = 0;
            for (int i = 0; i < 200; i++) {
                sum += rivals.locked(i);
            }
            return sum;
        }
    },

    NUMBERS("BigInteger and Math.sin") {
        @Override
        long step() {
            BigInteger product = BigInteger.ONE;
            double sum = 0;
            for (int i = 1; i < 300; i++) {
                product = product.multiply(BigInteger.valueOf(i)).add(BigInteger.TEN);
                sum += Math.sin(i) * Math.pow(i, 0.3);
            }
            return product.mod(BigInteger.valueOf(1_000_003)).longValue() + (long) sum;
        }
    },

    DEOPTIMISATION("code that is compiled, thrown away and unloaded") {
        private static final int STEPS_OF_A_COLLECTION = 200;
        private int steps;

        @Override
        long step() throws Exception {
            if (++steps % STEPS_OF_A_COLLECTION == 0) {
                System.gc();
            }
            LongUnaryOperator hopeful = (LongUnaryOperator) new Fresh()
                    .loadClass(Hopeful.class.getName())
                    .getDeclaredConstructor()
                    .newInstance();
            return hopeful.applyAsLong(40_000);
        }
    };

    private final String title;

    MorePrograms(String title) {
        this.title = title;
    }

    String title() {
        return title;
    }

    /** @return a result of about a millisecond of work, which the caller must use */
    abstract long step() throws Exception;

    private static MethodHandle combined() {
        try {
            MethodHandle power = MethodHandles.lookup()
                    .findStatic(Programs.class, "power", MethodType.methodType(int.class, int.class, int.class));
            MethodHandle cube = MethodHandles.insertArguments(power, 1, 3);
            return MethodHandles.filterReturnValue(cube, MethodHandles.insertArguments(power, 1, 2));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Threads that contend for a lock, until the program has not wanted it for a while. */
    private static final class Rivals {
        private static final int COUNT = 5;
        private static final long PATIENCE_NANOS = 100_000_000;
        private final Thread[] threads = new Thread[COUNT];
        private volatile long wantedAt;
        private long value;

        void want() {
            wantedAt = System.nanoTime();
            for (int i = 0; i < COUNT; i++) {
                if (threads[i] == null || !threads[i].isAlive()) {
                    threads[i] = new Thread(this::contend, "rival");
                    threads[i].setDaemon(true);
                    threads[i].start();
                }
            }
        }

        private void contend() {
            while (System.nanoTime() - wantedAt < PATIENCE_NANOS) {
                locked(1);
            }
        }

        private synchronized long locked(int added) {
            for (int i = 0; i < 100; i++) {
                value = value * 31 + added;
            }
            return value;
        }
    }

    /** Has an area whose computation depends on the class. */
    public interface Shape {
        /** @return the area for this size */
        long area(long size);
    }

    /** The class that compiled code expects. */
    public static final class Square implements Shape {
        /** For reflection. */
        public Square() {}

        @Override
        public long area(long size) {
            return size * size;
        }
    }

    /** A class that compiled code does not expect. */
    public static final class Strip implements Shape {
        /** For reflection. */
        public Strip() {}

        @Override
        public long area(long size) {
            return size + 3;
        }
    }

    /** Compiled while all shapes are squares, then deoptimised while it runs. */
    public static final class Hopeful implements LongUnaryOperator {
        /** For reflection. */
        public Hopeful() {}

        @Override
        public long applyAsLong(long rounds) {
            Shape shape = new Square();
            long sum = 0;
            for (long i = 0; i < rounds; i++) {
                if (i == rounds - 100) {
                    shape = new Strip();
                }
                sum += add(shape, i);
            }
            return sum;
        }

        private long add(Shape shape, long size) {
            return shape.area(size) + 1;
        }
    }

    /** Defines the three classes above once more. */
    private static final class Fresh extends ClassLoader {

        Fresh() {
            super(Fresh.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(MorePrograms.class.getName() + "$") || name.endsWith("$Fresh")) {
                return super.loadClass(name, resolve);
            }
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : define(name);
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }
}
