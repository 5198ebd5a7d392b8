/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles with more groups than their readers want. */
#include "model/group_limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/profile_merge.h"
#include "support/failing_alloc.h"
#include "support/tree_amounts.h"

enum { PART_BYTES = 1 << 24, NAME_BYTES = 32, MANY = 1000, LIMIT = 10 };

static struct smp_methods *names;

struct interval {
    struct smp_tree *tree;
    struct smp_thread_groups *groups;
};

static int setup(void **state)
{
    (void)state;
    return smp_methods_create(NULL, PART_BYTES, NULL, &names) == SMP_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    smp_methods_release(names);
    return smp_alloc_live_bytes() == 0 ? 0 : -1;
}

static struct interval begin(void)
{
    struct interval interval = { 0 };

    assert_int_equal(smp_tree_create(NULL, SMP_ALL_MEASURES, PART_BYTES, &interval.tree), SMP_OK);
    assert_int_equal(smp_thread_groups_create(NULL, PART_BYTES, &interval.groups), SMP_OK);
    return interval;
}

/* Returns the node of a frame with this text below the group's root. */
static uint32_t add_node(struct interval *interval, struct smp_group_key key, const char *frame,
                         struct smp_group *group)
{
    const uint32_t location = smp_methods_pseudo(names, frame);
    struct smp_group_info *info;
    uint32_t node = 0;

    *group = smp_thread_groups_find(interval->groups, key);
    info = smp_thread_groups_info(interval->groups, *group);
    if (info->root == 0)
        assert_int_equal(smp_tree_root(interval->tree, group->index, &info->root), SMP_OK);
    assert_int_equal(smp_tree_add(interval->tree, info->root, &location, 1, &node), SMP_OK);
    return node;
}

/* One poll of a thread. */
static void add(struct interval *interval, const char *name, uint64_t serial, int64_t wall_ns,
                int64_t cpu_ns)
{
    struct smp_group group;
    const uint32_t node =
        add_node(interval, (struct smp_group_key){ .name = name }, "[run]", &group);

    smp_tree_credit_wall(interval->tree, node, SMP_STATE_RUNNING, cpu_ns);
    smp_tree_credit_wall(interval->tree, node, SMP_STATE_IDLE, wall_ns - cpu_ns);
    tree_credit(interval->tree, node, 0, cpu_ns, 1);
    smp_tally_note(&smp_thread_groups_info(interval->groups, group)->tally, SMP_OUTCOME_WALKED);
    smp_thread_groups_see(interval->groups, group, serial, name);
}

static void add_calls(struct interval *interval, const char *name, int64_t calls, int64_t wall_ns)
{
    struct smp_group group;
    const uint32_t node = add_node(
        interval, (struct smp_group_key){ .name = name, .kind = SMP_GROUP_COUNTED }, "[c]", &group);

    smp_tree_credit(interval->tree, node, SMP_MEASURE_CALLS, calls);
    smp_tree_credit(interval->tree, node, SMP_MEASURE_WALL, wall_ns);
}

static struct smp_profile *finish(struct interval *interval, uint32_t max_groups)
{
    struct smp_profile *profile = NULL;

    assert_int_equal(smp_profile_create(NULL, interval->tree, interval->groups, names, &profile),
                     SMP_OK);
    profile->max_groups = max_groups;
    return profile;
}

static const struct smp_group_info *find(const struct smp_profile *profile, const char *name,
                                         enum smp_group_kind kind)
{
    struct smp_group group;

    return smp_thread_groups_peek(profile->groups,
                                  (struct smp_group_key){ .name = name, .kind = kind }, &group)
               ? smp_thread_groups_info(profile->groups, group)
               : NULL;
}

static const struct smp_group_info *sampled(const struct smp_profile *profile, const char *name)
{
    return find(profile, name, SMP_GROUP_SAMPLED);
}

static const char *name_of(int number)
{
    static char name[NAME_BYTES];

    (void)snprintf(name, sizeof(name), "g%d", number);
    return name;
}

/* Group i has i ns of CPU time; groups with more CPU time have less wall time. */
static struct smp_profile *many_groups(uint32_t max_groups)
{
    struct interval interval = begin();

    for (int i = 0; i < MANY; i++)
        add(&interval, name_of(i), (uint64_t)i + 1, 10 * MANY - i, i);
    add(&interval, SMP_JVM_THREADS_NAME, SMP_SERIAL_OTHER | 1, 1, 0);
    return finish(&interval, max_groups);
}

static uint64_t threads_of(const struct smp_profile *profile)
{
    uint64_t threads = 0;

    for (uint32_t i = 0; i < smp_thread_groups_count(profile->groups); i++)
        threads +=
            smp_thread_groups_info(profile->groups, (struct smp_group){ .index = i })->thread_count;
    return threads;
}

static void the_least_active_groups_are_merged(void **state)
{
    struct smp_profile *whole = many_groups(LIMIT);
    struct smp_profile *limited = smp_group_limit_apply(NULL, smp_profile_hold(whole), 1);
    const struct smp_group_info *const other = sampled(limited, SMP_OTHER_THREADS_NAME);

    (void)state;
    /* The overflow group and [JVM] are added. */
    assert_int_equal(smp_thread_groups_count(limited->groups), LIMIT + 3);
    for (int i = MANY - LIMIT; i < MANY; i++)
        assert_non_null(sampled(limited, name_of(i)));
    assert_int_equal(other->joined_groups, MANY - LIMIT);
    assert_int_equal(other->thread_count, MANY - LIMIT);
    assert_int_equal(other->listed, SMP_MAX_LISTED_NAMES);
    assert_int_equal(other->tally.polls, MANY - LIMIT);
    assert_int_equal(other->max_depth, 0);
    smp_profile_release(whole);
    smp_profile_release(limited);
}

static void merging_groups_loses_nothing(void **state)
{
    struct smp_profile *whole = many_groups(LIMIT);
    struct smp_profile *limited = smp_group_limit_apply(NULL, smp_profile_hold(whole), 1);

    (void)state;
    for (int i = 0; i < SMP_MEASURE_COUNT; i++)
        assert_int_equal(smp_profile_total(limited, (enum smp_measure)i),
                         smp_profile_total(whole, (enum smp_measure)i));
    assert_memory_equal(&limited->tally, &whole->tally, sizeof(whole->tally));
    assert_int_equal(threads_of(limited), threads_of(whole));
    assert_int_equal(limited->family, whole->family);
    assert_int_equal(limited->max_groups, LIMIT);
    smp_profile_release(whole);
    smp_profile_release(limited);
}

static void a_profile_within_the_limit_is_unchanged(void **state)
{
    struct smp_profile *whole = many_groups(MANY);
    struct smp_profile *any = many_groups(0);

    (void)state;
    assert_ptr_equal(smp_group_limit_apply(NULL, whole, 1), whole);
    assert_ptr_equal(smp_group_limit_apply(NULL, any, 1), any);
    whole->max_groups = LIMIT;
    assert_ptr_equal(smp_group_limit_apply(NULL, whole, MANY / LIMIT), whole);
    smp_profile_release(whole);
    smp_profile_release(any);
}

static void equally_active_groups_are_ordered_by_wall_time(void **state)
{
    struct interval interval = begin();

    (void)state;
    add(&interval, "waits", 1, 50, 0);
    add(&interval, "works", 2, 10, 10);
    add(&interval, "waits longer", 3, 60, 0);
    struct smp_profile *limited = smp_group_limit_apply(NULL, finish(&interval, 2), 1);
    assert_non_null(sampled(limited, "works"));
    assert_non_null(sampled(limited, "waits longer"));
    assert_null(sampled(limited, "waits"));
    smp_profile_release(limited);
}

/* A thread that waits for a lock counts as active, though it uses no CPU. */
static void waiting_for_a_lock_counts_as_activity(void **state)
{
    struct interval interval = begin();
    struct smp_group group;

    (void)state;
    add(&interval, "idle", 1, 1000, 5);
    add(&interval, "works", 2, 20, 10);
    const uint32_t node =
        add_node(&interval, (struct smp_group_key){ .name = "blocked" }, "[run]", &group);
    smp_tree_credit_wall(interval.tree, node, SMP_STATE_BLOCKED, 8);
    struct smp_profile *limited = smp_group_limit_apply(NULL, finish(&interval, 2), 1);
    assert_non_null(sampled(limited, "works"));
    assert_non_null(sampled(limited, "blocked"));
    assert_null(sampled(limited, "idle"));
    smp_profile_release(limited);
}

static void a_thread_in_two_merged_groups_is_counted_once(void **state)
{
    struct interval interval = begin();

    (void)state;
    add(&interval, "before", 7, 1, 0);
    add(&interval, "after", 7, 1, 0);
    add(&interval, "works", 8, 1, 1);
    struct smp_profile *limited = smp_group_limit_apply(NULL, finish(&interval, 1), 1);
    const struct smp_group_info *const other = sampled(limited, SMP_OTHER_THREADS_NAME);
    assert_int_equal(other->joined_groups, 2);
    assert_int_equal(other->thread_count, 1);
    assert_int_equal(other->listed, 1);
    smp_profile_release(limited);
}

/* Both intervals have the same groups, so their number is not the sum. */
static void merged_intervals_are_limited_again(void **state)
{
    struct smp_profile *parts[] = { smp_group_limit_apply(NULL, many_groups(LIMIT), 1),
                                    smp_group_limit_apply(NULL, many_groups(LIMIT), 1) };
    struct smp_profile *merged = NULL;

    (void)state;
    assert_int_equal(smp_profile_merge(NULL, parts[0], parts[1], &merged), SMP_OK);
    merged = smp_group_limit_apply(NULL, merged, 1);
    assert_int_equal(smp_thread_groups_count(merged->groups), LIMIT + 3);
    assert_int_equal(sampled(merged, SMP_OTHER_THREADS_NAME)->joined_groups, MANY - LIMIT);
    assert_int_equal(sampled(merged, SMP_OTHER_THREADS_NAME)->thread_count, MANY - LIMIT);
    assert_int_equal(smp_profile_total(merged, SMP_MEASURE_WALL),
                     2 * smp_profile_total(parts[0], SMP_MEASURE_WALL));
    merged->max_groups = LIMIT / 2;
    merged = smp_group_limit_apply(NULL, merged, 1);
    assert_int_equal(sampled(merged, SMP_OTHER_THREADS_NAME)->joined_groups, MANY - LIMIT);
    assert_int_equal(sampled(merged, SMP_OTHER_THREADS_NAME)->thread_count, MANY - LIMIT / 2);
    smp_profile_release(merged);
    smp_profile_release(parts[0]);
    smp_profile_release(parts[1]);
}

static void a_counted_group_is_merged_with_its_sampled_group(void **state)
{
    struct interval interval = begin();

    (void)state;
    add(&interval, "a", 1, 1, 9);
    add(&interval, "b", 2, 1, 8);
    add(&interval, "c", 3, 1, 7);
    add_calls(&interval, "c", 30, 500);
    add_calls(&interval, "a", 10, 1);
    add_calls(&interval, "short", 5, 1); /* calls of a thread that was never polled */
    add_calls(&interval, "shorter", 4, 0);
    struct smp_profile *limited = smp_group_limit_apply(NULL, finish(&interval, 2), 1);
    assert_null(sampled(limited, "c"));
    assert_null(find(limited, "c", SMP_GROUP_COUNTED));
    assert_non_null(find(limited, "a", SMP_GROUP_COUNTED));
    assert_non_null(find(limited, "short", SMP_GROUP_COUNTED));
    assert_null(find(limited, "shorter", SMP_GROUP_COUNTED));
    const struct smp_group_info *const other =
        find(limited, SMP_OTHER_THREADS_NAME, SMP_GROUP_COUNTED);
    assert_int_equal(other->joined_groups, 2);
    assert_int_equal(smp_column_at(smp_tree_column(limited->tree, SMP_MEASURE_CALLS), other->root),
                     34);
    assert_int_equal(smp_profile_total(limited, SMP_MEASURE_CALLS), 49);
    assert_int_equal(sampled(limited, SMP_OTHER_THREADS_NAME)->joined_groups, 1);
    smp_profile_release(limited);
}

static enum smp_status limit_and_release(void *self)
{
    struct smp_profile *const whole = self;
    struct smp_profile *const limited = smp_group_limit_apply(NULL, smp_profile_hold(whole), 1);
    const enum smp_status status = limited != whole ? SMP_OK : SMP_ENOMEM;

    smp_profile_release(limited);
    return status;
}

static void without_memory_the_profile_is_unchanged(void **state)
{
    struct smp_profile *whole = many_groups(LIMIT);

    (void)state;
    assert_true(failing_alloc_each_step(limit_and_release, whole).refused > 10);
    smp_profile_release(whole);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_least_active_groups_are_merged),
        TEST(merging_groups_loses_nothing),
        TEST(a_profile_within_the_limit_is_unchanged),
        TEST(equally_active_groups_are_ordered_by_wall_time),
        TEST(waiting_for_a_lock_counts_as_activity),
        TEST(a_thread_in_two_merged_groups_is_counted_once),
        TEST(merged_intervals_are_limited_again),
        TEST(a_counted_group_is_merged_with_its_sampled_group),
        TEST(without_memory_the_profile_is_unchanged),
    };
    return cmocka_run_group_tests_name("group_limit", tests, NULL, NULL);
}
