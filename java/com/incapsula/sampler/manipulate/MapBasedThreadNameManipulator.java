// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.manipulate;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Groups threads by what they are doing: the application says so at the beginning and the end of the work.
 *
 * <pre>{@code
 * MapBasedThreadNameManipulator manipulator = new MapBasedThreadNameManipulator();
 * sampler.setThreadNameManipulator(manipulator);
 * ...
 * manipulator.mapCurrentThread(request.getRequestURI());
 * try {
 *     handle(request);
 * } finally {
 *     manipulator.unmapCurrentThread();
 * }
 * }</pre>
 *
 * <p>A thread without a mapping is not sampled. Threads are held weakly and compared by identity: a thread that ends
 * without {@link #unmapCurrentThread()} neither stays in memory nor is counted.
 *
 * <p>Threads: any. All methods are quick and none waits.
 *
 * @since 1.0
 */
public class MapBasedThreadNameManipulator implements ThreadNameManipulator {

    private final ConcurrentMap<ThreadKey, String> names = new ConcurrentHashMap<>();
    private final ReferenceQueue<Thread> collected = new ReferenceQueue<>();

    /** A manipulator without mappings. */
    public MapBasedThreadNameManipulator() {}

    /**
     * From now on the calling thread belongs to this group. Replaces its mapping where it has one.
     *
     * @param name the group's name
     * @throws IllegalArgumentException if the name is null
     */
    public void mapCurrentThread(String name) {
        if (name == null) {
            throw new IllegalArgumentException("the name of a mapping must not be null; use unmapCurrentThread()");
        }
        dropCollected();
        names.put(new ThreadKey(Thread.currentThread(), collected), name);
    }

    /** From now on the calling thread is not sampled. Does nothing where it has no mapping. */
    public void unmapCurrentThread() {
        dropCollected();
        names.remove(new ThreadKey(Thread.currentThread(), null));
    }

    /**
     * Counts the mappings of threads that have not ended.
     *
     * @return 0 or more
     */
    public int getMappingsCount() {
        dropCollected();
        names.keySet().removeIf(ThreadKey::hasEnded);
        return names.size();
    }

    @Override
    public @Nullable String getManipulatedThreadName(Thread thread) {
        return names.get(new ThreadKey(thread, null));
    }

    private void dropCollected() {
        for (Reference<? extends Thread> key = collected.poll(); key != null; key = collected.poll()) {
            names.remove(key);
        }
    }

    /** Equal for the same thread object only, as a subclass of Thread may define equals and hashCode. */
    private static final class ThreadKey extends WeakReference<Thread> {

        private final int hash;

        ThreadKey(Thread thread, @Nullable ReferenceQueue<Thread> queue) {
            super(thread, queue);
            hash = System.identityHashCode(thread);
        }

        boolean hasEnded() {
            Thread thread = get();
            return thread == null || thread.getState() == Thread.State.TERMINATED;
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(Object other) {
            if (this == other) {
                return true;
            }
            Thread thread = get();
            return thread != null && other instanceof ThreadKey key && key.get() == thread;
        }
    }
}
