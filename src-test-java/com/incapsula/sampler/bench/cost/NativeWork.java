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
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteOptions;

/** Programs of other authors that spend most of their time in native methods, and call these very often. */
enum NativeWork {
    /** Two threads at a store of RocksDB, by JNI: nine reads and a write in turn. */
    ROCKSDB("RocksDB, by JNI") {
        @Override
        LongAdder start(Path folder) throws Exception {
            RocksDB.loadLibrary();
            RocksDB store = RocksDB.open(new Options().setCreateIfMissing(true), folder.toString());
            /* The log of writes would make this a measurement of the disk. */
            WriteOptions unlogged = new WriteOptions().setDisableWAL(true);
            for (int key = 0; key < KEYS; key++) {
                store.put(unlogged, key(key), value(key));
            }
            LongAdder done = new LongAdder();
            for (int i = 0; i < THREADS; i++) {
                startThread("rocksdb-" + i, () -> readAndWrite(store, unlogged, done));
            }
            return done;
        }
    },
    /** Netty's own epoll transport: 32 connections of one event loop to another one, which sends back what it gets. */
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

    /** As tables name it. */
    String title() {
        return title;
    }

    /**
     * Starts it, for as long as the JVM runs.
     *
     * @param folder an empty one, for its files
     * @return how many of its operations are done
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

    private static void readAndWrite(RocksDB store, WriteOptions options, LongAdder done) {
        Random random = ThreadLocalRandom.current();
        try {
            for (int i = 0; true; i++) {
                int key = random.nextInt(KEYS);
                if (i % WRITE_OF == 0) {
                    store.put(options, key(key), value(i));
                } else if (store.get(key(key)) == null) {
                    throw new IllegalStateException("key " + key + " is lost");
                }
                done.increment();
            }
        } catch (RocksDBException e) {
            throw new IllegalStateException(e);
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

    /** Sends back what it gets, and counts it. */
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
