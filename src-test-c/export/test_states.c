/* SPDX-License-Identifier: Apache-2.0 */
/* The states in each format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/profile_merge.h"
#include "support/exported.h"

enum { PART_BYTES = 1 << 20, MS = 1000000 };

#define STATES (SMP_SAMPLED_MEASURES | SMP_STATE_MEASURES)

/* [root]: 1 ms running. [root], [leaf]: 20 ms blocked, 3 runnable, less than one running. */
static struct smp_profile *make_profile(struct smp_methods *methods)
{
    struct smp_thread_groups *groups = NULL;
    struct smp_profile *profile = NULL;
    struct smp_tree *tree = NULL;
    uint32_t node = 0;
    const uint32_t stack[] = { smp_methods_pseudo(methods, "[leaf]"),
                               smp_methods_pseudo(methods, "[root]") };

    assert_int_equal(smp_tree_create(NULL, STATES, PART_BYTES, &tree), SMP_OK);
    assert_int_equal(smp_thread_groups_create(NULL, PART_BYTES, &groups), SMP_OK);
    const struct smp_group group =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = "main" });
    struct smp_group_info *const info = smp_thread_groups_info(groups, group);
    smp_tally_note(&info->tally, SMP_OUTCOME_WALKED);
    assert_int_equal(smp_tree_root(tree, group.index, &info->root), SMP_OK);
    assert_int_equal(smp_tree_add(tree, info->root, &stack[1], 1, &node), SMP_OK);
    smp_tree_credit_wall(tree, node, SMP_STATE_RUNNING, MS);
    assert_int_equal(smp_tree_add(tree, info->root, stack, 2, &node), SMP_OK);
    smp_tree_credit_wall(tree, node, SMP_STATE_BLOCKED, 20 * MS);
    smp_tree_credit_wall(tree, node, SMP_STATE_RUNNABLE, 3 * MS);
    smp_tree_credit_wall(tree, node, SMP_STATE_RUNNING, 7);
    assert_int_equal(smp_profile_create(NULL, tree, groups, methods, &profile), SMP_OK);
    return profile;
}

static void assert_shows(enum smp_format format, struct smp_export_style style, const char *text,
                         bool has)
{
    struct smp_methods *methods = NULL;

    assert_int_equal(smp_methods_create(NULL, PART_BYTES, NULL, &methods), SMP_OK);
    struct smp_profile *profile = make_profile(methods);
    assert_exported(profile, format, style, text, has);
    smp_profile_release(profile);
    smp_methods_release(methods);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static void rows_end_with_the_states_that_are_not_0(void **state)
{
    const struct smp_export_style style = { .columns = SMP_STATE_MEASURES };

    (void)state;
    assert_shows(SMP_FORMAT_TEXT, style,
                 "Method time(ms): 0, Running time(ms): 1, Runnable 3, Blocked 20\n", false);
    assert_shows(SMP_FORMAT_TEXT, style,
                 "Method time(ms): 1, Running time(ms): 1, Runnable 3, Blocked 20\n", true);
    assert_shows(SMP_FORMAT_TEXT, style, "Method time(ms): 23, Runnable time(ms): 3, Blocked 20\n",
                 true);
    assert_shows(SMP_FORMAT_TEXT, (struct smp_export_style){ .columns = 0 },
                 "Method time(ms): 23\n", true);
}

static void each_export_has_them(void **state)
{
    const struct smp_export_style style = { .measure = SMP_MEASURE_WALL };
    const struct smp_export_style blocked = { .measure = SMP_MEASURE_BLOCKED };

    (void)state;
    assert_shows(SMP_FORMAT_JSON, style, "\"running\":[1000000,7]", true);
    assert_shows(SMP_FORMAT_JSON, style, "\"blocked\":[0,20000000]", true);
    assert_shows(SMP_FORMAT_JSON, style, "\"idle\":", false); /* no node is idle */
    assert_shows(SMP_FORMAT_COLLAPSED, blocked, "main;[root];[leaf] 20000000", true);
    assert_shows(SMP_FORMAT_COLLAPSED, blocked, "main;[root] ", false);
    assert_shows(SMP_FORMAT_PPROF, style, "runnable", true);
    assert_shows(SMP_FORMAT_OTLP, style, "runnable", true);
    assert_shows(SMP_FORMAT_SPEEDSCOPE, blocked, "20000000", true);
}

static void the_account_says_that_the_application_is_guessed(void **state)
{
    (void)state;
    assert_shows(SMP_FORMAT_TEXT, (struct smp_export_style){ .columns = 0 },
                 "\napplication guessed: all but the JDK and known frameworks\n", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_end_with_the_states_that_are_not_0),
        cmocka_unit_test(each_export_has_them),
        cmocka_unit_test(the_account_says_that_the_application_is_guessed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
