/* SPDX-License-Identifier: Apache-2.0 */
/* The children of every node of random profiles, compared with those that a walk of all groups
 * finds. SMP_TEST_ROUNDS sets the number of rounds. */
#include "export/tree_walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "export/tree_walk.h"
#include "support/failing_alloc.h"
#include "support/random_profile.h"

enum { ROUNDS = 100, MAX_CHILDREN = 1000 };

/* --- the reference implementation --- */

static const struct smp_profile *compared;

static int64_t wall_of(uint32_t node)
{
    return smp_column_at(smp_tree_column(compared->tree, SMP_MEASURE_WALL), node);
}

static int compare_nodes(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a;
    const uint32_t right = *(const uint32_t *)b;

    if (wall_of(left) != wall_of(right))
        return wall_of(left) > wall_of(right) ? -1 : 1;
    return left < right ? -1 : 1;
}

/* Returns the children that a walk of the group finds. */
static size_t reference_of(const struct smp_profile *profile, uint32_t root, uint32_t node,
                           uint32_t found[MAX_CHILDREN])
{
    struct smp_tree_walk walk;
    size_t count = 0;

    smp_tree_walk_init(&walk, NULL, profile->tree);
    smp_tree_walk_begin(&walk, root);
    while (smp_tree_walk_next(&walk)) {
        const uint32_t parent = walk.depth > 1 ? walk.path[walk.depth - 2] : root;
        if (parent == node) {
            assert_true(count < MAX_CHILDREN);
            found[count++] = smp_tree_walk_node(&walk);
        }
    }
    smp_tree_walk_fini(&walk);
    compared = profile;
    qsort(found, count, sizeof(found[0]), compare_nodes);
    return count;
}

static void assert_children(const struct smp_profile *profile, uint32_t root, uint32_t node)
{
    uint32_t expected[MAX_CHILDREN];
    const size_t count = reference_of(profile, root, node, expected);
    struct smp_children children;

    assert_int_equal(smp_children_init(&children, NULL, profile->tree, node), SMP_OK);
    assert_int_equal(children.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(children.nodes[i], expected[i]);
    smp_children_fini(&children);
}

static void assert_all_children(const struct smp_profile *profile)
{
    for (uint32_t i = 0; i < smp_thread_groups_count(profile->groups); i++) {
        const uint32_t root =
            smp_thread_groups_info(profile->groups, (struct smp_group){ .index = i })->root;
        struct smp_tree_walk walk;
        if (root == 0)
            continue;
        assert_children(profile, root, root);
        smp_tree_walk_init(&walk, NULL, profile->tree);
        smp_tree_walk_begin(&walk, root);
        while (smp_tree_walk_next(&walk))
            assert_children(profile, root, smp_tree_walk_node(&walk));
        smp_tree_walk_fini(&walk);
    }
}

/* --- the tests --- */

static int rounds(void)
{
    const char *text = getenv("SMP_TEST_ROUNDS");

    return text == NULL ? ROUNDS : atoi(text);
}

static void children_match_those_of_a_walk(void **state)
{
    for (int round = 0; round < rounds(); round++) {
        unsigned seed = (unsigned)round * 7919 + 3;
        assert_all_children(random_profile(*state, next_random(&seed) % 40, &seed));
        report_fixture_begin(*state);
    }
}

static void the_hottest_child_is_first_and_equal_ones_keep_their_order(void **state)
{
    const uint32_t top = report_fixture_add(*state, "main", 0, "a.A.run(A.java:1)", 0);
    const uint32_t cold = report_fixture_add(*state, "main", top, "c.C.c(C.java:1)", 5);
    const uint32_t second = report_fixture_add(*state, "main", top, "z.Z.z(Z.java:1)", 7);
    const uint32_t third = report_fixture_add(*state, "main", top, "b.B.b(B.java:1)", 7);
    const uint32_t hot = report_fixture_add(*state, "main", top, "d.D.d(D.java:1)", 8);
    struct smp_children children;

    assert_int_equal(smp_children_init(&children, NULL, report_fixture_finish(*state)->tree, top),
                     SMP_OK);
    assert_int_equal(children.count, 4);
    assert_int_equal(children.nodes[0], hot);
    assert_int_equal(children.nodes[1], second);
    assert_int_equal(children.nodes[2], third);
    assert_int_equal(children.nodes[3], cold);
    smp_children_fini(&children);
}

static void a_leaf_has_no_children(void **state)
{
    const uint32_t leaf = report_fixture_add(*state, "main", 0, "a.A.run(A.java:1)", 1);
    struct smp_children children;

    assert_int_equal(smp_children_init(&children, NULL, report_fixture_finish(*state)->tree, leaf),
                     SMP_OK);
    assert_int_equal(children.count, 0);
    smp_children_fini(&children);
}

static void an_invalid_node_is_refused(void **state)
{
    struct smp_children children;

    report_fixture_credit(*state, "main", "m", "a.A.a(A.java:1)", 5);
    const struct smp_profile *const profile = report_fixture_finish(*state);
    const uint64_t count = smp_tree_node_count(profile->tree);
    const uint64_t none[] = { 0, count, count + 1, UINT32_MAX, UINT64_C(1) << 32 | 1, UINT64_MAX };
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        assert_int_equal(smp_children_init(&children, NULL, profile->tree, none[i]), SMP_EINVAL);
        assert_null(children.nodes);
    }
}

struct request {
    const struct smp_profile *profile;
    uint32_t node;
};

static enum smp_status find_children(void *self)
{
    const struct request *const request = self;
    struct smp_children children;
    const enum smp_status status =
        smp_children_init(&children, NULL, request->profile->tree, request->node);

    if (status == SMP_OK)
        smp_children_fini(&children);
    return status;
}

static void each_allocation_may_be_refused(void **state)
{
    const uint32_t top = report_fixture_add(*state, "main", 0, "a.A.run(A.java:1)", 0);

    (void)report_fixture_add(*state, "main", top, "c.C.c(C.java:1)", 5);
    struct request request = { .profile = report_fixture_finish(*state), .node = top };
    const struct failing_alloc_steps steps = failing_alloc_each_step(find_children, &request);
    assert_int_equal(steps.refused, 1);
    assert_int_equal(steps.survived, 0);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, report_fixture_setup, report_fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(children_match_those_of_a_walk),
        TEST(the_hottest_child_is_first_and_equal_ones_keep_their_order),
        TEST(a_leaf_has_no_children),
        TEST(an_invalid_node_is_refused),
        TEST(each_allocation_may_be_refused),
    };
#undef TEST
    return cmocka_run_group_tests_name("children", tests, NULL, NULL);
}
