// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.matcher.ElementMatchers;

/** The least that a counter of calls can do: one LongAdder per method, without a tree, times or exits. */
public final class FlatCounters {

    private static final int MOST = 16;

    /** The counters, by the method's number. */
    public static final LongAdder[] ADDERS = new LongAdder[MOST];

    static {
        for (int i = 0; i < MOST; i++) {
            ADDERS[i] = new LongAdder();
        }
    }

    /** Binds the method's number. */
    @Retention(RetentionPolicy.RUNTIME)
    @interface Number {}

    /** Code at the beginning of each method. */
    public static final class Entry {

        private Entry() {}

        /**
         * Counts a call.
         *
         * @param number the method's number
         */
        @Advice.OnMethodEnter
        public static void enter(@Number int number) {
            ADDERS[number].increment();
        }
    }

    private FlatCounters() {}

    /**
     * Makes a copy whose methods count their calls, in a class loader of its own.
     *
     * @param type the class
     * @param names the class's name and the names of the classes that belong to it
     * @param methods the methods that count
     * @return the copy
     */
    public static Class<?> copyOf(Class<?> type, List<String> names, List<String> methods)
            throws IOException, ClassNotFoundException {
        Map<String, byte[]> bytes = new HashMap<>();
        int number = 0;
        for (String name : names) {
            Class<?> one = Class.forName(name, false, type.getClassLoader());
            DynamicType.Builder<?> builder =
                    new ByteBuddy().redefine(one, ClassFileLocator.ForClassLoader.of(type.getClassLoader()));
            for (String method : methods) {
                builder = builder.visit(Advice.withCustomMapping()
                        .bind(Number.class, number++)
                        .to(Entry.class)
                        .on(ElementMatchers.named(method)));
            }
            bytes.put(name, builder.make().getBytes());
        }
        return new Copies(bytes, type.getClassLoader()).loadClass(type.getName());
    }

    private static final class Copies extends ClassLoader {

        private final Map<String, byte[]> bytes;

        Copies(Map<String, byte[]> bytes, ClassLoader parent) {
            super(parent);
            this.bytes = bytes;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                byte[] own = bytes.get(name);
                if (own == null || findLoadedClass(name) != null) {
                    return own == null ? super.loadClass(name, resolve) : findLoadedClass(name);
                }
                return defineClass(name, own, 0, own.length);
            }
        }
    }
}
