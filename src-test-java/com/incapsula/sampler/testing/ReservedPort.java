// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/**
 * A port of the loopback address that the system assigns to no socket, neither in this JVM nor in others. A server that
 * names the port may listen on it and stop, as often as it likes. While no server listens, connections are refused.
 */
public final class ReservedPort implements AutoCloseable {

    private final SocketChannel bound; // does not listen, so it does not block a server
    private final int number;

    /** Reserves a free port. */
    public ReservedPort() {
        try {
            bound = SocketChannel.open();
            bound.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            bound.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            number = ((InetSocketAddress) bound.getLocalAddress()).getPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** @return the port */
    public int number() {
        return number;
    }

    @Override
    public void close() {
        try {
            bound.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
