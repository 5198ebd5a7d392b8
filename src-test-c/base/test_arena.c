/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_alloc.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#endif
#if defined(WITH_ASAN)
#include <sanitizer/asan_interface.h>
#endif

enum { STEP = SMP_ARENA_STEP };

struct fixture {
    struct smp_quota quota;
    struct smp_arena *arena;
    size_t live_before;
};

static void open_fixture(struct fixture *fixture, size_t limit_bytes, size_t max_bytes)
{
    fixture->live_before = smp_alloc_live_bytes();
    smp_quota_init(&fixture->quota, limit_bytes);
    fixture->arena = NULL;
    assert_int_equal(smp_arena_create(&fixture->quota, max_bytes, &fixture->arena), SMP_OK);
}

static void close_fixture(struct fixture *fixture)
{
    smp_arena_destroy(fixture->arena);
    assert_int_equal(smp_quota_used(&fixture->quota), 0);
    assert_int_equal(smp_alloc_live_bytes(), fixture->live_before);
}

static bool is_zero(const void *memory, size_t size)
{
    const unsigned char *bytes = memory;

    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

static void create_commits_nothing(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, STEP, (size_t)1 << 32);
    assert_int_equal(smp_arena_committed(f.arena), 0);
    assert_int_equal(smp_arena_used(f.arena), 0);
    assert_non_null(smp_arena_base(f.arena));
    assert_true(smp_quota_used(&f.quota) < 1024);
    close_fixture(&f);
    smp_arena_destroy(NULL);
}

static void create_refuses_an_impossible_size(void **state)
{
    struct smp_arena *arena = NULL;

    (void)state;
    assert_int_equal(smp_arena_create(NULL, 0, &arena), SMP_EINVAL);
    assert_int_equal(smp_arena_create(NULL, SIZE_MAX, &arena), SMP_EINVAL);
    assert_int_equal(smp_arena_create(NULL, SIZE_MAX - STEP, &arena), SMP_ENOMEM);
    assert_null(arena);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static enum smp_status create_and_fill(void *self)
{
    struct smp_arena *arena = NULL;
    enum smp_status status = smp_arena_create(self, 4 * STEP, &arena);

    if (status != SMP_OK) {
        assert_null(arena);
        return status;
    }
    for (size_t i = 0; i < 2 && status == SMP_OK; i++) {
        if (smp_arena_alloc(arena, STEP, 1) == NULL)
            status = SMP_ENOMEM;
    }
    smp_arena_destroy(arena);
    return status;
}

static void every_refused_step_leaves_nothing_behind(void **state)
{
    struct smp_quota quota;

    (void)state;
    smp_quota_init(&quota, 10 * STEP);
    const struct failing_alloc_steps steps = failing_alloc_each_step(create_and_fill, &quota);
    assert_int_equal(steps.refused, 4); /* the arena, its range, two steps */
    assert_int_equal(steps.survived, 0);
    assert_int_equal(smp_quota_used(&quota), 0);
}

static void pieces_are_zeroed_and_aligned_and_do_not_move(void **state)
{
    struct fixture f;
    unsigned char *pieces[1000];

    (void)state;
    open_fixture(&f, 64 * STEP, 32 * STEP);
    for (size_t i = 0; i < 1000; i++) {
        const size_t align = (size_t)1 << i % 7;
        pieces[i] = smp_arena_alloc(f.arena, 1 + i, align);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % align, 0);
        assert_true(is_zero(pieces[i], 1 + i));
        memset(pieces[i], (int)(i % 255) + 1, 1 + i);
    }
    for (size_t i = 0; i < 1000; i++) {
        for (size_t at = 0; at <= i; at++)
            assert_int_equal(pieces[i][at], i % 255 + 1);
    }
    close_fixture(&f);
}

static void pieces_of_one_type_form_an_array(void **state)
{
    struct node {
        uint64_t value;
        uint32_t more;
    };
    struct fixture f;

    (void)state;
    open_fixture(&f, 64 * STEP, 32 * STEP);
    for (uint64_t i = 0; i < 20000; i++) {
        struct node *node = smp_arena_alloc(f.arena, sizeof(*node), _Alignof(struct node));
        assert_non_null(node);
        node->value = i;
    }
    const struct node *nodes = smp_arena_base(f.arena);
    for (uint64_t i = 0; i < 20000; i++)
        assert_int_equal(nodes[i].value, i);
    assert_int_equal(smp_arena_used(f.arena), 20000 * sizeof(struct node));
    close_fixture(&f);
}

static void memory_is_committed_in_steps_and_charged(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, 64 * STEP, 32 * STEP);
    const size_t own = smp_quota_used(&f.quota);
    assert_non_null(smp_arena_alloc(f.arena, 1, 1));
    assert_int_equal(smp_arena_committed(f.arena), STEP);
    assert_non_null(smp_arena_alloc(f.arena, STEP - 1, 1));
    assert_int_equal(smp_arena_committed(f.arena), STEP);
    assert_non_null(smp_arena_alloc(f.arena, 1, 1));
    assert_int_equal(smp_arena_committed(f.arena), 2 * STEP);
    assert_non_null(smp_arena_alloc(f.arena, 5 * STEP, 64)); /* more than a step at once */
    assert_int_equal(smp_arena_committed(f.arena), 7 * STEP);
    assert_int_equal(smp_quota_used(&f.quota), own + 7 * STEP);
    close_fixture(&f);
}

static void the_maximum_is_rounded_up_and_holds(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, 64 * STEP, STEP + 1);
    assert_non_null(smp_arena_alloc(f.arena, 2 * STEP - 10, 1));
    assert_null(smp_arena_alloc(f.arena, 11, 1));
    assert_null(smp_arena_alloc(f.arena, 3, 64));
    assert_null(smp_arena_alloc(f.arena, SIZE_MAX, 1));
    assert_null(smp_arena_alloc(f.arena, SIZE_MAX - 2 * STEP, 64));
    assert_int_equal(smp_arena_used(f.arena), 2 * STEP - 10);
    assert_non_null(smp_arena_alloc(f.arena, 10, 1));
    assert_int_equal(smp_arena_committed(f.arena), 2 * STEP);
    close_fixture(&f);
}

static void a_full_quota_fails_the_allocation_and_changes_nothing(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, 2 * STEP, 32 * STEP); /* the arena itself leaves room for one step */
    unsigned char *piece = smp_arena_alloc(f.arena, STEP - 100, 1);
    assert_non_null(piece);
    memset(piece, 1, STEP - 100);
    assert_null(smp_arena_alloc(f.arena, 200, 1));
    assert_int_equal(smp_arena_used(f.arena), STEP - 100);
    assert_int_equal(smp_arena_committed(f.arena), STEP);
    assert_int_equal(atomic_load(&f.quota.refused), 1);
    assert_non_null(smp_arena_alloc(f.arena, 100, 1)); /* committed bytes can still be used */
    close_fixture(&f);
}

static void rewind_frees_pieces_after_the_mark(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, 64 * STEP, 32 * STEP);
    unsigned char *kept = smp_arena_alloc(f.arena, 100, 8);
    memset(kept, 0xAA, 100);
    const size_t mark = smp_arena_used(f.arena);
    for (size_t i = 0; i < 50; i++) {
        unsigned char *piece = smp_arena_alloc(f.arena, 2001 + i, 64);
        assert_non_null(piece);
        memset(piece, 0xBB, 2001 + i);
    }
    smp_arena_rewind(f.arena, mark);
    assert_int_equal(smp_arena_used(f.arena), mark);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(kept[i], 0xAA);

    unsigned char *again = smp_arena_alloc(f.arena, STEP, 1);
    assert_ptr_equal(again, kept + 100);
    assert_true(is_zero(again, STEP));
    smp_arena_rewind(f.arena, smp_arena_used(f.arena)); /* forgets nothing */
    assert_int_equal(smp_arena_used(f.arena), 100 + STEP);
    close_fixture(&f);
}

static void unused_steps_go_back_to_the_quota(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, 64 * STEP, 32 * STEP);
    unsigned char *const kept = smp_arena_alloc(f.arena, 100, 1);
    memset(smp_arena_alloc(f.arena, 5 * STEP, 1), 0xBB, 5 * STEP);
    const size_t used = smp_quota_used(&f.quota);
    smp_arena_give_back(f.arena); /* all of them are used */
    assert_int_equal(smp_arena_committed(f.arena), 6 * STEP);
    smp_arena_rewind(f.arena, 100);
    smp_arena_give_back(f.arena);
    assert_int_equal(smp_arena_committed(f.arena), STEP);
    assert_int_equal(smp_quota_used(&f.quota), used - 5 * STEP);
    unsigned char *const again = smp_arena_alloc(f.arena, 3 * STEP, 1);
    assert_ptr_equal(again, kept + 100);
    assert_true(is_zero(again, 3 * STEP));
    smp_arena_rewind(f.arena, 0);
    smp_arena_give_back(f.arena);
    assert_int_equal(smp_arena_committed(f.arena), 0);
    close_fixture(&f);
}

static void an_empty_arena_can_be_rewound(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, 4 * STEP, STEP);
    smp_arena_rewind(f.arena, smp_arena_used(f.arena));
    assert_int_equal(smp_arena_committed(f.arena), 0);
    assert_non_null(smp_arena_alloc(f.arena, 0, 1));
    close_fixture(&f);
}

enum { MAX_PIECES = 200 };

/* The reference implementation: a list of pieces and the bytes written into each. */
struct reference {
    struct {
        unsigned char *at;
        size_t size;
        size_t mark; /* before it */
        unsigned char fill;
    } pieces[MAX_PIECES];
    size_t count;
};

static void check_reference(const struct reference *reference)
{
    for (size_t i = 0; i < reference->count; i++) {
        assert_int_equal(reference->pieces[i].at[0], reference->pieces[i].fill);
        assert_int_equal(reference->pieces[i].at[reference->pieces[i].size - 1],
                         reference->pieces[i].fill);
    }
}

static void add_random_piece(struct reference *reference, struct smp_arena *arena)
{
    const size_t size = 1 + (size_t)random() % (random() % 50 == 0 ? 3 * STEP : 500);
    const size_t mark = smp_arena_used(arena);
    unsigned char *at = smp_arena_alloc(arena, size, (size_t)1 << random() % 7);

    if (at == NULL)
        return;
    assert_true(is_zero(at, size));
    const unsigned char fill = (unsigned char)(1 + random() % 255);
    memset(at, fill, size);
    reference->pieces[reference->count].at = at;
    reference->pieces[reference->count].size = size;
    reference->pieces[reference->count].mark = mark;
    reference->pieces[reference->count++].fill = fill;
}

static void random_operations_match_the_reference(void **state)
{
    static struct reference reference;
    struct fixture f;

    (void)state;
    srandom(20240511);
    open_fixture(&f, 20 * STEP, 16 * STEP);
    for (size_t round = 0; round < 20000; round++) {
        const long dice = random() % 100;
        if (dice == 0) {
            smp_arena_rewind(f.arena, 0);
            reference.count = 0;
        } else if (dice < 10 && reference.count > 0) {
            reference.count = (size_t)random() % reference.count;
            smp_arena_rewind(f.arena, reference.pieces[reference.count].mark);
        } else if (reference.count < MAX_PIECES) {
            add_random_piece(&reference, f.arena);
        }
        if (dice < 20)
            check_reference(&reference);
    }
    close_fixture(&f);
}

#if defined(WITH_ASAN)
static void asan_sees_every_byte_that_is_not_handed_out(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, 64 * STEP, 32 * STEP);
    char *kept = smp_arena_alloc(f.arena, 16, 8);
    const size_t mark = smp_arena_used(f.arena);
    char *stale = smp_arena_alloc(f.arena, 13, 8);
    assert_false(__asan_address_is_poisoned(stale + 12));
    assert_true(__asan_address_is_poisoned(stale + 13)); /* one past the piece */
    char *later = smp_arena_alloc(f.arena, 8, 8);
    assert_true(__asan_address_is_poisoned(stale + 13)); /* the gap before the next */
    assert_null(__asan_region_is_poisoned(later, 8));

    smp_arena_rewind(f.arena, mark);
    assert_null(__asan_region_is_poisoned(kept, 16));
    assert_true(__asan_address_is_poisoned(stale));
    assert_true(__asan_address_is_poisoned(later));

    smp_arena_rewind(f.arena, 0);
    assert_true(__asan_address_is_poisoned(kept));
    assert_ptr_equal(smp_arena_alloc(f.arena, 16, 8), kept);
    assert_null(__asan_region_is_poisoned(kept, 16));
    close_fixture(&f);
}

/* Other code may map the range again, so no poison may be left in it. */
static void asan_poison_is_removed_with_the_arena(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, 64 * STEP, 32 * STEP);
    const char *base = smp_arena_alloc(f.arena, 5 * STEP + 1, 1);
    smp_arena_rewind(f.arena, STEP);
    close_fixture(&f);
    for (size_t at = 0; at < 32 * STEP; at += 8)
        assert_false(__asan_address_is_poisoned(base + at));
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_commits_nothing),
        cmocka_unit_test(create_refuses_an_impossible_size),
        cmocka_unit_test(every_refused_step_leaves_nothing_behind),
        cmocka_unit_test(pieces_are_zeroed_and_aligned_and_do_not_move),
        cmocka_unit_test(pieces_of_one_type_form_an_array),
        cmocka_unit_test(memory_is_committed_in_steps_and_charged),
        cmocka_unit_test(the_maximum_is_rounded_up_and_holds),
        cmocka_unit_test(a_full_quota_fails_the_allocation_and_changes_nothing),
        cmocka_unit_test(rewind_frees_pieces_after_the_mark),
        cmocka_unit_test(unused_steps_go_back_to_the_quota),
        cmocka_unit_test(an_empty_arena_can_be_rewound),
        cmocka_unit_test(random_operations_match_the_reference),
#if defined(WITH_ASAN)
        cmocka_unit_test(asan_sees_every_byte_that_is_not_handed_out),
        cmocka_unit_test(asan_poison_is_removed_with_the_arena),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
