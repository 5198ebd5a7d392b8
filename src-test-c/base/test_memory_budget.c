/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/memory_budget.h"
#include "support/failing_alloc.h"

static void test_heap_and_arenas_share_one_maximum(void **state)
{
    struct smp_memory_budget room = { .max_bytes = 3 * SMP_ARENA_STEP };
    struct smp_arena *arena = NULL;
    void *piece = NULL;

    (void)state;
    assert_int_equal(smp_arena_create_within(&room, 16 * SMP_ARENA_STEP, &arena), SMP_OK);
    assert_non_null(smp_arena_alloc(arena, 1, 1));
    assert_int_equal(room.used_bytes, SMP_ARENA_STEP);
    piece = smp_memory_budget_take(&room, SMP_ARENA_STEP);
    assert_non_null(piece);
    assert_int_equal(smp_memory_budget_left(&room), SMP_ARENA_STEP);
    assert_null(smp_memory_budget_take(&room, SMP_ARENA_STEP + 1));
    assert_null(smp_arena_alloc(arena, 2 * SMP_ARENA_STEP, 1));
    /* Up to the last remaining byte. */
    assert_non_null(smp_arena_alloc(arena, 2 * SMP_ARENA_STEP - 1, 1));
    assert_int_equal(smp_memory_budget_left(&room), 0);
    assert_null(smp_arena_alloc(arena, 1, 1));
    smp_memory_budget_give(&room, piece, SMP_ARENA_STEP);
    smp_memory_budget_give(&room, NULL, 0);
    assert_non_null(smp_arena_alloc(arena, 1, 1));
    assert_int_equal(room.used_bytes, 3 * SMP_ARENA_STEP);
    smp_arena_destroy(arena);
}

static void test_reserved_bytes_can_be_allocated(void **state)
{
    struct smp_memory_budget room = { .max_bytes = SMP_ARENA_STEP };
    struct smp_arena *arena = NULL;
    struct failing_alloc failing;

    (void)state;
    assert_int_equal(smp_arena_create_within(&room, 16 * SMP_ARENA_STEP, &arena), SMP_OK);
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    assert_false(smp_arena_reserve(arena, 16, 8));
    assert_int_equal(failing_alloc_disarm(&failing), 1);
    assert_int_equal(room.used_bytes, 0);
    assert_true(smp_arena_reserve(arena, 16, 8));
    assert_int_equal(smp_arena_used(arena), 0);
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    assert_true(smp_arena_reserve(arena, 16, 8));
    assert_non_null(smp_arena_alloc(arena, 16, 8));
    assert_int_equal(failing_alloc_disarm(&failing), 0);
    assert_false(smp_arena_reserve(arena, SMP_ARENA_STEP, 8));
    smp_arena_destroy(arena);
}

static void test_items_grow_by_doubling(void **state)
{
    struct smp_memory_budget room = { .max_bytes = 8192 };
    struct smp_grown grown = { 0 };
    struct failing_alloc failing;

    (void)state;
    assert_true(smp_memory_budget_fit(&room, &grown, 0));
    assert_null(grown.items);
    assert_true(smp_memory_budget_fit(&room, &grown, 1));
    ((char *)grown.items)[0] = 'a';
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    assert_true(smp_memory_budget_fit(&room, &grown, grown.bytes));
    assert_false(smp_memory_budget_fit(&room, &grown, grown.bytes + 1));
    assert_int_equal(failing_alloc_disarm(&failing), 1);
    assert_true(smp_memory_budget_fit(&room, &grown, grown.bytes + 1));
    assert_int_equal(((const char *)grown.items)[0], 'a');
    assert_int_equal(room.used_bytes, grown.bytes);
    assert_false(smp_memory_budget_fit(&room, &grown, 8193));
    smp_memory_budget_give(&room, grown.items, grown.bytes);
    assert_int_equal(room.used_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items_grow_by_doubling),
        cmocka_unit_test(test_heap_and_arenas_share_one_maximum),
        cmocka_unit_test(test_reserved_bytes_can_be_allocated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
