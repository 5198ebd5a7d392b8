// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import com.incapsula.sampler.testing.Virtual;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Threads contend for locks, and each records which lock it wants or holds. Meanwhile one thread reads who owns the
 * lock that another thread waits for, and compares. A read is decided if the holder was the same before and after it.
 * Classes of locks are loaded and unloaded. Arguments: the test library; the number of decided reads; "virtual" for
 * holders that include virtual threads, or "still" for locks that one thread holds throughout, where owners are only
 * read.
 */
public final class OwnersProgram {

    private static final int THREADS = 12;
    private static final int VIRTUAL_THREADS = 6;
    private static final int LOCKS = 3;
    private static final int READS_PER_ROUND = 20_000;

    /* enum smp_owner_kind, as returned by owner(). */
    private static final long UNKNOWN = -1;
    private static final long UNREAD = -2;
    private static final long UNMOUNTED = -7;

    private static volatile boolean isOver;

    private OwnersProgram() {}

    private static native boolean open();

    private static native int learnThreads();

    private static native long owner(long waiter);

    private static native String lockClass();

    private static native long nanosPerRead(long waiter, int times);

    /** A lock. holder is null, or says which thread holds it and for which turn. */
    private abstract static class Held {

        volatile Turn holder;

        abstract void lock();

        abstract void unlock();

        abstract String className();

        abstract boolean isMonitor();
    }

    /** One turn of a thread as the holder of a lock. */
    private static final class Turn {

        final Contender thread;

        Turn(Contender thread) {
            this.thread = thread;
        }
    }

    private static final class Written extends Held {

        private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

        @Override
        void lock() {
            lock.writeLock().lock();
        }

        @Override
        void unlock() {
            lock.writeLock().unlock();
        }

        @Override
        String className() {
            return ReentrantReadWriteLock.class.getName();
        }

        @Override
        boolean isMonitor() {
            return false;
        }
    }

    private static final class Reentrant extends Held {

        private final ReentrantLock lock = new ReentrantLock();

        @Override
        void lock() {
            lock.lock();
        }

        @Override
        void unlock() {
            lock.unlock();
        }

        @Override
        String className() {
            return ReentrantLock.class.getName();
        }

        @Override
        boolean isMonitor() {
            return false;
        }
    }

    private static final class Monitor extends Held {

        final Object object;

        Monitor(Object object) {
            this.object = object;
        }

        @Override
        void lock() {
            throw new IllegalStateException();
        }

        @Override
        void unlock() {
            throw new IllegalStateException();
        }

        @Override
        String className() {
            return object.getClass().getName();
        }

        @Override
        boolean isMonitor() {
            return true;
        }
    }

    private static final AtomicReferenceArray<Held> locks = new AtomicReferenceArray<>(LOCKS * 3);

    /* Makes an object of a new class, which is unloaded together with the object. */
    private static Object ofItsOwnClass() {
        ClassLoader loader = new ClassLoader(OwnersProgram.class.getClassLoader()) {};
        return Proxy.newProxyInstance(loader, new Class<?>[] {Runnable.class}, (proxy, method, arguments) -> null);
    }

    private static Held newLock(int at) {
        return switch (at / LOCKS) {
            case 0 -> new Monitor(at % 2 == 0 ? ofItsOwnClass() : new int[0]);
            case 1 -> new Reentrant();
            default -> new Written();
        };
    }

    private static final class Contender implements Runnable {

        private final Random random;
        volatile long id;
        volatile Held wanted;

        Contender(long seed) {
            random = new Random(seed);
        }

        @Override
        public void run() {
            id = Thread.currentThread().getId();
            while (!isOver) {
                Held lock = locks.get(random.nextInt(LOCKS * 3));
                wanted = lock;
                if (lock instanceof Monitor monitor) {
                    synchronized (monitor.object) {
                        hold(lock);
                    }
                } else {
                    lock.lock();
                    hold(lock);
                    lock.unlock();
                }
                if (random.nextInt(4) == 0) {
                    LockSupport.parkNanos(random.nextInt(100_000));
                }
            }
        }

        private void hold(Held lock) {
            wanted = null;
            lock.holder = new Turn(this);
            int micros = random.nextInt(200);
            if (micros % 3 == 0) {
                LockSupport.parkNanos(micros * 1_000L * (micros % 2 == 0 ? 1 : 20));
            } else {
                long end = System.nanoTime() + micros * 1_000L;
                while (System.nanoTime() < end) {
                    Thread.onSpinWait();
                }
            }
            lock.holder = null;
        }
    }

    private static final class Figures {

        long right;
        long wrong;
        long unread;
        long unmounted;
        long named;
        long unnamed;
    }

    /* Drops the locks of the previous round, with their classes. */
    private static void replaceLocks() {
        for (int i = 0; i < LOCKS * 3; i++) {
            locks.set(i, newLock(i));
        }
    }

    private static void compare(Contender waiter, Figures figures) {
        Held lock = waiter.wanted;
        if (lock == null) {
            return;
        }
        Turn before = lock.holder;
        long owner = owner(waiter.id);
        Turn after = lock.holder;
        if (before == null || before != after || waiter.wanted != lock || before.thread == waiter) {
            return;
        }
        boolean isVirtual = before.thread.id < 0;
        if (owner == UNREAD || owner == UNKNOWN) {
            figures.unread++;
        } else if (owner == before.thread.id) {
            figures.right++;
            checkClass(lock, figures);
        } else if (owner == UNMOUNTED && virtualIds.contains(before.thread.id)) {
            figures.unmounted++;
        } else if (virtualIds.contains(before.thread.id) && carrierIds.contains(owner)) {
            figures.right++;
        } else {
            figures.wrong++;
            System.out.println("wrong: " + owner + " in place of " + before.thread.id + ", " + lock.className()
                    + (isVirtual ? " virtual" : ""));
        }
    }

    private static void checkClass(Held lock, Figures figures) {
        String name = lockClass();
        if (name.isEmpty()) {
            figures.unnamed++;
        } else if (name.equals(lock.className())) {
            figures.named++;
        } else {
            figures.wrong++;
            System.out.println("wrong: a lock of class " + name + " in place of " + lock.className());
        }
    }

    private static final java.util.Set<Long> virtualIds = java.util.concurrent.ConcurrentHashMap.newKeySet();
    private static final java.util.Set<Long> carrierIds = java.util.concurrent.ConcurrentHashMap.newKeySet();

    private static List<Contender> startAll(boolean withVirtual) throws InterruptedException {
        List<Contender> platform = new ArrayList<>();
        AtomicInteger seed = new AtomicInteger();
        for (int i = 0; i < THREADS; i++) {
            Contender contender = new Contender(seed.incrementAndGet());
            Thread thread = new Thread(contender, "contender-" + i);
            thread.setDaemon(true);
            thread.start();
            platform.add(contender);
        }
        for (int i = 0; withVirtual && i < VIRTUAL_THREADS; i++) {
            Thread thread = Virtual.factory().newThread(new Contender(seed.incrementAndGet()));
            virtualIds.add(thread.getId());
            thread.start();
        }
        for (Contender contender : platform) {
            while (contender.id == 0) {
                Thread.sleep(1);
            }
        }
        return platform;
    }

    /* Starts one waiting thread for each lock, and a thread that holds all of them. */
    private static List<Long> startStill() throws InterruptedException {
        List<Held> still = List.of(new Monitor(new int[0]), new Reentrant(), new Written());
        CountDownLatch holds = new CountDownLatch(1);
        startDaemon("holder", () -> {
            synchronized (((Monitor) still.get(0)).object) {
                still.get(1).lock();
                still.get(2).lock();
                holds.countDown();
                LockSupport.park();
            }
        });
        holds.await();
        List<Long> waiters = new ArrayList<>();
        for (Held lock : still) {
            Thread waiter = startDaemon("waiter", () -> {
                if (lock instanceof Monitor monitor) {
                    synchronized (monitor.object) {
                        throw new IllegalStateException();
                    }
                }
                lock.lock();
            });
            while (waiter.getState() != Thread.State.BLOCKED && waiter.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
            waiters.add(waiter.getId());
        }
        return waiters;
    }

    private static Thread startDaemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void readStill(long wanted) throws InterruptedException {
        List<Long> waiters = startStill();
        learnThreads();
        long holder = waiters.get(0) - 1;
        long right = 0;
        for (long read = 0; read < wanted; read++) {
            long owner = owner(waiters.get((int) (read % waiters.size())));
            if (owner != holder && owner != UNREAD) {
                System.out.println("wrong: " + owner);
                return;
            }
            right += owner == holder ? 1 : 0;
        }
        System.out.println("reads: " + wanted + ", right: " + right);
        System.out.println(right > wanted / 2 || wanted == 0 ? "fine" : "few owners");
    }

    /** @param arguments as above */
    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        long wanted = Long.parseLong(arguments[1]);
        if (arguments.length > 2 && arguments[2].equals("still")) {
            System.out.println("monitors: " + open());
            readStill(wanted);
            return;
        }
        boolean withVirtual = arguments.length > 2 && arguments[2].equals("virtual");
        replaceLocks();
        MethodHandles.lookup();
        System.out.println("monitors: " + open());
        List<Contender> contenders = startAll(withVirtual);
        Thread.sleep(20);
        learnThreads();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().startsWith("ForkJoinPool")) {
                carrierIds.add(thread.getId());
            }
        }
        Figures figures = new Figures();
        Random random = new Random(1);
        long reads = 0;
        while (figures.right + figures.unmounted < wanted) {
            compare(contenders.get(random.nextInt(contenders.size())), figures);
            if (++reads % READS_PER_ROUND == 0) {
                replaceLocks();
                if (reads % (READS_PER_ROUND * 8L) == 0) {
                    System.gc();
                }
            }
        }
        System.out.println("CPU time of a read: " + nanosPerRead(contenders.get(0).id, 1_000) + " ns");
        isOver = true;
        System.out.println("reads: " + reads + ", right: " + figures.right + ", unread: " + figures.unread
                + ", unmounted: " + figures.unmounted + ", wrong: " + figures.wrong + ", classes named: "
                + figures.named
                + ", not named: " + figures.unnamed);
        System.out.println(figures.wrong == 0 ? "fine" : "wrong owners");
    }
}
