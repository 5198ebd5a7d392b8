/* SPDX-License-Identifier: Apache-2.0 */
/* Error bars in the table of hot methods, and in JSON. */
#include "export/cells.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "export/exporters.h"
#include "support/exported.h"
#include "support/failing_alloc.h"
#include "support/memory_output.h"

enum { PART_BYTES = 1 << 20 };

#define MS INT64_C(1000000)
#define WITH_ERRORS (SMP_SAMPLED_MEASURES | SMP_WITH_ERRORS)

static void assert_cell(int64_t amount_ms, double deviation_ms, const char *expected)
{
    const double ns = deviation_ms * (double)MS;
    const struct smp_error error = { .variance = deviation_ms < 0 ? -1 : ns * ns };
    char cell[SMP_ERROR_CELL_BYTES];

    smp_error_cell_print(amount_ms * MS, error, cell);
    assert_string_equal(cell, expected);
}

static void a_cell_has_two_digits_of_the_error(void **state)
{
    (void)state;
    assert_cell(2619, 155, "          2,619 ± 310 ms");
    assert_cell(1234567, 15555, "   1,234,567 ± 31,000 ms");
    assert_cell(12619, 11, "          12,619 ± 22 ms");
    assert_cell(1000, 0.1, "            1,000 ± 1 ms");
}

static void an_amount_that_may_be_zero_is_shown_as_an_upper_bound(void **state)
{
    (void)state;
    assert_cell(100, 100, "                < 560 ms");
    assert_cell(0, 0.2, "                  < 3 ms");
}

static void exact_and_unknown_cells_say_so(void **state)
{
    (void)state;
    assert_cell(27060, 0, "         27,060 ms exact");
    assert_cell(27060, -1, "           27,060 ms ± ?");
}

/* Group "g": 2619 ms in [often], 7 ms found once in [seldom], and 5 ms that never changed. */
static struct smp_profile *make_profile(struct smp_methods *methods, uint32_t measures)
{
    static const char *const frames[] = { "[often]", "[seldom]", "[always]" };
    static const int64_t wall_ms[] = { 2619, 7, 5 };
    struct smp_thread_groups *groups = NULL;
    struct smp_profile *profile = NULL;
    struct smp_tree *tree = NULL;
    uint32_t nodes[3];

    assert_int_equal(smp_tree_create(NULL, measures, PART_BYTES, &tree), SMP_OK);
    assert_int_equal(smp_thread_groups_create(NULL, PART_BYTES, &groups), SMP_OK);
    const struct smp_group group =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = "g" });
    struct smp_group_info *const info = smp_thread_groups_info(groups, group);
    smp_tally_note(&info->tally, SMP_OUTCOME_WALKED);
    assert_int_equal(smp_tree_root(tree, group.index, &info->root), SMP_OK);
    for (int i = 0; i < 3; i++) {
        const uint32_t location = smp_methods_pseudo(methods, frames[i]);
        assert_int_equal(smp_tree_add(tree, info->root, &location, 1, &nodes[i]), SMP_OK);
        smp_tree_credit(tree, nodes[i], SMP_MEASURE_WALL, wall_ms[i] * MS);
    }
    smp_tree_moved(tree, nodes[1], nodes[0], 7, 1);
    assert_int_equal(smp_profile_create(NULL, tree, groups, methods, &profile), SMP_OK);
    return profile;
}

static void assert_shows(uint32_t measures, enum smp_format format, const char *text, bool has)
{
    struct smp_methods *methods = NULL;

    assert_int_equal(smp_methods_create(NULL, PART_BYTES, NULL, &methods), SMP_OK);
    struct smp_profile *profile = make_profile(methods, measures);
    assert_exported(profile, format, (struct smp_export_style){ .measure = SMP_MEASURE_WALL }, text,
                    has);
    smp_profile_release(profile);
    smp_methods_release(methods);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static void top_has_an_error_bar_beside_each_time(void **state)
{
    (void)state;
    assert_shows(WITH_ERRORS, SMP_FORMAT_TOP,
                 "percent                  wall ms  method\n"
                 "   99.5            2,619 ± 14 ms  [often]\n"
                 "    0.3                  < 39 ms  [seldom]\n"
                 "    0.2               5 ms exact  [always]\n",
                 true);
}

static void without_error_bars_top_has_whole_milliseconds(void **state)
{
    (void)state;
    assert_shows(SMP_SAMPLED_MEASURES, SMP_FORMAT_TOP,
                 "percent      wall ms  method\n"
                 "   99.5         2619  [often]\n",
                 true);
}

static void json_has_ranges_of_totals(void **state)
{
    (void)state;
    assert_shows(WITH_ERRORS, SMP_FORMAT_JSON, "\"error95\":{\"wall\":[[", true);
    assert_shows(WITH_ERRORS, SMP_FORMAT_JSON, ",[5000000,5000000]],\"cpu\":[", true);
    assert_shows(SMP_SAMPLED_MEASURES, SMP_FORMAT_JSON, "error95", false);
}

static enum smp_status export_top(void *self)
{
    const struct smp_export_style style = { .measure = SMP_MEASURE_WALL };
    struct memory_output out = { 0 };
    const struct smp_output output = memory_output_functions(&out);
    const enum smp_status status = smp_export(self, SMP_FORMAT_TOP, &style, NULL, &output);

    memory_output_fini(&out);
    return status;
}

static void top_fails_cleanly_without_memory(void **state)
{
    struct smp_methods *methods = NULL;

    (void)state;
    assert_int_equal(smp_methods_create(NULL, PART_BYTES, NULL, &methods), SMP_OK);
    struct smp_profile *profile = make_profile(methods, WITH_ERRORS);
    assert_true(failing_alloc_each_step(export_top, profile).refused > 6);
    smp_profile_release(profile);
    smp_methods_release(methods);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_has_two_digits_of_the_error),
        cmocka_unit_test(an_amount_that_may_be_zero_is_shown_as_an_upper_bound),
        cmocka_unit_test(exact_and_unknown_cells_say_so),
        cmocka_unit_test(top_has_an_error_bar_beside_each_time),
        cmocka_unit_test(without_error_bars_top_has_whole_milliseconds),
        cmocka_unit_test(json_has_ranges_of_totals),
        cmocka_unit_test(top_fails_cleanly_without_memory),
    };
    return cmocka_run_group_tests_name("error bars in texts", tests, NULL, NULL);
}
