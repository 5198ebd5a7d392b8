/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that show calls: random trees compared with a naive version, which compares names,
 * recurses and searches all nodes. */
#include "export/row_calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_alloc.h"
#include "support/random_profile.h"

enum { ROUNDS = 300, TEXT_BYTES = 128, MAX_DEPTH = 6 };

/* --- the naive version --- */

static void method_text(const struct smp_profile *profile, uint32_t node, char text[TEXT_BYTES])
{
    struct smp_bytes bytes;

    smp_bytes_init(&bytes, NULL, TEXT_BYTES);
    smp_methods_method_text(profile->methods, smp_tree_nodes(profile->tree)[node].location, &bytes);
    (void)snprintf(text, TEXT_BYTES, "%s", smp_bytes_text(&bytes));
    smp_bytes_fini(&bytes);
}

static uint32_t plain_counted_root(const struct smp_profile *profile, uint32_t root)
{
    const struct smp_node *const nodes = smp_tree_nodes(profile->tree);
    const size_t count = smp_tree_node_count(profile->tree);
    struct smp_group group = { .index = nodes[root].location & ~SMP_LOCATION_GROUP };
    const struct smp_group_info *const info = smp_thread_groups_info(profile->groups, group);

    for (uint32_t i = 1; i < count && info->kind == SMP_GROUP_SAMPLED; i++) {
        group.index = nodes[i].location & ~SMP_LOCATION_GROUP;
        if (smp_node_is_group(&nodes[i]) &&
            smp_thread_groups_kind(profile->groups, group) == SMP_GROUP_COUNTED &&
            strcmp(smp_thread_groups_info(profile->groups, group)->name, info->name) == 0)
            return i;
    }
    return 0;
}

/* Returns the counted node to which a node's path leads. */
static uint32_t plain_place(const struct smp_profile *profile, uint32_t node)
{
    const struct smp_node *const nodes = smp_tree_nodes(profile->tree);
    const size_t count = smp_tree_node_count(profile->tree);
    char wanted[TEXT_BYTES];
    char text[TEXT_BYTES];
    uint32_t above;

    if (smp_node_is_group(&nodes[node]))
        return plain_counted_root(profile, node);
    above = plain_place(profile, nodes[node].parent);
    method_text(profile, node, wanted);
    for (uint32_t i = 1; i < count && above != 0; i++) {
        if (nodes[i].parent != above)
            continue;
        method_text(profile, i, text);
        if (strcmp(text, wanted) == 0)
            return i;
    }
    return above;
}

static uint32_t plain_counted(const struct smp_profile *profile, uint32_t node)
{
    const struct smp_node *const nodes = smp_tree_nodes(profile->tree);
    const uint32_t place = smp_node_is_group(&nodes[node]) ? 0 : plain_place(profile, node);

    return place == 0 || place == plain_place(profile, nodes[node].parent) ? 0 : place;
}

/* Returns the number of callers of the frames that correspond to a counted node. */
static uint32_t plain_paths(const struct smp_profile *profile, const uint32_t *counted,
                            uint32_t wanted)
{
    const struct smp_node *const nodes = smp_tree_nodes(profile->tree);
    const size_t count = smp_tree_node_count(profile->tree);
    uint32_t paths = 0;

    for (uint32_t caller = 1; caller < count; caller++) {
        bool calls = false;
        for (uint32_t i = 1; i < count; i++)
            calls = calls || (nodes[i].parent == caller && counted[i] == wanted);
        paths += calls;
    }
    return paths;
}

/* If several children of a node have the same counted node, only the one with the most wall time
 * keeps it. */
static void assert_one_is_chosen(const struct smp_profile *profile, const uint32_t *counted,
                                 const struct smp_row_calls *calls)
{
    const struct smp_node *const nodes = smp_tree_nodes(profile->tree);
    const struct smp_column wall = smp_tree_column(profile->tree, SMP_MEASURE_WALL);
    const size_t count = smp_tree_node_count(profile->tree);

    for (uint32_t i = 1; i < count; i++) {
        uint32_t left = 0;
        int64_t most_ns = 0;
        int64_t left_ns = 0;
        if (counted[i] == 0) {
            assert_int_equal(smp_row_calls_node(calls, i), 0);
            continue;
        }
        for (uint32_t k = 1; k < count; k++) {
            const int64_t wall_ns = smp_column_at(wall, k);
            if (nodes[k].parent != nodes[i].parent || counted[k] != counted[i])
                continue;
            most_ns = wall_ns > most_ns ? wall_ns : most_ns;
            left += smp_row_calls_node(calls, k) == counted[i];
            left_ns += smp_row_calls_node(calls, k) == counted[i] ? wall_ns : 0;
        }
        assert_int_equal(left, 1);
        assert_int_equal(left_ns, most_ns);
    }
}

static void assert_matches_plain(const struct smp_profile *profile, unsigned *matched)
{
    const size_t count = smp_tree_node_count(profile->tree);
    uint32_t *const counted = malloc(count * sizeof(*counted));
    struct smp_row_calls calls;

    assert_non_null(counted);
    assert_int_equal(smp_row_calls_init(&calls, NULL, profile), SMP_OK);
    for (uint32_t i = 1; i < count; i++) {
        assert_int_equal(smp_row_calls_node(&calls, i), plain_counted(profile, i));
        *matched += smp_row_calls_node(&calls, i) != 0;
    }
    for (uint32_t i = 1; i < count; i++)
        assert_int_equal(calls.paths[i], plain_paths(profile, calls.counted, i));
    memcpy(counted, calls.counted, count * sizeof(*counted));
    smp_row_calls_choose(&calls, profile);
    assert_one_is_chosen(profile, counted, &calls);
    free(counted);
    smp_row_calls_fini(&calls);
}

/* --- random trees --- */

static const char *const lines[] = { "a.A.run(A.java:1)",    "a.A.run(A.java:2)",
                                     "a.A.walk(A.java:2)",   "b.B.x(B.java:9)",
                                     "b.B.n(Native Method)", "c.C.y(C.java:3)",
                                     "[thread ended]" };
static const char *const methods[] = { "a.A.run(A.java)", "a.A.walk(A.java)", "b.B.x(B.java)",
                                       "c.C.y(C.java)" };
static const char *const groups[] = { "main", "pool" };

static void add_sampled(struct report_fixture *fixture, unsigned *seed)
{
    const unsigned depth = 1 + next_random(seed) % MAX_DEPTH;
    const char *const group = groups[next_random(seed) % 2];
    uint32_t node = 0;

    for (unsigned at = 0; at < depth; at++)
        node = report_fixture_add(fixture, group, node,
                                  lines[next_random(seed) % (sizeof(lines) / sizeof(lines[0]))],
                                  next_random(seed) % 100);
}

static void add_counted(struct report_fixture *fixture, unsigned *seed)
{
    const unsigned depth = 1 + next_random(seed) % MAX_DEPTH;
    char stack[MAX_DEPTH * TEXT_BYTES] = "";

    for (unsigned at = 0; at < depth; at++) {
        if (at > 0)
            strcat(stack, "|");
        strcat(stack, methods[next_random(seed) % (sizeof(methods) / sizeof(methods[0]))]);
    }
    /* In every other profile "pool" has no counted tree. */
    (void)report_fixture_count(fixture, groups[next_random(seed) % (1 + *seed % 2)], stack,
                               next_random(seed) % 9, 0, 0);
}

static struct smp_profile *make_random(struct report_fixture *fixture, unsigned seed)
{
    unsigned random = seed;

    report_fixture_begin_counting(fixture);
    for (unsigned i = 0; i < 1 + seed % 12; i++) {
        add_sampled(fixture, &random);
        add_counted(fixture, &random);
    }
    return report_fixture_finish(fixture);
}

static void rows_match_the_naive_version(void **state)
{
    unsigned matched = 0;

    for (unsigned round = 0; round < ROUNDS; round++)
        assert_matches_plain(make_random(*state, round), &matched);
    assert_true(matched > ROUNDS);
}

/* --- by hand --- */

static void without_counted_trees_nothing_is_allocated(void **state)
{
    struct smp_row_calls calls;
    struct failing_alloc failing;

    report_fixture_credit(*state, "main", "main", "a.A.run(A.java:1)", MS);
    const struct smp_profile *const profile = report_fixture_finish(*state);
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    assert_int_equal(smp_row_calls_init(&calls, NULL, profile), SMP_OK);
    assert_int_equal(failing_alloc_disarm(&failing), 0);
    assert_int_equal(smp_row_calls_node(&calls, 1), 0);
    smp_row_calls_claim(&calls, 1, 2);
    smp_row_calls_fini(&calls);
}

/* Both lines of run correspond to one counted node; the first one printed shows its calls. */
static void the_first_row_of_a_method_shows_its_calls(void **state)
{
    struct report_fixture *const fixture = *state;
    struct smp_row_calls calls;

    report_fixture_begin_counting(fixture);
    const uint32_t main_row = report_fixture_add(fixture, "g", 0, "m.M.main(M.java:3)", 0);
    const uint32_t one = report_fixture_add(fixture, "g", main_row, "a.A.run(A.java:1)", MS);
    const uint32_t two = report_fixture_add(fixture, "g", main_row, "a.A.run(A.java:2)", MS);
    const uint32_t counted = report_fixture_count(fixture, "g", "a.A.run(A.java)", 5, 0, 0);
    const struct smp_profile *const profile = report_fixture_finish(fixture);

    assert_int_equal(smp_row_calls_init(&calls, NULL, profile), SMP_OK);
    assert_int_equal(smp_row_calls_node(&calls, main_row), 0);
    assert_int_equal(smp_row_calls_node(&calls, one), counted);
    assert_int_equal(smp_row_calls_node(&calls, two), counted);
    assert_int_equal(calls.paths[counted], 1);
    smp_row_calls_claim(&calls, main_row, two);
    smp_row_calls_claim(&calls, main_row, one);
    assert_int_equal(smp_row_calls_node(&calls, two), counted);
    assert_int_equal(smp_row_calls_node(&calls, one), 0);
    smp_row_calls_fini(&calls);
}

static enum smp_status init_and_fini(void *self)
{
    struct smp_row_calls calls;
    const enum smp_status status = smp_row_calls_init(&calls, NULL, self);

    if (status == SMP_OK)
        smp_row_calls_fini(&calls);
    return status;
}

static void each_allocation_may_be_refused(void **state)
{
    assert_int_equal(failing_alloc_each_step(init_and_fini, make_random(*state, 5)).refused, 3);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, report_fixture_setup, report_fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(rows_match_the_naive_version),
        TEST(without_counted_trees_nothing_is_allocated),
        TEST(the_first_row_of_a_method_shows_its_calls),
        TEST(each_allocation_may_be_refused),
    };
#undef TEST
    return cmocka_run_group_tests_name("row_calls", tests, NULL, NULL);
}
