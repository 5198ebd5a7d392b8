/* SPDX-License-Identifier: Apache-2.0 */
/* Time always finds a node, however full the interval is; and the contents of its profile. */
#include "engine/attribution/interval.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "support/failing_alloc.h"
#include "support/interval_fixture.h"
#include "support/tree_amounts.h"

#define MS INT64_C(1000000)

static void finish(struct interval_fixture *f, int64_t now_ns, int64_t wall_ms)
{
    assert_int_equal(smp_interval_finish(f->interval, now_ns, wall_ms, &f->profile), SMP_OK);
}

/* Adds at most this many nodes, until not even one more fits. Returns their number. */
static uint32_t fill(struct smp_interval *interval, struct smp_group_tree key, uint32_t most)
{
    uint32_t count = 0;

    for (bool fits = true; fits && count < most;) {
        const uint32_t location = 1000 + count;
        uint32_t node;
        fits = smp_interval_add(interval, key, &location, 1, &node);
        count += fits;
    }
    assert_true(count > 1000);
    return count;
}

static void a_full_tree_has_an_overflow_node_for_every_group(void **state)
{
    struct interval_fixture *f = *state;
    const struct smp_group_tree early =
        smp_interval_find(f->interval, (struct smp_group_key){ .name = "early" }, 1, "early-1");
    enum smp_outcome outcome = SMP_OUTCOME_JVM_NOT_LIVE;
    uint32_t node;

    fill(f->interval, early, UINT32_MAX);
    node = smp_interval_add_pseudo(f->interval, early, &outcome);
    assert_int_equal(outcome, SMP_OUTCOME_OVER_MEMORY_LIMIT);
    smp_interval_note(f->interval, early, node, outcome, SMP_STATE_RUNNING, 50 * MS,
                      (struct smp_span){ .from_ns = 0, .till_ns = 50 * MS });
    /* A new group becomes the overflow group. */
    const struct smp_group_tree late =
        smp_interval_find(f->interval, (struct smp_group_key){ .name = "late" }, 2, "late-1");
    assert_int_equal(late.group.index, 0);
    outcome = SMP_OUTCOME_THREAD_ENDED_IN_WALK;
    const uint32_t last = smp_interval_add_pseudo(f->interval, late, &outcome);
    smp_interval_note(f->interval, late, last, outcome, SMP_STATE_RUNNING, 20 * MS,
                      (struct smp_span){ .from_ns = 0, .till_ns = 20 * MS });
    assert_int_equal(outcome, SMP_OUTCOME_OVER_MEMORY_LIMIT);
    finish(f, 0, 0);
    const struct smp_node *nodes = smp_tree_nodes(f->profile->tree);
    assert_int_equal(nodes[node].location, smp_methods_over_limit(f->methods));
    assert_int_equal(tree_wall(f->profile->tree, node), 50 * MS);
    assert_int_equal(tree_wall(f->profile->tree, early.root), 50 * MS);
    assert_int_equal(tree_wall(f->profile->tree, late.root), 20 * MS);
    assert_int_equal(f->profile->tally.outcomes[SMP_OUTCOME_OVER_MEMORY_LIMIT], 2);
}

static void each_outcome_has_one_pseudo_frame(void **state)
{
    struct interval_fixture *f = *state;
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

static void the_times_of_an_interval_cover_the_sampled_time(void **state)
{
    struct interval_fixture *f = *state;

    smp_interval_begin(f->interval, 30 * MS, 5000);
    smp_interval_begin(f->interval, 180 * MS, 9000); /* after a pause */
    smp_interval_cover(f->interval, 100 * MS, 70 * MS);
    smp_interval_cover(f->interval, 200 * MS, 20 * MS);
    finish(f, 1200 * MS, 10000);
    assert_int_equal(f->profile->from_wall_ms, 5000);
    assert_int_equal(f->profile->till_wall_ms, 9000);
    assert_int_equal(f->profile->elapsed_ns, 90 * MS);
}

/* Ten seconds after the begin of the interval, when the wall clock showed 50 s, it shows
 * shown_ms. */
static void assert_begin(int64_t shown_ms, int64_t from_wall_ms)
{
    void *state = NULL;

    assert_int_equal(interval_fixture_setup(&state), 0);
    struct interval_fixture *f = state;
    smp_interval_begin(f->interval, 1000 * MS, 50000);
    smp_interval_cover(f->interval, 11000 * MS, 7000 * MS); /* there was a pause in between */
    finish(f, 11000 * MS, shown_ms);
    assert_int_equal(f->profile->till_wall_ms, shown_ms);
    assert_int_equal(f->profile->from_wall_ms, from_wall_ms);
    assert_int_equal(interval_fixture_teardown(&state), 0);
}

static void a_wall_clock_set_back_moves_the_begin(void **state)
{
    (void)state;
    assert_begin(60000, 50000);
    assert_begin(59000, 50000); /* the two clocks were not read at the same moment */
    assert_begin(58999, 48999);
    assert_begin(51000, 41000); /* still later than the old begin */
    assert_begin(20000, 10000);
    assert_begin(3660000, 50000); /* the wall clock was set forward */
}

/* If no time has passed, even a small difference of the clocks counts. */
static void an_empty_interval_does_not_end_before_its_begin(void **state)
{
    struct interval_fixture *f = *state;

    smp_interval_begin(f->interval, 1000 * MS, 50000);
    finish(f, 1000 * MS, 49999);
    assert_int_equal(f->profile->till_wall_ms, 49999);
    assert_int_equal(f->profile->from_wall_ms, 49999);
}

static void a_refused_finish_leaves_the_interval_open(void **state)
{
    struct interval_fixture *f = *state;
    struct failing_alloc failing;
    const struct smp_group_tree key =
        smp_interval_find(f->interval, (struct smp_group_key){ .name = "main" }, 1, "main");
    enum smp_outcome outcome = SMP_OUTCOME_NO_JAVA_FRAMES;
    const uint32_t node = smp_interval_add_pseudo(f->interval, key, &outcome);

    smp_interval_note(f->interval, key, node, outcome, SMP_STATE_RUNNING, 50 * MS,
                      (struct smp_span){ .from_ns = 0, .till_ns = 50 * MS });
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    assert_int_equal(smp_interval_finish(f->interval, 0, 0, &f->profile), SMP_ENOMEM);
    failing_alloc_disarm(&failing);
    assert_null(f->profile);
    smp_interval_note(f->interval, key, node, outcome, SMP_STATE_RUNNING, 50 * MS,
                      (struct smp_span){ .from_ns = 0, .till_ns = 50 * MS });
    finish(f, 0, 0);
    assert_int_equal(tree_wall(f->profile->tree, node), 100 * MS);
}

static enum smp_status create_and_destroy(void *self)
{
    struct interval_fixture *f = self;
    struct smp_interval *interval = NULL;
    const enum smp_status status =
        smp_interval_create(&f->quota, f->methods, SMP_SAMPLED_MEASURES, &interval);

    smp_interval_destroy(interval);
    return status;
}

static void a_refused_create_leaks_nothing(void **state)
{
    assert_true(failing_alloc_each_step(create_and_destroy, *state).refused >= 5);
}

/* There is memory for the root of a new group but not for its [over memory limit]. */
static void a_group_without_its_overflow_node_is_not_used(void **state)
{
    struct interval_fixture *f = *state;
    const struct smp_group_key early = { .name = "early" };
    const uint32_t room =
        fill(f->interval, smp_interval_find(f->interval, early, 1, "early-1"), UINT32_MAX);
    struct smp_interval *interval = NULL;
    size_t before;

    assert_int_equal(smp_interval_create(&f->quota, f->methods, SMP_SAMPLED_MEASURES, &interval),
                     SMP_OK);
    fill(interval, smp_interval_find(interval, early, 1, "early-1"), room - 1);
    before = smp_tree_node_count(interval->tree);
    for (int i = 0; i < 3; i++) {
        const struct smp_group_tree late =
            smp_interval_find(interval, (struct smp_group_key){ .name = "late" }, 2, "late-1");
        assert_int_equal(late.group.index, 0);
        assert_int_not_equal(late.root, 0);
    }
    assert_int_equal(smp_tree_node_count(interval->tree), before + 1);
    smp_interval_destroy(interval);
}

static void the_greatest_depth_is_kept(void **state)
{
    struct interval_fixture *f = *state;
    const struct smp_group_tree key =
        smp_interval_find(f->interval, (struct smp_group_key){ .name = "main" }, 1, "main");

    smp_interval_saw_depth(f->interval, key, 40);
    smp_interval_saw_depth(f->interval, key, 7);
    finish(f, 0, 0);
    assert_int_equal(smp_thread_groups_info(f->profile->groups, key.group)->max_depth, 40);
}

static void a_profile_has_the_memory_limits(void **state)
{
    struct interval_fixture *f = *state;

    assert_true(smp_tree_bytes(f->interval->tree) > 0);
    assert_true(smp_tree_bytes(f->interval->tree) < smp_quota_used(&f->quota));
    finish(f, 0, 0);
    assert_int_equal(f->profile->memory_limit_bytes, INTERVAL_FIXTURE_LIMIT);
    assert_int_equal(f->profile->memory_used_bytes, smp_quota_used(&f->quota));
}

/* CPU time of a group without a node with CPU time goes to its root or to its last target. */
static void unseen_cpu_time_goes_to_the_last_target(void **state)
{
    struct interval_fixture *f = *state;
    const struct smp_group_tree noted =
        smp_interval_find(f->interval, (struct smp_group_key){ .name = "noted" }, 1, "noted");
    const struct smp_group_tree empty =
        smp_interval_find(f->interval, (struct smp_group_key){ .name = "empty" }, 2, "empty");
    enum smp_outcome outcome = SMP_OUTCOME_JVM_NOT_LIVE;
    const uint32_t node = smp_interval_add_pseudo(f->interval, noted, &outcome);

    smp_interval_note(f->interval, noted, node, outcome, SMP_STATE_RUNNING, MS,
                      (struct smp_span){ .from_ns = 0, .till_ns = MS });
    smp_interval_ran_unseen(f->interval, noted, 3 * MS);
    smp_interval_ran_unseen(f->interval, empty, 5 * MS);
    finish(f, 0, 0);
    assert_int_equal(smp_tree_self(f->profile->tree, node, SMP_MEASURE_CPU), 3 * MS);
    assert_int_equal(smp_tree_self(f->profile->tree, empty.root, SMP_MEASURE_CPU), 5 * MS);
}

static void used_locations_are_marked(void **state)
{
    struct interval_fixture *f = *state;
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
    assert_false(used[0]);
}

/* The table may contain names that are newer than the caller's count. */
static void locations_beyond_the_count_are_not_marked(void **state)
{
    struct interval_fixture *f = *state;
    const struct smp_group_tree key =
        smp_interval_find(f->interval, (struct smp_group_key){ .name = "main" }, 1, "main");
    const uint32_t location = smp_methods_pseudo(f->methods, "[a]");
    bool used[100] = { false };
    uint32_t node;

    assert_true(smp_interval_add(f->interval, key, &location, 1, &node));
    smp_interval_mark_used(f->interval, used, location);
    assert_false(used[location]);
    smp_interval_mark_used(f->interval, used, location + 1);
    assert_true(used[location]);
    assert_false(used[location + 1]);
}

/* Until the interval is finished, polls continue to credit the leaf of a counted call. */
static void a_refused_finish_leaves_call_leaves_unchanged(void **state)
{
    struct interval_fixture *f = *state;
    const struct smp_group_tree main_tree =
        smp_interval_find(f->interval, (struct smp_group_key){ .name = "main" }, 1, "main");
    const uint32_t location = smp_methods_pseudo(f->methods, "[a frame]");
    struct failing_alloc refuse;
    uint32_t node = 0;

    assert_true(smp_interval_add(f->interval, main_tree, &location, 1, &node));
    const uint32_t leaf = smp_interval_add_call(f->interval, node, node);
    assert_int_not_equal(leaf, node);
    for (int i = 0; i < 2; i++) {
        smp_interval_note(f->interval, main_tree, leaf, SMP_OUTCOME_WALKED, SMP_STATE_RUNNING,
                          10 * MS, (struct smp_span){ .from_ns = 0, .till_ns = 10 * MS });
        failing_alloc_arm(&refuse, 1, SIZE_MAX);
        assert_int_not_equal(smp_interval_finish(f->interval, 0, 0, &f->profile), SMP_OK);
        failing_alloc_disarm(&refuse);
    }
    finish(f, 0, 0);
    assert_int_equal(smp_tree_self(f->profile->tree, node, SMP_MEASURE_WALL), 20 * MS);
    assert_int_equal(smp_tree_self(f->profile->tree, node, SMP_MEASURE_SAMPLES), 2);
    assert_true(smp_tree_is_unused(f->profile->tree, leaf));
    assert_int_equal(smp_tree_nodes(f->profile->tree)[leaf].location, location);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, interval_fixture_setup, interval_fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_full_tree_has_an_overflow_node_for_every_group),
        TEST(each_outcome_has_one_pseudo_frame),
        TEST(the_times_of_an_interval_cover_the_sampled_time),
        cmocka_unit_test(a_wall_clock_set_back_moves_the_begin),
        TEST(an_empty_interval_does_not_end_before_its_begin),
        TEST(a_refused_finish_leaves_the_interval_open),
        TEST(a_refused_finish_leaves_call_leaves_unchanged),
        TEST(a_refused_create_leaks_nothing),
        TEST(a_group_without_its_overflow_node_is_not_used),
        TEST(the_greatest_depth_is_kept),
        TEST(a_profile_has_the_memory_limits),
        TEST(unseen_cpu_time_goes_to_the_last_target),
        TEST(used_locations_are_marked),
        TEST(locations_beyond_the_count_are_not_marked),
    };
#undef TEST
    return cmocka_run_group_tests_name("interval", tests, NULL, NULL);
}
