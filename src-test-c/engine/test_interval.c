/* SPDX-License-Identifier: Apache-2.0 */
/* There is always a node for time, however full the interval is; and what its profile says. */
#include "engine/attribution/interval.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "support/failing_alloc.h"
#include "support/tree_amounts.h"

#define MS INT64_C(1000000)

enum { LIMIT = 4 << 20 };

struct fixture {
    struct smp_quota quota;
    struct smp_methods *methods;
    struct smp_interval *interval;
    struct smp_profile *profile;
};

static int setup(void **state)
{
    static struct fixture f;

    f = (struct fixture){ .profile = NULL };
    smp_quota_init(&f.quota, LIMIT);
    assert_int_equal(smp_methods_create(&f.quota, LIMIT / 4, NULL, &f.methods), SMP_OK);
    assert_int_equal(smp_interval_create(&f.quota, f.methods, &f.interval), SMP_OK);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    smp_profile_release(f->profile);
    smp_interval_destroy(f->interval);
    smp_methods_release(f->methods);
    assert_int_equal(smp_quota_used(&f->quota), 0);
    return 0;
}

static void seal(struct fixture *f, int64_t now_ns, int64_t wall_ms)
{
    assert_int_equal(smp_interval_seal(f->interval, now_ns, wall_ms, &f->profile), SMP_OK);
}

/* Until not even one more node fits. */
static void fill(struct fixture *f, struct smp_group_tree key)
{
    uint32_t location = 1000;
    uint32_t node;

    while (smp_interval_add(f->interval, key, &location, 1, &node))
        location++;
    assert_true(location > 2000);
}

static void full_tree_has_a_place_for_every_group_it_has(void **state)
{
    struct fixture *f = *state;
    const struct smp_group_tree early =
        smp_interval_find(f->interval, (struct smp_group_key){ .name = "early" }, 1, "early-1");
    enum smp_outcome outcome = SMP_OUTCOME_JVM_NOT_LIVE;
    uint32_t node;

    fill(f, early);
    node = smp_interval_add_pseudo(f->interval, early, &outcome);
    assert_int_equal(outcome, SMP_OUTCOME_OVER_MEMORY_LIMIT);
    smp_interval_note(f->interval, early, node, outcome, 50 * MS);
    /* A new one is the overflow group. */
    const struct smp_group_tree late =
        smp_interval_find(f->interval, (struct smp_group_key){ .name = "late" }, 2, "late-1");
    assert_int_equal(late.group.index, 0);
    outcome = SMP_OUTCOME_THREAD_ENDED_IN_WALK;
    const uint32_t last = smp_interval_add_pseudo(f->interval, late, &outcome);
    smp_interval_note(f->interval, late, last, outcome, 20 * MS);
    assert_int_equal(outcome, SMP_OUTCOME_OVER_MEMORY_LIMIT);
    seal(f, 0, 0);
    const struct smp_node *nodes = smp_tree_nodes(f->profile->tree);
    assert_int_equal(nodes[node].location, smp_methods_over_limit(f->methods));
    assert_int_equal(tree_wall(f->profile->tree, node), 50 * MS);
    assert_int_equal(tree_wall(f->profile->tree, early.root), 50 * MS);
    assert_int_equal(tree_wall(f->profile->tree, late.root), 20 * MS);
    assert_int_equal(f->profile->tally.outcomes[SMP_OUTCOME_OVER_MEMORY_LIMIT], 2);
}

static void pseudo_frames_are_one_per_outcome(void **state)
{
    struct fixture *f = *state;
    const struct smp_group_tree key =
        smp_interval_find(f->interval, (struct smp_group_key){ .name = "main" }, 1, "main");
    enum smp_outcome gone = SMP_OUTCOME_THREAD_ENDED_IN_WALK;
    enum smp_outcome ended = SMP_OUTCOME_THREAD_ENDED;
    enum smp_outcome phase = SMP_OUTCOME_JVM_NOT_LIVE;

    /* Both are [thread ended]. */
    assert_int_equal(smp_interval_add_pseudo(f->interval, key, &gone),
                     smp_interval_add_pseudo(f->interval, key, &ended));
    assert_int_not_equal(smp_interval_add_pseudo(f->interval, key, &gone),
                         smp_interval_add_pseudo(f->interval, key, &phase));
    assert_int_equal(gone, SMP_OUTCOME_THREAD_ENDED_IN_WALK);
    assert_int_equal(ended, SMP_OUTCOME_THREAD_ENDED);
}

static void times_are_those_of_what_was_covered(void **state)
{
    struct fixture *f = *state;

    smp_interval_begin(f->interval, 5000);
    smp_interval_begin(f->interval, 9000); /* after a pause */
    smp_interval_cover(f->interval, 100 * MS, 70 * MS);
    smp_interval_cover(f->interval, 200 * MS, 20 * MS);
    seal(f, 1200 * MS, 10000);
    assert_int_equal(f->profile->from_wall_ms, 5000);
    assert_int_equal(f->profile->till_wall_ms, 9000);
    assert_int_equal(f->profile->elapsed_ns, 90 * MS);
}

static void refused_seal_leaves_the_interval_open(void **state)
{
    struct fixture *f = *state;
    struct failing_alloc failing;
    const struct smp_group_tree key =
        smp_interval_find(f->interval, (struct smp_group_key){ .name = "main" }, 1, "main");
    enum smp_outcome outcome = SMP_OUTCOME_NO_JAVA_FRAMES;
    const uint32_t node = smp_interval_add_pseudo(f->interval, key, &outcome);

    smp_interval_note(f->interval, key, node, outcome, 50 * MS);
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    assert_int_equal(smp_interval_seal(f->interval, 0, 0, &f->profile), SMP_ENOMEM);
    failing_alloc_disarm(&failing);
    assert_null(f->profile);
    smp_interval_note(f->interval, key, node, outcome, 50 * MS);
    seal(f, 0, 0);
    assert_int_equal(tree_wall(f->profile->tree, node), 100 * MS);
}

static enum smp_status create_and_destroy(void *self)
{
    struct fixture *f = self;
    struct smp_interval *interval = NULL;
    const enum smp_status status = smp_interval_create(&f->quota, f->methods, &interval);

    smp_interval_destroy(interval);
    return status;
}

static void create_leaves_nothing_behind(void **state)
{
    assert_true(failing_alloc_each_step(create_and_destroy, *state).refused >= 5);
}

static void used_locations_are_marked(void **state)
{
    struct fixture *f = *state;
    const struct smp_group_tree key =
        smp_interval_find(f->interval, (struct smp_group_key){ .name = "main" }, 1, "main");
    const uint32_t locations[] = { smp_methods_pseudo(f->methods, "[a]"),
                                   smp_methods_pseudo(f->methods, "[b]") };
    const uint32_t unused = smp_methods_pseudo(f->methods, "[c]");
    bool used[100] = { false };
    uint32_t node;

    assert_true(smp_interval_add(f->interval, key, locations, 2, &node));
    smp_interval_mark_used(f->interval, used, smp_methods_location_count(f->methods));
    assert_true(used[locations[0]]);
    assert_true(used[locations[1]]);
    assert_false(used[unused]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(full_tree_has_a_place_for_every_group_it_has),
        TEST(pseudo_frames_are_one_per_outcome),
        TEST(times_are_those_of_what_was_covered),
        TEST(refused_seal_leaves_the_interval_open),
        TEST(create_leaves_nothing_behind),
        TEST(used_locations_are_marked),
    };
#undef TEST
    return cmocka_run_group_tests_name("interval", tests, NULL, NULL);
}
