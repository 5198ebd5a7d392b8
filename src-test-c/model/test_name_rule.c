/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "model/name_rule.h"

/* The results of RegexThreadNameManipulator's default patterns for these names. */
static void test_names(void **state)
{
    static const struct {
        const char *name;
        const char *expected;
    } cases[] = {
        { "main", "main" },
        { "http-nio-8080-exec-12", "http-nio--exec-" },
        { "pool-1-thread-17", "pool--thread-" },
        { "Thread-0", "Thread-" },
        { "10.0.0.7:5432", SMP_UNNAMED },
        { "db at 10.0.0.7:5432", "db at " },
        { "", SMP_UNNAMED },
        { "42", SMP_UNNAMED },
        { " ", " " },
        { "session 0123456789abcdef end", "session  end" },
        { "session 0123456789abcde end", "session  end" },
        { "req-1b4e28ba-2fa1-11d2-883f-0016d3cca427", "req-" },
        { "REQ-1B4E28BA-2FA1-11D2-883F-0016D3CCA427!", "REQ-!" },
        { "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee", SMP_UNNAMED },
        { "11111111-2222-3333-4444-555555555555", SMP_UNNAMED },
        { "x1b4e28ba-2fa1-11d2-883f-0016d3cca427y", "xy" },
        { "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeee", "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeee" },
        /* Longer runs stay, unless a later step removes them. */
        { "faaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeeef", "ff" },
        { "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee-11111111-2222-3333-4444-555555555555", "-" },
        { "aaaa1aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeeeaaa", SMP_UNNAMED },
        { "deadbeef1", SMP_UNNAMED },
        { "deadbeef", "deadbeef" },
        { "Foo@1a2b3c4d", "Foo@" },
        { "Foo@1A2B3C4d", "Foo@" },
        { "1a2b3c4", "abc" },
        { "my-facade12", "my-" },
        { "my-facade1", "my-facade" },
        { "trace-12345678", "trace-" },
        { "0123456789abcdef", SMP_UNNAMED },
        { "abcdefabcdefabcd", SMP_UNNAMED },
        { "abcdefabcdefabc", "abcdefabcdefabc" },
        { "0123456789ABCDEF", SMP_UNNAMED },
        { "ABCDEFABCDEFABCDEF", "ABCDEFABCDEFABCDEF" },
        { "deadbeefdeadbeefdeadbeefg", "g" },
        /* Text that a step joins together is not removed by the same step. */
        { "abcdefab0123456789:abcdefab", "abcdefab" },
        { "abcdef.abcdefabcd", "abcdefabcdefabcd" },
        { "x:0123456789abcdef:y", "xy" },
        { "Bj\xc3\xb6rn-7", "Bj\xc3\xb6rn-" },
        /* Only ASCII digits are digits: Arabic-Indic three stays. */
        { "t-\xd9\xa3", "t-\xd9\xa3" },
        { "a\nb,c", "a\nb,c" },
    };
    char out[128];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const size_t length =
            smp_name_rule_apply(cases[i].name, strlen(cases[i].name), out, sizeof(out));

        assert_string_equal(out, cases[i].expected);
        assert_int_equal(length, strlen(cases[i].expected));
    }
}

static void test_only_length_bytes_are_read(void **state)
{
    char out[16];

    (void)state;
    assert_int_equal(smp_name_rule_apply("worker-1", 4, out, sizeof(out)), 4);
    assert_string_equal(out, "work");
    assert_int_equal(smp_name_rule_apply(NULL, 0, out, sizeof(out)), strlen(SMP_UNNAMED));
    assert_string_equal(out, SMP_UNNAMED);
}

static void test_a_long_result_is_cut_between_characters(void **state)
{
    static const struct {
        const char *name;
        const char *expected;
    } cases[] = {
        { "abcdefghijklmno", "abcdefghijklmno" },
        { "abcdefghijklmnop", "abcdefghijklmno" },
        { "abcdefghijklmn\xc3\xb6", "abcdefghijklmn" },
        { "abcdefghijklm\xc3\xb6x", "abcdefghijklm\xc3\xb6" },
        { "abcdefghijklm\xe2\x82\xac", "abcdefghijklm" },
        { "abcdefghijkl\xe2\x82\xac!", "abcdefghijkl\xe2\x82\xac" },
        { "abcdefghijkl\xf0\x9f\x98\x80", "abcdefghijkl" },
        { "abcdefghijklmno123", "abcdefghijklmno" },
        { "123456789012345xyz", SMP_UNNAMED },
    };
    char out[16];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const size_t length =
            smp_name_rule_apply(cases[i].name, strlen(cases[i].name), out, sizeof(out));

        assert_string_equal(out, cases[i].expected);
        assert_int_equal(length, strlen(cases[i].expected));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_only_length_bytes_are_read),
        cmocka_unit_test(test_a_long_result_is_cut_between_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
