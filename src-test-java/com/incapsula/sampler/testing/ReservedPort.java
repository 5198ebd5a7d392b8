// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/**
 * A port of the loopback address that the system gives to no socket as a free one, neither of this JVM nor of others,
 * while a server that asks for it by its number may listen at it, and cease to, as often as it likes. As long as none
 * does, connections are refused.
 */
public final class ReservedPort implements AutoCloseable {

    private final SocketChannel bound; // does not listen, so it is in no server's way
    private final int number;

    /** Reserves one that is free. */
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
