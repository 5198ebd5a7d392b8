// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The threads the user chose, held weakly, without those that have ended. Immutable. */
final class ThreadChoice {

    /** No choice was made: everybody is sampled. */
    static final ThreadChoice EVERYBODY = new ThreadChoice(false, List.of());

    private static final @Nullable MethodHandle IS_VIRTUAL = findIsVirtual();

    private final boolean only;
    private final List<WeakReference<Thread>> threads;

    private ThreadChoice(boolean only, List<WeakReference<Thread>> threads) {
        this.only = only;
        this.threads = threads;
    }

    /** @return this choice and these threads; a thread chosen twice counts once */
    ThreadChoice and(List<Thread> more) {
        List<WeakReference<Thread>> all = new ArrayList<>();
        Stream.concat(alive().stream(), more.stream())
                .filter(thread -> all.stream().noneMatch(chosen -> chosen.refersTo(thread)))
                .forEach(thread -> all.add(new WeakReference<>(thread)));
        return new ThreadChoice(true, all);
    }

    /** @return false: everybody is sampled; true: {@link #alive()} only, be it empty */
    boolean only() {
        return only;
    }

    /** @return the chosen threads that have not ended, in the order they were chosen; not modifiable */
    List<Thread> alive() {
        return threads.stream()
                .map(WeakReference::get)
                .filter(Objects::nonNull)
                .filter(thread -> !hasEnded(thread))
                .toList();
    }

    /** @return true if threads were chosen and all of them have ended: nothing will ever be sampled */
    boolean isOver() {
        return only && alive().isEmpty();
    }

    /** @return false also for a thread that has not been started yet */
    static boolean hasEnded(Thread thread) {
        return thread.getState() == Thread.State.TERMINATED;
    }

    /** @throws IllegalArgumentException naming the property where the thread cannot be chosen */
    static void check(String property, Thread thread) {
        if (thread == null) {
            throw new IllegalArgumentException(property + " must not be null");
        }
        if (isVirtual(thread)) {
            throw new IllegalArgumentException(property + " must be a platform thread, got virtual thread " + thread);
        }
    }

    private static boolean isVirtual(Thread thread) {
        try {
            return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invokeExact(thread);
        } catch (Throwable t) {
            throw new IllegalStateException("Thread.isVirtual failed", t);
        }
    }

    /* There since Java 21; before, no thread is virtual. */
    private static @Nullable MethodHandle findIsVirtual() {
        try {
            return MethodHandles.publicLookup()
                    .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
        } catch (NoSuchMethodException | IllegalAccessException absent) {
            return null;
        }
    }
}
