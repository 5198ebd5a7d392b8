/* SPDX-License-Identifier: Apache-2.0 */
/* A stack counts as the last stack only if all its parts are equal. */
#include "engine/threads/last_stack.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "support/failing_alloc.h"

enum { FRAMES = 100, EPOCH = 7, NODE = 42 };

struct fixture {
    struct smp_quota quota;
    struct smp_memory_budget budget;
    struct smp_last_stack last;
    struct smp_frame frames[FRAMES];
    struct smp_sample sample;
};

static int setup(void **state)
{
    static struct fixture f;

    f = (struct fixture){ .budget = { .quota = &f.quota, .max_bytes = 1 << 20 } };
    smp_quota_init(&f.quota, 1 << 20);
    for (int i = 0; i < FRAMES; i++)
        f.frames[i] = (struct smp_frame){ .method = (uint64_t)i + 1, .bci = i };
    f.sample = (struct smp_sample){
        .frames = f.frames, .capacity = FRAMES, .count = 20, .leaf_count = 20
    };
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    smp_last_stack_fini(&f->last, &f->budget);
    assert_int_equal(f->budget.used_bytes, 0);
    assert_int_equal(smp_quota_used(&f->quota), 0);
    return 0;
}

static void keep(struct fixture *f)
{
    smp_last_stack_keep(&f->last, &f->budget, EPOCH, &f->sample, NODE, SMP_OUTCOME_WALKED);
}

static bool matches(const struct fixture *f)
{
    return smp_last_stack_matches(&f->last, EPOCH, &f->sample);
}

static void only_an_equal_stack_is_recognised(void **state)
{
    struct fixture *f = *state;

    assert_false(matches(f));
    keep(f);
    assert_true(matches(f));
    assert_int_equal(f->last.node, NODE);
    f->frames[19].bci++;
    assert_false(matches(f));
    f->frames[19].bci--;
    f->frames[0].method++;
    assert_false(matches(f));
    f->frames[0].method--;
    f->sample.count = 19;
    assert_false(matches(f));
    f->sample.count = 21;
    assert_false(matches(f));
}

static void a_stack_cut_at_another_place_is_different(void **state)
{
    struct fixture *f = *state;

    f->sample.leaf_count = 10;
    f->sample.omitted = 5;
    keep(f);
    assert_true(matches(f));
    f->sample.omitted = 6;
    assert_false(matches(f));
    f->sample.omitted = 5;
    f->sample.leaf_count = 11;
    assert_false(matches(f));
}

static void a_new_epoch_or_forgetting_discards_the_stack(void **state)
{
    struct fixture *f = *state;

    keep(f);
    assert_false(smp_last_stack_matches(&f->last, EPOCH + 1, &f->sample));
    smp_last_stack_forget(&f->last);
    assert_false(matches(f));
    keep(f);
    assert_true(matches(f));
}

static void same_or_smaller_stacks_need_no_memory(void **state)
{
    struct fixture *f = *state;
    struct failing_alloc counting;

    keep(f);
    failing_alloc_arm(&counting, 0, 0);
    for (size_t count = 1; count <= SMP_LAST_STACK_STEP; count++) {
        f->sample.count = f->sample.leaf_count = count;
        keep(f);
        assert_true(matches(f));
    }
    failing_alloc_disarm(&counting);
    assert_int_equal(atomic_load(&counting.requests), 0);
}

static void without_memory_nothing_is_remembered(void **state)
{
    struct fixture *f = *state;
    struct failing_alloc failing;

    failing_alloc_arm(&failing, 1, 1);
    keep(f);
    failing_alloc_disarm(&failing);
    assert_false(matches(f));
    keep(f);
    assert_true(matches(f));
    f->sample.count = f->sample.leaf_count = FRAMES;
    failing_alloc_arm(&failing, 1, 1);
    keep(f);
    failing_alloc_disarm(&failing);
    assert_false(matches(f));
}

static void the_memory_budget_is_not_exceeded(void **state)
{
    struct fixture *f = *state;
    struct smp_last_stack other = { 0 };

    f->budget.max_bytes = 2 * SMP_LAST_STACK_STEP * sizeof(struct smp_frame);
    keep(f);
    f->sample.count = f->sample.leaf_count = FRAMES;
    smp_last_stack_keep(&other, &f->budget, EPOCH, &f->sample, NODE, SMP_OUTCOME_WALKED);
    assert_false(smp_last_stack_matches(&other, EPOCH, &f->sample));
    f->sample.count = f->sample.leaf_count = 5;
    smp_last_stack_keep(&other, &f->budget, EPOCH, &f->sample, NODE, SMP_OUTCOME_WALKED);
    assert_true(smp_last_stack_matches(&other, EPOCH, &f->sample));
    assert_int_equal(f->budget.used_bytes, f->budget.max_bytes);
    smp_last_stack_fini(&other, &f->budget);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(only_an_equal_stack_is_recognised),
        TEST(a_stack_cut_at_another_place_is_different),
        TEST(a_new_epoch_or_forgetting_discards_the_stack),
        TEST(same_or_smaller_stacks_need_no_memory),
        TEST(without_memory_nothing_is_remembered),
        TEST(the_memory_budget_is_not_exceeded),
    };
#undef TEST
    return cmocka_run_group_tests_name("last_stack", tests, NULL, NULL);
}
