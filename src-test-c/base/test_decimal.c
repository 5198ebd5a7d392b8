/* SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"

enum { ROUNDS = 100000 };

static void assert_parses(const char *text, uint32_t value, size_t digits)
{
    const char *end = NULL;

    assert_int_equal(smp_decimal_parse(text, &end), value);
    assert_int_equal(end - text, digits);
}

static void only_digits_are_accepted(void **state)
{
    (void)state;
    assert_parses("", 0, 0);
    assert_parses(".", 0, 0);
    assert_parses(" 1", 0, 0);
    assert_parses("+1", 0, 0);
    assert_parses("-1", 0, 0);
    assert_parses("0b1", 0, 1); /* newer strtol() takes this for a binary number */
    assert_parses("0x1", 0, 1);
    assert_parses("17.0.12", 17, 2);
    assert_parses("007/8", 7, 3);
}

static void numbers_above_the_limit_are_refused(void **state)
{
    (void)state;
    assert_parses("4294967294", UINT32_MAX - 1, 10);
    assert_parses("4294967295", UINT32_MAX, 10);
    assert_parses("4294967296", UINT32_MAX, 10);
    assert_parses("99999999999999999999999999999999999999999", UINT32_MAX, 41);
}

static void long_numbers_above_the_limit_are_refused(void **state)
{
    const char *end = NULL;

    (void)state;
    assert_true(smp_decimal_parse_long("9223372036854775806 ", &end) == INT64_MAX - 1);
    assert_true(*end == ' ');
    assert_true(smp_decimal_parse_long("9223372036854775807", &end) == INT64_MAX);
    assert_true(smp_decimal_parse_long("9223372036854775808", &end) == INT64_MAX);
    assert_true(smp_decimal_parse_long("99999999999999999999", &end) == INT64_MAX);
    assert_true(*end == '\0');
}

static void agrees_with_strtoul(void **state)
{
    uint64_t random = 1;
    char text[32];

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t value = smp_random_next(&random) >> (smp_random_next(&random) % 50);
        const unsigned long long expected = value < UINT32_MAX ? value : UINT32_MAX;
        (void)snprintf(text, sizeof(text), "%llu/7", (unsigned long long)value);
        assert_int_equal(strtoul(text, NULL, 10), value);
        assert_parses(text, (uint32_t)expected, strcspn(text, "/"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_digits_are_accepted),
        cmocka_unit_test(numbers_above_the_limit_are_refused),
        cmocka_unit_test(long_numbers_above_the_limit_are_refused),
        cmocka_unit_test(agrees_with_strtoul),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
