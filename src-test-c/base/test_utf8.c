/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/reference_utf8.h"

#define BAD "\xEF\xBF\xBD"
#define DOTS "\xE2\x80\xA6"
#define GRIN "\xF0\x9F\x98\x80" /* U+1F600, in Java D83D DE00 */

enum { ROUNDS = 100000, MAX_INPUT = 40, MAX_OUTPUT = 4 * MAX_INPUT + 4 };

static void assert_modified(const char *in, size_t length, const char *expected)
{
    char out[256];
    const size_t written = smp_utf8_from_modified(out, sizeof(out), in, length);

    assert_string_equal(out, expected);
    assert_int_equal(written, strlen(expected));
}

#define MODIFIED(in, expected) assert_modified(in, sizeof(in) - 1, expected)

static void plain_text_is_unchanged(void **state)
{
    (void)state;
    MODIFIED("", "");
    MODIFIED("a", "a");
    MODIFIED("com.acme.Service.run(Service.java:42)", "com.acme.Service.run(Service.java:42)");
    MODIFIED("caf\xC3\xA9 \xE2\x82\xAC\xEF\xBF\xBF", "caf\xC3\xA9 \xE2\x82\xAC\xEF\xBF\xBF");
    MODIFIED("\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80", "\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80");
}

static void nul_in_either_form_becomes_a_replacement(void **state)
{
    (void)state;
    MODIFIED("a\xC0\x80z", "a" BAD "z");
    MODIFIED("a\0z", "a" BAD "z");
    MODIFIED("12345678\0", "12345678" BAD);
}

static void surrogate_pairs_become_one_character(void **state)
{
    (void)state;
    MODIFIED("\xED\xA0\xBD\xED\xB8\x80", GRIN);
    MODIFIED("\xED\xA0\x80\xED\xB0\x80", "\xF0\x90\x80\x80"); /* U+10000 */
    MODIFIED("\xED\xAF\xBF\xED\xBF\xBF", "\xF4\x8F\xBF\xBF"); /* U+10FFFF */
    MODIFIED(GRIN, GRIN);                                     /* not modified, but UTF-8 */
}

static void lone_surrogates_become_replacements(void **state)
{
    (void)state;
    MODIFIED("\xED\xA0\xBD", BAD);
    MODIFIED("\xED\xB8\x80", BAD);
    MODIFIED("\xED\xA0\xBDx", BAD "x");
    MODIFIED("\xED\xB8\x80\xED\xA0\xBD", BAD BAD);
    MODIFIED("\xED\xA0\xBD\xED\xA0\xBD\xED\xB8\x80", BAD GRIN);
    MODIFIED("\xED\xA0\xBD\xED\xB8", BAD BAD);
    MODIFIED("\xED\xA0\xBD" GRIN, BAD GRIN);
}

static void truncated_forms_become_replacements(void **state)
{
    (void)state;
    MODIFIED("\xC3", BAD);
    MODIFIED("\xE2\x82", BAD);
    MODIFIED("\xE2", BAD);
    MODIFIED("\xF0\x9F\x98", BAD);
    MODIFIED("\xE2\x82x", BAD "x");
    MODIFIED("\xC3\xC3\xA9", BAD "\xC3\xA9");
    MODIFIED("\x80\xBF", BAD BAD);
}

static void overlong_forms_become_replacements(void **state)
{
    (void)state;
    MODIFIED("\xC1\xBF", BAD);
    MODIFIED("\xC0\xAF", BAD);
    MODIFIED("\xE0\x80\x80", BAD);
    MODIFIED("\xE0\x9F\xBF", BAD);
    MODIFIED("\xF0\x8F\xBF\xBF", BAD);
    MODIFIED("\xF4\x90\x80\x80", BAD); /* beyond the last character */
    MODIFIED("\xF7\xBF\xBF\xBF", BAD);
    MODIFIED("\xF8\xFF\xFE", BAD BAD BAD);
}

static void assert_cut(const char *in, size_t size, const char *expected)
{
    char out[64];

    memset(out, 0x55, sizeof(out));
    assert_int_equal(smp_utf8_from_modified(out, size, in, strlen(in)), strlen(expected));
    assert_string_equal(out, expected);
    assert_int_equal(out[size], 0x55); /* nothing is written beyond size */
}

static void text_that_does_not_fit_ends_in_an_ellipsis(void **state)
{
    (void)state;
    assert_cut("abcdefgh", 9, "abcdefgh");
    assert_cut("abcdefghi", 9, "abcde" DOTS);
    assert_cut("abc", 4, "abc");
    assert_cut("abcd", 4, DOTS);
    assert_cut(GRIN, 5, GRIN);
    assert_cut(GRIN, 4, DOTS);
    assert_cut(GRIN "a", 5, DOTS); /* removed to make room for the ellipsis */
    assert_cut("\xC3\xA9\xC3\xA9\xC3\xA9", 7, "\xC3\xA9\xC3\xA9\xC3\xA9");
    assert_cut("\xC3\xA9\xC3\xA9\xC3\xA9z", 7, "\xC3\xA9" DOTS);
    assert_cut("ab\xC3\xA9\xC3\xA9", 6, "ab" DOTS);
    /* the third character is removed as a whole */
    assert_cut("ab\xC3\xA9\xC3\xA9z", 7, "ab" DOTS);
}

static void a_size_too_small_for_a_character_writes_the_nul_only(void **state)
{
    char out[4] = "???";
    const uint16_t unit = 'x';

    (void)state;
    assert_int_equal(smp_utf8_from_modified(out, 3, "x", 1), 0);
    assert_memory_equal(out, "\0??", 4);
    assert_int_equal(smp_utf8_from_utf16(out, 1, &unit, 1), 0);
    assert_int_equal(smp_utf8_from_modified(NULL, 0, "x", 1), 0);
    assert_int_equal(smp_utf8_from_modified(out, sizeof(out), NULL, 0), 0);
    assert_string_equal(out, "");
}

static void utf16_becomes_utf8(void **state)
{
    static const uint16_t in[] = { 'a',    0xE9,   0x20AC, 0xD83D, 0xDE00, 0,
                                   0xDC00, 0xD800, 'z',    0xFFFF, 0xD800 };
    char out[64];

    (void)state;
    const size_t length = smp_utf8_from_utf16(out, sizeof(out), in, sizeof(in) / sizeof(in[0]));
    assert_string_equal(out, "a\xC3\xA9\xE2\x82\xAC" GRIN BAD BAD BAD "z\xEF\xBF\xBF" BAD);
    assert_int_equal(length, strlen(out));
    assert_int_equal(smp_utf8_from_utf16(out, 8, in, 5), 6);
    assert_string_equal(out, "a\xC3\xA9" DOTS);
    assert_int_equal(smp_utf8_from_utf16(out, sizeof(out), NULL, 0), 0);
}

static void utf8_becomes_utf16(void **state)
{
    static const char in[] = "a\xC3\xA9\xE2\x82\xAC" GRIN "\xED\xA0\xBD\xFF\xC3";
    static const uint16_t expected[] = {
        'a', 0xE9, 0x20AC, 0xD83D, 0xDE00, 0xFFFD, 0xFFFD, 0xFFFD
    };
    uint16_t out[sizeof(in)];

    (void)state;
    assert_int_equal(smp_utf8_to_utf16(out, in, sizeof(in) - 1), 8);
    assert_memory_equal(out, expected, sizeof(expected));
    assert_int_equal(smp_utf8_to_utf16(NULL, NULL, 0), 0);
    assert_int_equal(smp_utf8_to_utf16(out, "\0", 1), 1);
    assert_int_equal(out[0], 0);
}

static void each_character_takes_a_column(void **state)
{
    static const char text[] = "a\xc3\xa9\xe2\x80\xa6\xf0\x9f\x98\x80z";

    (void)state;
    assert_int_equal(smp_utf8_columns(text, sizeof(text) - 1), 5);
    assert_int_equal(smp_utf8_columns(text, 3), 2);
    assert_int_equal(smp_utf8_columns("", 0), 0);
}

static void a_prefix_ends_between_characters(void **state)
{
    static const char text[] = "a\xC3\xA9\xE2\x82\xAC" GRIN; /* ends at 1, 3, 6, 10 */
    static const size_t expected[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10 };

    (void)state;
    for (size_t max = 0; max < sizeof(expected) / sizeof(expected[0]); max++)
        assert_int_equal(smp_utf8_prefix(text, sizeof(text) - 1, max), expected[max]);
    assert_int_equal(smp_utf8_prefix("\x80\x80\x80", 3, 2), 0);
    assert_int_equal(smp_utf8_prefix("ab\x80", 2, 2), 2); /* bytes after the length are not read */
    assert_int_equal(smp_utf8_prefix(NULL, 0, 0), 0);
}

/* Generates broken modified UTF-8, mostly near the limits of the forms. */
static size_t random_bytes(char *out)
{
    static const char *pieces[] = { "a",    "bcdefghi", "\xC0\x80", "\xC3\xA9", "\xE2\x82\xAC",
                                    GRIN,   "\xED\xA0", "\xED\xB0", "\xBD",     "\x80",
                                    "\xE0", "\xF0",     "\xF4",     "\xC1",     "\xED\xA0\xBD",
                                    "\xFF", "\xED\xBF", "\xEF\xBF", "\xC2",     "\xED\xB8\x80" };
    const size_t wanted = (size_t)random() % (MAX_INPUT - 8);
    size_t length = 0;

    while (length < wanted) {
        if (random() % 8 == 0) {
            out[length++] = (char)random();
            continue;
        }
        const char *piece = pieces[(size_t)random() % (sizeof(pieces) / sizeof(pieces[0]))];
        while (*piece != '\0')
            out[length++] = *piece++;
    }
    return length;
}

static void random_bytes_match_the_naive_decoder(void **state)
{
    char in[MAX_INPUT];
    char out[MAX_OUTPUT];
    char expected[MAX_OUTPUT];
    uint32_t scratch[MAX_INPUT];

    (void)state;
    srandom(1);
    for (size_t round = 0; round < ROUNDS; round++) {
        const size_t length = random_bytes(in);
        const size_t size = 4 + (size_t)random() % (MAX_OUTPUT - 4);
        const size_t want = reference_utf8_from_modified(expected, size, in, length, scratch);
        const size_t have = smp_utf8_from_modified(out, size, in, length);

        assert_int_equal(have, want);
        assert_memory_equal(out, expected, want + 1);
        assert_true(reference_utf8_is_valid(out, have));
        assert_true(have < size);
    }
}

static size_t random_units(uint16_t *units)
{
    static const uint16_t edges[] = { 0,      1,      0x7F,   0x80,   0x7FF,  0x800, 0xD7FF, 0xD800,
                                      0xDBFF, 0xDC00, 0xDFFF, 0xE000, 0xFFFF, 'x',   'y',    'z' };
    const size_t count = (size_t)random() % (MAX_INPUT / 3);

    for (size_t i = 0; i < count; i++)
        units[i] = random() % 3 == 0 ? (uint16_t)random() : edges[random() % 16];
    return count;
}

/* A Java string is passed as modified UTF-8 (JNI) or as UTF-16, and must become the same text. */
static void utf8_and_utf16_input_give_the_same_text(void **state)
{
    uint16_t units[MAX_INPUT];
    uint8_t modified[MAX_INPUT * 3];
    char from_units[MAX_OUTPUT];
    char from_modified[MAX_OUTPUT];

    (void)state;
    srandom(2);
    for (size_t round = 0; round < ROUNDS; round++) {
        const size_t count = random_units(units);
        const size_t size = 4 + (size_t)random() % (MAX_OUTPUT - 4);
        size_t length = 0;

        for (size_t i = 0; i < count; i++)
            length += reference_utf8_encode_modified(modified + length, units[i]);
        (void)smp_utf8_from_utf16(from_units, size, units, count);
        (void)smp_utf8_from_modified(from_modified, size, (const char *)modified, length);
        assert_string_equal(from_units, from_modified);
        assert_true(reference_utf8_is_valid(from_units, strlen(from_units)));
    }
}

static void text_survives_the_way_to_java_and_back(void **state)
{
    char in[MAX_INPUT];
    char text[MAX_OUTPUT];
    char back[MAX_OUTPUT];
    uint16_t units[MAX_OUTPUT];

    (void)state;
    srandom(3);
    for (size_t round = 0; round < ROUNDS; round++) {
        const size_t length = smp_utf8_from_modified(text, sizeof(text), in, random_bytes(in));
        const size_t count = smp_utf8_to_utf16(units, text, length);

        assert_true(count <= length);
        assert_int_equal(smp_utf8_from_utf16(back, sizeof(back), units, count), length);
        assert_string_equal(back, text);
    }
}

static void every_character_survives_the_way_to_java_and_back(void **state)
{
    char text[5];
    char back[5];
    uint16_t units[4];

    (void)state;
    for (uint32_t c = 1; c <= 0x10FFFF; c++) {
        if (reference_utf8_is_between(c, 0xD800, 0xDFFF))
            continue;
        const size_t length = reference_utf8_encode((uint8_t *)text, c);
        const size_t count = smp_utf8_to_utf16(units, text, length);
        text[length] = '\0';
        if (count != (c < 0x10000 ? 1 : 2) ||
            smp_utf8_from_utf16(back, sizeof(back), units, count) != length ||
            strcmp(text, back) != 0)
            fail_msg("U+%04X comes back as %s", (unsigned)c, back);
    }
}

static void prefixes_of_random_text_are_the_longest_valid_ones(void **state)
{
    char in[MAX_INPUT];
    char text[MAX_OUTPUT];

    (void)state;
    srandom(4);
    for (size_t round = 0; round < ROUNDS; round++) {
        const size_t length = smp_utf8_from_modified(text, sizeof(text), in, random_bytes(in));
        const size_t max = (size_t)random() % (MAX_INPUT * 2);
        size_t expected = max < length ? max : length;

        while (!reference_utf8_is_valid(text, expected))
            expected--;
        assert_int_equal(smp_utf8_prefix(text, length, max), expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_is_unchanged),
        cmocka_unit_test(nul_in_either_form_becomes_a_replacement),
        cmocka_unit_test(surrogate_pairs_become_one_character),
        cmocka_unit_test(lone_surrogates_become_replacements),
        cmocka_unit_test(truncated_forms_become_replacements),
        cmocka_unit_test(overlong_forms_become_replacements),
        cmocka_unit_test(text_that_does_not_fit_ends_in_an_ellipsis),
        cmocka_unit_test(a_size_too_small_for_a_character_writes_the_nul_only),
        cmocka_unit_test(utf16_becomes_utf8),
        cmocka_unit_test(utf8_becomes_utf16),
        cmocka_unit_test(each_character_takes_a_column),
        cmocka_unit_test(a_prefix_ends_between_characters),
        cmocka_unit_test(random_bytes_match_the_naive_decoder),
        cmocka_unit_test(utf8_and_utf16_input_give_the_same_text),
        cmocka_unit_test(text_survives_the_way_to_java_and_back),
        cmocka_unit_test(every_character_survives_the_way_to_java_and_back),
        cmocka_unit_test(prefixes_of_random_text_are_the_longest_valid_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
