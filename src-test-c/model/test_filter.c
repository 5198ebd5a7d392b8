/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/filter.h"
#include "support/failing_alloc.h"

static struct smp_filter *filter_of(const char *list)
{
    struct smp_filter *filter = NULL;

    assert_int_equal(smp_filter_create(NULL, list, &filter), SMP_OK);
    return filter;
}

static bool monitors(const char *list, const char *class_name)
{
    struct smp_filter *filter = filter_of(list);
    const bool answer = smp_filter_monitors(filter, class_name);

    smp_filter_destroy(filter);
    return answer;
}

static void test_matches(void **state)
{
    static const struct {
        const char *list;
        const char *class_name;
        bool expected;
    } cases[] = {
        { "com.acme", "com.acme.X", true },
        { "com.acme", "com.acme.sub.X", true },
        { "com.acme", "com.acmetools.X", false },
        { "com.acme", "com.acm", false },
        { "com.acme", "org.com.acme.X", false },
        { "com.acme", "", false },
        { "com.acme.Order", "com.acme.Order", true },
        { "com.acme.Order", "com.acme.Order$Line", true },
        { "com.acme.Order", "com.acme.Order$$Lambda", true },
        { "com.acme.Order", "com.acme.OrderBook", false },
        { "com.acme.", "com.acme.X", true },
        { "com.acme.", "com.acme", false },
        { "com.acme.", "com.acmetools.X", false },
        { "com.acme*", "com.acmetools.X", true },
        { "com.acme*", "com.acme", true },
        { "com.acme.*", "com.acme.X", true },
        { "com.acme.*", "com.acme", false },
        { "com.acme.**", "com.acme.a.b.X", true },
        { "com.acme.*.Order", "com.acme.a.Order", false },
        { "*", "java.lang.Thread", true },
        { " com.acme , org.x ", "org.x.Y", true },
        { "\n\t com.acme,\r\n\t org.x\n", "com.acme.X", true },
        { "\n\t com.acme,\r\n\t org.x\n", "org.x.X", true },
        { ",,com.acme,,", "com.acme.X", true },
        { ",,com.acme,,", "java.lang.Thread", false },
        { "com. acme", "com.acme.X", false },
        { "a,com.acme,b", "com.acme.X", true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (monitors(cases[i].list, cases[i].class_name) != cases[i].expected)
            fail_msg("'%s' and %s: expected %d", cases[i].list, cases[i].class_name,
                     cases[i].expected);
    }
}

static void test_an_empty_list_monitors_everything(void **state)
{
    static const char *const lists[] = { "", " ", ",", " , \t,\n " };

    (void)state;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct smp_filter *filter = filter_of(lists[i]);

        assert_true(smp_filter_monitors(filter, "java.lang.Thread"));
        smp_filter_destroy(filter);
    }
}

/* Returns "a,a,...": count prefixes of length bytes each. The caller frees it. */
static char *list_of(size_t count, size_t length)
{
    char *list = malloc(count * (length + 1) + 1);
    char *end = list;

    assert_non_null(list);
    for (size_t i = 0; i < count; i++) {
        memset(end, 'a', length);
        end += length;
        *end++ = ',';
    }
    *end = '\0';
    return list;
}

static enum smp_status status_of(size_t count, size_t length)
{
    struct smp_filter *filter = NULL;
    char *list = list_of(count, length);
    const enum smp_status status = smp_filter_create(NULL, list, &filter);

    free(list);
    smp_filter_destroy(filter);
    return status;
}

static void assert_described(const char *list, size_t size, const char *expected)
{
    struct smp_filter *filter = filter_of(list);
    char text[512];

    memset(text, 'x', sizeof(text));
    smp_filter_describe(filter, text, size);
    assert_string_equal(text, expected);
    assert_true(strlen(text) < size);
    smp_filter_destroy(filter);
}

static void test_description(void **state)
{
    char list[SMP_MAX_PREFIXES * 12] = "";

    (void)state;
    assert_described("", 64, "");
    assert_described(" com.acme ,, org.x.* , y*", 64, "com.acme, org.x., y");
    assert_described("com.acme,*", 64, "");
    assert_described("aaaaaaaaaa,bbbbbbbbbb,cccccccc", 64,
                     "aaaaaaaaaa, bbbbbbbbbb, \xe2\x80\xa6 1 more");
    assert_described("a123456789012345678901234567890123456789,b", 64,
                     "a123456789012345678901234567\xe2\x80\xa6, \xe2\x80\xa6 1 more");
    for (int i = 0; i < SMP_MAX_PREFIXES; i++)
        (void)snprintf(list + strlen(list), sizeof(list) - strlen(list), "com.a%d,", i + 1000);
    assert_described(list, 64, "com.a1000, com.a1001, com.a1002, \xe2\x80\xa6 997 more");
}

/* "auto" is a prefix like any other unless it is alone and in a list of packages. */
static void test_auto_alone_means_guessing_the_packages(void **state)
{
    static const struct {
        const char *list;
        bool is_guessed;
    } cases[] = { { "auto", true },       { " auto ,, ", true }, { "auto, com.acme", false },
                  { "auto,auto", false }, { "auto.", false },    { "auto*", false },
                  { "automatic", false }, { "Auto", false },     { "", false } };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct smp_filter *filter = NULL;
        char text[2 * SMP_FILTER_MORE_BYTES];
        assert_int_equal(smp_filter_create_monitored(NULL, cases[i].list, &filter), SMP_OK);
        assert_int_equal(smp_filter_is_guessed(filter), cases[i].is_guessed);
        if (cases[i].is_guessed) {
            assert_true(smp_filter_is_open(filter));
            smp_filter_describe(filter, text, sizeof(text));
            assert_string_equal(text, SMP_FILTER_AUTO);
        }
        smp_filter_destroy(filter);
        assert_int_equal(smp_filter_create(NULL, cases[i].list, &filter), SMP_OK);
        assert_false(smp_filter_is_guessed(filter));
        smp_filter_destroy(filter);
    }
}

static void test_limits(void **state)
{
    (void)state;
    assert_int_equal(status_of(SMP_MAX_PREFIXES, 3), SMP_OK);
    assert_int_equal(status_of(SMP_MAX_PREFIXES + 1, 3), SMP_EINVAL);
    assert_int_equal(status_of(1, SMP_MAX_PREFIX_BYTES), SMP_OK);
    assert_int_equal(status_of(1, SMP_MAX_PREFIX_BYTES + 1), SMP_EINVAL);
}

static enum smp_status create_and_destroy(void *self)
{
    struct smp_filter *filter = NULL;
    const enum smp_status status = smp_filter_create(self, "com.acme, org.x", &filter);

    assert_true((status == SMP_OK) == (filter != NULL));
    smp_filter_destroy(filter);
    return status;
}

static void test_no_memory_at_any_step(void **state)
{
    struct smp_quota quota;

    (void)state;
    smp_quota_init(&quota, 1 << 20);
    assert_int_equal(failing_alloc_each_step(create_and_destroy, &quota).refused, 3);
    assert_int_equal(smp_quota_used(&quota), 0);
}

static void test_destroying_null_is_allowed(void **state)
{
    (void)state;
    smp_filter_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches),
        cmocka_unit_test(test_an_empty_list_monitors_everything),
        cmocka_unit_test(test_description),
        cmocka_unit_test(test_auto_alone_means_guessing_the_packages),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_no_memory_at_any_step),
        cmocka_unit_test(test_destroying_null_is_allowed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
