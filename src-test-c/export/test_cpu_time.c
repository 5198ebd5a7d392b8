/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a report with CPU time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/report.h"
#include "model/profile.h"
#include "support/tree_amounts.h"

#define MS INT64_C(1000000)

enum { MAX_TEXT = 4096 };

struct printed {
    char rows[MAX_TEXT];
};

static bool title(void *self, int64_t from_wall_ms, int64_t till_wall_ms)
{
    (void)self;
    (void)from_wall_ms;
    (void)till_wall_ms;
    return true;
}

static bool record(void *self, const char *name, size_t name_length, const char *rows,
                   size_t rows_length)
{
    struct printed *printed = self;

    (void)name_length;
    assert_true(rows_length < MAX_TEXT);
    if (strncmp(name, "Aggregated", 10) == 0) {
        memcpy(printed->rows, rows, rows_length);
        printed->rows[rows_length] = '\0';
    }
    return true;
}

static bool flush(void *self)
{
    (void)self;
    return true;
}

static void credit(struct smp_tree *tree, struct smp_thread_groups *groups,
                   const uint32_t *locations, size_t count, int64_t wall_ns, int64_t cpu_ns)
{
    const struct smp_group group =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = "g" });
    struct smp_group_info *info = smp_thread_groups_info(groups, group);
    uint32_t node = 0;

    assert_int_equal(smp_tree_root(tree, group.index, &info->root), SMP_OK);
    assert_int_equal(smp_tree_add(tree, info->root, locations, count, &node), SMP_OK);
    tree_credit(tree, node, wall_ns, cpu_ns, wall_ns > 0);
    smp_tally_note(&info->tally, SMP_OUTCOME_WALKED);
}

static struct smp_profile *make_profile(struct smp_quota *quota)
{
    struct smp_tree *tree = NULL;
    struct smp_thread_groups *groups = NULL;
    struct smp_methods *methods = NULL;
    struct smp_profile *profile = NULL;

    assert_int_equal(smp_tree_create(quota, SMP_SAMPLED_MEASURES, 1 << 20, &tree), SMP_OK);
    assert_int_equal(smp_thread_groups_create(quota, 1 << 20, &groups), SMP_OK);
    assert_int_equal(smp_methods_create(quota, 1 << 20, NULL, &methods), SMP_OK);
    const uint32_t stack[] = { smp_methods_pseudo(methods, "[leaf]"),
                               smp_methods_pseudo(methods, "[root]") };
    credit(tree, groups, stack, 2, 30 * MS, 20 * MS + MS - 1);
    credit(tree, groups, stack + 1, 1, 12 * MS, 1);
    /* As after a failed poll whose time was corrected. */
    const uint32_t failed = smp_methods_pseudo(methods, "[failed]");
    credit(tree, groups, &failed, 1, 0, 2 * MS);
    assert_int_equal(smp_profile_create(quota, tree, groups, methods, &profile), SMP_OK);
    smp_methods_release(methods);
    return profile;
}

static void print(struct smp_export_style style, struct printed *printed)
{
    const struct smp_outputer outputer = {
        .title = title, .record = record, .flush = flush, .self = printed
    };
    struct smp_quota quota;
    unsigned cut = 0;

    smp_quota_init(&quota, 64 << 20);
    struct smp_profile *profile = make_profile(&quota);
    assert_int_equal(smp_report_text(profile, style, &quota, &outputer, &cut), SMP_OK);
    smp_profile_release(profile);
    assert_int_equal(smp_quota_used(&quota), 0);
}

/* Cumulative like the first figure, and rounded down like all figures. */
static void cpu_time_is_the_last_figure_of_a_row(void **state)
{
    struct printed printed;

    (void)state;
    print((struct smp_export_style){ .columns = SMP_MEASURE_BIT(SMP_MEASURE_CPU) }, &printed);
    assert_non_null(strstr(printed.rows, "Cumulative time(ms): 42, Method time(ms): 12, "
                                         "CPU time(ms): 21\n"));
    assert_non_null(strstr(printed.rows, "Cumulative time(ms): 30, Method time(ms): 30, "
                                         "CPU time(ms): 20\n"));
}

static void cpu_time_is_printed_only_if_chosen(void **state)
{
    struct printed printed;

    (void)state;
    print((struct smp_export_style){ .columns = 0 }, &printed);
    assert_non_null(strstr(printed.rows, "Method time(ms): 12\n"));
    assert_null(strstr(printed.rows, "CPU"));
}

static void a_row_is_printed_for_its_cpu_time_only_if_that_is_shown(void **state)
{
    struct printed printed;

    (void)state;
    print((struct smp_export_style){ .columns = 0 }, &printed);
    assert_null(strstr(printed.rows, "[failed]"));
    print((struct smp_export_style){ .columns = SMP_MEASURE_BIT(SMP_MEASURE_CPU) }, &printed);
    assert_non_null(strstr(printed.rows, "[failed]"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_time_is_the_last_figure_of_a_row),
        cmocka_unit_test(cpu_time_is_printed_only_if_chosen),
        cmocka_unit_test(a_row_is_printed_for_its_cpu_time_only_if_that_is_shown),
    };
    return cmocka_run_group_tests_name("report, CPU time", tests, NULL, NULL);
}
