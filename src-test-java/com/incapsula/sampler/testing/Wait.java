// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Kinds of waits of a thread. */
public enum Wait {
    PARK {
        @Override
        public void forMillis(long millis) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
        }
    },

    SLEEP {
        @Override
        public void forMillis(long millis) throws InterruptedException {
            Thread.sleep(millis);
        }
    },

    OBJECT {
        @Override
        public void forMillis(long millis) throws InterruptedException {
            Object lock = new Object();
            synchronized (lock) {
                lock.wait(millis);
            }
        }
    },

    /** Waits to enter a monitor if other threads use it, too; else in Thread.sleep inside it. */
    MONITOR {
        @Override
        public void forMillis(long millis) throws InterruptedException {
            synchronized (CONTENDED) {
                Thread.sleep(millis);
            }
        }
    },

    QUEUE {
        @Override
        public void forMillis(long millis) throws InterruptedException {
            new LinkedBlockingQueue<>().poll(millis, TimeUnit.MILLISECONDS);
        }
    },

    LATCH {
        @Override
        public void forMillis(long millis) throws InterruptedException {
            new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS);
        }
    },

    /** Sleeps in native code. */
    ACCEPT {
        @Override
        public void forMillis(long millis) throws IOException {
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                socket.setSoTimeout((int) millis);
                socket.accept().close();
            } catch (SocketTimeoutException expected) {
                // the time is over
            }
        }
    },

    /** Reads in native code. A byte arrives each {@link #TIDE_MILLIS}, whatever time is requested. */
    READ {
        @Override
        public void forMillis(long millis) throws IOException {
            Tide.IN.read(ByteBuffer.allocate(1));
        }
    },

    JOIN {
        @Override
        public void forMillis(long millis) throws InterruptedException {
            FOREVER.join(millis);
        }
    };

    private static final long TIDE_MILLIS = 2;
    private static final Object CONTENDED = new Object();
    private static final Thread FOREVER = startForever();

    /** A pipe of the system, with a thread that writes to it. */
    private static final class Tide {

        static final Pipe.SourceChannel IN = open();

        private static Pipe.SourceChannel open() {
            try {
                Pipe pipe = Pipe.open();
                Thread writer = new Thread(() -> write(pipe.sink()), "tide");
                writer.setDaemon(true);
                writer.start();
                return pipe.source();
            } catch (IOException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private static void write(Pipe.SinkChannel out) {
            try {
                while (true) {
                    Thread.sleep(TIDE_MILLIS);
                    out.write(ByteBuffer.allocate(1));
                }
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Waits for about this time. */
    public abstract void forMillis(long millis) throws Exception;

    /** Waits at the end of this many more calls. */
    public final void forMillis(long millis, int depth) throws Exception {
        if (depth > 0) {
            forMillis(millis, depth - 1);
        } else {
            forMillis(millis);
        }
    }

    private static Thread startForever() {
        Thread thread = new Thread(LockSupport::park, "forever");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
