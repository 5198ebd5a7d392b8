/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "model/tree.h"
#include "model/tree_parts.h"
#include "support/failing_alloc.h"
#include "support/reference_tree.h"
#include "support/rounds.h"
#include "support/tree_amounts.h"

enum {
    MAX_BYTES = 64 * 1024 * 1024,
    QUOTA_BYTES = 2 * MAX_BYTES,
    FIRST_BYTES = 3 * SMP_ARENA_STEP, /* the first pages of nodes, table and slots */
    ROUNDS = 100000,
    GROUPS = 7,
    MAX_DEPTH = 40,
    DEEP = 65536,
    CHILDREN = 30000,
    TEXT_BYTES = 32
};

struct fixture {
    struct smp_quota quota;
    struct smp_tree *tree;
    struct reference_tree *reference;
    uint64_t seed;
};

static int set_up(void **state)
{
    static struct fixture fixture;

    memset(&fixture, 0, sizeof(fixture));
    smp_quota_init(&fixture.quota, QUOTA_BYTES);
    fixture.reference = reference_tree_create();
    fixture.seed = 88172645463325252u;
    assert_int_equal(
        smp_tree_create(&fixture.quota, SMP_SAMPLED_MEASURES, MAX_BYTES, &fixture.tree), SMP_OK);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    smp_tree_destroy(fixture->tree);
    reference_tree_destroy(fixture->reference);
    assert_int_equal(smp_quota_used(&fixture->quota), 0);
    assert_int_equal(smp_alloc_live_bytes(), 0);
    return 0;
}

/* --- helpers --- */

static uint32_t below(struct fixture *fixture, uint32_t bound)
{
    uint64_t x = fixture->seed;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    fixture->seed = x;
    return (uint32_t)((x >> 32) % bound);
}

static const char *text_of(uint32_t location, char text[TEXT_BYTES])
{
    if ((location & SMP_LOCATION_GROUP) != 0)
        snprintf(text, TEXT_BYTES, "group %u", location & ~SMP_LOCATION_GROUP);
    else
        snprintf(text, TEXT_BYTES, "C.m(C.java:%u)", location);
    return text;
}

static uint32_t root_of(struct smp_tree *tree, uint32_t group)
{
    uint32_t root = 0;

    assert_int_equal(smp_tree_root(tree, group, &root), SMP_OK);
    return root;
}

static uint32_t add(struct smp_tree *tree, uint32_t root, const uint32_t *locations, size_t count)
{
    uint32_t leaf = 0;

    assert_int_equal(smp_tree_add(tree, root, locations, count, &leaf), SMP_OK);
    return leaf;
}

static struct reference_node *add_to_reference(struct reference_tree *reference, uint32_t group,
                                               const uint32_t *locations, size_t count)
{
    char text[TEXT_BYTES];
    struct reference_node *node =
        reference_tree_find_or_add(reference, NULL, text_of(SMP_LOCATION_GROUP | group, text));

    for (size_t i = count; i > 0; i--)
        node = reference_tree_find_or_add(reference, node, text_of(locations[i - 1], text));
    return node;
}

static void credit_both(struct fixture *fixture, uint32_t leaf, struct reference_node *reference,
                        int64_t wall_ns, int64_t cpu_ns, uint32_t samples)
{
    tree_credit(fixture->tree, leaf, wall_ns, cpu_ns, samples);
    reference->self_wall_ns += wall_ns;
    reference->self_cpu_ns += cpu_ns;
    reference->samples += samples;
}

/* Generates stacks that share more at the root end than at the leaf end, some with recursions. */
static size_t random_stack(struct fixture *fixture, uint32_t *locations)
{
    const size_t depth = below(fixture, MAX_DEPTH + 1);

    for (size_t i = 0; i < depth; i++) {
        const bool rare = below(fixture, 8) == 0;
        locations[depth - 1 - i] = 1 + (rare ? below(fixture, 5) : (uint32_t)i % 11);
    }
    return depth;
}

/* Compares paths and own amounts node by node, and totals if finished. */
static void assert_equals_reference(const struct smp_tree *tree, struct reference_tree *reference)
{
    const struct smp_node *nodes = smp_tree_nodes(tree);
    const size_t count = smp_tree_node_count(tree);
    const bool is_finished = smp_tree_next_siblings(tree) != NULL;
    struct reference_node **references = test_calloc(count, sizeof(struct reference_node *));
    char text[TEXT_BYTES];

    assert_int_equal(count, reference_tree_count(reference) + 1);
    reference_tree_totals(reference);
    for (struct reference_node *node = reference_tree_first(reference); node != NULL;
         node = node->next)
        node->visits = 0;
    for (uint32_t i = 1; i < count; i++) {
        assert_true(nodes[i].parent < i);
        references[i] = reference_tree_find(reference, references[nodes[i].parent],
                                            text_of(nodes[i].location, text));
        assert_non_null(references[i]);
        assert_int_equal(references[i]->visits++, 0);
        const struct smp_amounts own = smp_tree_self_all(tree, i);
        assert_int_equal(own.of[SMP_MEASURE_WALL], references[i]->self_wall_ns);
        assert_int_equal(own.of[SMP_MEASURE_CPU], references[i]->self_cpu_ns);
        assert_int_equal(own.of[SMP_MEASURE_SAMPLES], references[i]->samples);
        if (is_finished) {
            assert_int_equal(tree_wall(tree, i), references[i]->total_wall_ns);
            assert_int_equal(tree_cpu(tree, i), references[i]->total_cpu_ns);
        }
    }
    test_free(references);
}

/* Every node is reached once from node 0 along first children and next siblings. */
static void assert_links_reach_all(const struct smp_tree *tree)
{
    const struct smp_node *nodes = smp_tree_nodes(tree);
    const uint32_t *siblings = smp_tree_next_siblings(tree);
    size_t reached = 0;
    uint32_t at = nodes[0].last_child;

    assert_non_null(siblings);
    while (at != 0) {
        reached++;
        assert_true(siblings[at] == 0 || siblings[at] > at);
        assert_true(siblings[at] == 0 || nodes[siblings[at]].parent == nodes[at].parent);
        if (nodes[at].last_child != 0) {
            at = nodes[at].last_child;
            continue;
        }
        while (at != 0 && siblings[at] == 0)
            at = nodes[at].parent;
        at = siblings[at];
    }
    assert_int_equal(reached + 1, smp_tree_node_count(tree));
}

/* --- adding --- */

static void stacks_share_their_common_outer_frames(void **state)
{
    struct smp_tree *tree = ((struct fixture *)*state)->tree;
    const uint32_t one[] = { 12, 10, 5 };
    const uint32_t other[] = { 20, 10, 5 };
    const uint32_t root = root_of(tree, 1);
    const uint32_t leaf = add(tree, root, one, 3);
    const uint32_t sibling = add(tree, root, other, 3);
    const struct smp_node *nodes = smp_tree_nodes(tree);

    assert_int_equal(smp_tree_node_count(tree), 1 + 1 + 4);
    assert_int_equal(nodes[leaf].location, 12);
    assert_int_equal(nodes[sibling].location, 20);
    assert_int_equal(nodes[leaf].parent, nodes[sibling].parent);
    assert_int_equal(nodes[nodes[leaf].parent].location, 10);
    assert_int_equal(nodes[nodes[nodes[leaf].parent].parent].parent, root);
    assert_int_equal(nodes[root].parent, 0);
    assert_int_equal(nodes[root].location, SMP_LOCATION_GROUP | 1);
}

static void adding_a_stack_again_finds_its_node(void **state)
{
    struct smp_tree *tree = ((struct fixture *)*state)->tree;
    const uint32_t stacks[][2] = { { 2, 1 }, { 3, 1 }, { 1, 1 }, { 1, 2 } };
    uint32_t leaves[4];

    for (size_t i = 0; i < 4; i++)
        leaves[i] = add(tree, root_of(tree, 0), stacks[i], 2);
    /* Alternates two stacks, so that no cached position is right. */
    for (size_t i = 0; i < 40; i++)
        assert_int_equal(add(tree, root_of(tree, 0), stacks[i % 4], 2), leaves[i % 4]);
    assert_int_equal(smp_tree_node_count(tree), 1 + 1 + 6);
}

/* Neither the child found last nor the next node is right, so the look-up needs the slots. */
static void each_of_very_many_children_is_found(void **state)
{
    struct smp_tree *tree = ((struct fixture *)*state)->tree;
    const uint32_t root = root_of(tree, 0);

    for (uint32_t location = 1; location <= CHILDREN; location++)
        assert_int_equal(add(tree, root, &location, 1), root + location);
    for (uint32_t location = CHILDREN; location > 0; location--)
        assert_int_equal(add(tree, root, &location, 1), root + location);
    assert_int_equal(smp_tree_node_count(tree), CHILDREN + 2);
}

static void groups_have_separate_trees(void **state)
{
    struct smp_tree *tree = ((struct fixture *)*state)->tree;
    const uint32_t stack[] = { 2, 1 };
    const uint32_t one = root_of(tree, 0);
    const uint32_t other = root_of(tree, 19999);

    assert_int_not_equal(one, other);
    assert_int_not_equal(add(tree, one, stack, 2), add(tree, other, stack, 2));
    assert_int_equal(root_of(tree, 0), one);
    assert_int_equal(root_of(tree, 19999), other);
}

static void an_empty_stack_is_the_root_of_its_group(void **state)
{
    struct smp_tree *tree = ((struct fixture *)*state)->tree;
    const uint32_t root = root_of(tree, 3);

    assert_int_equal(add(tree, root, NULL, 0), root);
    assert_int_equal(smp_tree_node_count(tree), 2);
}

static void random_stacks_match_the_reference(void **state)
{
    struct fixture *fixture = *state;
    uint32_t locations[MAX_DEPTH];
    const long rounds = test_rounds(ROUNDS);

    for (long round = 0; round < rounds; round++) {
        const uint32_t group = below(fixture, GROUPS);
        const size_t depth = random_stack(fixture, locations);
        const uint32_t leaf = add(fixture->tree, root_of(fixture->tree, group), locations, depth);
        struct reference_node *reference =
            add_to_reference(fixture->reference, group, locations, depth);
        credit_both(fixture, leaf, reference, below(fixture, 1000000), below(fixture, 1000), 1);
        if (round == rounds / 100)
            assert_equals_reference(fixture->tree, fixture->reference);
    }
    assert_equals_reference(fixture->tree, fixture->reference);
    smp_tree_finish(fixture->tree);
    assert_equals_reference(fixture->tree, fixture->reference);
    assert_links_reach_all(fixture->tree);
}

/* Compares a tree that has some of the measures with a tree of the same nodes that has all of
 * them. */
static void each_measure_is_independent_of_the_others(void **state)
{
    static const uint32_t sets[] = { 0, SMP_MEASURE_BIT(SMP_MEASURE_CPU),
                                     SMP_ALL_MEASURES & ~SMP_MEASURE_BIT(SMP_MEASURE_CPU),
                                     SMP_MEASURE_BIT(SMP_MEASURE_WALL), SMP_SAMPLED_MEASURES };
    enum { SETS = sizeof(sets) / sizeof(sets[0]) };
    struct fixture *fixture = *state;
    struct smp_tree *some[SETS] = { NULL };
    struct smp_tree *all = NULL;
    uint32_t locations[MAX_DEPTH];

    assert_int_equal(smp_tree_create(&fixture->quota, SMP_ALL_MEASURES, MAX_BYTES, &all), SMP_OK);
    for (size_t i = 0; i < SETS; i++)
        assert_int_equal(smp_tree_create(&fixture->quota, sets[i], MAX_BYTES, &some[i]), SMP_OK);
    for (size_t round = 0; round < 3000; round++) {
        const uint32_t group = below(fixture, GROUPS);
        const size_t depth = random_stack(fixture, locations);
        const struct smp_amounts amounts = {
            .of = { [SMP_MEASURE_WALL] = below(fixture, 1000000),
                    [SMP_MEASURE_CPU] = below(fixture, 1000),
                    [SMP_MEASURE_SAMPLES] = 1,
                    [SMP_MEASURE_CALLS] = below(fixture, 10) },
        };
        const uint32_t leaf = add(all, root_of(all, group), locations, depth);
        smp_tree_credit_all(all, leaf, &amounts);
        for (size_t i = 0; i < SETS; i++) {
            assert_int_equal(add(some[i], root_of(some[i], group), locations, depth), leaf);
            smp_tree_credit_all(some[i], leaf, &amounts);
        }
    }
    smp_tree_finish(all);
    assert_links_reach_all(all);
    for (size_t i = 0; i < SETS; i++) {
        smp_tree_finish(some[i]);
        assert_links_reach_all(some[i]);
        for (uint32_t node = 0; node < smp_tree_node_count(some[i]); node++) {
            const struct smp_amounts own = smp_tree_self_all(some[i], node);
            for (int m = 0; m < SMP_MEASURE_COUNT; m++) {
                const bool holds = (sets[i] & SMP_MEASURE_BIT(m)) != 0;
                const enum smp_measure measure = (enum smp_measure)m;
                assert_int_equal(smp_column_at(smp_tree_column(some[i], measure), node),
                                 holds ? smp_column_at(smp_tree_column(all, measure), node) : 0);
                assert_int_equal(own.of[m], holds ? smp_tree_self(all, node, measure) : 0);
            }
        }
        smp_tree_destroy(some[i]);
    }
    smp_tree_destroy(all);
}

/* A deep recursion: many nodes with one location, each the only child of its parent. */
static void stacks_of_any_depth_are_added(void **state)
{
    struct smp_tree *tree = ((struct fixture *)*state)->tree;
    uint32_t *locations = test_calloc(DEEP, sizeof(*locations));
    const uint32_t root = root_of(tree, 0);
    uint32_t leaf;

    for (size_t i = 0; i < DEEP; i++)
        locations[i] = 77;
    leaf = add(tree, root, locations, DEEP);
    assert_int_equal(smp_tree_node_count(tree), DEEP + 2);
    assert_int_equal(add(tree, root, locations, DEEP), leaf);
    assert_int_equal(smp_tree_node_count(tree), DEEP + 2);
    /* Half of the same stack, with a new leaf. */
    locations[DEEP / 2 - 1] = 78;
    assert_int_not_equal(add(tree, root, locations, DEEP), leaf);
    assert_int_equal(smp_tree_node_count(tree), DEEP + 2 + DEEP / 2);

    tree_credit(tree, leaf, 5, 3, 1);
    smp_tree_finish(tree);
    assert_int_equal(tree_wall(tree, root), 5);
    assert_int_equal(tree_cpu(tree, root), 3);
    assert_links_reach_all(tree);
    test_free(locations);
}

/* --- figures --- */

static void totals_include_the_node_and_all_below_it(void **state)
{
    struct smp_tree *tree = ((struct fixture *)*state)->tree;
    const uint32_t stack[] = { 2, 1 };
    const uint32_t sibling[] = { 3, 1 };
    const uint32_t root = root_of(tree, 0);
    const uint32_t leaf = add(tree, root, stack, 2);
    const uint32_t other = add(tree, root, sibling, 2);
    const uint32_t middle = add(tree, root, &stack[1], 1);
    const struct smp_node *nodes = smp_tree_nodes(tree);

    tree_credit(tree, leaf, 100, 10, 1);
    tree_credit(tree, leaf, 100, 10, 2);
    tree_credit(tree, other, 30, 3, 1);
    tree_credit(tree, middle, 7, 1, 1);
    assert_null(smp_tree_next_siblings(tree));
    smp_tree_finish(tree);

    assert_int_equal(tree_wall(tree, leaf), 200);
    assert_int_equal(tree_own_samples(tree, leaf), 3);
    assert_int_equal(tree_wall(tree, middle), 237);
    assert_int_equal(tree_cpu(tree, middle), 24);
    assert_int_equal(tree_wall(tree, root), 237);
    assert_int_equal(tree_wall(tree, 0), 237);
    assert_int_equal(smp_tree_self(tree, middle, SMP_MEASURE_WALL), 7);
    assert_int_equal(smp_tree_self(tree, middle, SMP_MEASURE_CPU), 1);
    assert_int_equal(smp_tree_self(tree, middle, SMP_MEASURE_SAMPLES), 1);
    assert_int_equal(smp_tree_self(tree, root, SMP_MEASURE_WALL), 0);
    /* Children in the order they were added. */
    assert_int_equal(nodes[middle].last_child, leaf);
    assert_int_equal(smp_tree_next_siblings(tree)[leaf], other);
    assert_int_equal(smp_tree_next_siblings(tree)[other], 0);
}

static void a_finished_tree_does_not_change(void **state)
{
    struct smp_tree *tree = ((struct fixture *)*state)->tree;
    const uint32_t location = 1;
    const uint32_t root = root_of(tree, 0);
    const uint32_t leaf = add(tree, root, &location, 1);
    const size_t bytes = smp_tree_bytes(tree);
    uint32_t untouched = 4711;

    tree_credit(tree, leaf, 9, 9, 9);
    smp_tree_finish(tree);
    smp_tree_finish(tree);
    assert_int_equal(smp_tree_add(tree, root, &location, 1, &untouched), SMP_ESTATE);
    assert_int_equal(smp_tree_root(tree, 5, &untouched), SMP_ESTATE);
    assert_int_equal(untouched, 4711);
    tree_credit(tree, leaf, 1, 1, 1);
    smp_tree_credit_all(tree, leaf, &(const struct smp_amounts){ .of = { 1, 1, 1 } });
    assert_int_equal(tree_wall(tree, root), 9);
    assert_int_equal(tree_own_samples(tree, leaf), 9);
    assert_int_equal(smp_tree_bytes(tree), bytes);
}

/* A thousand threads for four months in one interval: amounts saturate and never become
 * negative. */
static void amounts_saturate_at_their_maximum(void **state)
{
    struct smp_tree *tree = ((struct fixture *)*state)->tree;
    const uint32_t locations[] = { 1, 2, 3 };
    const uint32_t below_first[] = { 4, 1 };
    const uint32_t root = root_of(tree, 0);
    uint32_t leaf = 0;

    tree_credit(tree, add(tree, root, below_first, 2), 7, 0, 7);
    for (size_t i = 0; i < 3; i++) {
        leaf = add(tree, root, &locations[i], 1);
        tree_credit(tree, leaf, INT64_MAX - 1, 1, INT64_MAX - 1);
        tree_credit(tree, leaf, 2, 1, 2);
    }
    tree_credit(tree, leaf, 1, 1, 1);
    smp_tree_finish(tree);
    assert_int_equal(tree_own_samples(tree, leaf), INT64_MAX);
    assert_int_equal(tree_wall(tree, leaf), INT64_MAX);
    assert_int_equal(tree_wall(tree, root), INT64_MAX);
    assert_int_equal(tree_cpu(tree, root), 7);
    assert_int_equal(smp_tree_self(tree, root, SMP_MEASURE_WALL), 0);
    assert_int_equal(smp_tree_self(tree, root, SMP_MEASURE_CPU), 0);
}

/* For each measure, the own amounts of the children exceed the total from which they are
 * subtracted. */
static void own_amounts_below_a_saturated_total_are_never_negative(void **state)
{
    struct fixture *fixture = *state;
    const uint32_t stacks[][2] = { { 2, 1 }, { 3, 1 } };

    for (int measure = 0; measure < SMP_MEASURE_COUNT; measure++) {
        struct smp_amounts amounts = { 0 };
        struct smp_tree *tree = NULL;
        assert_int_equal(smp_tree_create(&fixture->quota, SMP_SAMPLED_MEASURES, MAX_BYTES, &tree),
                         SMP_OK);
        amounts.of[measure] = INT64_MAX - 1;
        for (size_t i = 0; i < 2; i++)
            smp_tree_credit_all(tree, add(tree, root_of(tree, 0), stacks[i], 2), &amounts);
        smp_tree_finish(tree);
        smp_tree_destroy(tree);
    }
}

/* --- memory --- */

static enum smp_status create_and_destroy(void *self)
{
    struct smp_tree *tree = NULL;
    const enum smp_status status = smp_tree_create(self, SMP_SAMPLED_MEASURES, MAX_BYTES, &tree);

    if (status != SMP_OK)
        assert_null(tree);
    smp_tree_destroy(tree);
    return status;
}

static void a_refused_create_leaks_nothing(void **state)
{
    struct fixture *fixture = *state;
    const struct failing_alloc_steps steps =
        failing_alloc_each_step(create_and_destroy, &fixture->quota);

    assert_true(steps.refused > 0);
    assert_int_equal(steps.survived, 0);
    smp_tree_destroy(NULL);
}

static void create_refuses_a_maximum_below_its_first_pages(void **state)
{
    struct fixture *fixture = *state;
    struct smp_tree *tree = NULL;

    assert_int_equal(smp_tree_create(&fixture->quota, SMP_SAMPLED_MEASURES, 0, &tree), SMP_EQUOTA);
    assert_int_equal(smp_tree_create(&fixture->quota, SMP_SAMPLED_MEASURES, FIRST_BYTES - 1, &tree),
                     SMP_EQUOTA);
    assert_null(tree);
    assert_int_equal(smp_tree_create(&fixture->quota, SMP_SAMPLED_MEASURES, FIRST_BYTES, &tree),
                     SMP_OK);
    smp_tree_destroy(tree);
}

/* Adds with its nth request refused, n = 1, 2, ... until nothing is refused any more. */
static uint32_t add_against_refusals(struct fixture *fixture, uint32_t root,
                                     const uint32_t *locations, size_t count, size_t *refusals)
{
    const size_t nodes = smp_tree_node_count(fixture->tree);
    struct failing_alloc failing = { .first = 0 };
    enum smp_status status = SMP_ENOMEM;
    uint32_t leaf = 4711;

    for (size_t n = 1; status == SMP_ENOMEM; n++) {
        failing_alloc_arm(&failing, n, n);
        status = smp_tree_add(fixture->tree, root, locations, count, &leaf);
        *refusals += failing_alloc_disarm(&failing);
        if (status == SMP_ENOMEM) {
            assert_int_equal(leaf, 4711);
            assert_int_equal(smp_tree_node_count(fixture->tree), nodes);
            assert_equals_reference(fixture->tree, fixture->reference);
        }
    }
    assert_int_equal(status, SMP_OK);
    return leaf;
}

static void a_refused_add_changes_nothing_and_can_be_repeated(void **state)
{
    struct fixture *fixture = *state;
    const uint32_t root = root_of(fixture->tree, 0);
    uint32_t locations[MAX_DEPTH];
    size_t refusals = 0;

    add_to_reference(fixture->reference, 0, NULL, 0);
    for (size_t round = 0; round < 2000; round++) {
        const size_t depth = random_stack(fixture, locations);
        const uint32_t leaf = add_against_refusals(fixture, root, locations, depth, &refusals);
        credit_both(fixture, leaf, add_to_reference(fixture->reference, 0, locations, depth), 3, 2,
                    1);
    }
    /* All arrays grew, and each growth was refused once. */
    assert_true(refusals >= 4);
    smp_tree_finish(fixture->tree);
    assert_equals_reference(fixture->tree, fixture->reference);
}

/* A refused add may be repeated while no memory is free. */
static void refused_adds_take_no_memory(void **state)
{
    enum { CHAINS = 3000, LENGTH = 5, TRIES = 300 };
    struct fixture *fixture = *state;
    struct smp_tree *untroubled = NULL;
    struct failing_alloc failing;
    size_t refused = 0;

    assert_int_equal(smp_tree_create(&fixture->quota, SMP_SAMPLED_MEASURES, MAX_BYTES, &untroubled),
                     SMP_OK);
    for (uint32_t i = 0; i < CHAINS; i++) {
        const uint32_t locations[LENGTH] = { 1, 2, 3, 4, 1000 + i };
        uint32_t leaf = 0;
        enum smp_status status = SMP_ENOMEM;
        failing_alloc_arm(&failing, 1, SIZE_MAX);
        for (int k = 0; k < TRIES && status == SMP_ENOMEM; k++)
            status = smp_tree_add(fixture->tree, 0, locations, LENGTH, &leaf);
        refused += failing_alloc_disarm(&failing);
        (void)add(fixture->tree, 0, locations, LENGTH);
        (void)add(untroubled, 0, locations, LENGTH);
    }
    assert_true(refused > 0);
    assert_int_equal(smp_tree_bytes(fixture->tree), smp_tree_bytes(untroubled));
    smp_tree_destroy(untroubled);
}

/* Adds chains below group 0, each with a new first location, until one is refused. */
static enum smp_status fill(struct smp_tree *tree, size_t length, uint32_t *stacks)
{
    uint32_t locations[MAX_DEPTH];
    enum smp_status status = SMP_OK;
    const uint32_t root = root_of(tree, 0);
    uint32_t leaf;

    for (*stacks = 0; status == SMP_OK; ++*stacks) {
        for (size_t i = 0; i < length; i++)
            locations[length - 1 - i] = i == 0 ? 1000 + *stacks : (uint32_t)i;
        status = smp_tree_add(tree, root, locations, length, &leaf);
        if (status == SMP_OK)
            tree_credit(tree, leaf, 1, 0, 1);
    }
    --*stacks;
    return status;
}

static void at_its_maximum_a_tree_still_credits_known_nodes(void **state)
{
    struct fixture *fixture = *state;
    const size_t max_bytes = 1200 * 1000;
    struct smp_tree *tree = NULL;
    const uint32_t known = 1000;
    uint32_t half_known[] = { 999, 1000 };
    uint32_t stacks;
    size_t count;
    uint32_t leaf;

    assert_int_equal(smp_tree_create(&fixture->quota, SMP_SAMPLED_MEASURES, max_bytes, &tree),
                     SMP_OK);
    assert_int_equal(fill(tree, 20, &stacks), SMP_EQUOTA);
    count = smp_tree_node_count(tree);
    assert_int_equal(count, 2 + 20 * (size_t)stacks);
    assert_true(smp_tree_bytes(tree) <= max_bytes + 256); /* plus its own few bytes */
    assert_true(count > max_bytes / 48 * 8 / 10);

    add(tree, root_of(tree, 0), &known, 1);
    while (smp_tree_add(tree, root_of(tree, 0), half_known, 2, &leaf) == SMP_OK)
        half_known[0]++; /* fills the room left by the last complete stack */
    count = smp_tree_node_count(tree);
    assert_int_equal(smp_tree_add(tree, root_of(tree, 0), half_known, 2, &leaf), SMP_EQUOTA);
    assert_int_equal(smp_tree_node_count(tree), count);
    tree_credit(tree, add(tree, root_of(tree, 0), &known, 1), 5, 0, 1);
    smp_tree_finish(tree);
    assert_int_equal(tree_wall(tree, 0), stacks + 5);
    assert_links_reach_all(tree);
    smp_tree_destroy(tree);
}

static void at_the_quota_a_tree_still_credits_known_nodes(void **state)
{
    struct smp_quota quota;
    struct smp_tree *tree = NULL;
    uint32_t stacks;

    (void)state;
    smp_quota_init(&quota, 1000 * 1000);
    assert_int_equal(smp_tree_create(&quota, SMP_SAMPLED_MEASURES, MAX_BYTES, &tree), SMP_OK);
    assert_int_equal(fill(tree, 20, &stacks), SMP_ENOMEM);
    assert_true(atomic_load(&quota.peak) <= quota.limit_bytes);
    assert_int_equal(smp_tree_node_count(tree), 2 + 20 * (size_t)stacks);
    smp_tree_finish(tree);
    assert_int_equal(tree_wall(tree, 0), stacks);
    smp_tree_destroy(tree);
    assert_int_equal(smp_quota_used(&quota), 0);
}

/* Checks every size beyond the first pages, also while the tree grows. */
static void assert_takes_at_most(struct fixture *fixture, struct smp_tree *tree, size_t node_bytes)
{
    const size_t before = smp_quota_used(&fixture->quota) - FIRST_BYTES;
    const uint32_t root = root_of(tree, 0);
    uint32_t locations[MAX_DEPTH];

    assert_int_equal(smp_tree_node_bytes(smp_tree_measures(tree)), node_bytes);
    for (uint32_t i = 0; i < 5000; i++) {
        for (uint32_t at = 0; at < MAX_DEPTH; at++)
            locations[at] = 1 + at + i % 7;
        locations[MAX_DEPTH - 1] = 1000 + i;
        add(tree, root, locations, MAX_DEPTH);
        assert_true(atomic_load(&fixture->quota.peak) - before <=
                    node_bytes * smp_tree_node_count(tree) + FIRST_BYTES);
    }
}

static void reported_room_includes_free_rows(void **state)
{
    enum { ROWS = SMP_ARENA_STEP / 8 };
    struct smp_tree *tree = NULL;

    (void)state;
    assert_int_equal(smp_tree_create(NULL, SMP_SAMPLED_MEASURES, FIRST_BYTES, &tree), SMP_OK);
    assert_false(smp_tree_fits(tree, 0, ROWS));
    tree->free_rows = ROWS;
    assert_true(smp_tree_fits(tree, 0, ROWS));
    assert_false(smp_tree_fits(tree, 0, 2 * ROWS));
    smp_tree_destroy(tree);
}

static void a_node_takes_at_most_52_bytes(void **state)
{
    struct fixture *fixture = *state;

    assert_takes_at_most(fixture, fixture->tree, 52);
    assert_int_equal(smp_tree_bytes(fixture->tree) / 4096, smp_quota_used(&fixture->quota) / 4096);
}

/* Each measure takes 8 bytes; an absent measure takes none. */
static void each_measure_takes_8_bytes_per_node(void **state)
{
    struct fixture *fixture = *state;
    struct smp_tree *tree = NULL;

    assert_int_equal(smp_tree_create(&fixture->quota, SMP_TABLE_MEASURES, MAX_BYTES, &tree),
                     SMP_OK);
    assert_takes_at_most(fixture, tree,
                         52 + 8 * (SMP_TABLE_MEASURE_COUNT - SMP_SAMPLED_MEASURE_COUNT));
    smp_tree_destroy(tree);
}

/* --- figures without a node --- */

static struct smp_tree_unseen *unseen_of(void *context, uint32_t group)
{
    return (struct smp_tree_unseen *)context + group;
}

static void amounts_without_a_stack_are_spread_in_proportion(void **state)
{
    struct fixture *fixture = *state;
    struct smp_tree_unseen unseen[3] = {
        { .amount = 10 },
        { .amount = 11 },
        { .amount = 0 },
    };
    uint32_t roots[3];
    uint32_t nodes[3][3];

    for (uint32_t group = 0; group < 3; group++) {
        roots[group] = root_of(fixture->tree, group);
        for (uint32_t i = 0; i < 3; i++) {
            const uint32_t stack[] = { 10 + i, 5 };
            nodes[group][i] = add(fixture->tree, roots[group], stack, 2);
            tree_credit(fixture->tree, nodes[group][i], 1000, group == 1 ? 0 : 1 + i, 1);
        }
    }
    unseen[1].fallback = nodes[1][2];
    for (int again = 0; again < 2; again++) {
        smp_tree_spread(fixture->tree, SMP_MEASURE_CPU, unseen_of, unseen);
        for (uint32_t group = 0; group < 3; group++)
            assert_int_equal(unseen[group].amount, 0);
    }
    const struct smp_node *at = smp_tree_nodes(fixture->tree);
    /* 10 in the ratio 1 : 2 : 3; the remainder goes to the largest node. */
    assert_int_equal(tree_cpu(fixture->tree, nodes[0][0]), 1 + 1);
    assert_int_equal(tree_cpu(fixture->tree, nodes[0][1]), 2 + 3);
    assert_int_equal(tree_cpu(fixture->tree, nodes[0][2]), 3 + 6);
    /* No node has an amount, so it goes to the fallback. */
    assert_int_equal(tree_cpu(fixture->tree, nodes[1][2]), 11);
    assert_int_equal(tree_wall(fixture->tree, nodes[1][2]), 1000);
    assert_int_equal(tree_cpu(fixture->tree, nodes[2][1]), 2);
    /* The tree still finds its nodes and grows. */
    const uint32_t stack[] = { 11, 5 };
    assert_int_equal(add(fixture->tree, roots[0], stack, 2), nodes[0][1]);
    const uint32_t other[] = { 99, 10, 5 };
    assert_int_equal(at[add(fixture->tree, roots[0], other, 3)].parent, nodes[0][0]);
}

/* Spreads the amount over seven nodes; node i has the weight 8 + i. */
static void assert_spread(struct fixture *fixture, uint32_t group, int64_t most)
{
    enum { NODES = 7 };
    struct smp_tree_unseen unseen[2] = { { .amount = group == 0 ? most : 0 },
                                         { .amount = group == 1 ? most : 0 } };
    const uint32_t root = root_of(fixture->tree, group);
    uint32_t nodes[NODES];
    int64_t seen_ns[NODES];
    int64_t all_ns = 0;
    int64_t left_ns = most;

    for (uint32_t i = 0; i < NODES; i++) {
        nodes[i] = add(fixture->tree, root, &i, 1);
        seen_ns[i] = most / (8 + i);
        all_ns += seen_ns[i];
        tree_credit(fixture->tree, nodes[i], 0, seen_ns[i], 1);
    }
    smp_tree_spread(fixture->tree, SMP_MEASURE_CPU, unseen_of, unseen);
    for (uint32_t i = 0; i < NODES; i++) {
        const int64_t share_ns = tree_cpu(fixture->tree, nodes[i]) - seen_ns[i];
        const double exact_ns = (double)most * ((double)seen_ns[i] / (double)all_ns);
        left_ns -= share_ns;
        assert_true(fabs((double)share_ns - exact_ns) < NODES + exact_ns / 1e12);
    }
    assert_int_equal(left_ns, 0);
}

/* The product of an amount and a weight exceeds 64 bits in both cases. */
static void large_amounts_are_spread_exactly(void **state)
{
    assert_spread(*state, 0, INT64_MAX / 4);
    assert_spread(*state, 1, INT64_C(600000000000)); /* ten minutes */
}

/* Readers of a finished tree do not know leaves that refer to counted nodes. */
static void finishing_removes_time_and_name_of_call_leaves(void **state)
{
    struct fixture *fixture = *state;
    const uint32_t stack[] = { 10, 5 };
    const uint32_t node = add(fixture->tree, root_of(fixture->tree, 0), stack, 2);
    uint32_t leaf = 0;

    assert_int_equal(smp_tree_add_call(fixture->tree, node, 3, &leaf), SMP_OK);
    tree_credit(fixture->tree, leaf, 100, 50, 1);
    smp_tree_finish(fixture->tree);
    assert_int_equal(tree_wall(fixture->tree, node), 100);
    assert_int_equal(tree_wall(fixture->tree, leaf), 0);
    assert_false(smp_node_is_call(&smp_tree_nodes(fixture->tree)[leaf]));
}

static void a_node_without_a_row_credits_the_row_above(void **state)
{
    struct fixture *fixture = *state;
    const uint32_t root = root_of(fixture->tree, 0);
    const uint32_t below = 2;
    uint32_t between = 0;

    assert_int_equal(smp_tree_add_between(fixture->tree, root, 1, &between), SMP_OK);
    const uint32_t leaf = add(fixture->tree, between, &below, 1);
    tree_credit(fixture->tree, leaf, 100, 0, 1);
    tree_credit(fixture->tree, between, 7, 0, 1);
    smp_tree_finish(fixture->tree);
    assert_int_equal(tree_wall(fixture->tree, root), 107);
    assert_int_equal(tree_wall(fixture->tree, between), 100);
    assert_int_equal(tree_wall(fixture->tree, 0), 107);
}

static void a_correction_takes_at_most_what_a_node_has(void **state)
{
    struct fixture *fixture = *state;
    const uint32_t root = root_of(fixture->tree, 0);
    const uint32_t stack[] = { 10, 5 };
    const uint32_t node = add(fixture->tree, root, stack, 2);

    tree_credit(fixture->tree, node, 100, 50, 3);
    assert_int_equal(smp_tree_take_back(fixture->tree, node, SMP_MEASURE_WALL, 30), 30);
    assert_int_equal(tree_wall(fixture->tree, node), 70);
    assert_int_equal(smp_tree_take_back(fixture->tree, node, SMP_MEASURE_WALL, 80), 70);
    assert_int_equal(smp_tree_take_back(fixture->tree, node, SMP_MEASURE_WALL, 1), 0);
    assert_int_equal(tree_wall(fixture->tree, node), 0);
    assert_int_equal(tree_cpu(fixture->tree, node), 50);
    assert_int_equal(tree_own_samples(fixture->tree, node), 3);
    tree_credit(fixture->tree, node, 100, 0, 1);
    smp_tree_finish(fixture->tree);
    assert_int_equal(smp_tree_take_back(fixture->tree, node, SMP_MEASURE_WALL, 30), 0);
    assert_int_equal(tree_wall(fixture->tree, node), 100);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(stacks_share_their_common_outer_frames),
        TEST(adding_a_stack_again_finds_its_node),
        TEST(each_of_very_many_children_is_found),
        TEST(groups_have_separate_trees),
        TEST(an_empty_stack_is_the_root_of_its_group),
        TEST(random_stacks_match_the_reference),
        TEST(each_measure_is_independent_of_the_others),
        TEST(stacks_of_any_depth_are_added),
        TEST(totals_include_the_node_and_all_below_it),
        TEST(a_finished_tree_does_not_change),
        TEST(amounts_saturate_at_their_maximum),
        TEST(own_amounts_below_a_saturated_total_are_never_negative),
        TEST(a_refused_create_leaks_nothing),
        TEST(create_refuses_a_maximum_below_its_first_pages),
        TEST(a_refused_add_changes_nothing_and_can_be_repeated),
        TEST(refused_adds_take_no_memory),
        TEST(at_its_maximum_a_tree_still_credits_known_nodes),
        TEST(at_the_quota_a_tree_still_credits_known_nodes),
        TEST(reported_room_includes_free_rows),
        TEST(a_node_takes_at_most_52_bytes),
        TEST(each_measure_takes_8_bytes_per_node),
        TEST(amounts_without_a_stack_are_spread_in_proportion),
        TEST(large_amounts_are_spread_exactly),
        TEST(a_node_without_a_row_credits_the_row_above),
        TEST(finishing_removes_time_and_name_of_call_leaves),
        TEST(a_correction_takes_at_most_what_a_node_has),
    };
#undef TEST
    return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
