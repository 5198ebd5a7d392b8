/* SPDX-License-Identifier: Apache-2.0 */
/* The groups of a profile that are printed, and their order. */
#include "export/hot_groups.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "support/failing_alloc.h"
#include "support/interval_fixture.h"

#define MS INT64_C(1000000)

/* name NULL: the overflow group. */
static struct smp_group_tree add_group(struct interval_fixture *f, const char *name,
                                       int64_t wall_ns)
{
    const struct smp_group_tree tree =
        smp_interval_find(f->interval, (struct smp_group_key){ .name = name }, 1, "x");

    if (wall_ns > 0)
        smp_interval_measured(f->interval, tree, tree.root, wall_ns, 0);
    return tree;
}

static void assert_groups(struct interval_fixture *f, const uint32_t *expected, size_t count)
{
    struct smp_hot_groups groups;

    assert_int_equal(smp_interval_finish(f->interval, 0, 0, &f->profile), SMP_OK);
    assert_int_equal(smp_hot_groups_init(&groups, &f->quota, f->profile, SMP_GROUP_SAMPLED),
                     SMP_OK);
    assert_int_equal(groups.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(groups.indices[i], expected[i]);
    smp_hot_groups_fini(&groups);
}

static void the_hottest_is_first_and_the_jvm_last(void **state)
{
    struct interval_fixture *f = *state;
    const uint32_t jvm = add_group(f, SMP_JVM_THREADS_NAME, 500 * MS).group.index;
    const uint32_t cold = add_group(f, "cold", 1).group.index;
    const uint32_t same_z = add_group(f, "same z", 20 * MS).group.index;
    const uint32_t same_a = add_group(f, "same a", 20 * MS).group.index;
    const uint32_t hot = add_group(f, "hot", 30 * MS).group.index;
    const uint32_t overflow = add_group(f, NULL, 10 * MS).group.index;
    const uint32_t expected[] = { hot, same_a, same_z, overflow, cold, jvm };

    assert_int_equal(overflow, 0);
    assert_groups(f, expected, sizeof(expected) / sizeof(expected[0]));
}

static void a_group_without_time_or_polls_is_not_printed(void **state)
{
    struct interval_fixture *f = *state;
    const struct smp_group_tree polled = add_group(f, "polled", 0);
    const uint32_t expected[] = { polled.group.index };

    (void)add_group(f, "empty", 0);
    smp_interval_skip(f->interval, polled, SMP_OUTCOME_WALK_BUFFER_FULL, 1);
    assert_groups(f, expected, 1);
}

static void a_profile_without_groups_has_no_hot_groups(void **state)
{
    assert_groups(*state, NULL, 0);
}

static enum smp_status make_groups(void *self)
{
    struct interval_fixture *f = self;
    struct smp_hot_groups groups;
    const enum smp_status status =
        smp_hot_groups_init(&groups, &f->quota, f->profile, SMP_GROUP_SAMPLED);

    if (status == SMP_OK)
        smp_hot_groups_fini(&groups);
    return status;
}

static void each_allocation_may_be_refused(void **state)
{
    struct interval_fixture *f = *state;

    (void)add_group(f, "hot", MS);
    assert_int_equal(smp_interval_finish(f->interval, 0, 0, &f->profile), SMP_OK);
    assert_int_equal(failing_alloc_each_step(make_groups, f).refused, 1);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, interval_fixture_setup, interval_fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_hottest_is_first_and_the_jvm_last),
        TEST(a_group_without_time_or_polls_is_not_printed),
        TEST(a_profile_without_groups_has_no_hot_groups),
        TEST(each_allocation_may_be_refused),
    };
#undef TEST
    return cmocka_run_group_tests_name("hot_groups", tests, NULL, NULL);
}
