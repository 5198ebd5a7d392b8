// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reading and writing JSON. */
class JsonTest {

    private static final int ROUNDS = 20_000;
    private static final String ALPHABET = "{}[]\",:\\/bfnrtu0123456789-+.eE tfalsn\u0000\n\u00e9\ud83d\ude00";

    private static Object parse(String text) {
        try {
            return JsonParser.parse(text);
        } catch (MalformedJson e) {
            throw new AssertionError(text, e);
        }
    }

    @Test
    void everyKindOfValueIsRead() {
        Object value = parse(
                " {\"a\" : [1, -0.5e+3, true,false, null],\t\"\\u00e9\\n\\\"\\/\":\"\ud83d\ude00\", \"\":{}, \"l\":[]}\r\n");

        Map<String, Object> expected = Json.object(
                "a",
                List.of(1L, new Json.Numeral("-0.5e+3"), true, false, Json.Null.NULL),
                "\u00e9\n\"/",
                "\ud83d\ude00",
                "",
                Map.of(),
                "l",
                List.of());
        assertThat(value).isEqualTo(expected);
        assertThat(((Map<?, ?>) value).keySet()).isEqualTo(expected.keySet());
    }

    @Test
    void wholeNumbersAreLongsAsFarAsTheyGo() {
        assertThat(parse("[0,-0,-7,9223372036854775807,-9223372036854775808]"))
                .isEqualTo(List.of(0L, 0L, -7L, Long.MAX_VALUE, Long.MIN_VALUE));
        for (String text : List.of("9223372036854775808", "-9223372036854775809", "1.0", "1e3", "1E-3")) {
            assertThat(parse(text)).isEqualTo(new Json.Numeral(text));
            assertThat(JsonWriter.write(parse(text))).isEqualTo(text);
        }
        assertThat(new Json.Numeral("-9223372036854775809").isInteger()).isTrue();
        assertThat(new Json.Numeral("1.0").isInteger()).isFalse();
        assertThat(new Json.Numeral("1e3").isInteger()).isFalse();
    }

    @Test
    void writtenTextCanStandInAScriptElement() {
        String text = "</script><!--&\u007f\u2028\u2029\u00e9\ud83d\ude00";
        String written = "\"\\u003c/script\\u003e\\u003c!--\\u0026\\u007f\\u2028\\u2029\\u00e9\\ud83d\\ude00\"";

        assertThat(JsonWriter.write(Map.of(text, text))).isEqualTo("{" + written + ":" + written + "}");
        assertThat(parse(JsonWriter.write(text))).isEqualTo(text);
    }

    @Test
    void writtenTextIsOneLineOfAscii() {
        String text = JsonWriter.write(Json.object(
                "k\u2028\n",
                List.of("\ud83d\ude00\u0000\t\"\\", -7L, true, Json.Null.NULL),
                "e",
                List.of(),
                "o",
                Map.of()));

        assertThat(text)
                .isEqualTo("{\"k\\u2028\\n\":[\"\\ud83d\\ude00\\u0000\\t\\\"\\\\\",-7,true,null],\"e\":[],\"o\":{}}");
        assertThatIllegalArgumentException().isThrownBy(() -> JsonWriter.write(1));
    }

    @Test
    void halfASurrogatePairIsNotWritten() {
        for (String text :
                List.of("\ud83d", "\ude00", "a\ud83d", "\ude00\ud83d", "\ud83d\ud83d\ude00", "\ud83d\ude00\ude00")) {
            String read = (String) parse(JsonWriter.write(text));
            assertThat(read).hasSameSizeAs(text).contains("\ufffd");
            assertThat(read.contains("\ud83d\ude00")).isEqualTo(text.contains("\ud83d\ude00"));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "{",
                "[",
                "[1",
                "[1,]",
                "[,1]",
                "{\"a\"}",
                "{\"a\":}",
                "{\"a\":1,}",
                "{a:1}",
                "{'a':1}",
                "{\"a\":1,\"a\":2}",
                "{\"a\":1 \"b\":2}",
                "1 2",
                "[] x",
                "tru",
                "nulll",
                "NaN",
                "-",
                "+1",
                "01",
                "1.",
                ".5",
                "1e",
                "1e+",
                "0x10",
                "\"",
                "\"a",
                "\"\n\"",
                "\"\\x\"",
                "\"\\u12\"",
                "\"\\u12g4\"",
                "\"\\u\u0661\u0661\u0661\u0661\"",
                "\"\\ud83d\"",
                "\"\\ude00\\ud83d\"",
                "// 1",
                "\ufeff1",
                "\u0000"
            })
    void textThatIsNotJsonIsRefusedWithThePlace(String text) {
        assertThatExceptionOfType(MalformedJson.class)
                .isThrownBy(() -> JsonParser.parse(text))
                .withMessageMatching("(?s).+ at character \\d+")
                .satisfies(e -> assertThat(e).hasMessage(e.what() + " at character " + e.at()));
    }

    @Test
    void depthAndNumbersAreLimited() {
        int most = JsonParser.MAX_DEPTH;
        assertThat(parse("[".repeat(most) + "]".repeat(most))).isInstanceOf(List.class);
        assertThatExceptionOfType(MalformedJson.class)
                .isThrownBy(() -> JsonParser.parse("[".repeat(most + 1) + "]".repeat(most + 1)))
                .withMessageStartingWith("more than 32 levels");
        assertThatExceptionOfType(MalformedJson.class)
                .isThrownBy(() -> JsonParser.parse("{\"a\":".repeat(100_000)))
                .withMessageStartingWith("more than 32 levels");
        assertThat(parse("9".repeat(JsonParser.MAX_NUMBER))).isInstanceOf(Json.Numeral.class);
        assertThatExceptionOfType(MalformedJson.class)
                .isThrownBy(() -> JsonParser.parse("9".repeat(JsonParser.MAX_NUMBER + 1)));
        assertThat(parse("[{},[],{}]")).as("levels beside each other").isInstanceOf(List.class);
    }

    @Test
    void randomTextsAreReadOrRefused() {
        Random random = new Random(42);
        int read = 0;
        for (int i = 0; i < ROUNDS; i++) {
            StringBuilder text = new StringBuilder();
            for (int left = random.nextInt(12); left > 0; left--) {
                text.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
            }
            try {
                Object value = JsonParser.parse(text.toString());
                assertThat(parse(JsonWriter.write(value))).isEqualTo(value);
                read++;
            } catch (MalformedJson expected) {
                assertThat(expected).hasMessageContaining(" at character ");
            }
        }
        assertThat(read).as("texts that are JSON").isPositive();
    }

    @Test
    void randomValuesComeBack() {
        Random random = new Random(43);
        for (int i = 0; i < ROUNDS / 10; i++) {
            Object value = value(random, 5);
            String text = JsonWriter.write(value);
            assertThat(parse(text)).isEqualTo(value);
            assertDamageIsNoDisaster(random, text);
        }
    }

    /** A text with one changed character, or without its end, is another value or is refused. */
    private static void assertDamageIsNoDisaster(Random random, String text) {
        StringBuilder damaged = new StringBuilder(text);
        damaged.setCharAt(random.nextInt(text.length()), ALPHABET.charAt(random.nextInt(ALPHABET.length())));
        damaged.setLength(random.nextInt(text.length() + 1));
        try {
            assertThat(JsonParser.parse(damaged.toString())).isNotNull();
        } catch (MalformedJson expected) {
            assertThat(expected.getMessage()).isNotEmpty();
        }
    }

    private static Object value(Random random, int depth) {
        return switch (random.nextInt(depth > 0 ? 7 : 5)) {
            case 0 -> random.nextLong();
            case 1 -> new Json.Numeral(random.nextInt() + "." + random.nextInt(1000) + "E-" + random.nextInt(99));
            case 2 -> random.nextBoolean();
            case 3 -> Json.Null.NULL;
            case 4 -> text(random);
            case 5 -> {
                List<Object> values = new ArrayList<>();
                for (int left = random.nextInt(4); left > 0; left--) {
                    values.add(value(random, depth - 1));
                }
                yield values;
            }
            default -> {
                Map<String, Object> members = new LinkedHashMap<>();
                for (int left = random.nextInt(4); left > 0; left--) {
                    members.put(text(random), value(random, depth - 1));
                }
                yield members;
            }
        };
    }

    private static String text(Random random) {
        StringBuilder text = new StringBuilder();
        for (int left = random.nextInt(6); left > 0; left--) {
            int c = random.nextInt(random.nextBoolean() ? 0x80 : 0x11000);
            text.appendCodePoint(c >= 0xd800 && c < 0xe000 ? 'x' : c);
        }
        return text.toString();
    }
}
