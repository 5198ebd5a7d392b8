/* SPDX-License-Identifier: Apache-2.0 */
/* The hottest lines of random profiles, compared with sums over the leaves of their collapsed
 * forms. SMP_TEST_ROUNDS sets the number of rounds. */
#include "export/hot_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/hot_groups.h"
#include "support/collapsed_lines.h"
#include "support/failing_alloc.h"
#include "support/random_profile.h"
#include "support/rounds.h"

enum { ROUNDS = 100, MAX_LINES = 128, ALL = 1000, PART_BYTES = 1 << 22 };

/* --- the reference implementation --- */

struct leaf {
    char *group; /* as in the collapsed form */
    size_t rank; /* of the group */
    char *text;
    int64_t amounts[SMP_MEASURE_SAMPLES + 1];
};

struct leaves {
    struct leaf list[MAX_LINES];
    size_t count;
};

/* Returns a group's name as the collapsed form writes it. */
static const char *collapsed_group(const struct smp_profile *profile, uint32_t index)
{
    const char *const name = smp_profile_group_info(profile, index)->name;

    if (strcmp(name, "a;b \n") == 0)
        return "a\\u003bb \\n";
    return name[0] == '\0' ? "[unnamed]" : name;
}

static size_t rank_of_group(const struct smp_profile *profile, const char *group)
{
    struct smp_hot_groups groups;
    size_t rank = 0;

    assert_int_equal(smp_hot_groups_init(&groups, NULL, profile, SMP_GROUP_SAMPLED), SMP_OK);
    while (rank < groups.count &&
           strcmp(collapsed_group(profile, groups.indices[rank]), group) != 0)
        rank++;
    assert_true(rank < groups.count);
    smp_hot_groups_fini(&groups);
    return rank;
}

static struct leaf *leaf_of(struct leaves *leaves, const struct smp_profile *profile,
                            const char *stack)
{
    const char *const text = strrchr(stack, ';') + 1;
    const size_t length = strcspn(stack, ";");

    for (size_t i = 0; i < leaves->count; i++) {
        const struct leaf *const leaf = &leaves->list[i];
        if (strcmp(leaf->text, text) == 0 && strlen(leaf->group) == length &&
            strncmp(leaf->group, stack, length) == 0)
            return &leaves->list[i];
    }
    assert_true(leaves->count < MAX_LINES);
    struct leaf *const made = &leaves->list[leaves->count++];
    made->group = strndup(stack, length);
    made->rank = rank_of_group(profile, made->group);
    made->text = strdup(text);
    return made;
}

static int compare_leaves(const void *a, const void *b)
{
    const struct leaf *const left = a;
    const struct leaf *const right = b;
    const int order = strcmp(left->text, right->text);

    if (left->amounts[SMP_MEASURE_WALL] != right->amounts[SMP_MEASURE_WALL])
        return left->amounts[SMP_MEASURE_WALL] > right->amounts[SMP_MEASURE_WALL] ? -1 : 1;
    return order != 0 ? order : (left->rank > right->rank) - (left->rank < right->rank);
}

static struct leaves reference_of(const struct smp_profile *profile)
{
    struct leaves leaves = { 0 };

    for (int measure = 0; measure <= SMP_MEASURE_SAMPLES; measure++) {
        struct collapsed_lines lines = collapsed_lines_of(profile, (enum smp_measure)measure);
        for (size_t i = 0; i < lines.count; i++)
            leaf_of(&leaves, profile, lines.list[i].stack)->amounts[measure] +=
                lines.list[i].amount;
        collapsed_lines_fini(&lines);
    }
    qsort(leaves.list, leaves.count, sizeof(leaves.list[0]), compare_leaves);
    return leaves;
}

static void leaves_fini(struct leaves *leaves)
{
    for (size_t i = 0; i < leaves->count; i++) {
        free(leaves->list[i].text);
        free(leaves->list[i].group);
    }
}

/* The text equals the line's text, except for the separator. */
static void assert_location(const struct smp_profile *profile, const struct smp_hot_line *line)
{
    struct smp_bytes text;
    struct smp_bytes expected;

    smp_bytes_init(&text, NULL, PART_BYTES);
    smp_bytes_init(&expected, NULL, PART_BYTES);
    smp_methods_frame_text(profile->methods, line->location, &text);
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] == ';')
            smp_bytes_puts(&expected, "\\u003b");
        else
            smp_bytes_put(&expected, &text.data[i], 1);
    }
    assert_int_equal(text.status, SMP_OK);
    assert_string_equal(smp_bytes_text(&expected), line->text);
    smp_bytes_fini(&expected);
    smp_bytes_fini(&text);
}

static void assert_hot(const struct smp_profile *profile, size_t most)
{
    struct leaves leaves = reference_of(profile);
    struct smp_hot_lines hot;

    assert_int_equal(smp_hot_lines_init(&hot, NULL, profile, most), SMP_OK);
    assert_int_equal(hot.count, leaves.count < most ? leaves.count : most);
    for (size_t i = 0; i < hot.count; i++) {
        assert_string_equal(hot.lines[i].text, leaves.list[i].text);
        assert_string_equal(collapsed_group(profile, hot.lines[i].group), leaves.list[i].group);
        assert_location(profile, &hot.lines[i]);
        assert_int_equal(hot.lines[i].self.of[SMP_MEASURE_WALL],
                         leaves.list[i].amounts[SMP_MEASURE_WALL]);
        assert_int_equal(hot.lines[i].self.of[SMP_MEASURE_CPU],
                         leaves.list[i].amounts[SMP_MEASURE_CPU]);
        assert_int_equal(hot.lines[i].self.of[SMP_MEASURE_SAMPLES],
                         leaves.list[i].amounts[SMP_MEASURE_SAMPLES]);
    }
    smp_hot_lines_fini(&hot);
    leaves_fini(&leaves);
}

/* --- the tests --- */

static void hot_lines_match_the_leaves_of_all_stacks(void **state)
{
    for (int round = 0; round < test_rounds(ROUNDS); round++) {
        unsigned seed = (unsigned)round * 104729 + 1;
        const size_t stacks = next_random(&seed) % 80;
        const struct smp_profile *const profile = random_profile(*state, stacks, &seed);
        assert_hot(profile, ALL);
        assert_hot(profile, next_random(&seed) % 6);
        report_fixture_begin(*state);
    }
}

static void the_hottest_come_first_and_equal_ones_by_text(void **state)
{
    struct smp_hot_lines hot;

    report_fixture_credit(*state, "main", "m", "a.A.a(A.java:1)|x.X.x(X.java:1)", 11);
    report_fixture_credit(*state, "pool", "p", "b.B.b(B.java:1)|c.C.c(C.java:1)|x.X.x(X.java:1)",
                          6);
    report_fixture_credit(*state, "pool", "p", "d.D.d(D.java:1)|x.X.x(X.java:1)", 5);
    report_fixture_credit(*state, "pool", "p", "z.Z.z(Z.java:1)", 11);
    report_fixture_credit(*state, "main", "m", "w.W.w(W;.java:2)", 12);
    report_fixture_credit(*state, "main", "m", "o.O.o(O.java:1)", 3);
    const struct smp_profile *const profile = report_fixture_finish(*state);
    assert_int_equal(smp_hot_lines_init(&hot, NULL, profile, 4), SMP_OK);
    assert_int_equal(hot.count, 4);
    assert_string_equal(hot.lines[0].text, "w.W.w(W\\u003b.java:2)");
    assert_int_equal(hot.lines[0].self.of[SMP_MEASURE_WALL], 12);
    /* The same line in two groups counts as two lines; the one of the hotter group is first. */
    assert_string_equal(hot.lines[1].text, "x.X.x(X.java:1)");
    assert_string_equal(collapsed_group(profile, hot.lines[1].group), "main");
    assert_int_equal(hot.lines[1].self.of[SMP_MEASURE_WALL], 11);
    assert_int_equal(hot.lines[1].self.of[SMP_MEASURE_SAMPLES], 1);
    assert_string_equal(hot.lines[2].text, "x.X.x(X.java:1)");
    assert_string_equal(collapsed_group(profile, hot.lines[2].group), "pool");
    assert_int_equal(hot.lines[2].self.of[SMP_MEASURE_WALL], 11);
    assert_int_equal(hot.lines[2].self.of[SMP_MEASURE_SAMPLES], 2);
    assert_string_equal(hot.lines[3].text, "z.Z.z(Z.java:1)");
    smp_hot_lines_fini(&hot);
}

static void an_empty_profile_has_no_hot_lines(void **state)
{
    assert_hot(report_fixture_finish(*state), ALL);
}

static void a_line_without_own_time_is_not_listed(void **state)
{
    struct smp_profile *const profile = report_fixture_finish(*state);
    struct smp_methods *const names = profile->methods;
    const uint32_t locations[] = { smp_methods_pseudo(names, "[leaf]"),
                                   smp_methods_pseudo(names, "[root]") };
    struct smp_tree *tree = NULL;
    struct smp_thread_groups *groups = NULL;
    struct smp_profile *made = NULL;
    uint32_t leaf = 0;

    assert_int_equal(smp_tree_create(NULL, SMP_SAMPLED_MEASURES, PART_BYTES, &tree), SMP_OK);
    assert_int_equal(smp_thread_groups_create(NULL, PART_BYTES, &groups), SMP_OK);
    const struct smp_group group =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = "main" });
    struct smp_group_info *const info = smp_thread_groups_info(groups, group);
    assert_int_equal(smp_tree_root(tree, group.index, &info->root), SMP_OK);
    assert_int_equal(smp_tree_add(tree, info->root, locations, 2, &leaf), SMP_OK);
    smp_tree_credit(tree, leaf, SMP_MEASURE_WALL, 7);
    assert_int_equal(smp_profile_create(NULL, tree, groups, names, &made), SMP_OK);
    struct smp_hot_lines hot;
    assert_int_equal(smp_hot_lines_init(&hot, NULL, made, ALL), SMP_OK);
    assert_int_equal(hot.count, 1);
    assert_string_equal(hot.lines[0].text, "[leaf]");
    smp_hot_lines_fini(&hot);
    smp_profile_release(made);
}

static void lines_of_equal_text_are_added(void **state)
{
    struct smp_hot_lines hot;

    /* The end of a line, and the two characters that replace it. */
    report_fixture_credit(*state, "main", "m", "a.A.a(A\n.java:1)", 5);
    report_fixture_credit(*state, "main", "m", "a.A.a(A\\n.java:1)", 6);
    assert_int_equal(smp_hot_lines_init(&hot, NULL, report_fixture_finish(*state), ALL), SMP_OK);
    assert_int_equal(hot.count, 1);
    assert_string_equal(hot.lines[0].text, "a.A.a(A\\n.java:1)");
    assert_int_equal(hot.lines[0].self.of[SMP_MEASURE_WALL], 11);
    smp_hot_lines_fini(&hot);
}

static enum smp_status find_lines(void *self)
{
    struct smp_hot_lines hot;
    const enum smp_status status = smp_hot_lines_init(&hot, NULL, self, ALL);

    if (status == SMP_OK)
        smp_hot_lines_fini(&hot);
    return status;
}

static void each_allocation_may_be_refused(void **state)
{
    unsigned seed = 9;
    struct smp_profile *const profile = random_profile(*state, 500, &seed);
    const struct failing_alloc_steps steps = failing_alloc_each_step(find_lines, profile);

    assert_true(steps.refused >= 8);
    assert_int_equal(steps.survived, 0);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, report_fixture_setup, report_fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(hot_lines_match_the_leaves_of_all_stacks),
        TEST(the_hottest_come_first_and_equal_ones_by_text),
        TEST(lines_of_equal_text_are_added),
        TEST(an_empty_profile_has_no_hot_lines),
        TEST(a_line_without_own_time_is_not_listed),
        TEST(each_allocation_may_be_refused),
    };
#undef TEST
    return cmocka_run_group_tests_name("hot_lines", tests, NULL, NULL);
}
