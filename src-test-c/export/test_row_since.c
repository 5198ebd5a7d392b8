/* SPDX-License-Identifier: Apache-2.0 */
/* Rows whose probes came within the interval, in the text, JSON and merged. */
#include "export/row_since.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "export/exporters.h"
#include "model/profile_merge.h"
#include "support/failing_alloc.h"
#include "support/memory_output.h"
#include "support/report_fixture.h"

#define HANDLE "a.A.handle(A.java)"
#define FIND "|a.B.find(B.java)"
#define TAX "|a.C.tax(C.java)"

enum { FROM = 1000, PROBED = 1500 };

/* handle is counted for the whole interval. find got its probe when 330 of handle's 990 calls had
 * been made; it calls tax. */
static struct smp_profile *make_late(struct report_fixture *fixture)
{
    report_fixture_since(fixture, HANDLE, FROM);
    report_fixture_since(fixture, "a.B.find(B.java)", PROBED);
    report_fixture_since(fixture, "a.C.tax(C.java)", PROBED - 1);
    (void)report_fixture_count(fixture, "g", HANDLE, 990, 0, 0);
    const uint32_t find = report_fixture_count(fixture, "g", HANDLE FIND, 1320, 0, 0);
    (void)report_fixture_count(fixture, "g", HANDLE FIND TAX, 1319, 0, 0);
    (void)report_fixture_count(fixture, "g", HANDLE TAX, 5, 0, 0);
    report_fixture_late(fixture, find, 330);
    return report_fixture_finish(fixture);
}

static struct smp_since since_of(const struct smp_profile *profile, const char *method,
                                 uint32_t depth)
{
    struct smp_row_since since;
    struct smp_since found = { 0 };

    assert_int_equal(smp_row_since_init(&since, NULL, profile), SMP_OK);
    for (uint32_t node = 1; node < smp_tree_node_count(profile->tree); node++) {
        const struct smp_node *const nodes = smp_tree_nodes(profile->tree);
        struct smp_location_view view;
        uint32_t above = 0;
        for (uint32_t at = node; !smp_node_is_group(&nodes[at]); at = nodes[at].parent)
            above++;
        if (above != depth)
            continue;
        smp_methods_view(profile->methods, nodes[node].location, &view);
        if (view.method_name != NULL && strcmp(view.method_name, method) == 0)
            found = smp_row_since_get(&since, node);
    }
    smp_row_since_fini(&since);
    return found;
}

static void assert_since(const struct smp_profile *profile, const char *method, uint32_t depth,
                         int64_t wall_ms, int64_t missing)
{
    const struct smp_since since = since_of(profile, method, depth);

    assert_int_equal(since.wall_ms, wall_ms);
    assert_int_equal(since.missing, missing);
}

static void a_row_has_the_latest_probe_time_of_its_path(void **state)
{
    const struct smp_profile *const profile = make_late(*state);

    assert_since(profile, "handle", 1, 0, 0);
    assert_since(profile, "find", 2, PROBED, 660);
    /* 1319 of 1320 calls, rounded up to one for each of the 660 calls of find that are missing. */
    assert_since(profile, "tax", 3, PROBED, 660);
    /* The number of handle's calls at that time is unknown. */
    assert_since(profile, "tax", 2, PROBED - 1, -1);
}

static void the_text_says_since_when_and_how_many_are_missing(void **state)
{
    char line[128];
    char at[SMP_SINCE_BYTES];

    make_late(*state);
    smp_since_time(PROBED, at);
    const char *const text = report_fixture_print(*state, (struct smp_export_style){ 0 });
    (void)snprintf(line, sizeof(line),
                   ", Calls: 1320, counted since %s, at most 660 calls missing\n", at);
    assert_non_null(strstr(text, line));
    (void)snprintf(line, sizeof(line), ", Calls: 5, counted since %s\n", at);
    assert_non_null(strstr(text, line));
    assert_non_null(strstr(text, ", Calls: 990\n"));
}

static void json_marks_late_rows_only(void **state)
{
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);

    assert_int_equal(
        smp_export(make_late(*state), SMP_FORMAT_JSON, &(struct smp_export_style){ 0 }, NULL, &to),
        SMP_OK);
    assert_non_null(strstr(memory_output_text(&output),
                           ",\n\"countedSince\":[[1,1500,660],[2,1500,660],[3,1499,-1]]}"));
    assert_null(strstr(memory_output_text(&output), "countedFromMillis"));
    memory_output_fini(&output);
}

/* Methods counted since the start of counting are not late. */
static void late_means_later_than_the_start_of_counting(void **state)
{
    struct smp_profile *const profile = make_late(*state);
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);

    profile->counts.begin_ms = PROBED;
    profile->counts.account = NULL;
    assert_since(profile, "find", 2, 0, 0);
    assert_since(profile, "tax", 3, 0, 0);
    assert_int_equal(smp_counting_account_create(NULL, &profile->counts.account), SMP_OK);
    assert_int_equal(
        smp_export(profile, SMP_FORMAT_JSON, &(struct smp_export_style){ 0 }, NULL, &to), SMP_OK);
    assert_non_null(strstr(memory_output_text(&output), "\"countedFromMillis\":1500"));
    memory_output_fini(&output);
}

/* A later, completely counted interval does not change the time. */
static void a_merged_row_is_late_if_a_part_is(void **state)
{
    struct smp_profile *const first = make_late(*state);
    struct report_fixture *const second = report_fixture_create();
    struct smp_profile *merged = NULL;

    report_fixture_begin_counting(second);
    struct smp_profile *const other = make_late(second);
    other->from_wall_ms = 2000;
    other->till_wall_ms = 3000;
    smp_caller_calls_destroy(other->counts.caller_calls);
    other->counts.caller_calls = NULL;
    assert_since(other, "find", 2, 0, 0);
    assert_int_equal(smp_profile_merge(NULL, first, other, &merged), SMP_OK);
    /* 2640 calls in 1650: two each. */
    assert_since(merged, "find", 2, PROBED, 660);
    smp_profile_release(merged);
    report_fixture_destroy(second);
}

static struct smp_profile *make_handled(struct report_fixture *fixture, int64_t calls)
{
    report_fixture_since(fixture, HANDLE, FROM);
    (void)report_fixture_count(fixture, "g", HANDLE, calls, 0, 0);
    return report_fixture_finish(fixture);
}

/* handle has 1000 calls in this interval; find gets its probe after this many of them. */
static struct smp_profile *make_found(struct report_fixture *fixture, int64_t before)
{
    report_fixture_since(fixture, "a.B.find(B.java)", PROBED);
    const uint32_t find = report_fixture_count(fixture, "g", HANDLE FIND, 1000 - before, 0, 0);
    report_fixture_late(fixture, find, before);
    return make_handled(fixture, 1000);
}

/* Calls that the caller made in earlier intervals are missing, too, even if the probe was added
 * before its first call in this interval. */
static void calls_of_earlier_intervals_count_as_missing(void **state)
{
    static const int64_t before[] = { 330, 0 };

    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
        struct report_fixture *parts[3] = { NULL };
        const struct smp_profile *profiles[3] = { NULL };
        struct smp_profile *merged = NULL;
        struct smp_profile *grown = NULL;
        for (size_t at = 0; at < 3; at++) {
            report_fixture_setup_counting((void **)&parts[at]);
            profiles[at] =
                at == 1 ? make_found(parts[at], before[i]) : make_handled(parts[at], 1000);
        }
        assert_int_equal(
            smp_profile_merge_within(NULL, profiles, 2, (struct smp_merge_limits){ 0 }, &merged),
            SMP_OK);
        assert_since(merged, "find", 2, PROBED, 1000 + before[i]);
        const struct smp_profile *const next[] = { merged, profiles[2] };
        assert_int_equal(
            smp_profile_merge_within(NULL, next, 2, (struct smp_merge_limits){ 0 }, &grown),
            SMP_OK);
        assert_int_equal(smp_caller_calls_at(grown->counts.caller_calls, 0)->calls,
                         1000 + before[i]);
        smp_profile_release(grown);
        smp_profile_release(merged);
        for (size_t at = 0; at < 3; at++)
            report_fixture_destroy(parts[at]);
    }
    (void)state;
}

struct merge_parts {
    const struct smp_profile *profiles[2];
};

static enum smp_status merge_once(void *self)
{
    const struct merge_parts *const parts = self;
    struct smp_profile *merged = NULL;
    const enum smp_status status =
        smp_profile_merge_within(NULL, parts->profiles, 2, (struct smp_merge_limits){ 0 }, &merged);

    if (status == SMP_OK)
        assert_int_equal(smp_caller_calls_at(merged->counts.caller_calls, 0)->calls, 1330);
    smp_profile_release(merged);
    return status;
}

static void a_merge_without_memory_for_late_rows_fails(void **state)
{
    struct report_fixture *other = NULL;

    report_fixture_setup_counting((void **)&other);
    struct merge_parts parts = { .profiles = { make_handled(other, 1000),
                                               make_found(*state, 330) } };
    const struct failing_alloc_steps steps = failing_alloc_each_step(merge_once, &parts);
    assert_true(steps.refused > 5);
    assert_int_equal(steps.survived, 0);
    report_fixture_destroy(other);
}

static void sampled_rows_are_never_late(void **state)
{
    report_fixture_since(*state, "a.B.find(B.java)", PROBED);
    (void)report_fixture_count(*state, "g", HANDLE, 1, 0, 0);
    (void)report_fixture_add(*state, "g", 0, "a.B.find(B.java)", MS);
    assert_since(report_fixture_finish(*state), "find", 1, 0, -1);
}

static enum smp_status init_and_fini(void *self)
{
    struct smp_row_since since;
    const enum smp_status status = smp_row_since_init(&since, NULL, self);

    if (status == SMP_OK)
        smp_row_since_fini(&since);
    return status;
}

static void each_allocation_may_be_refused(void **state)
{
    assert_int_equal(failing_alloc_each_step(init_and_fini, make_late(*state)).refused, 2);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, report_fixture_setup_counting, report_fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_row_has_the_latest_probe_time_of_its_path),
        TEST(the_text_says_since_when_and_how_many_are_missing),
        TEST(json_marks_late_rows_only),
        TEST(late_means_later_than_the_start_of_counting),
        TEST(a_merged_row_is_late_if_a_part_is),
        TEST(calls_of_earlier_intervals_count_as_missing),
        TEST(a_merge_without_memory_for_late_rows_fails),
        TEST(sampled_rows_are_never_late),
        TEST(each_allocation_may_be_refused),
    };
#undef TEST
    return cmocka_run_group_tests_name("row_since", tests, NULL, NULL);
}
