// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import com.incapsula.sampler.testing.Samplers;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A session between streams of the test and a socket that sends a greeting and then echoes what it receives. */
@Timeout(Samplers.HANG_SECONDS)
class McpRelayTest {

    @TempDir
    Path folder;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private ServerSocketChannel server;

    @BeforeEach
    void listen() throws IOException {
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(socket()));
    }

    @AfterEach
    void close() throws IOException {
        server.close();
    }

    private Path socket() {
        return folder.resolve("s");
    }

    /** @return what the client has sent */
    private CompletableFuture<String> answerOne() {
        return CompletableFuture.supplyAsync(() -> {
            try (SocketChannel client = server.accept()) {
                client.write(ByteBuffer.wrap("hello\n".getBytes(StandardCharsets.UTF_8)));
                byte[] sent = Channels.newInputStream(client).readAllBytes();
                client.write(ByteBuffer.wrap(sent));
                return new String(sent, StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    private boolean relay(InputStream in) throws IOException {
        return new McpRelay().run(socket(), "hello", in, out);
    }

    private static InputStream input(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void bothDirectionsAreCarriedUntilTheInputEnds() throws Exception {
        CompletableFuture<String> sent = answerOne();
        assertThat(relay(input("one\ntwo\n"))).isTrue();
        assertThat(sent.get()).isEqualTo("one\ntwo\n");
        assertThat(out).hasToString("one\ntwo\n");
    }

    /** As if standard input were closed. */
    @Test
    void inputThatCannotBeReadEndsTheSession() throws Exception {
        CompletableFuture<String> sent = answerOne();
        InputStream broken = new InputStream() {
            @Override
            public int read() throws IOException {
                throw new IOException("Bad file descriptor");
            }
        };
        assertThat(relay(broken)).isTrue();
        assertThat(sent.get()).isEmpty();
    }

    @Test
    void anotherSocketIsSentNothing() {
        CompletableFuture<String> sent = answerOne();
        assertThatIOException()
                .isThrownBy(() -> new McpRelay().run(socket(), "other", input("secret\n"), out))
                .withMessage("the socket of the target is not its own");
        assertThat(sent.join()).isEmpty();
    }
}
