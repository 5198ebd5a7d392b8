/* SPDX-License-Identifier: Apache-2.0 */
/* Random trees of two groups: times of counted rows, compared with a reference implementation that
 * follows names. */
#include "model/counted_times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "model/tree_fold.h"
#include "support/failing_alloc.h"
#include "support/rounds.h"

enum {
    METHODS = 6,
    LINES = 3,
    DEEPEST = 7,
    ROUNDS = 400,
    NODES = 4000,
    GROUPS = 3,
    STATES = 6,
    MEMORY = 16 << 20
};

/* Random trees, and the data of the reference implementation. */
struct trees {
    struct smp_quota quota;
    struct smp_methods *methods;
    struct smp_counted_trees open;
    uint32_t sampled[GROUPS]; /* roots */
    uint32_t counted[GROUPS]; /* of the same names; the last one has no sampled group */
    uint64_t random;
};

static unsigned draw(struct trees *t, unsigned below)
{
    return (unsigned)(smp_random_next(&t->random) % below);
}

/* --- names: key 100 + m is method m with lines; 200 + m is the same method as a call counter
 * knows it --- */

static char class_text[32];
static char method_text[32];

static enum smp_status resolve(void *self, uint64_t key, struct smp_method_info *info)
{
    static const struct smp_line lines[] = { { .start_bci = 0, .line = 10 },
                                             { .start_bci = 1, .line = 11 },
                                             { .start_bci = 2, .line = 12 } };
    const bool is_counted = key >= 200;

    (void)self;
    /* Two methods per class, and each name in two classes. */
    (void)snprintf(class_text, sizeof(class_text), "a.C%d", (int)(key % 100) / 2);
    (void)snprintf(method_text, sizeof(method_text), "m%d", (int)(key % 100) % 2);
    *info = (struct smp_method_info){ .class_name = class_text,
                                      .method_name = method_text,
                                      .file = is_counted ? NULL : "C.java",
                                      .lines = is_counted ? NULL : lines,
                                      .line_count = is_counted ? 0 : LINES };
    return SMP_OK;
}

static void release(void *self, struct smp_method_info *info)
{
    (void)self;
    (void)info;
}

static uint32_t locate(struct trees *t, uint64_t key, int32_t bci)
{
    const struct smp_name_source names = { .resolve = resolve, .release = release };
    const struct smp_frame frame = { .method = key, .bci = bci };

    return smp_methods_locate(t->methods, &names, &frame);
}

/* --- random trees --- */

static void add_stack(struct trees *t, bool is_counted)
{
    uint32_t locations[DEEPEST];
    const size_t count = 1 + draw(t, DEEPEST);
    const unsigned group = draw(t, GROUPS);
    struct smp_amounts amounts = { 0 };
    uint32_t node = 0;

    for (size_t i = 0; i < count; i++)
        locations[i] = is_counted ? locate(t, 200 + draw(t, METHODS / 2), -1)
                                  : locate(t, 100 + draw(t, METHODS), (int32_t)draw(t, LINES));
    if (is_counted) { /* one call at a time, as calls are counted */
        node = t->counted[group];
        for (size_t i = count; i > 0; i--)
            assert_int_equal(smp_tree_add(t->open.tree, node, &locations[i - 1], 1, &node), SMP_OK);
        smp_tree_credit(t->open.tree, node, SMP_MEASURE_CALLS, 1 + draw(t, 9));
        return;
    }
    assert_int_equal(smp_tree_add(t->open.tree, t->sampled[group], locations, count, &node),
                     SMP_OK);
    for (int i = 0; i < STATES; i++)
        smp_tree_credit_wall(t->open.tree, node, (enum smp_thread_state)i, draw(t, 1000));
    amounts.of[SMP_MEASURE_CPU] = draw(t, 1000);
    smp_tree_credit_all(t->open.tree, node, &amounts);
}

static uint32_t add_group(struct trees *t, const char *name, enum smp_group_kind kind)
{
    const struct smp_group group = smp_thread_groups_find(
        t->open.groups, (struct smp_group_key){ .name = name, .kind = kind });
    struct smp_group_info *const info = smp_thread_groups_info(t->open.groups, group);

    assert_int_equal(smp_tree_root(t->open.tree, group.index, &info->root), SMP_OK);
    return info->root;
}

static void begin_trees(struct trees *t, uint64_t seed)
{
    static const char *const sampled[GROUPS] = { "a", "b", "c" };
    static const char *const counted[GROUPS] = { "a", "b", "d" };

    memset(t, 0, sizeof(*t));
    t->random = seed;
    smp_quota_init(&t->quota, MEMORY);
    t->open.quota = &t->quota;
    assert_int_equal(smp_methods_create(&t->quota, MEMORY / 4, NULL, &t->methods), SMP_OK);
    assert_int_equal(smp_tree_create(&t->quota, SMP_ALL_MEASURES, MEMORY / 4, &t->open.tree),
                     SMP_OK);
    assert_int_equal(smp_thread_groups_create(&t->quota, MEMORY / 4, &t->open.groups), SMP_OK);
    t->open.methods = t->methods;
    for (int i = 0; i < GROUPS; i++) {
        t->sampled[i] = add_group(t, sampled[i], SMP_GROUP_SAMPLED);
        t->counted[i] = add_group(t, counted[i], SMP_GROUP_COUNTED);
    }
}

static void end_trees(struct trees *t)
{
    smp_tree_destroy(t->open.tree);
    smp_thread_groups_destroy(t->open.groups);
    smp_methods_release(t->methods);
    assert_int_equal(smp_quota_used(&t->quota), 0);
}

/* --- the naive version --- */

static bool is_named_alike(const struct trees *t, uint32_t node, uint32_t other)
{
    const struct smp_node *const nodes = smp_tree_nodes(t->open.tree);
    struct smp_location_view a;
    struct smp_location_view b;

    smp_methods_view(t->open.methods, nodes[node].location, &a);
    smp_methods_view(t->open.methods, nodes[other].location, &b);
    return !a.is_pseudo && !b.is_pseudo && strcmp(a.class_name, b.class_name) == 0 &&
           strcmp(a.method_name, b.method_name) == 0;
}

/* Returns the counted row to which a sampled row leads; for a root: none. */
static uint32_t follow(const struct trees *t, uint32_t node, uint32_t root)
{
    const struct smp_node *const nodes = smp_tree_nodes(t->open.tree);

    if (smp_node_is_group(&nodes[node]))
        return root;
    const uint32_t at = follow(t, nodes[node].parent, root);
    for (uint32_t i = 1; i < smp_tree_node_count(t->open.tree); i++) {
        if (nodes[i].parent == at && !smp_node_is_group(&nodes[i]) && is_named_alike(t, node, i))
            return i;
    }
    return at;
}

static int64_t own_of(const struct trees *t, uint32_t node, int measure)
{
    return smp_tree_self(t->open.tree, node, (enum smp_measure)measure);
}

static bool is_time(int measure)
{
    return measure == SMP_MEASURE_WALL || measure == SMP_MEASURE_CPU ||
           measure >= SMP_TABLE_MEASURE_COUNT;
}

static int64_t (*plain_times(const struct trees *t))[SMP_MEASURE_COUNT]
{
    static int64_t times[NODES][SMP_MEASURE_COUNT];
    const size_t count = smp_tree_node_count(t->open.tree);

    assert_true(count <= NODES);
    memset(times, 0, sizeof(times));
    for (uint32_t node = 1; node < count; node++) {
        const uint32_t root = smp_node_root(smp_tree_nodes(t->open.tree), node);
        for (int i = 0; i < GROUPS - 1; i++) {
            if (root != t->sampled[i])
                continue;
            const uint32_t to = follow(t, node, t->counted[i]);
            for (int k = 0; k < SMP_MEASURE_COUNT && to != t->counted[i]; k++)
                times[to][k] += is_time(k) ? own_of(t, node, k) : 0;
        }
    }
    return times;
}

/* before: times to subtract; may be NULL. */
static void assert_as_the_naive(struct trees *t, int64_t (*before)[SMP_MEASURE_COUNT])
{
    int64_t(*const times)[SMP_MEASURE_COUNT] = plain_times(t);

    for (uint32_t node = 1; node < smp_tree_node_count(t->open.tree); node++) {
        const uint32_t root = smp_node_root(smp_tree_nodes(t->open.tree), node);
        if (root != t->counted[0] && root != t->counted[1] && root != t->counted[2])
            continue;
        for (int k = 0; k < SMP_MEASURE_COUNT; k++) {
            if (is_time(k))
                assert_int_equal(own_of(t, node, k),
                                 times[node][k] - (before == NULL ? 0 : before[node][k]));
        }
    }
}

/* --- tests --- */

struct sum {
    int64_t ns;
};

static void add_up(void *context, uint32_t location, int64_t more_ns)
{
    assert_true(location != 0);
    ((struct sum *)context)->ns += more_ns;
}

static void sampled_time_is_in_the_counted_row_of_its_stack(void **state)
{
    struct trees t;
    struct smp_counted_times times = { 0 };
    struct sum sum = { 0 };
    int64_t counted_ns = 0;

    (void)state;
    begin_trees(&t, 11);
    for (unsigned i = 0; i < (unsigned)test_rounds(ROUNDS); i++) {
        add_stack(&t, draw(&t, 3) == 0);
        if (draw(&t, 40) != 0)
            continue;
        assert_true(smp_counted_times_set(&times, &t.open, add_up, &sum));
        assert_as_the_naive(&t, NULL);
    }
    assert_true(smp_counted_times_set(&times, &t.open, add_up, &sum));
    for (uint32_t node = 1; node < smp_tree_node_count(t.open.tree); node++) {
        const uint32_t root = smp_node_root(smp_tree_nodes(t.open.tree), node);
        if (root == t.counted[0] || root == t.counted[1])
            counted_ns += own_of(&t, node, SMP_MEASURE_WALL);
    }
    assert_true(counted_ns > 0);
    assert_int_equal(sum.ns, counted_ns); /* each change was reported */
    end_trees(&t);
}

/* Rows that are created after the reset contain only time sampled since the reset. */
static void time_before_a_reset_does_not_return(void **state)
{
    static int64_t before[NODES][SMP_MEASURE_COUNT];
    struct trees t;
    struct smp_counted_times times = { 0 };

    (void)state;
    begin_trees(&t, 12);
    for (unsigned i = 0; i < 60; i++)
        add_stack(&t, i % 2 == 0);
    assert_true(smp_counted_times_set(&times, &t.open, NULL, NULL));
    assert_true(smp_counted_times_forget(&times, &t.open));
    memcpy(before, plain_times(&t), sizeof(before));
    assert_true(smp_counted_times_set(&times, &t.open, NULL, NULL));
    assert_as_the_naive(&t, before);
    for (unsigned i = 0; i < 200; i++)
        add_stack(&t, false); /* no row is new: all rows existed before */
    assert_true(smp_counted_times_set(&times, &t.open, NULL, NULL));
    assert_as_the_naive(&t, before);
    smp_counted_times_fini(&times, t.open.quota);
    end_trees(&t);
}

static void time_of_folded_rows_before_a_reset_does_not_return(void **state)
{
    enum { LEFT = 5 };
    static const uint32_t places[] = {
        0, 1, 2, 2 | SMP_PLACE_FOLDED, 3, 4 | SMP_PLACE_FOLDED, 4 | SMP_PLACE_FOLDED
    };
    enum { COUNT = sizeof(places) / sizeof(places[0]) };
    struct smp_counted_times times = { .before_count = COUNT };
    static const int64_t expected_ns[LEFT] = { 100, 101, 102 + 103, 104, 105 + 106 };

    (void)state;
    times.before = smp_alloc(NULL, COUNT * sizeof(*times.before));
    assert_non_null(times.before);
    for (int i = 0; i < COUNT; i++)
        times.before[i].of[SMP_MEASURE_WALL] = 100 + i;
    smp_counted_times_renumber(&times, places);
    assert_int_equal(times.before_count, LEFT);
    for (int i = 0; i < LEFT; i++)
        assert_int_equal(times.before[i].of[SMP_MEASURE_WALL], expected_ns[i]);
    smp_counted_times_fini(&times, NULL);
    smp_counted_times_renumber(&times, places); /* there is nothing to renumber */
    assert_int_equal(times.before_count, 0);
}

static enum smp_status set_once(void *self)
{
    const struct smp_counted_times times = { 0 };
    const struct trees *const t = self;

    return smp_counted_times_set(&times, &t->open, NULL, NULL) ? SMP_OK : SMP_ENOMEM;
}

static void without_memory_nothing_changes(void **state)
{
    struct smp_counted_times times = { 0 };
    struct failing_alloc fail;
    struct trees t;

    (void)state;
    begin_trees(&t, 13);
    for (unsigned i = 0; i < 60; i++)
        add_stack(&t, i % 2 == 0);
    assert_int_equal(failing_alloc_each_step(set_once, &t).refused, 3);
    assert_as_the_naive(&t, NULL);
    failing_alloc_arm(&fail, 1, 1);
    assert_false(smp_counted_times_forget(&times, &t.open));
    assert_int_equal(failing_alloc_disarm(&fail), 1);
    assert_false(smp_counted_times_set(&times, &t.open, NULL, NULL));
    smp_counted_times_fini(&times, t.open.quota);
    assert_true(smp_counted_times_set(&times, &t.open, NULL, NULL));
    end_trees(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sampled_time_is_in_the_counted_row_of_its_stack),
        cmocka_unit_test(time_before_a_reset_does_not_return),
        cmocka_unit_test(time_of_folded_rows_before_a_reset_does_not_return),
        cmocka_unit_test(without_memory_nothing_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
