// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is made of collapsed documents. */
class CollapsedTest {

    private static Content text(String text) {
        return out -> out.write(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String diff(String before, String after) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        CollapsedDiff.write(text(before), text(after), out);
        return out.toString(StandardCharsets.UTF_8);
    }

    private static List<String> lines(Content content) throws IOException {
        List<String> lines = new ArrayList<>();
        OutputStream reader = new CollapsedLines((line, length, weight) ->
                lines.add(new String(line, 0, length, StandardCharsets.UTF_8) + "=" + weight));
        content.writeTo(reader);
        return lines;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 100})
    void linesComeWholeHoweverTheyAreCut(int pieceLength) throws IOException {
        byte[] document = "a;b c 5\nü;x 9223372036854775807\n;e 0\n".getBytes(StandardCharsets.UTF_8);
        assertThat(lines(out -> {
            for (int i = 0; i < document.length; i += pieceLength) {
                out.write(document, i, Math.min(pieceLength, document.length - i));
            }
        })).containsExactly("a;b c=5", "ü;x=9223372036854775807", ";e=0");
    }

    @Test
    void lineOfAnyLengthAndByteByByte() throws IOException {
        String stack = "x".repeat(300_000);
        byte[] document = (stack + " 1\n").getBytes(StandardCharsets.US_ASCII);
        assertThat(lines(out -> {
            for (byte b : document) {
                out.write(b);
            }
        })).containsExactly(stack + "=1");
    }

    @Test
    void lineWithoutAWeightIsAnError() {
        assertThatIOException().isThrownBy(() -> lines(text("abc\n")));
    }

    @Test
    void diffHasBothWeights() throws IOException {
        assertThat(diff("", "")).isEmpty();
        assertThat(diff("a;b 1\n", "a;b 1\n")).isEqualTo("a;b 1 1\n");
        assertThat(diff("a;b 1\na;c 2\n", "")).isEqualTo("a;b 1 0\na;c 2 0\n");
        assertThat(diff("", "a;b 1\na;c 2\n")).isEqualTo("a;b 0 1\na;c 0 2\n");
    }

    @Test
    void sumsAreRightWhereAStackIsThereTwice() throws IOException {
        assertThat(diff("a 1\na 2\n", "a 10\na 20\n")).isEqualTo("a 3 10\na 0 20\n");
        assertThat(diff("a 1\na 2\n", "b 1\n")).isEqualTo("b 0 1\na 3 0\n");
    }
}
