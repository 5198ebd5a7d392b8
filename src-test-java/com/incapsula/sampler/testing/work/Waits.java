// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing.work;

import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.lang.ref.ReferenceQueue;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchService;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Timer;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.Exchanger;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import java.util.function.Function;

/** Threads that each wait in another way, with their expected states. They end when the object is closed. */
public final class Waits implements AutoCloseable {

    private static final long LONG_SECONDS = 3600;

    /** One waiting thread. */
    public static final class Waiting {

        private final String name;
        private final String state;
        private final Thread thread;

        Waiting(String name, String state, Thread thread) {
            this.name = name;
            this.state = state;
            this.thread = thread;
        }

        /** @return the name, which is also the thread's name */
        public String name() {
            return name;
        }

        /** @return the expected state, as named in the measures of a report */
        public String state() {
            return state;
        }

        public Thread thread() {
            return thread;
        }
    }

    private interface Action {
        void run() throws Exception;
    }

    private final List<Waiting> all = new ArrayList<>();
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final Function<Runnable, Thread> starter;

    /** @param starter creates and starts a thread; the caller sets its name */
    public Waits(Function<Runnable, Thread> starter) {
        this.starter = starter;
    }

    /** @return waits of daemon platform threads */
    public static Waits ofPlatformThreads() {
        return new Waits(action -> {
            Thread thread = new Thread(action);
            thread.setDaemon(true);
            return thread;
        });
    }

    public List<Waiting> all() {
        return all;
    }

    private <T extends AutoCloseable> T closed(T resource) {
        open.push(resource);
        return resource;
    }

    private Thread start(String name, Action action) {
        Thread thread = starter.apply(() -> {
            try {
                action.run();
            } catch (Exception e) {
                // closed, or interrupted at the end
            }
        });
        thread.setName(name);
        thread.start();
        open.push(thread::interrupt);
        return thread;
    }

    private void waits(String state, String name, Action action) {
        String whole = state + "." + name;
        all.add(new Waiting(whole, state, start(whole, action)));
    }

    /* Runs the action on a thread that then holds the lock; returns when it holds it. */
    private void held(Action take) throws InterruptedException {
        CountDownLatch taken = new CountDownLatch(1);
        start("holder", () -> {
            take.run();
            taken.countDown();
            new CountDownLatch(1).await();
        });
        taken.await();
    }

    private static void holdMonitor(Object monitor, CountDownLatch taken) throws InterruptedException {
        synchronized (monitor) {
            taken.countDown();
            new CountDownLatch(1).await();
        }
    }

    private Object heldMonitor() throws InterruptedException {
        Object monitor = new Object();
        CountDownLatch taken = new CountDownLatch(1);
        start("holder", () -> holdMonitor(monitor, taken));
        taken.await();
        return monitor;
    }

    // ------------------------------------------------------------------------------- locks

    /** Waits for locks. */
    public Waits locks() throws Exception {
        Object monitor = heldMonitor();
        waits("blocked", "monitor", () -> {
            synchronized (monitor) {
                LockSupport.park();
            }
        });
        Guarded guarded = new Guarded();
        CountDownLatch inside = new CountDownLatch(1);
        start("holder", () -> guarded.hold(inside));
        inside.await();
        waits("blocked", "method", guarded::enter);
        notified();
        initialiser();
        ReentrantLock lock = new ReentrantLock();
        ReentrantLock fair = new ReentrantLock(true);
        held(lock::lock);
        held(fair::lock);
        waits("blocked", "lock", lock::lock);
        waits("blocked", "fairLock", fair::lock);
        waits("blocked", "lockInterruptibly", lock::lockInterruptibly);
        waits("blocked", "tryLock", () -> lock.tryLock(LONG_SECONDS, TimeUnit.SECONDS));
        ReentrantReadWriteLock written = new ReentrantReadWriteLock();
        ReentrantReadWriteLock read = new ReentrantReadWriteLock();
        held(() -> written.writeLock().lock());
        held(() -> read.readLock().lock());
        waits("blocked", "writeLock", () -> written.writeLock().lock());
        waits("blocked", "readLock", () -> written.readLock().lock());
        waits("blocked", "tryReadLock", () -> written.readLock().tryLock(LONG_SECONDS, TimeUnit.SECONDS));
        waits("blocked", "writeBehindReaders", () -> read.writeLock().lock());
        Semaphore none = new Semaphore(0);
        waits("blocked", "semaphore", none::acquire);
        waits("blocked", "semaphoreUninterruptibly", () -> none.acquireUninterruptibly(1));
        waits("blocked", "trySemaphore", () -> none.tryAcquire(LONG_SECONDS, TimeUnit.SECONDS));
        StampedLock stamped = new StampedLock();
        held(stamped::writeLock);
        waits("blocked", "stampedWrite", stamped::writeLockInterruptibly);
        waits("blocked", "stampedRead", stamped::readLockInterruptibly);
        Mutex mutex = new Mutex();
        held(() -> mutex.acquire(1));
        waits("blocked", "ownSynchronizer", () -> mutex.acquire(1));
        waits("blocked", "ownSynchronizerInterruptibly", () -> mutex.acquireInterruptibly(1));
        timedOut();
        return this;
    }

    /* A thread in Object.wait was notified while another thread holds the monitor. */
    private void notified() throws InterruptedException {
        Object monitor = new Object();
        waits("blocked", "notified", () -> {
            synchronized (monitor) {
                monitor.wait();
            }
        });
        awaitState(last(), Thread.State.WAITING);
        CountDownLatch taken = new CountDownLatch(1);
        start("holder", () -> {
            synchronized (monitor) {
                monitor.notifyAll();
                taken.countDown();
                new CountDownLatch(1).await();
            }
        });
        taken.await();
        awaitState(last(), Thread.State.BLOCKED);
    }

    /*
     * A condition's wait has timed out while another thread holds the lock. (A signalled thread would not even wake up:
     * by its frames it still waits for the condition.)
     */
    private void timedOut() throws InterruptedException {
        ReentrantLock lock = new ReentrantLock();
        Condition condition = lock.newCondition();
        CountDownLatch begun = new CountDownLatch(1);
        AtomicBoolean isHeld = new AtomicBoolean();
        waits("blocked", "timedOut", () -> {
            lock.lock();
            begun.countDown();
            while (!isHeld.get()) {
                condition.awaitNanos(TimeUnit.MILLISECONDS.toNanos(50));
            }
        });
        begun.await();
        held(() -> {
            lock.lock();
            isHeld.set(true);
        });
        awaitState(last(), Thread.State.WAITING);
    }

    /* Possible once in a JVM, because a class is initialised only once. */
    private void initialiser() throws InterruptedException {
        if (Gate.END.getCount() == 0) {
            return;
        }
        start("initialiser", Never::touch);
        Gate.BEGUN.await();
        waits("blocked", "classInitialiser", Never::touch);
        open.push(Gate.END::countDown);
    }

    private Thread last() {
        return all.get(all.size() - 1).thread();
    }

    private static void awaitState(Thread thread, Thread.State state) {
        while (thread.getState() != state) {
            Thread.onSpinWait();
        }
    }

    /** A class whose synchronized methods use its monitor. */
    static final class Guarded {

        synchronized void hold(CountDownLatch inside) throws InterruptedException {
            inside.countDown();
            new CountDownLatch(1).await();
        }

        synchronized void enter() {
            LockSupport.park();
        }
    }

    /** The beginning and the end of an initialiser. */
    static final class Gate {
        static final CountDownLatch BEGUN = new CountDownLatch(1);
        static final CountDownLatch END = new CountDownLatch(1);

        private Gate() {}
    }

    /** The class with the long initialiser. */
    static final class Never {

        static {
            Gate.BEGUN.countDown();
            waitForEnd();
        }

        private Never() {}

        private static void waitForEnd() {
            while (Gate.END.getCount() > 0) {
                LockSupport.park();
            }
        }

        static void touch() {}
    }

    /** A user-defined lock. */
    @SuppressWarnings("serial")
    static final class Mutex extends AbstractQueuedSynchronizer {

        @Override
        protected boolean tryAcquire(int ignored) {
            return compareAndSetState(0, 1);
        }
    }

    /** A user-defined latch. */
    @SuppressWarnings("serial")
    static final class Latch extends AbstractQueuedSynchronizer {

        @Override
        protected int tryAcquireShared(int ignored) {
            return -1;
        }
    }

    // ----------------------------------------------------------------------------- results

    /** Adds waits for results: everything except locks, I/O and work. */
    public Waits results() throws Exception {
        Object monitor = new Object();
        waits("waiting", "wait", () -> {
            synchronized (monitor) {
                monitor.wait();
            }
        });
        waits("waiting", "timedWait", () -> {
            synchronized (monitor) {
                monitor.wait(LONG_SECONDS * 1000);
            }
        });
        Thread sleeper = start("holder", () -> Thread.sleep(LONG_SECONDS * 1000));
        waits("waiting", "join", sleeper::join);
        waits("waiting", "sleep", () -> Thread.sleep(LONG_SECONDS * 1000));
        waits("waiting", "timeUnitSleep", () -> TimeUnit.HOURS.sleep(1));
        waits("waiting", "park", () -> LockSupport.park());
        waits("waiting", "parkNanos", () -> LockSupport.parkNanos(TimeUnit.HOURS.toNanos(1)));
        waits("waiting", "parkAt", () -> LockSupport.park(monitor));
        waits("waiting", "latch", () -> new CountDownLatch(1).await());
        waits("waiting", "timedLatch", () -> new CountDownLatch(1).await(1, TimeUnit.HOURS));
        waits("waiting", "barrier", () -> new CyclicBarrier(2).await());
        waits("waiting", "phaser", () -> new Phaser(2).arriveAndAwaitAdvance());
        waits("waiting", "exchanger", () -> new Exchanger<Integer>().exchange(1));
        waits("waiting", "futureTask", () -> new FutureTask<>(() -> 1).get());
        waits("waiting", "timedFutureTask", () -> new FutureTask<>(() -> 1).get(1, TimeUnit.HOURS));
        waits("waiting", "completableFuture", () -> new CompletableFuture<Integer>().get());
        waits("waiting", "completableJoin", () -> new CompletableFuture<Integer>().join());
        waits("waiting", "forkJoinTask", () -> new Unforked().join());
        ReentrantLock lock = new ReentrantLock();
        Condition condition = lock.newCondition();
        waits("waiting", "condition", () -> {
            lock.lock();
            try {
                condition.await();
            } finally {
                lock.unlock(); // the other thread ends, too
            }
        });
        waits("waiting", "timedCondition", () -> {
            lock.lock();
            try {
                condition.await(1, TimeUnit.HOURS);
            } finally {
                lock.unlock(); // the other thread ends, too
            }
        });
        waits("waiting", "ownLatch", () -> new Latch().acquireSharedInterruptibly(1));
        PipedInputStream piped = new PipedInputStream();
        closed(new PipedOutputStream(piped));
        waits("waiting", "pipedStream", piped::read);
        Process process = new ProcessBuilder("sleep", "3600").start();
        open.push(process::destroyForcibly);
        waits("waiting", "process", process::waitFor);
        waits("waiting", "put", () -> new SynchronousQueue<Integer>().put(1));
        BlockingQueue<Integer> full = new ArrayBlockingQueue<>(1);
        full.add(1);
        waits("waiting", "putIntoFull", () -> full.put(2));
        waits("waiting", "transfer", () -> new LinkedTransferQueue<Integer>().transfer(1));
        waits("waiting", "completionService", () -> new ExecutorCompletionService<Integer>(nothing()).take());
        ExecutorService pool = Executors.newSingleThreadExecutor(named("holder"));
        open.push(pool::shutdownNow);
        pool.submit(() -> new CountDownLatch(1).await(1, TimeUnit.HOURS));
        waits("waiting", "termination", () -> pool.awaitTermination(1, TimeUnit.HOURS));
        Callable<Boolean> never = () -> new CountDownLatch(1).await(1, TimeUnit.HOURS);
        waits("waiting", "invokeAll", () -> pool.invokeAll(List.of(never)));
        return this;
    }

    private static Executor nothing() {
        return action -> {};
    }

    private static ThreadFactory named(String name) {
        return action -> {
            Thread thread = new Thread(action, name);
            thread.setDaemon(true);
            return thread;
        };
    }

    /** A task that is never forked. */
    @SuppressWarnings("serial")
    static final class Unforked extends ForkJoinTask<Integer> {

        @Override
        public Integer getRawResult() {
            return 1;
        }

        @Override
        protected void setRawResult(Integer ignored) {}

        @Override
        protected boolean exec() {
            return false;
        }
    }

    // -------------------------------------------------------------------------------- work

    /** Adds waits for work: queues, selectors, connections. */
    public Waits work() throws Exception {
        waits("idle", "linkedQueue", () -> new LinkedBlockingQueue<Integer>().take());
        waits("idle", "poll", () -> new LinkedBlockingQueue<Integer>().poll(1, TimeUnit.HOURS));
        waits("idle", "arrayQueue", () -> new ArrayBlockingQueue<Integer>(1).take());
        waits("idle", "handOff", () -> new SynchronousQueue<Integer>().take());
        waits("idle", "timedHandOff", () -> new SynchronousQueue<Integer>().poll(1, TimeUnit.HOURS));
        waits("idle", "priorityQueue", () -> new PriorityBlockingQueue<Integer>().take());
        waits("idle", "delayQueue", () -> new DelayQueue<Later>().take());
        waits("idle", "transferQueue", () -> new LinkedTransferQueue<Integer>().take());
        waits("idle", "deque", () -> new LinkedBlockingDeque<Integer>().takeFirst());
        Selector selector = closed(Selector.open());
        waits("idle", "select", selector::select);
        waits("idle", "timedSelect", () -> closed(Selector.open()).select(3_600_000));
        ServerSocket server = closed(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
        waits("idle", "accept", server::accept);
        ServerSocket timed = closed(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
        timed.setSoTimeout(3_600_000);
        waits("idle", "timedAccept", timed::accept);
        ServerSocketChannel channel = closed(ServerSocketChannel.open());
        channel.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        waits("idle", "acceptOfChannel", channel::accept);
        Path folder = Files.createTempDirectory("waits");
        ServerSocketChannel local = closed(ServerSocketChannel.open(StandardProtocolFamily.UNIX));
        Path name = folder.resolve("socket");
        local.bind(UnixDomainSocketAddress.of(name));
        waits("idle", "acceptOfLocal", local::accept);
        WatchService watch = closed(FileSystems.getDefault().newWatchService());
        folder.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
        waits("idle", "watch", watch::take);
        open.addLast(() -> Files.deleteIfExists(folder));
        open.addLast(() -> Files.deleteIfExists(name));
        waits("idle", "references", () -> new ReferenceQueue<Object>().remove());
        return this;
    }

    /** Idle workers of pools. */
    public Waits workers() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1, factory("idle.pool"));
        pool.submit(() -> {}).get();
        open.push(pool::shutdownNow);
        ScheduledExecutorService scheduled = Executors.newScheduledThreadPool(1, factory("idle.scheduled"));
        scheduled.submit(() -> {}).get();
        open.push(scheduled::shutdownNow);
        ExecutorService cached = Executors.newCachedThreadPool(factory("idle.cached"));
        cached.submit(() -> {}).get();
        open.push(cached::shutdownNow);
        ForkJoinPool forked = new ForkJoinPool(
                1,
                of -> {
                    Thread thread = ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(of);
                    thread.setName("idle.forked");
                    all.add(new Waiting("idle.forked", "idle", thread));
                    return (java.util.concurrent.ForkJoinWorkerThread) thread;
                },
                null,
                false);
        forked.submit(() -> {}).get();
        open.push(forked::shutdownNow);
        Timer timer = new Timer("idle.timer", true);
        open.push(timer::cancel);
        Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("idle.timer"))
                .forEach(thread -> all.add(new Waiting("idle.timer", "idle", thread)));
        return this;
    }

    private ThreadFactory factory(String name) {
        return action -> {
            Thread thread = new Thread(action, name);
            thread.setDaemon(true);
            all.add(new Waiting(name, "idle", thread));
            return thread;
        };
    }

    /** An element whose delay never ends. */
    static final class Later implements Delayed {

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(1, TimeUnit.HOURS);
        }

        @Override
        public int compareTo(Delayed other) {
            return 0;
        }
    }

    // --------------------------------------------------------------------------------- I/O

    /** Adds waits for silent peers, and for peers that read nothing. */
    public Waits io() throws Exception {
        ServerSocket server = closed(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
        Socket reader = closed(new Socket(server.getInetAddress(), server.getLocalPort()));
        closed(server.accept());
        waits("io", "socketRead", () -> reader.getInputStream().read());
        Socket timed = closed(new Socket(server.getInetAddress(), server.getLocalPort()));
        closed(server.accept());
        timed.setSoTimeout(3_600_000);
        waits("io", "timedSocketRead", () -> timed.getInputStream().read());
        Socket writer = closed(new Socket(server.getInetAddress(), server.getLocalPort()));
        closed(server.accept());
        waits("io", "socketWrite", () -> fill(writer.getOutputStream()));
        SocketChannel channel = closed(SocketChannel.open(server.getLocalSocketAddress()));
        closed(server.accept());
        waits("io", "channelRead", () -> channel.read(ByteBuffer.allocate(1)));
        SocketChannel full = closed(SocketChannel.open(server.getLocalSocketAddress()));
        closed(server.accept());
        waits("io", "channelWrite", () -> fill(full));
        DatagramSocket datagrams = closed(new DatagramSocket(0, InetAddress.getLoopbackAddress()));
        waits("io", "datagram", () -> datagrams.receive(new java.net.DatagramPacket(new byte[1], 1)));
        DatagramChannel packets = closed(DatagramChannel.open());
        packets.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        waits("io", "datagramChannel", () -> packets.receive(ByteBuffer.allocate(1)));
        Pipe pipe = Pipe.open();
        closed(pipe.source());
        closed(pipe.sink());
        waits("io", "pipe", () -> pipe.source().read(ByteBuffer.allocate(1)));
        Process process = new ProcessBuilder("sleep", "3600").start();
        waits("io", "processOutput", () -> process.getInputStream().read());
        open.push(process::destroyForcibly);
        files();
        return this;
    }

    /* A named pipe whose other end a shell holds. */
    private void files() throws IOException {
        Path folder = Files.createTempDirectory("waits");
        Path fifo = folder.resolve("fifo");
        Process holder = new ProcessBuilder(
                        "sh", "-c", "mkfifo \"$1\" && exec sleep 3600 <> \"$1\"", "sh", fifo.toString())
                .start();
        open.push(holder::destroyForcibly);
        while (!Files.exists(fifo)) {
            Thread.onSpinWait();
        }
        FileInputStream in = new FileInputStream(fifo.toFile());
        waits("io", "fileRead", in::read);
        Path other = folder.resolve("full");
        Process reader = new ProcessBuilder(
                        "sh", "-c", "mkfifo \"$1\" && exec sleep 3600 <> \"$1\"", "sh", other.toString())
                .start();
        open.push(reader::destroyForcibly);
        while (!Files.exists(other)) {
            Thread.onSpinWait();
        }
        FileOutputStream out = new FileOutputStream(other.toFile());
        waits("io", "fileWrite", () -> fill(out));
        open.addLast(() -> Files.deleteIfExists(folder));
        open.addLast(() -> Files.deleteIfExists(other));
        open.addLast(() -> Files.deleteIfExists(fifo));
    }

    private static void fill(OutputStream out) throws IOException {
        byte[] bytes = new byte[1 << 16];
        boolean goesOn = true;
        while (goesOn) {
            out.write(bytes);
        }
    }

    private static void fill(SocketChannel channel) throws IOException {
        boolean goesOn = true;
        while (goesOn) {
            channel.write(ByteBuffer.allocate(1 << 16));
        }
    }

    @Override
    public void close() {
        while (!open.isEmpty()) {
            try {
                open.pop().close();
            } catch (Exception e) {
                // the others are closed nevertheless
            }
        }
    }
}
