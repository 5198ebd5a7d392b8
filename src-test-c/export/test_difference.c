/* SPDX-License-Identifier: Apache-2.0 */
/* The difference of two profiles: byte for byte for small ones, and compared with their collapsed
 * and JSON forms for random ones. SMP_TEST_ROUNDS sets the number of rounds. */
#include "export/difference.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/collapsed_lines.h"
#include "support/failing_alloc.h"
#include "support/golden.h"
#include "support/memory_output.h"
#include "support/random_profile.h"
#include "support/rounds.h"

enum { ROUNDS = 100 };

struct sides {
    struct report_fixture *fixtures[SMP_DIFF_SIDES];
    const struct smp_profile *profiles[SMP_DIFF_SIDES];
};

static int setup(void **state)
{
    static struct sides sides;

    sides = (struct sides){ .fixtures = { report_fixture_create(), report_fixture_create() } };
    *state = &sides;
    return 0;
}

static int teardown(void **state)
{
    struct sides *sides = *state;

    report_fixture_destroy(sides->fixtures[0]);
    report_fixture_destroy(sides->fixtures[1]);
    return 0;
}

static void finish(struct sides *sides)
{
    for (int side = 0; side < SMP_DIFF_SIDES; side++)
        sides->profiles[side] = report_fixture_finish(sides->fixtures[side]);
}

static void assert_difference(const struct sides *sides, enum smp_format format,
                              enum smp_measure measure, const char *expected)
{
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);

    assert_int_equal(smp_export_difference(sides->profiles, format, measure, NULL, &to), SMP_OK);
    assert_string_equal(memory_output_text(&output), expected);
    memory_output_fini(&output);
}

/* --- to the byte --- */

/*
 * before:  hot   run:1 ─ work:7  300 ns, cpu 100, 3 samples; run:1 ─ [thread ended] 5
 *          gone  nat 40
 * after:   new   other:3 70;  hot   run:2 ─ work:9 900;  run:1 ─ work:7 200
 */
static void make_small(struct sides *sides)
{
    struct report_fixture *const before = sides->fixtures[SMP_DIFF_BEFORE];
    struct report_fixture *const after = sides->fixtures[SMP_DIFF_AFTER];
    uint32_t run = report_fixture_add(before, "hot", 0, "a.A.run(A.java:1)", 0);
    const uint32_t work = report_fixture_add(before, "hot", run, "a.B.work(B.java:7)", 300);

    report_fixture_ran(before, work, 100, 2);
    (void)report_fixture_add(before, "hot", run, "[thread ended]", 5);
    (void)report_fixture_add(before, "gone", 0, "c.C.nat(Native Method)", 40);
    (void)report_fixture_add(after, "new", 0, "d.<D>.other(D.java:3)", 2000);
    run = report_fixture_add(after, "hot", 0, "a.A.run(A.java:2)", 0);
    (void)report_fixture_add(after, "hot", run, "a.B.work(B.java:9)", 900);
    run = report_fixture_add(after, "hot", 0, "a.A.run(A.java:1)", 0);
    (void)report_fixture_add(after, "hot", run, "a.B.work(B.java:7)", 200);
    finish(sides);
}

static void a_collapsed_line_has_both_amounts(void **state)
{
    make_small(*state);
    assert_difference(*state, SMP_FORMAT_COLLAPSED, SMP_MEASURE_WALL,
                      "new;d.<D>.other(D.java:3) 0 2000\n"
                      "hot;a.A.run(A.java:2);a.B.work(B.java:9) 0 900\n"
                      "hot;a.A.run(A.java:1);a.B.work(B.java:7) 300 200\n"
                      "hot;a.A.run(A.java:1);[thread ended] 5 0\n"
                      "gone;c.C.nat(Native Method) 40 0\n");
    assert_difference(*state, SMP_FORMAT_COLLAPSED, SMP_MEASURE_CPU,
                      "hot;a.A.run(A.java:1);a.B.work(B.java:7) 100 0\n");
    assert_difference(*state, SMP_FORMAT_COLLAPSED, SMP_MEASURE_SAMPLES,
                      "new;d.<D>.other(D.java:3) 0 1\n"
                      "hot;a.A.run(A.java:2) 0 1\n"
                      "hot;a.A.run(A.java:2);a.B.work(B.java:9) 0 1\n"
                      "hot;a.A.run(A.java:1) 1 1\n"
                      "hot;a.A.run(A.java:1);a.B.work(B.java:7) 3 1\n"
                      "hot;a.A.run(A.java:1);[thread ended] 1 0\n"
                      "gone;c.C.nat(Native Method) 1 0\n");
}

static void the_tree_has_all_lines_of_a_method_as_one_frame(void **state)
{
    make_small(*state);
    assert_difference(*state, SMP_FORMAT_JSON, SMP_MEASURE_WALL,
                      "{\"frames\":[{\"class\":\"a.A\",\"method\":\"run\"},\n"
                      "{\"class\":\"a.B\",\"method\":\"work\"},\n"
                      "{\"pseudo\":\"[thread ended]\"},\n"
                      "{\"class\":\"c.C\",\"method\":\"nat\"},\n"
                      "{\"class\":\"d.\\u003cD\\u003e\",\"method\":\"other\"}],\n"
                      "\"groups\":[[0,1],[1,-1],[-1,0]],\n"
                      "\"parent\":[-1,0,1,1,-1,4,-1,6],\n"
                      "\"frame\":[0,0,1,2,1,3,2,4],\n"
                      "\"before\":{\"wall\":[0,0,300,5,0,40,0,0],"
                      "\"cpu\":[0,0,100,0,0,0,0,0],\"samples\":[0,1,3,1,0,1,0,0]},\n"
                      "\"after\":{\"wall\":[0,0,1100,0,0,0,0,2000],"
                      "\"cpu\":[0,0,0,0,0,0,0,0],\"samples\":[0,2,2,0,0,0,0,1]}}\n");
}

static void a_side_may_be_empty(void **state)
{
    static const char nothing[] = "{\"frames\":[],\n\"groups\":[],\n\"parent\":[],\n\"frame\":[],\n"
                                  "\"before\":{\"wall\":[],\"cpu\":[],\"samples\":[]},\n"
                                  "\"after\":{\"wall\":[],\"cpu\":[],\"samples\":[]}}\n";
    struct sides *sides = *state;
    struct sides one;

    assert_difference(sides, SMP_FORMAT_COLLAPSED, SMP_MEASURE_WALL, "");
    assert_difference(sides, SMP_FORMAT_JSON, SMP_MEASURE_WALL, nothing);
    make_small(sides);
    one = *sides;
    one.profiles[SMP_DIFF_AFTER] = NULL;
    assert_difference(&one, SMP_FORMAT_COLLAPSED, SMP_MEASURE_WALL,
                      "hot;a.A.run(A.java:1);a.B.work(B.java:7) 300 0\n"
                      "hot;a.A.run(A.java:1);[thread ended] 5 0\n"
                      "gone;c.C.nat(Native Method) 40 0\n");
    one.profiles[SMP_DIFF_AFTER] = sides->profiles[SMP_DIFF_BEFORE];
    one.profiles[SMP_DIFF_BEFORE] = NULL;
    assert_difference(&one, SMP_FORMAT_COLLAPSED, SMP_MEASURE_SAMPLES,
                      "hot;a.A.run(A.java:1) 0 1\n"
                      "hot;a.A.run(A.java:1);a.B.work(B.java:7) 0 3\n"
                      "hot;a.A.run(A.java:1);[thread ended] 0 1\n"
                      "gone;c.C.nat(Native Method) 0 1\n");
}

/* --- the document for the page, which has its own tests --- */

static void put_report(const struct smp_profile *profile, struct memory_output *output)
{
    const struct smp_export_style style = { .without_nodes = true };
    const struct smp_output to = memory_output_functions(output);

    assert_int_equal(smp_export(profile, SMP_FORMAT_JSON, &style, NULL, &to), SMP_OK);
}

static void put_text(const char *text, struct memory_output *output)
{
    const struct smp_output to = memory_output_functions(output);

    assert_true(to.write(to.self, text, strlen(text)));
}

static void make_page_example(struct sides *sides)
{
    struct report_fixture *const before = sides->fixtures[SMP_DIFF_BEFORE];
    struct report_fixture *const after = sides->fixtures[SMP_DIFF_AFTER];

    report_fixture_credit(before, "main", "main", "a.A.run(A.java:1)|a.A.slow(A.java:2)", 500 * MS);
    report_fixture_credit(before, "main", "main", "a.A.run(A.java:1)|a.A.quick(A.java:3)",
                          1500 * MS);
    report_fixture_credit(before, "main", "main", "a.A.run(A.java:1)|a.A.same(A.java:4)", 500 * MS);
    report_fixture_credit(before, "pool-", "pool-1", "[thread ended]", 100 * MS);
    report_fixture_credit(after, "main", "main", "a.A.run(A.java:1)|a.A.slow(A.java:7)", 3000 * MS);
    report_fixture_credit(after, "main", "main", "a.A.run(A.java:1)|a.A.quick(A.java:3)",
                          1000 * MS);
    report_fixture_credit(after, "main", "main", "a.A.run(A.java:1)|a.A.same(A.java:4)", 1000 * MS);
    report_fixture_credit(after, "main", "main", "a.A.run(A.java:1)|a.A.fresh(A.java:9)", 200 * MS);
    report_fixture_finish(before)->elapsed_ns = 450000 * MS;
    report_fixture_finish(after)->elapsed_ns = 900000 * MS;
    finish(sides);
}

static void the_page_gets_both_reports_without_nodes_and_the_tree(void **state)
{
    struct sides *sides = *state;
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);

    make_page_example(sides);
    put_text("{\"before\":", &output);
    put_report(sides->profiles[SMP_DIFF_BEFORE], &output);
    put_text(",\"after\":", &output);
    put_report(sides->profiles[SMP_DIFF_AFTER], &output);
    put_text(",\"difference\":", &output);
    assert_int_equal(
        smp_export_difference(sides->profiles, SMP_FORMAT_JSON, SMP_MEASURE_WALL, NULL, &to),
        SMP_OK);
    put_text("}\n", &output);
    golden_check("difference.json", output.bytes, output.length);
    memory_output_fini(&output);
}

/* --- the reference implementation: both collapsed forms, line by line --- */

static void print_line(struct memory_output *output, const char *stack, int64_t before,
                       int64_t after)
{
    char amounts[64];

    (void)snprintf(amounts, sizeof(amounts), " %" PRId64 " %" PRId64 "\n", before, after);
    put_text(stack, output);
    put_text(amounts, output);
}

/* Removes all lines of one stack and returns the sum of their amounts. */
static int64_t take_all(struct collapsed_lines *lines, const char *stack)
{
    int64_t sum = 0;

    for (size_t i = 0; i < lines->count; i++) {
        if (strcmp(lines->list[i].stack, stack) == 0) {
            sum += lines->list[i].amount;
            lines->list[i].amount = 0;
        }
    }
    return sum;
}

static struct memory_output reference_of(const struct sides *sides, enum smp_measure measure)
{
    struct collapsed_lines before = collapsed_lines_of(sides->profiles[SMP_DIFF_BEFORE], measure);
    struct collapsed_lines after = collapsed_lines_of(sides->profiles[SMP_DIFF_AFTER], measure);
    struct memory_output output = { 0 };

    for (size_t i = 0; i < after.count; i++)
        print_line(&output, after.list[i].stack, take_all(&before, after.list[i].stack),
                   after.list[i].amount);
    for (size_t i = 0; i < before.count; i++) {
        const int64_t sum = take_all(&before, before.list[i].stack);
        if (sum != 0)
            print_line(&output, before.list[i].stack, sum, 0);
    }
    collapsed_lines_fini(&before);
    collapsed_lines_fini(&after);
    return output;
}

/* Every other pair of profiles shares a names table. */
static void make_random(struct sides *sides, int round)
{
    unsigned seed = (unsigned)round * 7919 + 3;

    if (round % 2 == 0) {
        sides->profiles[0] =
            smp_profile_hold(random_profile(sides->fixtures[0], next_random(&seed) % 60, &seed));
        report_fixture_begin(sides->fixtures[0]);
        sides->profiles[1] =
            smp_profile_hold(random_profile(sides->fixtures[0], next_random(&seed) % 60, &seed));
        return;
    }
    for (int side = 0; side < SMP_DIFF_SIDES; side++)
        sides->profiles[side] =
            smp_profile_hold(random_profile(sides->fixtures[side], next_random(&seed) % 60, &seed));
}

static void begin_again(struct sides *sides)
{
    for (int side = 0; side < SMP_DIFF_SIDES; side++) {
        smp_profile_release((struct smp_profile *)(uintptr_t)sides->profiles[side]);
        sides->profiles[side] = NULL;
        report_fixture_begin(sides->fixtures[side]);
    }
}

static void lines_match_both_collapsed_forms(void **state)
{
    struct sides *sides = *state;

    for (int round = 0; round < test_rounds(ROUNDS); round++) {
        make_random(sides, round);
        for (int measure = 0; measure <= SMP_MEASURE_SAMPLES; measure++) {
            struct memory_output expected = reference_of(sides, (enum smp_measure)measure);
            assert_difference(sides, SMP_FORMAT_COLLAPSED, (enum smp_measure)measure,
                              memory_output_text(&expected));
            memory_output_fini(&expected);
        }
        begin_again(sides);
    }
}

/* --- faults --- */

static void make_large(struct sides *sides)
{
    unsigned seed = 1;

    for (int side = 0; side < SMP_DIFF_SIDES; side++)
        sides->profiles[side] = random_profile(sides->fixtures[side], 3000, &seed);
}

static const enum smp_format formats[] = { SMP_FORMAT_COLLAPSED, SMP_FORMAT_JSON };

static void a_failing_output_is_not_called_again(void **state)
{
    const struct sides *sides = *state;

    make_large(*state);
    for (size_t i = 0; i < 2; i++) {
        struct memory_output whole = { 0 };
        struct smp_output to = memory_output_functions(&whole);
        assert_int_equal(smp_export_difference(sides->profiles, formats[i], 0, NULL, &to), SMP_OK);
        assert_true(whole.calls > 1);
        for (size_t fail_at = 1; fail_at <= whole.calls; fail_at++) {
            struct memory_output output = { .fail_at = fail_at };
            to = memory_output_functions(&output);
            assert_int_equal(smp_export_difference(sides->profiles, formats[i], 0, NULL, &to),
                             SMP_EIO);
            assert_int_equal(output.calls, fail_at);
            assert_memory_equal(memory_output_text(&output), whole.bytes, output.length);
            memory_output_fini(&output);
        }
        memory_output_fini(&whole);
    }
}

static void unknown_formats_and_measures_are_refused(void **state)
{
    const struct sides *sides = *state;
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);

    for (int format = -1; format <= SMP_FORMAT_COUNT; format++) {
        if (format != SMP_FORMAT_COLLAPSED && format != SMP_FORMAT_JSON)
            assert_int_equal(
                smp_export_difference(sides->profiles, (enum smp_format)format, 0, NULL, &to),
                SMP_EINVAL);
    }
    for (int measure = -1; measure <= SMP_MEASURE_COUNT; measure += SMP_MEASURE_COUNT + 1)
        assert_int_equal(smp_export_difference(sides->profiles, SMP_FORMAT_COLLAPSED,
                                               (enum smp_measure)measure, NULL, &to),
                         SMP_EINVAL);
    assert_int_equal(output.calls, 0);
}

struct attempt {
    const struct sides *sides;
    enum smp_format format;
    struct memory_output expected;
};

static enum smp_status export_again(void *self)
{
    struct attempt *attempt = self;
    struct memory_output output = { 0 };
    const struct smp_output to = memory_output_functions(&output);
    const enum smp_status status =
        smp_export_difference(attempt->sides->profiles, attempt->format, 0, NULL, &to);

    if (status == SMP_OK)
        assert_string_equal(memory_output_text(&output), attempt->expected.bytes);
    memory_output_fini(&output);
    return status;
}

static void each_allocation_may_be_refused(void **state)
{
    struct attempt attempt = { .sides = *state };

    make_large(*state);
    for (size_t i = 0; i < 2; i++) {
        const struct smp_output to = memory_output_functions(&attempt.expected);
        attempt.format = formats[i];
        assert_int_equal(smp_export_difference(attempt.sides->profiles, formats[i], 0, NULL, &to),
                         SMP_OK);
        const struct failing_alloc_steps steps = failing_alloc_each_step(export_again, &attempt);
        assert_true(steps.refused >= 20);
        assert_int_equal(steps.survived, 0);
        memory_output_fini(&attempt.expected);
    }
}

static void very_deep_stacks_are_written(void **state)
{
    enum { DEPTH = 15000 };
    struct sides *sides = *state;

    for (int side = 0; side < SMP_DIFF_SIDES; side++) {
        uint32_t node = 0;
        for (int i = 0; i < DEPTH; i++)
            node = report_fixture_add(sides->fixtures[side], "deep", node, "d.D.d(D.java:1)",
                                      i + 1 == DEPTH ? MS : 0);
    }
    finish(sides);
    for (size_t i = 0; i < 2; i++) {
        struct memory_output output = { 0 };
        const struct smp_output to = memory_output_functions(&output);
        assert_int_equal(smp_export_difference(sides->profiles, formats[i], 0, NULL, &to), SMP_OK);
        if (formats[i] == SMP_FORMAT_COLLAPSED)
            assert_int_equal(output.length, 4 + DEPTH * 16 + 17);
        memory_output_fini(&output);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_collapsed_line_has_both_amounts),
        TEST(the_tree_has_all_lines_of_a_method_as_one_frame),
        TEST(a_side_may_be_empty),
        TEST(the_page_gets_both_reports_without_nodes_and_the_tree),
        TEST(lines_match_both_collapsed_forms),
        TEST(a_failing_output_is_not_called_again),
        TEST(unknown_formats_and_measures_are_refused),
        TEST(each_allocation_may_be_refused),
        TEST(very_deep_stacks_are_written),
    };
#undef TEST
    if (setenv("TZ", "UTC", 1) != 0)
        return 1;
    return cmocka_run_group_tests_name("difference", tests, NULL, NULL);
}
