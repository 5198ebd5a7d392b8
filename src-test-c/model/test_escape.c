/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/escape.h"

static void test_texts(void **state)
{
    static const struct {
        const char *text;
        const char *expected;
    } cases[] = {
        { "", "" },
        { "worker-1, a\\b", "worker-1, a\\b" },
        { "a\nb", "a\\nb" },
        { "\r\t", "\\r\\t" },
        { "\x1b[31m", "\\u001b[31m" },
        { "\x7f", "\\u007f" },
        { "\xc2\x80 \xc2\x85 \xc2\x9f", "\\u0080 \\u0085 \\u009f" },
        { "\xc2\xa0\xc3\xb6", "\xc2\xa0\xc3\xb6" },
        { "\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaf",
          "\xe2\x80\xa7\\u2028\\u2029\xe2\x80\xaf" },
        { "\xe2\x80\xae"
          "detceles",
          "\\u202edetceles" },
        { "\xe2\x81\xa6 \xef\xbb\xbf \xc2\xad", "\\u2066 \\ufeff \\u00ad" },
        { "\xf3\xa0\x81\x81", "\\udb40\\udc41" },
        { "\xf0\x9f\x98\x80\n", "\xf0\x9f\x98\x80\\n" },
        /* A truncated character does not cause a read past the end. */
        { "\xe2", "\xe2" },
        { "\xe2\x80", "\xe2\x80" },
        { "\xc2", "\xc2" },
    };
    struct smp_bytes out;

    (void)state;
    smp_bytes_init(&out, NULL, 1000);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        smp_bytes_clear(&out);
        smp_escape_put(&out, cases[i].text);
        assert_string_equal(smp_bytes_text(&out), cases[i].expected);
    }
    smp_bytes_fini(&out);
}

/* Texts are read eight bytes at a time, so a character to escape is tested at each of these
 * positions. */
static void test_every_byte_at_every_position(void **state)
{
    static const char plain[] = "abcdefghijklmnopqrst";
    char text[sizeof(plain)];
    char expected[4 * sizeof(plain)];
    struct smp_bytes out;

    (void)state;
    smp_bytes_init(&out, NULL, 1000);
    for (size_t at = 0; at < sizeof(plain) - 1; at++) {
        for (int byte = 1; byte < 256; byte++) {
            memcpy(text, plain, sizeof(plain));
            text[at] = (char)byte;
            if (byte == '\n' || byte == '\r' || byte == '\t')
                (void)snprintf(expected, sizeof(expected), "%.*s\\%c%s", (int)at, plain,
                               byte == '\n'   ? 'n'
                               : byte == '\r' ? 'r'
                                              : 't',
                               plain + at + 1);
            else if (byte < 0x20 || byte == 0x7f)
                (void)snprintf(expected, sizeof(expected), "%.*s\\u%04x%s", (int)at, plain,
                               (unsigned)byte, plain + at + 1);
            else
                memcpy(expected, text, sizeof(text));
            smp_bytes_clear(&out);
            smp_escape_put(&out, text);
            assert_string_equal(smp_bytes_text(&out), expected);
        }
    }
    smp_bytes_fini(&out);
}

/* The ends of the ranges of Unicode's categories Cc, Cf, Zl and Zp, and the characters next to
 * them. */
static void test_characters_at_the_ends_of_escaped_ranges(void **state)
{
    static const uint32_t ranges[][2] = {
        { 0x7f, 0x9f },       { 0xad, 0xad },       { 0x600, 0x605 },     { 0x61c, 0x61c },
        { 0x6dd, 0x6dd },     { 0x70f, 0x70f },     { 0x890, 0x891 },     { 0x8e2, 0x8e2 },
        { 0x180e, 0x180e },   { 0x200b, 0x200f },   { 0x2028, 0x202e },   { 0x2060, 0x2064 },
        { 0x2066, 0x206f },   { 0xfeff, 0xfeff },   { 0xfff9, 0xfffb },   { 0x110bd, 0x110bd },
        { 0x110cd, 0x110cd }, { 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
        { 0xe0001, 0xe0001 }, { 0xe0020, 0xe007f },
    };

    (void)state;
    assert_true(smp_escape_is_needed(0x1f));
    assert_false(smp_escape_is_needed(' '));
    assert_false(smp_escape_is_needed(0x10ffff));
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        assert_false(smp_escape_is_needed(ranges[i][0] - 1));
        assert_true(smp_escape_is_needed(ranges[i][0]));
        assert_true(smp_escape_is_needed(ranges[i][1]));
        assert_false(smp_escape_is_needed(ranges[i][1] + 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_every_byte_at_every_position),
        cmocka_unit_test(test_characters_at_the_ends_of_escaped_ranges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
