// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.Map;

/**
 * Two collapsed documents as one with two weights per stack. Stacks may be many and long, so this holds only 128 bits of
 * a hash and a weight for each stack of the first document, and has that document written twice.
 */
public final class CollapsedDiff {

    private static final int BUFFER_BYTES = 64 * 1024;

    /** A hash of a stack. */
    private record Key(long high, long low) {

        @Override
        public int hashCode() {
            return Long.hashCode(low);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Key key && key.high == high && key.low == low;
        }
    }

    private final MessageDigest digest;
    private final OutputStream out;
    private final Map<Key, Long> first = new HashMap<>();

    private CollapsedDiff(OutputStream out) {
        this.out = new BufferedOutputStream(new StaysOpen(out), BUFFER_BYTES);
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException everyJvmHasIt) {
            throw new IllegalStateException(everyJvmHasIt);
        }
    }

    /**
     * Writes {@code stack before after} for every stack of either document. A stack that a document has twice may be
     * there twice; the sums are right.
     *
     * @param before a collapsed document
     * @param after another
     * @param out the stream; not flushed
     * @throws IOException if the stream throws it
     */
    public static void write(Content before, Content after, OutputStream out) throws IOException {
        CollapsedDiff diff = new CollapsedDiff(out);
        before.writeTo(new CollapsedLines(diff::remember));
        after.writeTo(new CollapsedLines(diff::writeAfter));
        before.writeTo(new CollapsedLines(diff::writeGone));
        diff.out.flush();
    }

    private void remember(byte[] line, int stackLength, long weight) {
        first.merge(key(line, stackLength), weight, Long::sum);
    }

    private void writeAfter(byte[] line, int stackLength, long weight) throws IOException {
        Long before = first.remove(key(line, stackLength));
        put(line, stackLength, before == null ? 0 : before, weight);
    }

    /* The stacks that are still in the map were not in the second document. */
    private void writeGone(byte[] line, int stackLength, long weight) throws IOException {
        Long before = first.remove(key(line, stackLength));
        if (before != null) {
            put(line, stackLength, before, 0);
        }
    }

    private void put(byte[] line, int stackLength, long before, long after) throws IOException {
        out.write(line, 0, stackLength);
        out.write((" " + before + " " + after + "\n").getBytes(StandardCharsets.US_ASCII));
    }

    private Key key(byte[] line, int stackLength) {
        digest.update(line, 0, stackLength);
        byte[] hash = digest.digest();
        return new Key(bits(hash, 0), bits(hash, Long.BYTES));
    }

    private static long bits(byte[] hash, int from) {
        long value = 0;
        for (int i = from; i < from + Long.BYTES; i++) {
            value = (value << Byte.SIZE) | (hash[i] & 0xff);
        }
        return value;
    }
}
