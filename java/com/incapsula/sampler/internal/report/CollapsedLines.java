// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;

/** Receives a collapsed document in pieces and passes on its lines. */
public final class CollapsedLines extends OutputStream {

    /** Receives a line. */
    @FunctionalInterface
    public interface Reader {

        /**
         * One line.
         *
         * @param line the bytes of the stack first; reused
         * @param stackLength how many
         * @param weight the number behind the stack
         * @throws IOException ends the document; {@link #write} throws it
         */
        void line(byte[] line, int stackLength, long weight) throws IOException;
    }

    private static final int FIRST_CAPACITY = 8 * 1024;

    private final Reader reader;
    private byte[] line = new byte[FIRST_CAPACITY];
    private int length;

    /**
     * Reads a document.
     *
     * @param reader receives its lines
     */
    public CollapsedLines(Reader reader) {
        this.reader = reader;
    }

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int count) throws IOException {
        int from = offset;
        for (int i = offset; i < offset + count; i++) {
            if (bytes[i] == '\n') {
                append(bytes, from, i - from);
                endLine();
                from = i + 1;
            }
        }
        append(bytes, from, offset + count - from);
    }

    private void append(byte[] bytes, int offset, int count) {
        if (line.length - length < count) {
            line = Arrays.copyOf(line, Math.max(Math.addExact(length, count), line.length * 2));
        }
        System.arraycopy(bytes, offset, line, length, count);
        length += count;
    }

    private void endLine() throws IOException {
        int blank = length - 1;
        while (blank >= 0 && line[blank] != ' ') {
            blank--;
        }
        if (blank < 0) {
            throw new IOException("a line of the collapsed form has no weight");
        }
        long weight = 0;
        for (int i = blank + 1; i < length; i++) {
            weight = weight * 10 + line[i] - '0';
        }
        length = 0;
        reader.line(line, blank, weight);
    }
}
