/* SPDX-License-Identifier: Apache-2.0 */
/* Folded recursions: byte for byte for a small profile, and for random trees compared with a naive
 * version that folds stacks as texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/exporters.h"
#include "model/profile_merge.h"
#include "model/recursion.h"
#include "support/collapsed_lines.h"
#include "support/failing_alloc.h"
#include "support/golden.h"
#include "support/memory_output.h"
#include "support/random_profile.h"
#include "support/rounds.h"

enum { ROUNDS = 300, MOST_FRAMES = 64, DEEPEST = 25000, LINE_BYTES = 4096 };

static struct smp_profile *folded(const struct smp_profile *profile)
{
    struct smp_profile *out = NULL;

    assert_int_equal(smp_profile_fold_recursion(NULL, profile, &out), SMP_OK);
    return out;
}

/* --- a profile --- */

static struct smp_profile *make_recursions(struct report_fixture *f)
{
#define SORT "a.Sort.sort(Sort.java:"
    report_fixture_credit(f, "main", "main", "a.Main.main(Main.java:3)|" SORT "8)", 10 * MS);
    report_fixture_credit(f, "main", "main",
                          "a.Main.main(Main.java:3)|" SORT "8)|" SORT "9)|" SORT "8)"
                          "|a.Sort.swap(Sort.java:20)",
                          30 * MS);
    report_fixture_credit(f, "main", "main", "a.Main.main(Main.java:3)|" SORT "8)|" SORT "9)",
                          5 * MS);
    report_fixture_credit(f, "main", "main",
                          "a.Main.main(Main.java:4)|a.P.even(P.java:1)|a.P.odd(P.java:2)"
                          "|a.P.even(P.java:1)|a.P.odd(P.java:2)|a.P.even(P.java:1)"
                          "|a.P.end(P.java:9)",
                          70 * MS);
#undef SORT
#define FIB "a.Fib.of(Fib.java)"
    (void)report_fixture_count(f, "main", FIB, 1, 2 * MS, 0);
    (void)report_fixture_count(f, "main", FIB "|" FIB, 2, 4 * MS, 0);
    (void)report_fixture_count(f, "main", FIB "|" FIB "|" FIB, 2, 6 * MS, 0);
    (void)report_fixture_count(f, "main", FIB "|" FIB "|a.Log.log(Log.java)", 9, 1 * MS, 0);
    (void)report_fixture_count(f, "main", FIB "|" FIB "|" FIB "|a.Log.log(Log.java)", 11, 1 * MS,
                               0);
#undef FIB
    const struct smp_root_time time = { .node = report_fixture_count(f, "main",
                                                                     "a.Fib.of(Fib.java)", 0, 0, 0),
                                        .calls = 1,
                                        .total_ns = 14 * MS,
                                        .min_ns = 14 * MS,
                                        .max_ns = 14 * MS };
    assert_int_equal(smp_root_times_add(report_fixture_root_times(f), &time), SMP_OK);
    return report_fixture_finish(f);
}

static void the_report_matches_the_file(void **state)
{
    (void)make_recursions(*state);
    const char *const text = report_fixture_print(
        *state, (struct smp_export_style){ .fold_recursion = true, .short_account = true });

    golden_check("recursion.txt", text, report_fixture_printed(*state));
}

static void a_style_without_folding_has_all_rows(void **state)
{
    (void)make_recursions(*state);
    const char *const text =
        report_fixture_print(*state, (struct smp_export_style){ .short_account = true });

    assert_null(strstr(text, "Recursion depth"));
    golden_check("recursion_unfolded.txt", text, report_fixture_printed(*state));
}

static void json_has_the_depths(void **state)
{
    const struct smp_export_style style = { .fold_recursion = true };
    const struct smp_export_style unfolded = { 0 };
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);
    const struct smp_profile *const profile = make_recursions(*state);

    assert_int_equal(smp_export(profile, SMP_FORMAT_JSON, &style, NULL, &to), SMP_OK);
    assert_non_null(
        strstr(memory_output_text(&output), ",\n\"recursion\":[[1,3],[3,2],[6,2],[7,2]]}],\n"));
    assert_non_null(strstr(memory_output_text(&output), "\"calls\":[5,20],\n"
                                                        "\"recursion\":[[0,3]],\n"
                                                        "\"rootTimes\":[[0,1,"));
    memory_output_fini(&output);
    output = (struct memory_output){ 0 };
    assert_int_equal(smp_export(profile, SMP_FORMAT_JSON, &unfolded, NULL, &to), SMP_OK);
    assert_null(strstr(memory_output_text(&output), "recursion"));
    memory_output_fini(&output);
}

static void calls_between_overloads_are_no_recursion(void **state)
{
    report_fixture_credit(*state, "g", "g", "a.A.add#I#(A.java:1)|a.A.add#J#(A.java:2)", 3);
    (void)report_fixture_count(*state, "g", "a.A.add#I#(A.java)|a.A.add#J#(A.java)", 3, 0, 0);
    assert_null(folded(report_fixture_finish(*state)));
}

/* A thread's own record of a call is a leaf of the tree, and the finished tree does not show it as
 * a frame. */
static void a_call_leaf_is_no_recursion(void **state)
{
    const uint32_t node = report_fixture_credit(*state, "g", "g", "a.A.a(A.java:1)", 3);

    (void)report_fixture_add(*state, "g", node, "a.A.a(A.java:1)", 0);
    (void)report_fixture_count(*state, "h", "a.A.a(A.java)|a.A.a(A.java)", 0, 0, 0);
    struct smp_profile *const out = folded(report_fixture_finish(*state));
    if (out != NULL) /* the fixture has noted a sample there */
        assert_int_equal(smp_profile_total(out, SMP_MEASURE_WALL), 3);
    smp_profile_release(out);
}

static void a_deep_recursion_is_one_row(void **state)
{
    uint32_t node = 0;
    uint32_t rows = 0;

    for (int i = 0; i < DEEPEST; i++)
        node =
            report_fixture_add(*state, "g", node, "a.A.deep(A.java:1)", i == DEEPEST - 1 ? 7 : 1);
    struct smp_profile *const out = folded(report_fixture_finish(*state));
    assert_non_null(out);
    for (uint32_t i = 1; i < smp_tree_node_count(out->tree); i++) {
        if (smp_node_is_group(&smp_tree_nodes(out->tree)[i]))
            continue;
        rows++;
        assert_int_equal(smp_profile_levels(out, i), DEEPEST);
    }
    assert_int_equal(rows, 1);
    assert_int_equal(smp_profile_total(out, SMP_MEASURE_WALL), DEEPEST + 6);
    smp_profile_release(out);
}

/* Returns the row of this method; each method has one row. */
static uint32_t counted_row(const struct smp_profile *profile, const char *method)
{
    for (uint32_t node = 1; node < smp_tree_node_count(profile->tree); node++) {
        struct smp_location_view view;
        if (smp_node_is_group(&smp_tree_nodes(profile->tree)[node]))
            continue;
        smp_methods_view(profile->methods, smp_tree_nodes(profile->tree)[node].location, &view);
        if (!view.is_pseudo && strcmp(view.method_name, method) == 0)
            return node;
    }
    fail_msg("no row of %s", method);
    return 0;
}

static void count_late(struct report_fixture *f, const char *stack, int64_t calls, int64_t before)
{
    report_fixture_late(f, report_fixture_count(f, "main", stack, calls, 0, 0), before);
}

/* Calls that the inner rows lack were made by the recursive row, not by the row above it. */
static void only_calls_by_the_caller_precede_a_recursion(void **state)
{
#define MAIN "a.Main.main(Main.java)|"
#define FIB "a.Fib.of(Fib.java)"
    (void)report_fixture_count(*state, "main", "a.Main.main(Main.java)", 10, 0, 0);
    count_late(*state, MAIN FIB, 6, 4);
    count_late(*state, MAIN FIB "|" FIB, 5, 3);
    count_late(*state, MAIN FIB "|" FIB "|" FIB, 4, 2);
    count_late(*state, MAIN FIB "|a.Log.log(Log.java)", 6, 5);
    count_late(*state, MAIN FIB "|" FIB "|a.Log.log(Log.java)", 6, 1);
#undef FIB
#undef MAIN
    struct smp_profile *const out = folded(report_fixture_finish(*state));
    const struct smp_caller_calls *const before = out->counts.caller_calls;
    assert_int_equal(smp_caller_calls_count(before), 2);
    assert_int_equal(smp_caller_calls_find(before, counted_row(out, "of")), 4);
    assert_int_equal(smp_caller_calls_find(before, counted_row(out, "log")), 6);
    smp_profile_release(out);
}

/* In a recursion of two methods, b's row is below the first a, and b's callees are below b. */
static void in_a_recursion_of_two_methods_each_caller_has_its_row(void **state)
{
#define A "a.A.even(A.java)"
#define B "a.B.odd(B.java)"
    (void)report_fixture_count(*state, "main", A, 9, 0, 0);
    count_late(*state, A "|" B, 9, 1);
    count_late(*state, A "|" B "|" A, 9, 2);
    count_late(*state, A "|" B "|" A "|" B, 9, 4);
    count_late(*state, A "|" B "|" A "|" B "|" A, 9, 8);
#undef B
#undef A
    struct smp_profile *const out = folded(report_fixture_finish(*state));
    const struct smp_caller_calls *const before = out->counts.caller_calls;
    const uint32_t b = counted_row(out, "odd");
    assert_int_equal(smp_caller_calls_count(before), 2);
    assert_int_equal(smp_caller_calls_find(before, b), 1);
    for (uint32_t node = b + 1; node < smp_tree_node_count(out->tree); node++)
        assert_int_equal(smp_caller_calls_find(before, node), 10);
    smp_profile_release(out);
}

/* --- the naive version, on the text of a stack --- */

static bool is_one_method(const char *a, const char *b)
{
    const size_t length = strcspn(a, "(");

    return a[0] != '[' && length == strcspn(b, "(") && strncmp(a, b, length) == 0;
}

/* Returns whether the last turn frames equal those of the previous turn. */
static bool repeats(char *const *frames, size_t at, size_t turn)
{
    if (at < 2 * turn)
        return false;
    for (size_t i = 0; i < turn; i++) {
        if (!is_one_method(frames[at - i], frames[at - turn - i]))
            return false;
    }
    return true;
}

/* frames[0] is the group. above[i]: the frame whose row is above the row of frame i. */
static char *fold_naively(const char *stack)
{
    char *const copy = strdup(stack);
    char *frames[MOST_FRAMES];
    char *paths[MOST_FRAMES];
    size_t above[MOST_FRAMES];
    size_t count = 0;

    for (char *frame = strtok(copy, ";"); frame != NULL; frame = strtok(NULL, ";")) {
        assert_true(count < MOST_FRAMES);
        frames[count++] = frame;
    }
    for (size_t at = 0; at < count; at++) {
        above[at] = at == 0 ? 0 : at - 1;
        for (size_t turn = 1; turn <= SMP_MAX_TURN; turn++) {
            if (repeats(frames, at, turn)) {
                above[at] = above[at - turn];
                break;
            }
        }
        assert_true(asprintf(&paths[at], "%s%s%s", at == 0 ? "" : paths[above[at]],
                             at == 0 ? "" : ";", frames[at]) > 0);
    }
    char *const path = strdup(paths[count - 1]);
    for (size_t at = 0; at < count; at++)
        free(paths[at]);
    free(copy);
    return path;
}

static void add_line(struct collapsed_lines *lines, char *stack, int64_t amount)
{
    struct collapsed_line *known = collapsed_lines_find(lines, stack);

    if (known == NULL) {
        lines->list = realloc(lines->list, (lines->count + 1) * sizeof(*lines->list));
        assert_non_null(lines->list);
        known = &lines->list[lines->count++];
        *known = (struct collapsed_line){ .stack = stack };
    } else {
        free(stack);
    }
    known->amount += amount;
}

static struct collapsed_lines summed(const struct smp_profile *profile, bool fold)
{
    struct collapsed_lines lines = collapsed_lines_of(profile, SMP_MEASURE_WALL);
    struct collapsed_lines sums = { 0 };

    for (size_t i = 0; i < lines.count; i++)
        add_line(&sums, fold ? fold_naively(lines.list[i].stack) : strdup(lines.list[i].stack),
                 lines.list[i].amount);
    collapsed_lines_fini(&lines);
    return sums;
}

static void assert_same_lines(const struct collapsed_lines *a, const struct collapsed_lines *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const struct collapsed_line *const other = collapsed_lines_find(b, a->list[i].stack);
        if (other == NULL)
            fail_msg("only one has %s", a->list[i].stack);
        assert_int_equal(other->amount, a->list[i].amount);
    }
}

/* Few methods, so that recursions are frequent; some in brackets, native or without lines. */
static struct smp_profile *make_random(struct report_fixture *fixture, unsigned *seed)
{
    static const char *const frames[] = { "a.A.x(A.java:1)",       "a.A.x(A.java:2)",
                                          "a.A.y(A.java:9)",       "b.B.n(Native Method)",
                                          "o.O.o(Unknown Source)", "[gap]" };
    const unsigned kinds = 2 + next_random(seed) % 5;

    report_fixture_begin_with(fixture, SMP_SAMPLED_MEASURES | SMP_WITH_ERRORS);
    for (int i = 0; i < 40; i++) {
        const unsigned depth = 1 + next_random(seed) % 24;
        uint32_t node = 0;
        for (unsigned at = 0; at < depth; at++)
            node =
                report_fixture_add(fixture, next_random(seed) % 2 == 0 && at == 0 ? "g" : "h", node,
                                   frames[next_random(seed) % kinds], 1 + next_random(seed) % 100);
        report_fixture_ran(fixture, node, next_random(seed) % 500, next_random(seed) % 3);
    }
    return report_fixture_finish(fixture);
}

/* Compares the sums over the rows of a group, and checks that a parent's total includes its
 * children's. */
static void assert_same_sums(const struct smp_profile *a, const struct smp_profile *b)
{
    const uint32_t measures = smp_tree_measures(a->tree);

    assert_int_equal(smp_tree_measures(b->tree), measures);
    for (int i = 0; i < SMP_MEASURE_COUNT; i++) {
        if ((measures & SMP_MEASURE_BIT(i)) != 0)
            assert_true(smp_profile_total(a, (enum smp_measure)i) ==
                        smp_profile_total(b, (enum smp_measure)i));
    }
    for (uint32_t node = 1; node < smp_tree_node_count(a->tree); node++)
        assert_true(smp_tree_self(a->tree, node, SMP_MEASURE_WALL) >= 0);
}

static void random_trees_match_their_folded_stacks(void **state)
{
    unsigned seed = 20261129;
    const long rounds = test_rounds(ROUNDS);
    long found = 0;

    for (long round = 0; round < rounds; round++) {
        const struct smp_profile *const whole = make_random(*state, &seed);
        struct smp_profile *const out = folded(whole);
        struct collapsed_lines expected = summed(whole, true);
        struct collapsed_lines actual = summed(out != NULL ? out : whole, false);
        assert_same_lines(&expected, &actual);
        if (out != NULL) {
            assert_same_sums(out, whole);
            assert_true(smp_tree_node_count(out->tree) <= smp_tree_node_count(whole->tree));
            found++;
        }
        collapsed_lines_fini(&actual);
        collapsed_lines_fini(&expected);
        smp_profile_release(out);
    }
    assert_true(found > rounds / 2);
}

/* --- memory --- */

static enum smp_status fold_once(void *self)
{
    struct smp_profile *out = NULL;
    const enum smp_status status = smp_profile_fold_recursion(NULL, self, &out);

    smp_profile_release(out);
    return status;
}

static void each_allocation_may_be_refused(void **state)
{
    const struct failing_alloc_steps steps =
        failing_alloc_each_step(fold_once, make_recursions(*state));

    assert_true(steps.refused >= 10);
    assert_int_equal(steps.survived, 0);
}

static char *report_of(void *fixture, bool is_folded)
{
    return strdup(report_fixture_print(
        fixture, (struct smp_export_style){ .fold_recursion = is_folded, .short_account = true }));
}

static char *json_of(const struct smp_profile *profile, bool is_folded)
{
    const struct smp_export_style style = { .fold_recursion = is_folded };
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);

    assert_int_equal(smp_export(profile, SMP_FORMAT_JSON, &style, NULL, &to), SMP_OK);
    return output.bytes;
}

/* Unfolded rows are better than no report. */
static void without_memory_for_folding_all_rows_are_printed(void **state)
{
    const struct smp_profile *const profile = make_recursions(*state);
    char *const report = report_of(*state, false);
    char *const json = json_of(profile, false);
    struct failing_alloc failing = { 0 };

    failing_alloc_arm(&failing, 1, 1);
    char *const same_report = report_of(*state, true);
    assert_int_equal(failing_alloc_disarm(&failing), 1);
    failing_alloc_arm(&failing, 1, 1);
    char *const same_json = json_of(profile, true);
    assert_int_equal(failing_alloc_disarm(&failing), 1);
    assert_string_equal(same_report, report);
    assert_string_equal(same_json, json);
    free(same_json);
    free(same_report);
    free(json);
    free(report);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, report_fixture_setup_counting, report_fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_report_matches_the_file),
        TEST(a_style_without_folding_has_all_rows),
        TEST(json_has_the_depths),
        TEST(calls_between_overloads_are_no_recursion),
        TEST(a_call_leaf_is_no_recursion),
        TEST(a_deep_recursion_is_one_row),
        TEST(only_calls_by_the_caller_precede_a_recursion),
        TEST(in_a_recursion_of_two_methods_each_caller_has_its_row),
        TEST(random_trees_match_their_folded_stacks),
        TEST(each_allocation_may_be_refused),
        TEST(without_memory_for_folding_all_rows_are_printed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
