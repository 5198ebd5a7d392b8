// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import static java.util.Objects.requireNonNull;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.internal.engine.LoadedLibrary;
import com.incapsula.sampler.internal.mcp.KeptIntervals;
import com.incapsula.sampler.internal.mcp.McpProtocol;
import com.incapsula.sampler.internal.mcp.McpStream;
import com.incapsula.sampler.internal.report.Folders;
import com.incapsula.sampler.internal.report.IoReason;
import java.io.IOException;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The target's end of a session of the Model Context Protocol: a socket in the file system, in a folder that only this
 * user can open. Unlike a port, it can be reached from outside a network namespace. It serves one client, and its name
 * is removed when the client has connected. The session ends with the connection.
 *
 * <p>Threads: one at a time. An interrupt ends a session.
 */
final class McpSocket implements AutoCloseable {

    private static final long CLIENT_MILLIS = 60_000;
    private static final String NAME = "mcp";

    private final Path folder;
    private final ServerSocketChannel server;

    private McpSocket(Path folder, ServerSocketChannel server) {
        this.folder = folder;
        this.server = server;
    }

    /**
     * Creates a socket in the temporary folder, or in /tmp if the path would be too long for a socket. If another user
     * could replace the folder of the socket there, it is created in the folder of the native library, which is
     * trusted.
     *
     * @throws Refusal if no folder can be used
     */
    static McpSocket open() {
        return open(System.getProperty("java.io.tmpdir", "/tmp"), "/tmp");
    }

    /** @param parents folders that other users may have changed */
    static McpSocket open(String... parents) {
        IOException first = null;
        for (String parent : parents) {
            try {
                Path real = Path.of(parent).toRealPath();
                Folders.requireSafe(real.getRoot(), real, Folders.userOfThisProcess());
                return openIn(real);
            } catch (IOException e) {
                first = first == null ? e : first;
            }
        }
        try {
            return openIn(requireNonNull(LoadedLibrary.file().getParent()));
        } catch (IOException e) {
            throw new Refusal(
                    "no socket can be made for the command line: " + IoReason.of(first == null ? e : first), e);
        }
    }

    private static McpSocket openIn(Path parent) throws IOException {
        Path folder = Files.createTempDirectory(parent, "threads-sampler-");
        ServerSocketChannel server = null;
        boolean complete = false;
        try {
            server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            server.bind(UnixDomainSocketAddress.of(folder.resolve(NAME)), 1);
            complete = true;
            return new McpSocket(folder, server);
        } finally {
            if (!complete) {
                close(server);
                remove(folder);
            }
        }
    }

    /** @return the path of the socket */
    Path path() {
        return folder.resolve(NAME);
    }

    /**
     * Serves the client until it disconnects.
     *
     * @param greeting a line by which the client recognises this socket; the client waits for it
     * @throws IOException if no client comes, or the connection breaks
     * @throws InterruptedException if another command ends the session
     */
    void serve(ThreadsSampler sampler, String greeting) throws IOException, InterruptedException {
        try (SocketChannel client = accept();
                KeptIntervals intervals = new KeptIntervals(sampler)) {
            close(); // no other client can connect
            OutputStream out = Channels.newOutputStream(client);
            out.write((greeting + "\n").getBytes(StandardCharsets.UTF_8));
            McpStream.serve(Channels.newInputStream(client), out, new McpProtocol(intervals));
        }
    }

    private SocketChannel accept() throws IOException {
        server.configureBlocking(false);
        SocketChannel client = null;
        try (Selector selector = Selector.open()) {
            server.register(selector, SelectionKey.OP_ACCEPT);
            selector.select(CLIENT_MILLIS);
            client = server.accept();
        }
        if (client == null) {
            throw new IOException("the command line has not connected");
        }
        return client;
    }

    private static void remove(Path folder) {
        try {
            Files.deleteIfExists(folder.resolve(NAME));
            Files.deleteIfExists(folder);
        } catch (IOException left) {
            // an empty folder remains
        }
    }

    /** Removes the socket's name; a connected client is not affected. */
    @Override
    public void close() {
        close(server);
        remove(folder);
    }

    private static void close(@Nullable ServerSocketChannel server) {
        try {
            if (server != null) {
                server.close();
            }
        } catch (IOException gone) {
            // it is no longer needed
        }
    }
}
