// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.options.Values;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The chosen threads, held weakly, without those that have ended. Immutable. */
final class ThreadFilter {

    /** No threads were chosen: all are sampled. */
    static final ThreadFilter ALL = new ThreadFilter(false, List.of());

    private final boolean only;
    private final List<WeakReference<Thread>> threads;

    private ThreadFilter(boolean only, List<WeakReference<Thread>> threads) {
        this.only = only;
        this.threads = threads;
    }

    /** @return the threads of this filter and these; a thread chosen twice counts once */
    ThreadFilter and(List<Thread> more) {
        List<WeakReference<Thread>> all = new ArrayList<>();
        Set<Thread> both = Collections.newSetFromMap(new IdentityHashMap<>());
        List<Thread> inOrder = new ArrayList<>(alive());
        inOrder.addAll(more);
        for (Thread thread : inOrder) {
            if (both.add(thread)) {
                all.add(new WeakReference<>(thread));
            }
        }
        return new ThreadFilter(true, all);
    }

    /** @return true if only {@link #alive()} are sampled, even if there are none; false if all threads are sampled */
    boolean only() {
        return only;
    }

    /** @return the chosen threads that have not ended, in the order they were chosen; not modifiable */
    List<Thread> alive() {
        List<Thread> alive = new ArrayList<>();
        for (WeakReference<Thread> each : threads) {
            Thread thread = each.get();
            if (thread != null && !hasEnded(thread)) {
                alive.add(thread);
            }
        }
        return Collections.unmodifiableList(alive);
    }

    /** @return true if threads were chosen and all have ended, so nothing will be sampled */
    boolean isOver() {
        return only && alive().isEmpty();
    }

    /** @return false also for a thread that has not been started yet */
    static boolean hasEnded(Thread thread) {
        return thread.getState() == Thread.State.TERMINATED;
    }

    /** @throws IllegalArgumentException with the property's name if the thread cannot be chosen */
    static void check(String property, Thread thread) {
        Values.notNull(property, thread);
        if (isVirtual(thread)) {
            throw new IllegalArgumentException(property + " must be a platform thread, got virtual thread " + thread);
        }
    }

    /* All virtual threads are daemons, so a start on a main thread does not load Virtual. */
    static boolean isVirtual(Thread thread) {
        try {
            return thread.isDaemon() && Virtual.IS != null && (boolean) Virtual.IS.invokeExact(thread);
        } catch (Throwable t) {
            throw new IllegalStateException("Thread.isVirtual failed", t);
        }
    }

    /* A separate class, because most samplers choose no thread, and method handles cost a new JVM some milliseconds. */
    private static final class Virtual {

        static final @Nullable MethodHandle IS = find();

        /* The method exists since Java 21. */
        private static @Nullable MethodHandle find() {
            try {
                return MethodHandles.publicLookup()
                        .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
            } catch (NoSuchMethodException | IllegalAccessException absent) {
                return null;
            }
        }
    }
}
