/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/random.h"

enum { MOST = 40, ROUNDS = 2000, STEPS = 4 };

static uint64_t key_at(const void *rows, size_t index)
{
    return ((const uint64_t *)rows)[index];
}

/* All rows before the result are below the key, and the result itself is not. */
static void check(const uint64_t *rows, size_t count, uint64_t key)
{
    const size_t at = smp_lower_bound(rows, count, key_at, key);

    assert_in_range(at, 0, count);
    assert_true(at == 0 || rows[at - 1] < key);
    assert_true(at == count || rows[at] >= key);
}

/* Rows with gaps, and with some keys twice. */
static void finds_the_first_row_that_is_not_below(void **state)
{
    uint64_t random = 5;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t rows[MOST];
        const size_t count = smp_random_next(&random) % (MOST + 1);
        uint64_t last = 0;
        for (size_t i = 0; i < count; i++)
            last = rows[i] = last + smp_random_next(&random) % STEPS;
        for (uint64_t key = 0; key <= last + 1; key++)
            check(rows, count, key);
    }
}

static void keys_have_64_bits(void **state)
{
    static const uint64_t rows[] = { 0, UINT32_MAX, UINT64_C(1) << 40, UINT64_MAX };

    (void)state;
    assert_int_equal(smp_lower_bound(rows, 4, key_at, UINT64_C(1) << 32), 2);
    assert_int_equal(smp_lower_bound(rows, 4, key_at, UINT64_MAX), 3);
    assert_int_equal(smp_lower_bound(rows, 3, key_at, UINT64_MAX), 3);
    assert_int_equal(smp_lower_bound(NULL, 0, key_at, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_first_row_that_is_not_below),
        cmocka_unit_test(keys_have_64_bits),
    };
    return cmocka_run_group_tests_name("sort", tests, NULL, NULL);
}
