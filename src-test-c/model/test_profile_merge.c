/* SPDX-License-Identifier: Apache-2.0 */
/* Merges random intervals with one names table and with several, and compares the results with a
 * plain tree of the same stacks. SMP_TEST_ROUNDS sets the number of rounds. */
#include "model/profile_merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_alloc.h"
#include "support/next_random.h"
#include "support/reference_tree.h"
#include "support/rounds.h"
#include "support/tree_amounts.h"

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_SECOND (1000 * NS_PER_MS)

enum { PART_BYTES = 1 << 22, KEYS = 40, LINES = 4, MAX_DEPTH = 12, TEXT_BYTES = 256, ROUNDS = 60 };

/* --- names: key k is class c.K<k>; every third one has no file --- */

static enum smp_status resolve(void *self, uint64_t key, struct smp_method_info *info)
{
    static const struct smp_line lines[LINES] = { { 0, 11 }, { 1, 12 }, { 2, 13 }, { 3, 14 } };
    static char class_name[64];

    (void)self;
    (void)snprintf(class_name, sizeof(class_name), "c.K%c%c", (char)('a' + key / 10),
                   (char)('a' + key % 10));
    *info = (struct smp_method_info){ .class_name = class_name,
                                      .method_name = "run",
                                      .file = key % 3 == 0 ? NULL : "K.java",
                                      .is_native = key % 7 == 1,
                                      .lines = lines,
                                      .line_count = LINES };
    return SMP_OK;
}

static void release(void *self, struct smp_method_info *info)
{
    (void)self;
    (void)info;
}

static struct smp_methods *make_names(void)
{
    struct smp_methods *names = NULL;

    assert_int_equal(smp_methods_create(NULL, PART_BYTES, NULL, &names), SMP_OK);
    return names;
}

/* --- random intervals --- */

static uint32_t random_location(struct smp_methods *names, unsigned *seed)
{
    const struct smp_name_source source = { .resolve = resolve, .release = release };
    const uint64_t key = 1 + next_random(seed) % KEYS;
    const struct smp_frame frame = { .method = key,
                                     .bci =
                                         key % 7 == 1 ? -1 : (int64_t)(next_random(seed) % LINES) };

    if (next_random(seed) % 9 == 0)
        return smp_methods_pseudo(names, "[thread ended]");
    return smp_methods_locate(names, &source, &frame);
}

struct interval {
    struct smp_tree *tree;
    struct smp_thread_groups *groups;
};

static struct interval begin(void)
{
    struct interval interval = { 0 };

    assert_int_equal(smp_tree_create(NULL, SMP_SAMPLED_MEASURES, PART_BYTES, &interval.tree),
                     SMP_OK);
    assert_int_equal(smp_thread_groups_create(NULL, PART_BYTES, &interval.groups), SMP_OK);
    return interval;
}

/* Credits one stack and records that the thread was in the group. */
static void add(struct interval *interval, const char *name, uint64_t serial,
                const uint32_t *locations, size_t count, unsigned *seed)
{
    const struct smp_group group =
        smp_thread_groups_find(interval->groups, (struct smp_group_key){ .name = name });
    struct smp_group_info *info = smp_thread_groups_info(interval->groups, group);
    char raw_name[32];
    uint32_t leaf = 0;

    (void)snprintf(raw_name, sizeof(raw_name), "thread-%u", (unsigned)serial);
    assert_int_equal(smp_tree_root(interval->tree, group.index, &info->root), SMP_OK);
    assert_int_equal(smp_tree_add(interval->tree, info->root, locations, count, &leaf), SMP_OK);
    tree_credit(interval->tree, leaf, next_random(seed), next_random(seed) % 1000,
                next_random(seed) % 3);
    smp_tally_note(&info->tally, (enum smp_outcome)(next_random(seed) % SMP_OUTCOME_COUNT));
    smp_thread_groups_see(interval->groups, group, serial, raw_name);
    if (count > info->max_depth)
        info->max_depth = count;
}

static struct smp_profile *finish(struct interval *interval, struct smp_methods *names)
{
    struct smp_profile *profile = NULL;

    assert_int_equal(smp_profile_create(NULL, interval->tree, interval->groups, names, &profile),
                     SMP_OK);
    return profile;
}

static struct smp_profile *make_random(struct smp_methods *names, unsigned *seed)
{
    static const char *const groups[] = { "main", "worker", "pool", "timer" };
    struct interval interval = begin();
    const unsigned stacks = next_random(seed) % 80;

    for (unsigned i = 0; i < stacks; i++) {
        uint32_t locations[MAX_DEPTH];
        const size_t count = 1 + next_random(seed) % MAX_DEPTH;
        for (size_t at = 0; at < count; at++)
            locations[at] = random_location(names, seed);
        add(&interval, groups[next_random(seed) % 4], next_random(seed) % 10, locations, count,
            seed);
    }
    struct smp_profile *profile = finish(&interval, names);
    for (int i = 0; i < SMP_COUNTER_COUNT; i++)
        profile->counters[i] = next_random(seed) % 5;
    return profile;
}

/* --- the reference --- */

static void text_of(const struct smp_profile *profile, uint32_t location, char text[TEXT_BYTES])
{
    struct smp_location_view view;
    struct smp_bytes bytes;

    if ((location & SMP_LOCATION_GROUP) != 0) {
        const struct smp_group group = { .index = location & ~SMP_LOCATION_GROUP };
        (void)snprintf(text, TEXT_BYTES, "%s",
                       smp_thread_groups_info(profile->groups, group)->name);
        return;
    }
    assert_true(location < profile->location_count);
    smp_bytes_init(&bytes, NULL, TEXT_BYTES);
    smp_methods_frame_text(profile->methods, location, &bytes);
    smp_methods_view(profile->methods, location, &view);
    /* A frame without a known file shows no line. */
    (void)snprintf(text, TEXT_BYTES, "%s %d", smp_bytes_text(&bytes), (int)view.line);
    smp_bytes_fini(&bytes);
}

/* Adds each node's own figures to the reference; returns the reference nodes. */
static struct reference_node **add_to_reference(struct reference_tree *reference,
                                                const struct smp_profile *profile,
                                                bool with_figures)
{
    const struct smp_node *nodes = smp_tree_nodes(profile->tree);
    const size_t count = smp_tree_node_count(profile->tree);
    struct reference_node **references = calloc(count, sizeof(struct reference_node *));

    assert_non_null(references);
    for (uint32_t i = 1; i < count; i++) {
        char text[TEXT_BYTES];
        const struct smp_amounts own = smp_tree_self_all(profile->tree, i);
        text_of(profile, nodes[i].location, text);
        references[i] = reference_tree_find_or_add(reference, references[nodes[i].parent], text);
        if (!with_figures)
            continue;
        references[i]->self_wall_ns += own.of[SMP_MEASURE_WALL];
        references[i]->self_cpu_ns += own.of[SMP_MEASURE_CPU];
        references[i]->samples += (uint64_t)own.of[SMP_MEASURE_SAMPLES];
    }
    return references;
}

static void assert_is_sum(const struct smp_profile *merged, const struct smp_profile *const *parts,
                          size_t count)
{
    struct reference_tree *reference = reference_tree_create();
    const size_t node_count = smp_tree_node_count(merged->tree);

    for (size_t i = 0; i < count; i++)
        free(add_to_reference(reference, parts[i], true));
    reference_tree_totals(reference);
    assert_int_equal(reference_tree_count(reference), node_count - 1);
    struct reference_node **references = add_to_reference(reference, merged, false);
    assert_int_equal(reference_tree_count(reference), node_count - 1); /* no node was new */
    for (uint32_t i = 1; i < node_count; i++) {
        const struct smp_amounts own = smp_tree_self_all(merged->tree, i);
        assert_int_equal(references[i]->visits++, 0);
        assert_int_equal(references[i]->self_wall_ns, own.of[SMP_MEASURE_WALL]);
        assert_int_equal(references[i]->self_cpu_ns, own.of[SMP_MEASURE_CPU]);
        assert_int_equal(references[i]->total_wall_ns, tree_wall(merged->tree, i));
        assert_int_equal(references[i]->total_cpu_ns, tree_cpu(merged->tree, i));
        assert_int_equal(references[i]->samples, own.of[SMP_MEASURE_SAMPLES]);
    }
    free(references);
    reference_tree_destroy(reference);
}

static const struct smp_group_info *group_named(const struct smp_profile *profile, const char *name)
{
    for (uint32_t i = 0; i < smp_thread_groups_count(profile->groups); i++) {
        const struct smp_group_info *info =
            smp_thread_groups_info(profile->groups, (struct smp_group){ .index = i });
        if (strcmp(info->name, name) == 0)
            return info;
    }
    return NULL;
}

static void assert_account_is_sum(const struct smp_profile *merged,
                                  const struct smp_profile *const *parts, size_t count)
{
    struct smp_tally tally = { 0 };

    for (size_t i = 0; i < count; i++)
        smp_tally_add(&tally, &parts[i]->tally);
    assert_memory_equal(&tally, &merged->tally, sizeof(tally));
    for (int at = 0; at < SMP_COUNTER_COUNT; at++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += parts[i]->counters[at];
        assert_int_equal(merged->counters[at], sum);
    }
    for (uint32_t g = 0; g < smp_thread_groups_count(merged->groups); g++) {
        const struct smp_group_info *info =
            smp_thread_groups_info(merged->groups, (struct smp_group){ .index = g });
        uint64_t depth = 0;
        tally = (struct smp_tally){ 0 };
        for (size_t i = 0; i < count; i++) {
            const struct smp_group_info *part = group_named(parts[i], info->name);
            if (part == NULL)
                continue;
            smp_tally_add(&tally, &part->tally);
            depth = part->max_depth > depth ? part->max_depth : depth;
        }
        assert_memory_equal(&tally, &info->tally, sizeof(tally));
        assert_int_equal(info->max_depth, depth);
        assert_true(info->listed <= info->thread_count);
    }
}

/* --- the tests --- */

static void check_random(bool one_table, size_t count, unsigned seed)
{
    struct smp_methods *names = make_names();
    struct smp_profile *parts[3];
    struct smp_profile *merged = NULL;

    for (size_t i = 0; i < count; i++) {
        struct smp_methods *own = one_table ? smp_methods_hold(names) : make_names();
        parts[i] = make_random(own, &seed);
        smp_methods_release(own);
    }
    assert_int_equal(smp_profile_merge_within(NULL, (const struct smp_profile *const *)parts, count,
                                              (struct smp_merge_limits){ 0 }, &merged),
                     SMP_OK);
    assert_is_sum(merged, (const struct smp_profile *const *)parts, count);
    assert_account_is_sum(merged, (const struct smp_profile *const *)parts, count);
    assert_true((merged->methods == parts[0]->methods) == (one_table || count == 1));
    for (size_t i = 0; i < count; i++)
        smp_profile_release(parts[i]);
    smp_profile_release(merged);
    smp_methods_release(names);
}

static void a_merged_profile_is_the_sum_of_its_parts(void **state)
{
    (void)state;
    for (int round = 0; round < test_rounds(ROUNDS); round++) {
        const unsigned seed = (unsigned)round * 7919 + 1;
        check_random(true, 1 + (size_t)round % 3, seed);
        check_random(false, 1 + (size_t)round % 3, seed + 1);
    }
}

static void merging_in_two_steps_equals_merging_at_once(void **state)
{
    unsigned seed = 99;
    struct smp_profile *parts[3];
    struct smp_profile *two = NULL;
    struct smp_profile *three = NULL;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct smp_methods *names = make_names();
        parts[i] = make_random(names, &seed);
        smp_methods_release(names);
    }
    assert_int_equal(smp_profile_merge(NULL, parts[0], parts[1], &two), SMP_OK);
    assert_int_equal(smp_profile_merge(NULL, two, parts[2], &three), SMP_OK);
    smp_profile_release(two); /* the result does not need its parts */
    assert_is_sum(three, (const struct smp_profile *const *)parts, 3);
    for (size_t i = 0; i < 3; i++)
        smp_profile_release(parts[i]);
    smp_profile_release(three);
}

/* One stack with 7 ns in one state, or without states if the tree has none. */
static struct smp_profile *of_group(struct smp_methods *names, uint32_t measures, const char *name)
{
    struct interval interval = begin();
    const uint32_t location = smp_methods_pseudo(names, "[run]");
    unsigned seed = 1;

    smp_tree_destroy(interval.tree);
    assert_int_equal(smp_tree_create(NULL, measures, PART_BYTES, &interval.tree), SMP_OK);
    add(&interval, name, 1, &location, 1, &seed);
    smp_tree_credit_wall(interval.tree, 2, SMP_STATE_IDLE, 7);
    return finish(&interval, names);
}

static struct smp_profile *with_measures(struct smp_methods *names, uint32_t measures)
{
    return of_group(names, measures, "pool");
}

static uint32_t states_of_merged(const struct smp_profile *a, const struct smp_profile *b)
{
    struct smp_profile *merged = NULL;
    uint32_t states;

    assert_int_equal(smp_profile_merge(NULL, a, b, &merged), SMP_OK);
    assert_int_equal(smp_profile_total(merged, SMP_MEASURE_WALL),
                     smp_profile_total(a, SMP_MEASURE_WALL) +
                         smp_profile_total(b, SMP_MEASURE_WALL));
    states = smp_tree_measures(merged->tree) & SMP_STATE_MEASURES;
    smp_profile_release(merged);
    return states;
}

/* An interval may lose its states for lack of memory. Its time must not become running. */
static void states_are_merged_if_all_parts_have_them(void **state)
{
    struct smp_methods *names = make_names();
    struct interval empty = begin();
    struct smp_profile *with = with_measures(names, SMP_SAMPLED_MEASURES | SMP_STATE_MEASURES);
    struct smp_profile *without = with_measures(names, SMP_SAMPLED_MEASURES);
    struct smp_profile *nothing = finish(&empty, names);

    (void)state;
    assert_int_equal(states_of_merged(with, with), SMP_STATE_MEASURES);
    assert_int_equal(states_of_merged(with, without), 0);
    assert_int_equal(states_of_merged(without, with), 0);
    assert_int_equal(states_of_merged(with, nothing), SMP_STATE_MEASURES);
    smp_profile_release(with);
    smp_profile_release(without);
    smp_profile_release(nothing);
    smp_methods_release(names);
}

/* The group `name` ran for this many ms in each of `count` seconds, others for one millisecond
 * each. */
static struct smp_profile *with_seconds(struct smp_methods *names, const char *name, int64_t from,
                                        int64_t count, int64_t width, int64_t ms)
{
    struct smp_profile *const profile =
        of_group(names, SMP_SAMPLED_MEASURES | SMP_STATE_MEASURES, name);
    const struct smp_second_range range = { .from = from, .till = from + 1, .width = width };
    const struct smp_group group =
        smp_thread_groups_find(profile->groups, (struct smp_group_key){ .name = name });

    assert_int_equal(smp_second_times_create(NULL, range, &profile->seconds), SMP_OK);
    const uint32_t row = smp_second_times_new_row(profile->seconds, group.index);
    for (int64_t second = from; second < from + count; second++) {
        const struct smp_span span = { .from_ns = second * NS_PER_SECOND,
                                       .till_ns = (second + 1) * NS_PER_SECOND };
        smp_second_times_add(profile->seconds, row, SMP_STATE_RUNNING, span, ms * NS_PER_MS);
        smp_second_times_add(profile->seconds, 0, SMP_STATE_IDLE, span, NS_PER_MS);
    }
    return profile;
}

static void assert_slots(const struct smp_profile *profile, uint32_t row,
                         enum smp_thread_state state, const uint32_t *expected, size_t count)
{
    size_t slots = 0;
    const uint32_t *const found = smp_second_times_slots(profile->seconds, row, state, &slots);

    for (size_t i = 0; i < count; i++)
        assert_int_equal(i < slots ? found[i] : 0, expected[i]);
}

static uint32_t second_row_of(const struct smp_profile *profile, const char *name)
{
    for (uint32_t row = 1; row < smp_second_times_rows(profile->seconds); row++) {
        const struct smp_group group = { .index = smp_second_times_group(profile->seconds, row) };
        if (strcmp(smp_thread_groups_info(profile->groups, group)->name, name) == 0)
            return row;
    }
    fail_msg("%s has no row", name);
    return 0;
}

/* Two profiles of one group that overlap, a gap, then another group in slots of two seconds. */
static void merged_seconds_are_the_sum_of_all_profiles(void **state)
{
    struct smp_methods *names = make_names();
    struct smp_profile *const parts[] = {
        with_seconds(names, "main", 100, 4, 1, 10),
        with_seconds(names, "main", 102, 4, 1, 20),
        with_seconds(names, "pool", 110, 2, 2, 7),
    };
    const uint32_t of_main[] = { 20, 60, 40, 0, 0, 0 };
    const uint32_t of_pool[] = { 0, 0, 0, 0, 0, 14 };
    const uint32_t of_others[] = { 2, 4, 2, 0, 0, 2 };
    struct smp_profile *merged = NULL;

    (void)state;
    assert_int_equal(
        smp_profile_merge_within(NULL, (const struct smp_profile *const *)parts, 3,
                                 (struct smp_merge_limits){ .tree_bytes = PART_BYTES,
                                                            .names_bytes = PART_BYTES,
                                                            .groups_bytes = PART_BYTES },
                                 &merged),
        SMP_OK);
    assert_int_equal(smp_second_times_range(merged->seconds).from, 100);
    assert_int_equal(smp_second_times_range(merged->seconds).till, 112);
    assert_int_equal(smp_second_times_range(merged->seconds).width, 2);
    assert_slots(merged, second_row_of(merged, "main"), SMP_STATE_RUNNING, of_main, 6);
    assert_slots(merged, second_row_of(merged, "pool"), SMP_STATE_RUNNING, of_pool, 6);
    assert_slots(merged, 0, SMP_STATE_IDLE, of_others, 6);
    assert_int_equal(smp_second_times_lost(merged->seconds), 0);
    smp_profile_release(merged);
    for (size_t i = 0; i < 3; i++)
        smp_profile_release(parts[i]);
    smp_methods_release(names);
}

/* The merged tree has memory for its nodes but not for further states. */
static void states_without_memory_in_a_merged_tree_are_counted(void **state)
{
    struct smp_methods *names = make_names();
    struct interval interval = begin();
    struct smp_profile *merged = NULL;
    uint32_t locations[MAX_DEPTH];
    uint32_t root = 0;

    (void)state;
    smp_tree_destroy(interval.tree);
    assert_int_equal(smp_tree_create(NULL, SMP_SAMPLED_MEASURES | SMP_STATE_MEASURES, PART_BYTES,
                                     &interval.tree),
                     SMP_OK);
    smp_thread_groups_info(interval.groups, (struct smp_group){ .index = 0 });
    assert_int_equal(smp_tree_root(interval.tree, 0, &root), SMP_OK);
    smp_thread_groups_info(interval.groups, (struct smp_group){ .index = 0 })->root = root;
    for (unsigned i = 0, seed = 1; i < 1000; i++) {
        uint32_t leaf = root;
        for (size_t at = 0; at < MAX_DEPTH; at++)
            locations[at] = random_location(names, &seed);
        assert_int_equal(smp_tree_add(interval.tree, root, locations, MAX_DEPTH, &leaf), SMP_OK);
        for (int of = 0; of < SMP_THREAD_STATE_COUNT; of++)
            smp_tree_credit_wall(interval.tree, leaf, (enum smp_thread_state)of, 1);
    }
    struct smp_profile *whole = finish(&interval, names);
    const struct smp_profile *const parts[] = { whole };
    assert_int_equal(whole->counters[SMP_COUNTER_LOST_STATES], 0);
    assert_int_equal(
        smp_profile_merge_within(NULL, parts, 1,
                                 (struct smp_merge_limits){ .tree_bytes = PART_BYTES / 16,
                                                            .names_bytes = PART_BYTES,
                                                            .groups_bytes = PART_BYTES },
                                 &merged),
        SMP_OK);
    assert_int_equal(smp_profile_total(merged, SMP_MEASURE_WALL),
                     smp_profile_total(whole, SMP_MEASURE_WALL));
    assert_true(merged->counters[SMP_COUNTER_LOST_STATES] > 0);
    smp_profile_release(merged);
    smp_profile_release(whole);
    smp_methods_release(names);
}

static struct smp_profile *with_threads(struct smp_methods *names, uint64_t first, uint64_t last)
{
    struct interval interval = begin();
    unsigned seed = 1;

    for (uint64_t serial = first; serial <= last; serial++) {
        const uint32_t location = random_location(names, &seed);
        add(&interval, "pool", serial, &location, 1, &seed);
    }
    return finish(&interval, names);
}

static void assert_threads(const struct smp_profile *a, const struct smp_profile *b,
                           uint64_t threads, const char *last_name)
{
    struct smp_profile *merged = NULL;
    const struct smp_group_info *info;

    assert_int_equal(smp_profile_merge(NULL, a, b, &merged), SMP_OK);
    info = group_named(merged, "pool");
    assert_int_equal(info->thread_count, threads);
    assert_string_equal(info->names[0], "thread-1");
    assert_string_equal(info->names[info->listed - 1], last_name);
    smp_profile_release(merged);
}

static void threads_of_one_sampler_are_counted_once(void **state)
{
    struct smp_methods *names = make_names();
    struct smp_methods *others = make_names();
    struct smp_profile *one = with_threads(names, 1, 5);
    struct smp_profile *next = with_threads(names, 4, 8);
    struct smp_profile *other = with_threads(others, 4, 8);

    (void)state;
    assert_threads(one, next, 8, "thread-8");
    assert_threads(one, one, 5, "thread-5");
    assert_threads(one, other, 10, "thread-8");
    smp_profile_release(one);
    smp_profile_release(next);
    smp_profile_release(other);
    smp_methods_release(names);
    smp_methods_release(others);
}

static struct smp_methods *compacted(const struct smp_methods *names)
{
    const size_t count = smp_methods_location_count(names);
    struct smp_methods *made = NULL;
    bool *used = calloc(count, sizeof(*used));

    assert_non_null(used);
    memset(used, true, count);
    assert_int_equal(smp_methods_compact(names, used, count, NULL, &made), SMP_OK);
    free(used);
    return made;
}

/* As in the test above, but the sampler has compacted its names in between. */
static void threads_are_counted_once_after_names_were_compacted(void **state)
{
    struct smp_methods *names = make_names();
    struct smp_profile *one = with_threads(names, 1, 5);
    struct smp_methods *fewer = compacted(names);
    struct smp_profile *next = with_threads(fewer, 4, 8);
    struct smp_methods *fewest = compacted(fewer);
    struct smp_profile *last = with_threads(fewest, 7, 9);
    struct smp_profile *merged = NULL;

    (void)state;
    assert_threads(one, next, 8, "thread-8");
    assert_int_equal(smp_profile_merge(NULL, one, next, &merged), SMP_OK);
    assert_threads(merged, last, 9, "thread-9");
    assert_threads(merged, one, 8, "thread-8");
    smp_profile_release(merged);
    smp_profile_release(one);
    smp_profile_release(next);
    smp_profile_release(last);
    smp_methods_release(names);
    smp_methods_release(fewer);
    smp_methods_release(fewest);
}

/* Threads of different samplers are added up. */
static void threads_of_several_samplers_are_added_up(void **state)
{
    struct smp_methods *names = make_names();
    struct smp_methods *others = make_names();
    struct smp_profile *one = with_threads(names, 1, 5);
    struct smp_profile *other = with_threads(others, 4, 8);
    struct smp_profile *merged = NULL;

    (void)state;
    assert_int_equal(smp_profile_merge(NULL, one, other, &merged), SMP_OK);
    assert_threads(merged, one, 15, "thread-8");
    assert_threads(merged, merged, 20, "thread-8");
    smp_profile_release(merged);
    smp_profile_release(one);
    smp_profile_release(other);
    smp_methods_release(names);
    smp_methods_release(others);
}

static void figures_of_a_merged_profile_cover_both_intervals(void **state)
{
    struct smp_methods *names = make_names();
    struct smp_profile *a = with_threads(names, 1, 1);
    struct smp_profile *b = with_threads(names, 1, 1);
    struct smp_profile *merged = NULL;

    (void)state;
    a->from_wall_ms = 100;
    a->till_wall_ms = 200;
    b->from_wall_ms = 50;
    b->till_wall_ms = 150;
    a->elapsed_ns = 1000;
    b->elapsed_ns = 2000;
    a->own_cpu_ns = 10;
    b->own_cpu_ns = 20;
    a->longest_handshake_ns = b->longest_handler_ns = 11;
    b->longest_handshake_ns = a->longest_handler_ns = 12;
    a->period_ns = 5;
    (void)strcpy(a->packages, "com.acme");
    (void)strcpy(a->main_package, "com.acme.shop");
    a->cpu_quota_milli = 1500;
    b->memory_used_bytes = 77;
    a->memory_limit_bytes = 99;
    assert_int_equal(smp_profile_merge(NULL, a, b, &merged), SMP_OK);
    assert_int_equal(merged->from_wall_ms, 50);
    assert_int_equal(merged->till_wall_ms, 200);
    assert_int_equal(merged->elapsed_ns, 3000);
    assert_int_equal(merged->own_cpu_ns, 30);
    assert_int_equal(merged->longest_handshake_ns, 12);
    assert_int_equal(merged->longest_handler_ns, 12);
    assert_int_equal(merged->period_ns, 5);
    assert_string_equal(merged->packages, "com.acme");
    assert_string_equal(merged->main_package, "com.acme.shop");
    assert_int_equal(merged->cpu_quota_milli, 1500);
    assert_int_equal(merged->memory_used_bytes, 77);
    assert_int_equal(merged->memory_limit_bytes, 99);
    smp_profile_release(a);
    smp_profile_release(b);
    smp_profile_release(merged);
    smp_methods_release(names);
}

static struct smp_profile *with_account(struct smp_methods *names, int64_t till_wall_ms,
                                        const char *not_loaded, const char *package)
{
    struct smp_profile *profile = with_threads(names, 1, 1);

    profile->till_wall_ms = till_wall_ms;
    (void)strcpy(profile->packages, package);
    assert_int_equal(smp_counting_account_create(NULL, &profile->counts.account), SMP_OK);
    smp_counting_account_add(profile->counts.account, SMP_COUNTING_BATCHES, 2);
    if (not_loaded != NULL) {
        smp_counting_account_add(profile->counts.account, SMP_COUNTING_ROOTS_WITHOUT_CALLS, 1);
        assert_true(smp_counting_account_name(profile->counts.account,
                                              SMP_COUNTING_ROOTS_WITHOUT_CALLS, not_loaded));
    }
    return profile;
}

/* The order of the two profiles does not matter. */
static void figures_at_the_end_come_from_the_later_profile(void **state)
{
    struct smp_methods *names = make_names();
    struct smp_profile *earlier = with_account(names, 100, "com.acme.Order.add", "com.old");
    struct smp_profile *later = with_account(names, 200, NULL, "com.acme");
    struct smp_profile *last = with_account(names, 300, "com.acme.Late.run", "com.acme");

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct smp_profile *const before = i < 2 ? earlier : later;
        struct smp_profile *const after = i < 2 ? later : last;
        struct smp_profile *merged = NULL;
        assert_int_equal(smp_profile_merge(NULL, i % 2 == 0 ? before : after,
                                           i % 2 == 0 ? after : before, &merged),
                         SMP_OK);
        const struct smp_counting_account *const account = merged->counts.account;
        assert_int_equal(smp_counting_account_figure(account, SMP_COUNTING_BATCHES), 4);
        assert_int_equal(smp_counting_account_figure(account, SMP_COUNTING_ROOTS_WITHOUT_CALLS),
                         i < 2 ? 0 : 1);
        assert_int_equal(smp_counting_account_listed(account, SMP_COUNTING_ROOTS_WITHOUT_CALLS),
                         i < 2 ? 0 : 1);
        assert_string_equal(merged->packages, "com.acme");
        smp_profile_release(merged);
    }
    smp_profile_release(earlier);
    smp_profile_release(later);
    smp_profile_release(last);
    smp_methods_release(names);
}

/* --- threads that come and go, in intervals that are merged one by one --- */

enum { LIVES = 400, INTERVALS = 12 };

/* A thread of the pool and its lifetime. */
struct life {
    unsigned first; /* the interval in which it starts */
    unsigned last;
};

static void make_lives(struct life lives[LIVES], unsigned *seed)
{
    for (size_t i = 0; i < LIVES; i++) {
        lives[i].first = next_random(seed) % INTERVALS;
        lives[i].last = lives[i].first + next_random(seed) % 3 * (next_random(seed) % 4);
    }
}

/* Some living threads are not seen; was_seen has the threads that were seen in any interval. */
static struct smp_profile *with_lives(struct smp_methods *names, const struct life lives[LIVES],
                                      unsigned number, bool was_seen[LIVES], unsigned *seed)
{
    struct interval interval = begin();
    const uint32_t location = random_location(names, seed);
    uint64_t living[LIVES];
    size_t count = 0;

    for (size_t i = 0; i < LIVES; i++) {
        if (lives[i].first > number || lives[i].last < number)
            continue;
        if (next_random(seed) % 3 > 0) {
            add(&interval, "pool", i + 1, &location, 1, seed);
            was_seen[i] = true;
        }
        if (lives[i].last > number)
            living[count++] = i + 1;
    }
    smp_thread_groups_set_living(interval.groups, living, count, UINT64_MAX);
    return finish(&interval, names);
}

static uint64_t count_seen(const bool was_seen[LIVES])
{
    uint64_t seen = 0;

    for (size_t i = 0; i < LIVES; i++)
        seen += was_seen[i];
    return seen;
}

static void threads_are_counted_once_in_a_growing_merge(void **state)
{
    const struct smp_merge_limits limits = { PART_BYTES, PART_BYTES, PART_BYTES };

    (void)state;
    for (unsigned round = 0; round < (unsigned)test_rounds(ROUNDS); round++) {
        struct smp_methods *names = make_names();
        unsigned seed = round + 1;
        struct life lives[LIVES];
        bool was_seen[LIVES] = { false };
        make_lives(lives, &seed);
        struct smp_profile *grown = with_lives(names, lives, 0, was_seen, &seed);
        for (unsigned number = 1; number < INTERVALS; number++) {
            struct smp_profile *const next = with_lives(names, lives, number, was_seen, &seed);
            const struct smp_profile *const parts[] = { grown, next };
            struct smp_profile *merged = NULL;
            assert_int_equal(smp_profile_merge_within(NULL, parts, 2, limits, &merged), SMP_OK);
            smp_profile_release(grown);
            smp_profile_release(next);
            grown = merged;
            assert_int_equal(group_named(grown, "pool")->thread_count, count_seen(was_seen));
        }
        smp_profile_release(grown);
        smp_methods_release(names);
    }
}

static struct smp_profile *with_groups(struct smp_methods *names, unsigned first, unsigned count)
{
    struct interval interval = begin();
    unsigned seed = 1;
    char name[32];

    for (unsigned i = first; i < first + count; i++) {
        const uint32_t location = random_location(names, &seed);
        (void)snprintf(name, sizeof(name), "group %c%c%c", 'a' + (int)(i % 26),
                       'a' + (int)(i / 26 % 26), 'a' + (int)(i / 676));
        add(&interval, name, i + 1, &location, 1, &seed);
    }
    return finish(&interval, names);
}

/* Whatever does not fit, the merged interval stays within its limits and loses no time. */
static void groups_that_do_not_fit_go_to_the_overflow_group(void **state)
{
    const struct smp_merge_limits limits = { PART_BYTES, 512 * 1024, PART_BYTES };
    struct smp_quota *quota = smp_quota_create(64 << 20);
    struct smp_methods *names = make_names();
    struct smp_profile *const parts[] = { with_groups(names, 0, 1200),
                                          with_groups(names, 1200, 1200) };
    struct smp_profile *merged = NULL;

    (void)state;
    assert_int_equal(smp_profile_merge_within(quota, (const struct smp_profile *const *)parts, 2,
                                              limits, &merged),
                     SMP_OK);
    assert_in_range(smp_thread_groups_count(merged->groups), 100, 1200);
    const struct smp_group_info *const over = group_named(merged, "[over group limit]");
    assert_true(over->thread_count > 0);
    assert_true(over->tally.polls > 0);
    assert_int_equal(tree_wall(merged->tree, 0),
                     tree_wall(parts[0]->tree, 0) + tree_wall(parts[1]->tree, 0));
    assert_true(smp_quota_used(quota) < PART_BYTES);
    for (size_t i = 0; i < 2; i++)
        smp_profile_release(parts[i]);
    smp_profile_release(merged);
    smp_methods_release(names);
    smp_quota_release(quota);
}

/* --- locks --- */

/* Fills the table of locks with locks that no other profile has. */
static struct smp_profile *make_locks(struct smp_methods *names, char letter, unsigned *seed)
{
    struct smp_profile *profile = make_random(names, seed);
    char text[32];

    assert_int_equal(smp_lock_times_create(NULL, smp_methods_pseudo(names, SMP_OTHER_LOCKS_NAME),
                                           &profile->lock_times),
                     SMP_OK);
    for (int i = 0; i < SMP_MAX_LOCK_TIMES - 1; i++) {
        (void)snprintf(text, sizeof(text), "c.%c%d", letter, i);
        const uint32_t lock = smp_methods_pseudo(names, text);
        const struct smp_lock_time time = {
            .lock = lock, .waiting = lock, .holding = lock, .ns = 1
        };
        assert_int_equal(smp_lock_times_add(profile->lock_times, &time), SMP_OK);
    }
    return profile;
}

static void locks_that_do_not_fit_go_to_the_row_other(void **state)
{
    struct smp_methods *names = make_names();
    unsigned seed = 8;
    struct smp_profile *parts[] = { make_locks(names, 'a', &seed), make_locks(names, 'b', &seed) };
    struct smp_profile *merged = NULL;
    char text[TEXT_BYTES];

    (void)state;
    assert_int_equal(smp_profile_merge(NULL, parts[0], parts[1], &merged), SMP_OK);
    assert_int_equal(smp_lock_times_count(merged->lock_times), SMP_MAX_LOCK_TIMES);
    const struct smp_lock_time *const last =
        smp_lock_times_at(merged->lock_times, SMP_MAX_LOCK_TIMES - 1);
    text_of(merged, last->lock, text);
    assert_non_null(strstr(text, SMP_OTHER_LOCKS_NAME));
    assert_int_equal(last->ns, SMP_MAX_LOCK_TIMES - 1);
    for (size_t i = 0; i < 2; i++)
        smp_profile_release(parts[i]);
    smp_profile_release(merged);
    smp_methods_release(names);
}

/* A profile with one lock. Time that does not fit goes to `other`. */
static struct smp_profile *with_lock(struct smp_methods *names, const char *other, unsigned *seed)
{
    struct smp_profile *profile = make_random(names, seed);
    const uint32_t lock = smp_methods_pseudo(names, "c.Lock");
    const struct smp_lock_time time = { .lock = lock, .waiting = lock, .holding = lock, .ns = 1 };

    assert_int_equal(
        smp_lock_times_create(NULL, smp_methods_pseudo(names, other), &profile->lock_times),
        SMP_OK);
    assert_int_equal(smp_lock_times_add(profile->lock_times, &time), SMP_OK);
    profile->location_count = smp_methods_location_count(names);
    return profile;
}

/* The owner may be adding a name at the same time, so a merge only reads the table. */
static void a_merge_adds_no_name_to_a_shared_table(void **state)
{
    struct smp_methods *names = make_names();
    struct smp_methods *others = make_names();
    unsigned seed = 9;
    struct smp_profile *parts[] = { with_lock(names, "[rest]", &seed),
                                    with_lock(names, "[rest]", &seed),
                                    with_lock(others, "[rest]", &seed) };
    const uint32_t count = smp_methods_location_count(names);
    const uint32_t other = smp_lock_times_other(parts[0]->lock_times);
    struct smp_profile *merged = NULL;
    char text[TEXT_BYTES];

    (void)state;
    assert_int_equal(smp_profile_merge(NULL, parts[0], parts[1], &merged), SMP_OK);
    assert_int_equal(smp_methods_location_count(names), count);
    assert_int_equal(smp_lock_times_other(merged->lock_times), other);
    assert_int_equal(smp_lock_times_at(merged->lock_times, 0)->ns, 2);
    smp_profile_release(merged);
    assert_int_equal(smp_profile_merge(NULL, parts[0], parts[2], &merged), SMP_OK);
    text_of(merged, smp_lock_times_other(merged->lock_times), text);
    assert_non_null(strstr(text, "[rest]"));
    for (size_t i = 0; i < 3; i++)
        smp_profile_release(parts[i]);
    smp_profile_release(merged);
    smp_methods_release(names);
    smp_methods_release(others);
}

/* --- folding --- */

static uint32_t line_of_method(struct smp_methods *names, uint64_t key)
{
    const struct smp_name_source source = { .resolve = resolve, .release = release };

    return smp_methods_locate(names, &source, &(struct smp_frame){ .method = key });
}

/* Adds a node below another one, with running time and with the variance of its total. */
static uint32_t add_varied(struct smp_tree *tree, uint32_t above, uint32_t location,
                           double variance)
{
    uint32_t node = 0;

    assert_int_equal(smp_tree_add(tree, above, &location, 1, &node), SMP_OK);
    tree_credit(tree, node, NS_PER_MS, 0, 1);
    smp_tree_add_variance(tree, node, variance);
    return node;
}

static double variance_of(const struct smp_profile *profile, uint32_t location)
{
    for (uint32_t node = 1; node < smp_tree_node_count(profile->tree); node++) {
        if (smp_tree_nodes(profile->tree)[node].location == location)
            return smp_tree_variance(profile->tree, node);
    }
    fail_msg("no row");
    return 0;
}

/*
 *   a 16                        a 16
 *     b 2                         b 5        two of them, neither inside of the other
 *     a 9             ──►
 *       b 3
 *       a 4
 */
static void the_variance_of_a_recursion_is_counted_once(void **state)
{
    struct smp_methods *names = make_names();
    const uint32_t a = line_of_method(names, 2);
    const uint32_t b = line_of_method(names, 4);
    struct interval interval = { 0 };
    struct smp_profile *folded = NULL;
    uint32_t root = 0;

    (void)state;
    assert_int_equal(
        smp_tree_create(NULL, SMP_SAMPLED_MEASURES | SMP_WITH_ERRORS, PART_BYTES, &interval.tree),
        SMP_OK);
    assert_int_equal(smp_thread_groups_create(NULL, PART_BYTES, &interval.groups), SMP_OK);
    const struct smp_group group =
        smp_thread_groups_find(interval.groups, (struct smp_group_key){ .name = "main" });
    assert_int_equal(smp_tree_root(interval.tree, group.index, &root), SMP_OK);
    smp_thread_groups_info(interval.groups, group)->root = root;
    const uint32_t first = add_varied(interval.tree, root, a, 16);
    (void)add_varied(interval.tree, first, b, 2);
    const uint32_t second = add_varied(interval.tree, first, a, 9);
    (void)add_varied(interval.tree, second, b, 3);
    (void)add_varied(interval.tree, second, a, 4);
    struct smp_profile *const whole = finish(&interval, names);
    assert_int_equal(smp_profile_fold_recursion(NULL, whole, &folded), SMP_OK);
    assert_non_null(folded);
    assert_true(variance_of(folded, a) == 16);
    assert_true(variance_of(folded, b) == 5);
    smp_profile_release(folded);
    smp_profile_release(whole);
    smp_methods_release(names);
}

enum { MANY = 20000, HOT_KEY = 50, EVERY = 25 };

/* Many rare stacks of two groups, and one frequent stack. */
static struct smp_profile *make_many(struct smp_methods *names, unsigned seed)
{
    const uint32_t hot = line_of_method(names, HOT_KEY);
    struct interval interval = begin();

    smp_tree_destroy(interval.tree);
    assert_int_equal(
        smp_tree_create(NULL, SMP_ALL_MEASURES | SMP_WITH_ERRORS, 4 * PART_BYTES, &interval.tree),
        SMP_OK);
    for (unsigned i = 0; i < MANY; i++) {
        uint32_t locations[MAX_DEPTH];
        const char *const group = i % 2 == 0 ? "main" : "pool";
        for (size_t at = 0; at < MAX_DEPTH; at++)
            locations[at] = random_location(names, &seed);
        if (i % EVERY == 0)
            add(&interval, group, 1, &hot, 1, &seed);
        else
            add(&interval, group, 1 + i % 5, locations, MAX_DEPTH, &seed);
    }
    return finish(&interval, names);
}

/* The own time of all nodes with this text. */
static int64_t own_of_text(const struct smp_profile *profile, const char *wanted)
{
    char text[TEXT_BYTES];
    int64_t sum = 0;

    for (uint32_t node = 1; node < smp_tree_node_count(profile->tree); node++) {
        text_of(profile, smp_tree_nodes(profile->tree)[node].location, text);
        if (strcmp(text, wanted) == 0)
            sum += smp_tree_self(profile->tree, node, SMP_MEASURE_WALL);
    }
    return sum;
}

static size_t count_rows(const struct smp_profile *profile, uint32_t location)
{
    size_t rows = 0;

    for (uint32_t node = 1; node < smp_tree_node_count(profile->tree); node++)
        rows += smp_tree_nodes(profile->tree)[node].location == location &&
                smp_tree_has_any(profile->tree, node);
    return rows;
}

/* This also holds if one of the parts is such a result. */
static void small_rows_of_a_full_merged_tree_are_folded(void **state)
{
    const struct smp_merge_limits limits = { .tree_bytes = PART_BYTES / 2,
                                             .names_bytes = PART_BYTES,
                                             .groups_bytes = PART_BYTES };
    struct smp_methods *names = make_names();
    struct smp_methods *others = make_names();
    struct smp_profile *parts[] = { make_many(names, 1), make_many(names, 2),
                                    make_many(others, 3) };
    struct smp_profile *merged = NULL;
    struct smp_profile *again = NULL;
    char hot[TEXT_BYTES];
    int64_t hot_ns = 0;

    (void)state;
    text_of(parts[0], line_of_method(names, HOT_KEY), hot);
    assert_int_equal(smp_profile_merge_within(NULL, (const struct smp_profile *const *)parts, 2,
                                              limits, &merged),
                     SMP_OK);
    const struct smp_profile *const pair[] = { merged, parts[2] };
    assert_int_equal(smp_profile_merge_within(NULL, pair, 2, limits, &again), SMP_OK);
    assert_true(merged->counters[SMP_COUNTER_FOLDED_ROWS] > 1000);
    assert_true(again->counters[SMP_COUNTER_FOLDED_ROWS] >
                merged->counters[SMP_COUNTER_FOLDED_ROWS]);
    assert_true(count_rows(again, smp_methods_folded(again->methods)) > 10);
    assert_in_range(smp_tree_bytes(again->tree), 0, limits.tree_bytes + 1024);
    for (int i = 0; i < SMP_MEASURE_COUNT; i++) {
        const enum smp_measure measure = (enum smp_measure)i;
        int64_t sum = 0;
        for (size_t part = 0; part < 3; part++)
            sum += smp_profile_total(parts[part], measure);
        assert_int_equal(smp_profile_total(again, measure), sum);
    }
    assert_int_equal(count_rows(again, smp_methods_over_limit(again->methods)), 0);
    for (size_t part = 0; part < 3; part++)
        hot_ns += own_of_text(parts[part], hot);
    assert_int_equal(own_of_text(again, hot), hot_ns);
    for (size_t i = 0; i < 3; i++)
        smp_profile_release(parts[i]);
    smp_profile_release(merged);
    smp_profile_release(again);
    smp_methods_release(names);
    smp_methods_release(others);
}

/* --- memory --- */

static enum smp_status merge_and_release(void *self)
{
    struct smp_profile **parts = self;
    struct smp_profile *merged = NULL;
    const enum smp_status status = smp_profile_merge(NULL, parts[0], parts[1], &merged);

    /* The reference is left out, because it allocates. */
    if (status == SMP_OK)
        assert_int_equal(tree_wall(merged->tree, 0),
                         tree_wall(parts[0]->tree, 0) + tree_wall(parts[1]->tree, 0));
    smp_profile_release(merged);
    return status;
}

static void without_memory_there_is_no_result(void **state)
{
    struct smp_methods *names = make_names();
    struct smp_methods *others = make_names();
    unsigned seed = 5;
    struct smp_profile *one = make_random(names, &seed);
    struct smp_profile *same[] = { one, make_random(names, &seed) };
    struct smp_profile *different[] = { one, make_random(others, &seed) };
    struct failing_alloc_steps steps;

    (void)state;
    steps = failing_alloc_each_step(merge_and_release, same);
    assert_true(steps.refused > 10);
    steps = failing_alloc_each_step(merge_and_release, different);
    assert_true(steps.refused > 15);
    smp_profile_release(one);
    smp_profile_release(same[1]);
    smp_profile_release(different[1]);
    smp_methods_release(names);
    smp_methods_release(others);
}

static void a_full_quota_fails_the_merge_and_leaks_nothing(void **state)
{
    struct smp_methods *names = make_names();
    unsigned seed = 6;
    struct smp_profile *parts[] = { make_random(names, &seed), make_random(names, &seed) };
    struct smp_profile *merged = NULL;
    struct smp_quota *quota = smp_quota_create(64 * 1024);

    (void)state;
    assert_true(smp_profile_merge(quota, parts[0], parts[1], &merged) != SMP_OK);
    assert_null(merged);
    assert_int_equal(smp_quota_used(quota), 0);
    quota->limit_bytes = 1 << 22;
    assert_int_equal(smp_profile_merge(quota, parts[0], parts[1], &merged), SMP_OK);
    smp_quota_release(quota); /* the profile still holds a reference */
    smp_profile_release(parts[0]);
    smp_profile_release(parts[1]);
    smp_methods_release(names);
    assert_true(smp_quota_used(merged->quota) > 0);
    smp_profile_release(merged);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_merged_profile_is_the_sum_of_its_parts),
        cmocka_unit_test(merging_in_two_steps_equals_merging_at_once),
        cmocka_unit_test(states_are_merged_if_all_parts_have_them),
        cmocka_unit_test(merged_seconds_are_the_sum_of_all_profiles),
        cmocka_unit_test(states_without_memory_in_a_merged_tree_are_counted),
        cmocka_unit_test(threads_of_one_sampler_are_counted_once),
        cmocka_unit_test(threads_are_counted_once_after_names_were_compacted),
        cmocka_unit_test(threads_of_several_samplers_are_added_up),
        cmocka_unit_test(figures_of_a_merged_profile_cover_both_intervals),
        cmocka_unit_test(figures_at_the_end_come_from_the_later_profile),
        cmocka_unit_test(threads_are_counted_once_in_a_growing_merge),
        cmocka_unit_test(groups_that_do_not_fit_go_to_the_overflow_group),
        cmocka_unit_test(locks_that_do_not_fit_go_to_the_row_other),
        cmocka_unit_test(a_merge_adds_no_name_to_a_shared_table),
        cmocka_unit_test(the_variance_of_a_recursion_is_counted_once),
        cmocka_unit_test(small_rows_of_a_full_merged_tree_are_folded),
        cmocka_unit_test(without_memory_there_is_no_result),
        cmocka_unit_test(a_full_quota_fails_the_merge_and_leaks_nothing),
    };
    return cmocka_run_group_tests_name("profile_merge", tests, NULL, NULL);
}
