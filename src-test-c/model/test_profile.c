/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "model/profile.h"
#include "support/failing_alloc.h"
#include "support/tally_sum.h"
#include "support/tree_amounts.h"

enum {
    QUOTA_BYTES = 64 * 1024 * 1024,
    PART_BYTES = 8 * 1024 * 1024,
    GROUPS = 5,
    READERS = 4,
    TURNS = 5000 /* for each reader */
};

/* The parts of an interval, before a profile adopts them. */
struct fixture {
    struct smp_quota quota;
    struct smp_tree *tree;
    struct smp_thread_groups *groups;
    struct smp_methods *methods;
    uint32_t location;
    uint32_t root;
};

/* GROUPS groups of the same one-frame stack; group i has i + 1 samples of 100 ns. */
static void fill(struct fixture *fixture)
{
    for (uint32_t i = 0; i < GROUPS; i++) {
        const char name[] = { (char)('a' + i), '\0' };
        const struct smp_group group =
            smp_thread_groups_find(fixture->groups, (struct smp_group_key){ .name = name });
        struct smp_group_info *info = smp_thread_groups_info(fixture->groups, group);
        uint32_t leaf = 0;
        assert_int_equal(smp_tree_root(fixture->tree, group.index, &info->root), SMP_OK);
        assert_int_equal(smp_tree_add(fixture->tree, info->root, &fixture->location, 1, &leaf),
                         SMP_OK);
        for (uint32_t sample = 0; sample <= i; sample++) {
            tree_credit(fixture->tree, leaf, 100, 10, 1);
            smp_tally_note(&info->tally, SMP_OUTCOME_WALKED);
        }
        smp_tally_note(&info->tally, SMP_OUTCOME_THREAD_ENDED);
        fixture->root = info->root;
    }
}

static int set_up(void **state)
{
    static struct fixture fixture;

    memset(&fixture, 0, sizeof(fixture));
    smp_quota_init(&fixture.quota, QUOTA_BYTES);
    assert_int_equal(smp_methods_create(&fixture.quota, PART_BYTES, NULL, &fixture.methods),
                     SMP_OK);
    fixture.location = smp_methods_pseudo(fixture.methods, "[waiting for the test]");
    assert_int_equal(
        smp_tree_create(&fixture.quota, SMP_SAMPLED_MEASURES, PART_BYTES, &fixture.tree), SMP_OK);
    assert_int_equal(smp_thread_groups_create(&fixture.quota, PART_BYTES, &fixture.groups), SMP_OK);
    fill(&fixture);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    smp_tree_destroy(fixture->tree);
    smp_thread_groups_destroy(fixture->groups);
    smp_methods_release(fixture->methods);
    assert_int_equal(smp_quota_used(&fixture->quota), 0);
    assert_int_equal(smp_alloc_live_bytes(), 0);
    return 0;
}

static struct smp_profile *take(struct fixture *fixture)
{
    struct smp_profile *profile = NULL;

    assert_int_equal(smp_profile_create(&fixture->quota, fixture->tree, fixture->groups,
                                        fixture->methods, &profile),
                     SMP_OK);
    fixture->tree = NULL; /* the profile owns it */
    fixture->groups = NULL;
    return profile;
}

static void a_profile_is_the_finished_interval_with_the_sum_of_its_groups(void **state)
{
    struct fixture *fixture = *state;
    struct smp_profile *profile = take(fixture);
    const uint64_t samples = GROUPS * (GROUPS + 1) / 2;

    assert_non_null(smp_tree_next_siblings(profile->tree));
    assert_int_equal(tree_wall(profile->tree, 0), 100 * samples);
    assert_int_equal(tree_wall(profile->tree, fixture->root), 100 * GROUPS);
    assert_int_equal(profile->tally.outcomes[SMP_OUTCOME_WALKED], samples);
    assert_int_equal(profile->tally.outcomes[SMP_OUTCOME_THREAD_ENDED], GROUPS);
    assert_int_equal(profile->tally.polls, samples + GROUPS);
    assert_int_equal(tally_sum(&profile->tally), profile->tally.polls);
    /* Fields that the caller must fill in are empty. */
    assert_int_equal(profile->elapsed_ns, 0);
    assert_int_equal(profile->counters[SMP_COUNTER_TICKS], 0);
    smp_profile_release(profile);
}

static void a_profile_keeps_its_names_alive(void **state)
{
    struct fixture *fixture = *state;
    struct smp_profile *profile = take(fixture);
    struct smp_location_view view;

    smp_methods_release(fixture->methods);
    fixture->methods = NULL;
    assert_true(fixture->location < profile->location_count);
    smp_methods_view(profile->methods, fixture->location, &view);
    assert_string_equal(view.class_name, "[waiting for the test]");
    smp_profile_release(profile);
}

/* Later names belong to later profiles, so the bound of this one does not move. */
static void a_profile_knows_which_names_are_its_own(void **state)
{
    struct fixture *fixture = *state;
    struct smp_profile *profile = take(fixture);
    const uint32_t later = smp_methods_pseudo(fixture->methods, "[later]");

    assert_true(later >= profile->location_count);
    smp_profile_release(profile);
}

static void a_profile_lives_until_its_last_release(void **state)
{
    struct fixture *fixture = *state;
    struct smp_profile *profile = take(fixture);

    assert_ptr_equal(smp_profile_hold(profile), profile);
    smp_profile_release(profile);
    assert_int_equal(smp_tree_node_count(profile->tree), 1 + 2 * GROUPS);
    smp_profile_release(profile);
    smp_profile_release(NULL);
}

static void a_refused_create_adopts_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct failing_alloc failing = { .first = 0 };
    struct smp_profile *profile = NULL;
    const size_t used = smp_quota_used(&fixture->quota);
    enum smp_status status = SMP_ENOMEM;
    size_t step = 0;
    uint32_t leaf = 0;

    while (status == SMP_ENOMEM) {
        step++;
        failing_alloc_arm(&failing, step, step);
        status = smp_profile_create(&fixture->quota, fixture->tree, fixture->groups,
                                    fixture->methods, &profile);
        failing_alloc_disarm(&failing);
        if (status == SMP_OK)
            continue;
        /* The interval continues. */
        assert_null(profile);
        assert_int_equal(smp_quota_used(&fixture->quota), used);
        assert_int_equal(smp_tree_add(fixture->tree, fixture->root, &fixture->location, 1, &leaf),
                         SMP_OK);
        tree_credit(fixture->tree, leaf, 7, 0, 1);
    }
    assert_int_equal(status, SMP_OK);
    assert_true(step > 1);
    fixture->tree = NULL;
    fixture->groups = NULL;
    assert_int_equal(tree_wall(profile->tree, fixture->root),
                     100 * GROUPS + 7 * (int64_t)(step - 1));
    smp_profile_release(profile);
}

static struct smp_profile *take_counted(struct fixture *fixture)
{
    const struct smp_group_key key = { .name = "a", .kind = SMP_GROUP_COUNTED };
    struct smp_group_info *info;
    uint32_t leaf = 0;

    smp_tree_destroy(fixture->tree);
    smp_thread_groups_destroy(fixture->groups);
    assert_int_equal(smp_tree_create(&fixture->quota, SMP_ALL_MEASURES, PART_BYTES, &fixture->tree),
                     SMP_OK);
    assert_int_equal(smp_thread_groups_create(&fixture->quota, PART_BYTES, &fixture->groups),
                     SMP_OK);
    fill(fixture);
    const struct smp_group group = smp_thread_groups_find(fixture->groups, key);
    info = smp_thread_groups_info(fixture->groups, group);
    assert_int_equal(smp_tree_root(fixture->tree, group.index, &info->root), SMP_OK);
    assert_int_equal(smp_tree_add(fixture->tree, info->root, &fixture->location, 1, &leaf), SMP_OK);
    tree_credit(fixture->tree, leaf, 100, 10, 0);
    smp_tree_credit(fixture->tree, leaf, SMP_MEASURE_CALLS, 9);
    return take(fixture);
}

/* The time of a counted tree is also in a sampled one. */
static void the_total_counts_no_time_twice(void **state)
{
    struct fixture *fixture = *state;
    struct smp_profile *profile = take_counted(fixture);
    const int64_t samples = GROUPS * (GROUPS + 1) / 2;
    const uint32_t last = (uint32_t)smp_tree_node_count(profile->tree) - 1;

    assert_int_equal(tree_wall(profile->tree, 0), 100 * samples + 100);
    assert_int_equal(smp_profile_total(profile, SMP_MEASURE_WALL), 100 * samples);
    assert_int_equal(smp_profile_total(profile, SMP_MEASURE_CPU), 10 * samples);
    assert_int_equal(smp_profile_total(profile, SMP_MEASURE_SAMPLES), samples);
    assert_int_equal(smp_profile_total(profile, SMP_MEASURE_CALLS), 9);
    assert_true(smp_profile_node_kind(profile, last) == SMP_GROUP_COUNTED);
    assert_true(smp_profile_node_kind(profile, last - 1) == SMP_GROUP_COUNTED);
    assert_false(smp_profile_node_kind(profile, last - 2) == SMP_GROUP_COUNTED);
    smp_profile_release(profile);
}

static void a_profile_with_calls_only_is_not_empty(void **state)
{
    struct fixture *fixture = *state;
    struct smp_profile *profile = NULL;

    for (int64_t calls = 0; calls <= 1; calls++) {
        const struct smp_group_key key = { .name = "a", .kind = SMP_GROUP_COUNTED };
        struct smp_tree *tree = NULL;
        struct smp_thread_groups *groups = NULL;
        uint32_t leaf = 0;

        assert_int_equal(smp_tree_create(NULL, SMP_ALL_MEASURES, PART_BYTES, &tree), SMP_OK);
        assert_int_equal(smp_thread_groups_create(NULL, PART_BYTES, &groups), SMP_OK);
        struct smp_group_info *const info =
            smp_thread_groups_info(groups, smp_thread_groups_find(groups, key));
        assert_int_equal(smp_tree_root(tree, 2, &info->root), SMP_OK);
        assert_int_equal(smp_tree_add(tree, info->root, &fixture->location, 1, &leaf), SMP_OK);
        smp_tree_credit(tree, leaf, SMP_MEASURE_CALLS, calls);
        assert_int_equal(smp_profile_create(NULL, tree, groups, fixture->methods, &profile),
                         SMP_OK);
        assert_int_equal(smp_profile_is_empty(profile), calls == 0);
        profile->signal_taker[0] = 'x'; /* the account shows it, although nothing was polled */
        assert_false(smp_profile_is_empty(profile));
        smp_profile_release(profile);
    }
}

static void *hold_read_release(void *argument)
{
    struct smp_profile *profile = argument;
    int64_t sum = 0;

    for (size_t turn = 0; turn < TURNS; turn++) {
        struct smp_profile *mine = smp_profile_hold(profile);
        sum += tree_wall(mine->tree, 0);
        sum += (int64_t)mine->tally.polls;
        smp_profile_release(mine);
    }
    smp_profile_release(profile); /* the reference that this thread received at its start */
    return (void *)(intptr_t)sum;
}

static void many_threads_may_retain_and_read_a_profile(void **state)
{
    struct fixture *fixture = *state;
    struct smp_profile *profile = take(fixture);
    const int64_t samples = GROUPS * (GROUPS + 1) / 2;
    pthread_t readers[READERS];

    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(
            pthread_create(&readers[i], NULL, hold_read_release, smp_profile_hold(profile)), 0);
    /* The last release destroys the profile. */
    smp_profile_release(profile);
    for (size_t i = 0; i < READERS; i++) {
        void *sum = NULL;
        assert_int_equal(pthread_join(readers[i], &sum), 0);
        assert_int_equal((intptr_t)sum, TURNS * (100 * samples + samples + GROUPS));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_profile_is_the_finished_interval_with_the_sum_of_its_groups),
        TEST(a_profile_keeps_its_names_alive),
        TEST(a_profile_knows_which_names_are_its_own),
        TEST(a_profile_lives_until_its_last_release),
        TEST(a_refused_create_adopts_nothing),
        TEST(the_total_counts_no_time_twice),
        TEST(a_profile_with_calls_only_is_not_empty),
        TEST(many_threads_may_retain_and_read_a_profile),
    };
#undef TEST
    return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
