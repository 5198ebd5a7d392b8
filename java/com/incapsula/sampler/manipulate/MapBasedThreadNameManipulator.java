// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.manipulate;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Groups threads by their current work, which the application names when it begins and ends.
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
 * <p>Threads: any. All methods are fast and none waits.
 *
 * @since 1.0
 */
public class MapBasedThreadNameManipulator implements ThreadNameManipulator {

    private final ConcurrentMap<ThreadKey, String> names = new ConcurrentHashMap<>();
    private final ReferenceQueue<Thread> collected = new ReferenceQueue<>();

    /** Creates a manipulator without mappings. */
    public MapBasedThreadNameManipulator() {}

    /**
     * Assigns the calling thread to a group from now on. Replaces its mapping, if it has one.
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

    /** Removes the calling thread's mapping: from now on it is not sampled. Does nothing without a mapping. */
    public void unmapCurrentThread() {
        dropCollected();
        names.remove(new ThreadKey(Thread.currentThread(), null));
    }

    /** {@return the number of mappings of threads that have not ended} */
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
