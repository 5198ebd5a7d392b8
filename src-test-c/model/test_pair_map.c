/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/pair_map.h"
#include "support/failing_alloc.h"

enum { KEYS = 300, NUMBERS = 40 };

/* Pointers eight bytes apart, as jmethodIDs are. */
static uint64_t key_of(uint64_t k)
{
    return 0x7f0012345678u + 8 * k;
}

static void test_every_pair_is_found(void **state)
{
    struct smp_quota quota;
    struct smp_memory_budget room = { .quota = &quota, .max_bytes = 1 << 20 };
    struct smp_pair_map map = { 0 };

    (void)state;
    smp_quota_init(&quota, SIZE_MAX);
    assert_int_equal(smp_pair_map_find(&map, 1, 1), 0);
    for (uint32_t k = 0; k < KEYS; k++) {
        for (int32_t n = -1; n < NUMBERS; n++) {
            assert_int_equal(smp_pair_map_find(&map, key_of(k), n), 0);
            assert_true(smp_pair_map_reserve(&map, &room, 1));
            smp_pair_map_put(&map, key_of(k), n, 1 + k * 100 + (uint32_t)(n + 1));
        }
    }
    for (uint32_t k = 0; k < KEYS; k++) {
        for (int32_t n = -1; n < NUMBERS; n++)
            assert_int_equal(smp_pair_map_find(&map, key_of(k), n),
                             1 + k * 100 + (uint32_t)(n + 1));
        assert_int_equal(smp_pair_map_find(&map, key_of(k), NUMBERS), 0);
        assert_int_equal(smp_pair_map_find(&map, key_of(k), INT32_MIN), 0);
    }
    assert_int_equal(smp_pair_map_find(&map, 0, 0), 0);
    assert_int_equal(map.count, KEYS * (NUMBERS + 1));
    assert_true(room.used_bytes >= map.count * sizeof(struct smp_pair));
    smp_pair_map_fini(&map, &room);
    assert_int_equal(room.used_bytes, 0);
    assert_int_equal(smp_quota_used(&quota), 0);
}

static void test_key_and_number_zero(void **state)
{
    struct smp_memory_budget room = { .max_bytes = 1 << 20 };
    struct smp_pair_map map = { 0 };

    (void)state;
    assert_true(smp_pair_map_reserve(&map, &room, 1));
    assert_int_equal(smp_pair_map_find(&map, 0, 0), 0);
    smp_pair_map_put(&map, 0, 0, 7);
    assert_int_equal(smp_pair_map_find(&map, 0, 0), 7);
    smp_pair_map_fini(&map, &room);
}

static void test_a_map_that_may_not_grow_stays_as_it_was(void **state)
{
    struct smp_memory_budget room = { .max_bytes = 64 * sizeof(struct smp_pair) };
    struct smp_pair_map map = { 0 };
    struct failing_alloc failing;

    (void)state;
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    assert_false(smp_pair_map_reserve(&map, &room, 1));
    (void)failing_alloc_disarm(&failing);
    assert_true(smp_pair_map_reserve(&map, &room, 40));
    for (uint32_t k = 1; k <= 40; k++)
        smp_pair_map_put(&map, k, 0, k);
    assert_false(smp_pair_map_reserve(&map, &room, 1));
    for (uint32_t k = 1; k <= 40; k++)
        assert_int_equal(smp_pair_map_find(&map, k, 0), k);
    smp_pair_map_fini(&map, &room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pair_is_found),
        cmocka_unit_test(test_key_and_number_zero),
        cmocka_unit_test(test_a_map_that_may_not_grow_stays_as_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
