/* SPDX-License-Identifier: Apache-2.0 */
/* The node to which the time of a stack is credited: for stacks that repeat, that are not copied,
 * or that do not fit. */
#include "engine/attribution/attribution.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "support/fake_jvm.h"

enum { LIMIT = 4 << 20, PATH = 16, OMITTED = 7 };

struct fixture {
    struct smp_quota quota;
    struct fake_jvm *vm;
    struct smp_jvm jvm;
    uint32_t locations[PATH];
    struct smp_frame frames[2]; /* leaf first */
    struct smp_sample sample;
    struct smp_attribution attribution;
    struct smp_thread_record record;
};

static int setup(void **state)
{
    static struct fixture f;
    static char raw_name[] = "main-1";
    static char group_name[] = "main-";

    f = (struct fixture){ .vm = fake_jvm_create() };
    f.jvm = fake_jvm_interface(f.vm);
    smp_quota_init(&f.quota, LIMIT);
    f.attribution = (struct smp_attribution){ .names = &f.jvm.names,
                                              .path.locations = f.locations,
                                              .budget = { .quota = &f.quota, .max_bytes = LIMIT },
                                              .tree_epoch = 1,
                                              .stack_epoch = 1 };
    assert_int_equal(smp_methods_create(&f.quota, LIMIT / 4, NULL, &f.attribution.methods), SMP_OK);
    assert_int_equal(smp_interval_create(&f.quota, f.attribution.methods,
                                         SMP_SAMPLED_MEASURES | SMP_WITH_ERRORS,
                                         &f.attribution.interval),
                     SMP_OK);
    f.record = (struct smp_thread_record){ .thread = &fake_jvm_start(f.vm, raw_name)->thread,
                                           .raw_name = raw_name,
                                           .group_name = group_name };
    f.frames[0].method = fake_jvm_method(f.vm, "app.Work", "loop");
    f.frames[1].method = fake_jvm_method(f.vm, "app.Main", "main");
    f.sample =
        (struct smp_sample){ .frames = f.frames, .capacity = 2, .count = 2, .leaf_count = 2 };
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    smp_last_stack_fini(&f->record.last, &f->attribution.budget);
    smp_interval_destroy(f->attribution.interval);
    smp_methods_release(f->attribution.methods);
    assert_int_equal(smp_quota_used(&f->quota), 0);
    fake_jvm_destroy(f->vm);
    return 0;
}

static struct smp_tree_target found_as(struct fixture *f, enum smp_outcome outcome)
{
    const struct smp_found found = { .outcome = outcome, .sample = &f->sample };

    return smp_attribution_found(&f->attribution, &f->record, &found);
}

/* Returns whether a stack was looked up frame by frame since the last call. */
static bool was_looked_up(struct fixture *f)
{
    const bool was = f->attribution.path.count != 0;

    f->attribution.path.count = 0;
    return was;
}

/* Fills the tree until not even one more node fits. */
static void fill_tree(struct fixture *f)
{
    const struct smp_group_tree tree = smp_attribution_tree(&f->attribution, &f->record);
    uint32_t location = 1000;
    uint32_t node;

    while (smp_interval_add(f->attribution.interval, tree, &location, 1, &node))
        location++;
}

static uint64_t omitted_frames(const struct fixture *f)
{
    return f->attribution.interval->counters[SMP_COUNTER_FRAMES_OMITTED];
}

static void an_equal_stack_is_not_looked_up_again(void **state)
{
    struct fixture *f = *state;
    const struct smp_tree_target first = found_as(f, SMP_OUTCOME_WALKED);
    struct smp_tree_target again;

    assert_true(was_looked_up(f));
    again = found_as(f, SMP_OUTCOME_RECOVERED_BY_RETRY);
    assert_false(was_looked_up(f));
    assert_int_equal(again.node, first.node);
    assert_int_equal(again.tree.root, first.tree.root);
    assert_int_equal(again.outcome, SMP_OUTCOME_RECOVERED_BY_RETRY);
    f->frames[0].bci = 1;
    assert_int_not_equal(found_as(f, SMP_OUTCOME_WALKED).node, first.node);
    assert_true(was_looked_up(f));
}

static void a_stack_that_did_not_fit_stays_over_the_limit(void **state)
{
    struct fixture *f = *state;
    struct smp_tree_target first;
    struct smp_tree_target again;
    struct smp_tree_target idle;

    fill_tree(f);
    first = found_as(f, SMP_OUTCOME_WALKED);
    assert_int_equal(first.outcome, SMP_OUTCOME_OVER_MEMORY_LIMIT);
    assert_true(f->attribution.ran_out);
    (void)was_looked_up(f);
    again = found_as(f, SMP_OUTCOME_WALKED);
    assert_false(was_looked_up(f));
    assert_int_equal(again.node, first.node);
    assert_int_equal(again.outcome, SMP_OUTCOME_OVER_MEMORY_LIMIT);
    assert_true(smp_attribution_idle(&f->attribution, &f->record, &idle));
    assert_int_equal(idle.outcome, SMP_OUTCOME_OVER_MEMORY_LIMIT);
}

static void omitted_frames_are_counted_once_the_stack_is_in_the_tree(void **state)
{
    struct fixture *f = *state;
    struct smp_tree_target target;

    f->sample.leaf_count = 1;
    f->sample.omitted = OMITTED;
    target = found_as(f, SMP_OUTCOME_DEEP_STACK_CUT);
    smp_attribution_note(&f->attribution, &target, 0, smp_span_before(0, 0));
    assert_int_equal(omitted_frames(f), OMITTED);
    target = found_as(f, SMP_OUTCOME_DEEP_STACK_CUT); /* the same stack again */
    smp_attribution_note(&f->attribution, &target, 0, smp_span_before(0, 0));
    assert_int_equal(omitted_frames(f), 2 * OMITTED);
    target.outcome = SMP_OUTCOME_OVER_MEMORY_LIMIT;
    smp_attribution_note(&f->attribution, &target, 0, smp_span_before(0, 0));
    assert_int_equal(omitted_frames(f), 2 * OMITTED);
}

static void without_a_copy_a_node_is_reused_within_the_interval(void **state)
{
    struct fixture *f = *state;
    struct smp_tree_target first;
    struct smp_tree_target idle;

    f->attribution.budget.max_bytes = 0;
    first = found_as(f, SMP_OUTCOME_WALKED);
    assert_true(smp_attribution_idle(&f->attribution, &f->record, &idle));
    assert_int_equal(idle.node, first.node);
    assert_int_equal(idle.outcome, SMP_OUTCOME_IDLE);
    f->attribution.tree_epoch++;
    assert_false(smp_attribution_idle(&f->attribution, &f->record, &idle));
}

static void a_thread_that_was_never_walked_has_no_last_stack(void **state)
{
    struct fixture *f = *state;
    struct smp_tree_target idle;

    assert_false(smp_attribution_idle(&f->attribution, &f->record, &idle));
}

static void an_idle_thread_without_frames_is_credited_in_each_interval(void **state)
{
    struct fixture *f = *state;
    struct smp_tree_target first;
    struct smp_tree_target idle;

    f->sample.count = f->sample.leaf_count = 0;
    first = found_as(f, SMP_OUTCOME_NO_JAVA_FRAMES);
    f->attribution.tree_epoch++;
    assert_true(smp_attribution_idle(&f->attribution, &f->record, &idle));
    assert_int_equal(idle.node, first.node); /* the same tree, because no new interval began */
    assert_int_equal(idle.outcome, SMP_OUTCOME_IDLE);
}

/* The carrier's own group does not appear because of the virtual thread, and its last stack is
 * kept. */
static void the_stack_of_a_virtual_thread_is_not_its_carriers(void **state)
{
    struct fixture *f = *state;
    const struct smp_found found = { .outcome = SMP_OUTCOME_WALKED,
                                     .sample = &f->sample,
                                     .mounted = { .name = "virtual" } };
    const struct smp_tree_target target =
        smp_attribution_found(&f->attribution, &f->record, &found);
    struct smp_tree_target idle;

    assert_int_equal(f->record.tree_epoch, 0);
    assert_false(smp_attribution_idle(&f->attribution, &f->record, &idle));
    assert_int_not_equal(target.tree.root, idle.tree.root);
}

/* --- errors --- */

enum { POLL_MS = 20, SQUARE = POLL_MS * POLL_MS };

static struct smp_tree_target in_method(struct fixture *f, struct smp_thread_record *record,
                                        const char *method)
{
    const struct smp_found found = { .outcome = SMP_OUTCOME_WALKED, .sample = &f->sample };

    f->frames[0].method = fake_jvm_method(f->vm, "app.Work", method);
    return smp_attribution_found(&f->attribution, record, &found);
}

static void poll_finds(struct fixture *f, struct smp_thread_record *record, const char *method,
                       bool is_running, uint32_t tick)
{
    const struct smp_tree_target target = in_method(f, record, method);
    const struct smp_poll_weight weight = { .weight_ns = POLL_MS * 1000000, .tick = tick };

    smp_attribution_moved(&f->attribution, record, &target, is_running, &weight);
}

/* Ends the interval. Asserts the variances of the method's time and of the time found running. */
static void assert_variances(struct fixture *f, const char *method, int of_method, int of_running)
{
    const struct smp_tree_target target = in_method(f, &f->record, method);
    struct smp_profile *profile = NULL;

    assert_int_equal(smp_interval_finish(f->attribution.interval, 1, 1, &profile), SMP_OK);
    const struct smp_group_info *const group =
        smp_thread_groups_info(profile->groups, target.tree.group);
    assert_int_equal((int)smp_tree_variance(profile->tree, target.node), of_method);
    assert_int_equal((int)smp_error_sum_variance(&group->running), of_running);
    smp_profile_release(profile);
}

static void error_sums_see_one_thread_stop_as_another_starts(void **state)
{
    struct fixture *f = *state;
    struct smp_thread_record other = f->record;

    poll_finds(f, &f->record, "a", true, 1);
    poll_finds(f, &other, "a", false, 1);
    poll_finds(f, &f->record, "a", false, 2);
    poll_finds(f, &other, "a", true, 2); /* as many threads run as before */
    poll_finds(f, &other, "a", false, 3);
    smp_last_stack_fini(&other.last, &f->attribution.budget);
    assert_variances(f, "a", 0, SQUARE);
}

static void a_change_before_the_first_poll_of_an_interval_is_no_error(void **state)
{
    struct fixture *f = *state;

    poll_finds(f, &f->record, "a", true, 1);
    f->attribution.tree_epoch++;
    poll_finds(f, &f->record, "b", false, 2);
    poll_finds(f, &f->record, "a", false, 3);
    assert_variances(f, "b", SQUARE, 0);
}

static void a_thread_continues_with_its_stack_of_the_previous_interval(void **state)
{
    struct fixture *f = *state;

    poll_finds(f, &f->record, "a", true, 1);
    const struct smp_tree_target target = in_method(f, &f->record, "a");
    f->attribution.tree_epoch++;
    smp_attribution_resumed(&f->attribution, &f->record, &target);
    poll_finds(f, &f->record, "b", true, 2);
    assert_variances(f, "b", SQUARE, 0);
}

static void an_idle_thread_has_not_run_since_its_last_poll(void **state)
{
    struct fixture *f = *state;

    poll_finds(f, &f->record, "a", true, 1);
    const struct smp_tree_target target = in_method(f, &f->record, "a");
    smp_attribution_stayed(&f->attribution, &f->record, &target);
    poll_finds(f, &f->record, "a", false, 2);
    assert_variances(f, "a", 0, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_equal_stack_is_not_looked_up_again),
        TEST(a_stack_that_did_not_fit_stays_over_the_limit),
        TEST(omitted_frames_are_counted_once_the_stack_is_in_the_tree),
        TEST(without_a_copy_a_node_is_reused_within_the_interval),
        TEST(a_thread_that_was_never_walked_has_no_last_stack),
        TEST(an_idle_thread_without_frames_is_credited_in_each_interval),
        TEST(the_stack_of_a_virtual_thread_is_not_its_carriers),
        TEST(error_sums_see_one_thread_stop_as_another_starts),
        TEST(a_change_before_the_first_poll_of_an_interval_is_no_error),
        TEST(a_thread_continues_with_its_stack_of_the_previous_interval),
        TEST(an_idle_thread_has_not_run_since_its_last_poll),
    };
#undef TEST
    return cmocka_run_group_tests_name("attribution", tests, NULL, NULL);
}
