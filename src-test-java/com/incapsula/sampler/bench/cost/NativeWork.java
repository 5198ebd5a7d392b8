// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.net.InetSocketAddress;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;

/** Programs of other authors that spend most of their time in native methods and call these very often. */
enum NativeWork {
    /** RocksDB by JNI: two threads alternate nine reads and a write. */
    ROCKSDB("RocksDB, by JNI") {
        @Override
        Path jars() {
            return Path.of(System.getProperty(ROCKSDB_JARS, "target/cold-start/rocksdb"));
        }

        @Override
        LongAdder start(Path folder) throws Exception {
            Store store = Store.open(jars(), folder);
            for (int key = 0; key < KEYS; key++) {
                store.put(key(key), value(key));
            }
            LongAdder done = new LongAdder();
            for (int i = 0; i < THREADS; i++) {
                startThread("rocksdb-" + i, () -> readAndWrite(store, done));
            }
            return done;
        }
    },
    /** Netty's epoll transport: 32 connections between two event loops; one sends back what it receives. */
    NETTY("netty's epoll transport") {
        @Override
        LongAdder start(Path folder) throws Exception {
            LongAdder done = new LongAdder();
            EventLoopGroup servers = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
            EventLoopGroup clients = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
            Channel server = new ServerBootstrap()
                    .group(servers)
                    .channel(EpollServerSocketChannel.class)
                    .childHandler(initializer(new Echo(new LongAdder())))
                    .bind(new InetSocketAddress("127.0.0.1", 0))
                    .sync()
                    .channel();
            for (int i = 0; i < CONNECTIONS; i++) {
                Channel client = new Bootstrap()
                        .group(clients)
                        .channel(EpollSocketChannel.class)
                        .handler(initializer(new Echo(done)))
                        .connect(server.localAddress())
                        .sync()
                        .channel();
                client.writeAndFlush(client.alloc().buffer().writeZero(MESSAGE_BYTES));
            }
            return done;
        }
    };

    private static final String ROCKSDB_JARS = "bench.rocksdb";
    private static final int THREADS = 2;
    private static final int KEYS = 200_000;
    private static final int KEY_BYTES = 16;
    private static final int VALUE_BYTES = 100;
    private static final int WRITE_OF = 10;
    private static final int CONNECTIONS = 32;
    private static final int MESSAGE_BYTES = 64;

    private final String title;

    NativeWork(String title) {
        this.title = title;
    }

    /** The name in tables. */
    String title() {
        return title;
    }

    /** The folder of its jars, which are not in this class path; null if it needs none. */
    Path jars() {
        return null;
    }

    /** The flags that a JVM needs to run it. */
    List<String> flags() {
        return jars() == null ? List.of() : List.of("-D" + ROCKSDB_JARS + "=" + jars().toAbsolutePath());
    }

    /**
     * Starts it, for as long as the JVM runs.
     *
     * @param folder an empty one, for its files
     * @return counts finished operations
     */
    abstract LongAdder start(Path folder) throws Exception;

    private static void startThread(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static byte[] key(int number) {
        return ByteBuffer.allocate(KEY_BYTES).putInt(number * 0x9e3779b1).array();
    }

    private static byte[] value(int number) {
        return ByteBuffer.allocate(VALUE_BYTES).putInt(number).array();
    }

    private static void readAndWrite(Store store, LongAdder done) {
        Random random = ThreadLocalRandom.current();
        for (int i = 0; true; i++) {
            int key = random.nextInt(KEYS);
            if (i % WRITE_OF == 0) {
                store.put(key(key), value(i));
            } else if (store.get(key(key)) == null) {
                throw new IllegalStateException("key " + key + " is lost");
            }
            done.increment();
        }
    }

    /** RocksDB through reflection: its jar has 88 MB, and no other test needs it. */
    private record Store(MethodHandle putter, MethodHandle getter) {

        static Store open(Path jars, Path folder) throws Exception {
            List<URL> urls = new ArrayList<>();
            try (DirectoryStream<Path> files = Files.newDirectoryStream(jars)) {
                for (Path file : files) {
                    urls.add(file.toUri().toURL());
                }
            }
            ClassLoader loader = new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
            Class<?> store = loader.loadClass("org.rocksdb.RocksDB");
            Class<?> options = loader.loadClass("org.rocksdb.Options");
            Class<?> writeOptions = loader.loadClass("org.rocksdb.WriteOptions");
            store.getMethod("loadLibrary").invoke(null);
            Object opened = store.getMethod("open", options, String.class)
                    .invoke(null, set(options, "setCreateIfMissing"), folder.toString());
            /* Without the write-ahead log, which would make this a measurement of the disk. */
            MethodHandle put = MethodHandles.publicLookup()
                    .unreflect(store.getMethod("put", writeOptions, byte[].class, byte[].class))
                    .bindTo(opened)
                    .bindTo(set(writeOptions, "setDisableWAL"));
            MethodHandle get = MethodHandles.publicLookup()
                    .unreflect(store.getMethod("get", byte[].class))
                    .bindTo(opened);
            return new Store(put, get);
        }

        private static Object set(Class<?> options, String setter) throws ReflectiveOperationException {
            Object made = options.getConstructor().newInstance();
            options.getMethod(setter, boolean.class).invoke(made, true);
            return made;
        }

        void put(byte[] key, byte[] value) {
            try {
                putter.invokeExact(key, value);
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
        }

        byte[] get(byte[] key) {
            try {
                return (byte[]) getter.invokeExact(key);
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static ChannelInitializer<Channel> initializer(ChannelHandler handler) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(handler);
            }
        };
    }

    /** Sends back what it receives, and counts it. */
    @ChannelHandler.Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {

        private final LongAdder done;

        Echo(LongAdder done) {
            this.done = done;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            done.add(((ByteBuf) message).readableBytes() / MESSAGE_BYTES);
            context.writeAndFlush(message);
        }
    }
}
