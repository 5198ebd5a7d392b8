// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Random;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The buffering of an answer, and the return of its memory. */
class AnswerBodyTest {

    private static final int PIECES = 4;
    private static final int ALL = PIECES * AnswerBody.PIECE_BYTES;

    private final Semaphore memory = new Semaphore(PIECES);
    private final ByteArrayOutputStream client = new ByteArrayOutputStream();
    private final AnswerBody body = new AnswerBody(memory, () -> client);

    private static byte[] content(int length) {
        byte[] content = new byte[length];
        new Random(7).nextBytes(content);
        return content;
    }

    /* Writes in parts whose ends differ from those of the pieces. */
    private void write(byte[] content) throws IOException {
        for (int from = 0; from < content.length; from += 1000) {
            body.write(content, from, Math.min(1000, content.length - from));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, AnswerBody.PIECE_BYTES, AnswerBody.PIECE_BYTES + 1, ALL - 1, ALL})
    void aBodyThatFitsIsSentWhenItIsComplete(int length) throws IOException {
        byte[] content = content(length);
        write(content);
        body.flush();
        assertThat(body.hasBegun()).isFalse();
        assertThat(client.size()).isZero();
        body.close();
        assertThat(body.hasBegun()).isTrue();
        assertThat(client.toByteArray()).isEqualTo(content);
        assertThat(memory.availablePermits()).isEqualTo(PIECES);
    }

    @ParameterizedTest
    @ValueSource(ints = {ALL + 1, 3 * ALL})
    void pastTheMemoryItIsSentAsItIsMade(int length) throws IOException {
        byte[] content = content(length);
        write(content);
        assertThat(body.hasBegun()).isTrue();
        assertThat(memory.availablePermits()).isEqualTo(PIECES);
        assertThat(client.toByteArray()).isEqualTo(content);
        body.close();
        assertThat(client.toByteArray()).isEqualTo(content);
    }

    @Test
    void onePartMayBeLargerThanTheMemory() throws IOException {
        byte[] content = content(2 * ALL);
        body.write(1);
        body.write(content);
        body.close();
        assertThat(client.toByteArray()).hasSize(2 * ALL + 1).startsWith(1).endsWith(content);
    }

    @Test
    void afterSendNothingIsKept() throws IOException {
        body.write(1);
        body.send();
        assertThat(client.toByteArray()).containsExactly(1);
        body.write(2);
        assertThat(client.toByteArray()).containsExactly(1, 2);
        assertThat(memory.availablePermits()).isEqualTo(PIECES);
    }

    @Test
    void answersShareTheMemory() throws IOException {
        ByteArrayOutputStream otherClient = new ByteArrayOutputStream();
        AnswerBody other = new AnswerBody(memory, () -> otherClient);
        write(content(ALL));
        other.write(1);
        assertThat(otherClient.toByteArray()).containsExactly(1);
        assertThat(body.hasBegun()).isFalse();
        body.discard();
        assertThat(memory.availablePermits()).isEqualTo(PIECES);
        assertThat(client.size()).isZero();
    }

    @Test
    void memoryOfAnAnswerThatCannotBeSentComesBack() throws IOException {
        AnswerBody broken = new AnswerBody(memory, () -> new OutputStream() {
            private int pieces;

            @Override
            public void write(int value) {
                throw new AssertionError();
            }

            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                if (++pieces == 2) {
                    throw new IOException("gone");
                }
            }
        });
        broken.write(content(ALL));
        assertThat(memory.availablePermits()).isZero();
        assertThatIOException().isThrownBy(broken::close).withMessage("gone");
        broken.discard();
        broken.discard();
        assertThat(memory.availablePermits()).isEqualTo(PIECES);
    }

    @Test
    void headersThatCannotBeSentLeaveTheAnswerUnbegun() throws IOException {
        AnswerBody broken = new AnswerBody(memory, () -> {
            throw new IOException("gone");
        });
        broken.write(new byte[10]);
        assertThatIOException().isThrownBy(broken::close).withMessage("gone");
        assertThat(broken.hasBegun()).isFalse();
        broken.discard();
        assertThat(memory.availablePermits()).isEqualTo(PIECES);
    }
}
