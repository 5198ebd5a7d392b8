/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_alloc.h"

enum { MIB = 1024 * 1024 };

static void an_empty_buffer_has_an_empty_text(void **state)
{
    struct smp_bytes bytes;

    (void)state;
    smp_bytes_init(&bytes, NULL, MIB);
    assert_string_equal(smp_bytes_text(&bytes), "");
    smp_bytes_put(&bytes, NULL, 0);
    smp_bytes_puts(&bytes, "");
    smp_bytes_fill(&bytes, 'x', 0);
    assert_int_equal(bytes.length, 0);
    assert_int_equal(bytes.status, SMP_OK);
    assert_int_equal(smp_alloc_live_bytes(), 0); /* nothing put, nothing allocated */
    smp_bytes_clear(&bytes);
    smp_bytes_truncate(&bytes, 0);
    smp_bytes_fini(&bytes);
    smp_bytes_fini(&bytes);
}

static void everything_appended_is_there_in_order(void **state)
{
    struct smp_bytes bytes;

    (void)state;
    smp_bytes_init(&bytes, NULL, MIB);
    smp_bytes_puts(&bytes, "row");
    smp_bytes_fill(&bytes, ' ', 3);
    smp_bytes_put_i64(&bytes, -42);
    smp_bytes_printf(&bytes, ", %s: %d", "self", 7);
    smp_bytes_printf(&bytes, "%s", "");
    smp_bytes_put(&bytes, "\n\0!", 3);
    assert_memory_equal(smp_bytes_text(&bytes), "row   -42, self: 7\n\0!", 22);
    assert_int_equal(bytes.length, 21);
    smp_bytes_fini(&bytes);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static void numbers_are_printed_as_printf_prints_them(void **state)
{
    static const int64_t edges[] = { 0,   1,   -1,        9,         10,           99,
                                     100, -10, INT64_MAX, INT64_MIN, 1000000000000 };
    struct smp_bytes bytes;
    char expected[32];

    (void)state;
    srandom(1);
    smp_bytes_init(&bytes, NULL, MIB);
    for (size_t i = 0; i < 10000; i++) {
        const int64_t any = ((int64_t)random() << 32 ^ (int64_t)random() << 8) >> random() % 60;
        const int64_t value = i < 11 ? edges[i] : i % 2 == 0 ? any : -any;
        smp_bytes_clear(&bytes);
        smp_bytes_put_i64(&bytes, value);
        (void)snprintf(expected, sizeof(expected), "%" PRId64, value);
        assert_string_equal(smp_bytes_text(&bytes), expected);
    }
    smp_bytes_fini(&bytes);
}

static void the_maximum_is_reached_to_the_byte(void **state)
{
    (void)state;
    for (size_t max = 0; max < 600; max += 1 + max / 7) {
        struct smp_bytes bytes;
        smp_bytes_init(&bytes, NULL, max);
        for (size_t i = 0; i < max; i++)
            smp_bytes_put(&bytes, "x", 1);
        assert_int_equal(bytes.status, SMP_OK);
        assert_int_equal(bytes.length, max);
        smp_bytes_put(&bytes, "x", 1);
        assert_int_equal(bytes.status, SMP_EQUOTA);
        assert_int_equal(bytes.length, max);
        assert_int_equal(strlen(smp_bytes_text(&bytes)), max);
        smp_bytes_fini(&bytes);
    }
}

static void after_a_failure_all_appends_fail(void **state)
{
    struct smp_bytes bytes;

    (void)state;
    smp_bytes_init(&bytes, NULL, 10);
    smp_bytes_puts(&bytes, "12345678");
    smp_bytes_puts(&bytes, "abc"); /* does not fit, so no part is put */
    smp_bytes_puts(&bytes, "9");   /* would fit, but the buffer has failed */
    smp_bytes_fill(&bytes, '9', 1);
    smp_bytes_put_i64(&bytes, 9);
    smp_bytes_printf(&bytes, "9");
    assert_int_equal(bytes.status, SMP_EQUOTA);
    assert_string_equal(smp_bytes_text(&bytes), "12345678");
    assert_int_equal(bytes.length, 8);
    smp_bytes_fini(&bytes);
}

static void sizes_above_the_maximum_are_refused(void **state)
{
    struct smp_bytes bytes;

    (void)state;
    smp_bytes_init(&bytes, NULL, 100);
    smp_bytes_fill(&bytes, 'x', SIZE_MAX);
    assert_int_equal(bytes.status, SMP_EQUOTA);
    smp_bytes_fini(&bytes);

    smp_bytes_init(&bytes, NULL, SIZE_MAX); /* practically without a maximum */
    smp_bytes_puts(&bytes, "x");
    assert_int_equal(bytes.status, SMP_OK);
    smp_bytes_fill(&bytes, 'x', SIZE_MAX - 1);
    assert_int_equal(bytes.status, SMP_EQUOTA);
    assert_string_equal(smp_bytes_text(&bytes), "x");
    smp_bytes_fini(&bytes);
}

static void printf_that_does_not_fit_prints_nothing(void **state)
{
    struct smp_bytes bytes;

    (void)state;
    smp_bytes_init(&bytes, NULL, 300);
    smp_bytes_fill(&bytes, '-', 250);
    smp_bytes_printf(&bytes, "%0100d", 1);
    assert_int_equal(bytes.status, SMP_EQUOTA);
    assert_int_equal(bytes.length, 250);
    assert_int_equal(strlen(smp_bytes_text(&bytes)), 250);
    smp_bytes_truncate(&bytes, 200);
    smp_bytes_printf(&bytes, "%0100d", 1); /* fits now, to the byte */
    assert_int_equal(bytes.status, SMP_OK);
    assert_int_equal(bytes.length, 300);
    assert_string_equal(smp_bytes_text(&bytes) + 295, "00001");
    smp_bytes_fini(&bytes);
}

static void printf_grows_the_buffer(void **state)
{
    struct smp_bytes bytes;

    (void)state;
    smp_bytes_init(&bytes, NULL, MIB);
    smp_bytes_printf(&bytes, "%05000d|%s", 7, "end");
    assert_int_equal(bytes.length, 5004);
    assert_string_equal(smp_bytes_text(&bytes) + 4998, "07|end");
    smp_bytes_fini(&bytes);
}

static void truncate_removes_a_row_and_its_failure(void **state)
{
    struct smp_bytes bytes;

    (void)state;
    smp_bytes_init(&bytes, NULL, 10);
    smp_bytes_puts(&bytes, "rows\n");
    const size_t before = bytes.length;
    smp_bytes_puts(&bytes, "long");
    smp_bytes_puts(&bytes, "er\n");
    assert_int_equal(bytes.status, SMP_EQUOTA);
    smp_bytes_truncate(&bytes, before);
    assert_int_equal(bytes.status, SMP_OK);
    assert_string_equal(smp_bytes_text(&bytes), "rows\n");
    smp_bytes_puts(&bytes, "more\n");
    assert_string_equal(smp_bytes_text(&bytes), "rows\nmore\n");
    smp_bytes_fini(&bytes);
}

static void clear_keeps_the_memory_and_resets_the_failure(void **state)
{
    struct failing_alloc failing;
    struct smp_bytes bytes;

    (void)state;
    smp_bytes_init(&bytes, NULL, 1000);
    smp_bytes_fill(&bytes, 'x', 1000);
    smp_bytes_fill(&bytes, 'x', 1);
    assert_int_equal(bytes.status, SMP_EQUOTA);
    smp_bytes_clear(&bytes);
    assert_string_equal(smp_bytes_text(&bytes), "");
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    smp_bytes_fill(&bytes, 'y', 1000);
    assert_int_equal(failing_alloc_disarm(&failing), 0);
    assert_int_equal(bytes.status, SMP_OK);
    assert_int_equal(bytes.length, 1000);
    smp_bytes_fini(&bytes);
}

static void restart_keeps_the_failure(void **state)
{
    struct smp_bytes bytes;

    (void)state;
    smp_bytes_init(&bytes, NULL, 4);
    smp_bytes_puts(&bytes, "abcd");
    smp_bytes_restart(&bytes);
    smp_bytes_puts(&bytes, "ef");
    assert_string_equal(smp_bytes_text(&bytes), "ef");
    smp_bytes_puts(&bytes, "ghi");
    smp_bytes_restart(&bytes);
    smp_bytes_puts(&bytes, "j");
    assert_string_equal(smp_bytes_text(&bytes), "");
    assert_int_equal(bytes.status, SMP_EQUOTA);
    smp_bytes_fini(&bytes);
}

static void refused_memory_keeps_the_content(void **state)
{
    struct failing_alloc failing;
    struct smp_bytes bytes;

    (void)state;
    smp_bytes_init(&bytes, NULL, MIB);
    failing_alloc_arm(&failing, 2, 2);
    for (size_t i = 0; i < 1000; i++)
        smp_bytes_puts(&bytes, "0123456789");
    assert_int_equal(failing_alloc_disarm(&failing), 1);
    assert_int_equal(bytes.status, SMP_ENOMEM);
    assert_true(bytes.length > 0 && bytes.length < 10000 && bytes.length % 10 == 0);
    assert_int_equal(strlen(smp_bytes_text(&bytes)), bytes.length);
    smp_bytes_fini(&bytes);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static void the_memory_of_a_buffer_is_charged_to_the_quota(void **state)
{
    struct smp_quota quota;
    struct smp_bytes bytes;

    (void)state;
    smp_quota_init(&quota, 10000);
    smp_bytes_init(&bytes, &quota, MIB);
    while (bytes.status == SMP_OK)
        smp_bytes_puts(&bytes, "0123456789");
    assert_int_equal(bytes.status, SMP_ENOMEM);
    assert_true(bytes.length > 2000);
    assert_true(smp_quota_used(&quota) > bytes.length);
    smp_bytes_fini(&bytes);
    assert_int_equal(smp_quota_used(&quota), 0);
}

static enum smp_status write_a_report(void *self)
{
    struct smp_bytes bytes;

    smp_bytes_init(&bytes, self, MIB);
    for (int i = 0; i < 200; i++)
        smp_bytes_printf(&bytes, "row %d\n", i);
    const enum smp_status status = bytes.status;
    smp_bytes_fini(&bytes);
    return status;
}

static void every_refused_allocation_is_reported_at_the_end(void **state)
{
    (void)state;
    const struct failing_alloc_steps steps = failing_alloc_each_step(write_a_report, NULL);
    assert_true(steps.refused >= 2 && steps.refused <= 10); /* grows by doubling */
    assert_int_equal(steps.survived, 0);
}

/* Random appends, truncations and clears, compared with a plain array. */
static void random_operations_give_the_same_text(void **state)
{
    enum { MAX = 3000 };
    static char reference[MAX + 1];
    struct smp_bytes bytes;
    size_t length = 0;

    (void)state;
    srandom(5);
    smp_bytes_init(&bytes, NULL, MAX);
    for (size_t round = 0; round < 50000; round++) {
        char piece[64];
        const long dice = random() % 10;
        const size_t count = (size_t)random() % sizeof(piece);
        if (dice == 0) {
            length = (size_t)random() % (length + 1);
            smp_bytes_truncate(&bytes, length);
            continue;
        }
        memset(piece, (int)('a' + random() % 26), count);
        if (dice < 4)
            smp_bytes_put(&bytes, piece, count);
        else if (dice < 7)
            smp_bytes_fill(&bytes, piece[0], count);
        else
            smp_bytes_printf(&bytes, "%.*s", (int)count, piece);
        if (length + count <= MAX) {
            memcpy(reference + length, piece, count);
            length += count;
        } else {
            assert_int_equal(bytes.status, SMP_EQUOTA);
            smp_bytes_truncate(&bytes, length);
        }
        assert_int_equal(bytes.length, length);
        assert_memory_equal(smp_bytes_text(&bytes), reference, length);
        assert_int_equal(smp_bytes_text(&bytes)[length], 0);
    }
    smp_bytes_fini(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_buffer_has_an_empty_text),
        cmocka_unit_test(everything_appended_is_there_in_order),
        cmocka_unit_test(numbers_are_printed_as_printf_prints_them),
        cmocka_unit_test(the_maximum_is_reached_to_the_byte),
        cmocka_unit_test(after_a_failure_all_appends_fail),
        cmocka_unit_test(sizes_above_the_maximum_are_refused),
        cmocka_unit_test(printf_that_does_not_fit_prints_nothing),
        cmocka_unit_test(printf_grows_the_buffer),
        cmocka_unit_test(truncate_removes_a_row_and_its_failure),
        cmocka_unit_test(clear_keeps_the_memory_and_resets_the_failure),
        cmocka_unit_test(restart_keeps_the_failure),
        cmocka_unit_test(refused_memory_keeps_the_content),
        cmocka_unit_test(the_memory_of_a_buffer_is_charged_to_the_quota),
        cmocka_unit_test(every_refused_allocation_is_reported_at_the_end),
        cmocka_unit_test(random_operations_give_the_same_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
