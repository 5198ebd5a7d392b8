/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>

#include "model/id_index.h"

enum { IDS = 3000, IDS_PER_HASH = 3 };

/* Few hashes, with equal low bits: they meet in the same slots. */
static uint32_t hash_of(uint32_t id)
{
    return id / IDS_PER_HASH << 20;
}

static void test_all_ids_of_a_hash_are_found(void **state)
{
    struct smp_memory_budget room = { .max_bytes = 1 << 20 };
    struct smp_id_index index = { 0 };
    size_t cursor = 0;

    (void)state;
    assert_int_equal(smp_id_index_first(&index, 5, &cursor), 0);
    for (uint32_t id = IDS_PER_HASH; id < IDS; id++) {
        assert_true(smp_id_index_reserve(&index, &room, 1));
        smp_id_index_put(&index, hash_of(id), id);
    }
    for (uint32_t first = IDS_PER_HASH; first < IDS; first += IDS_PER_HASH) {
        unsigned found = 0;

        for (uint32_t id = smp_id_index_first(&index, hash_of(first), &cursor); id != 0;
             id = smp_id_index_next(&index, hash_of(first), &cursor)) {
            assert_in_range(id, first, first + IDS_PER_HASH - 1);
            found |= 1u << (id - first);
        }
        assert_int_equal(found, (1u << IDS_PER_HASH) - 1);
    }
    assert_int_equal(smp_id_index_first(&index, hash_of(IDS), &cursor), 0);
    smp_id_index_fini(&index, &room);
    assert_int_equal(room.used_bytes, 0);
}

static void test_an_index_that_may_not_grow_stays_as_it_was(void **state)
{
    struct smp_memory_budget room = { .max_bytes = 64 * sizeof(struct smp_id_slot) };
    struct smp_id_index index = { 0 };
    size_t cursor = 0;

    (void)state;
    assert_true(smp_id_index_reserve(&index, &room, 48));
    for (uint32_t id = 1; id <= 48; id++)
        smp_id_index_put(&index, id, id);
    assert_false(smp_id_index_reserve(&index, &room, 1));
    for (uint32_t id = 1; id <= 48; id++)
        assert_int_equal(smp_id_index_first(&index, id, &cursor), id);
    smp_id_index_fini(&index, &room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_ids_of_a_hash_are_found),
        cmocka_unit_test(test_an_index_that_may_not_grow_stays_as_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
