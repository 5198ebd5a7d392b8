/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_tree.c - the cost of a frame, the size of a node, and the time of a report, compared with
 * a naive version that keeps the same stacks under string keys in a hash map.
 *
 * Times depend on the machine and are only shown; the ratio to the naive version depends less on
 * it. The program fails if a promise is broken that does not depend on the machine: at most
 * MAX_NODE_BYTES per node, and the same figures as the naive version.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/threads/last_stack.h"
#include "export/report.h"
#include "model/profile.h"
#include "support/generated_input.h"
#include "support/must.h"
#include "support/reference_tree.h"
#include "support/tree_amounts.h"

enum {
    NODES = 120000,
    PASSES = 7,     /* the best pass counts, because other programs disturb the others */
    THREADS = 1000, /* threads that are found with their previous stack */
    POLLS = 10,     /* of each thread in a round */
    MAX_NODE_BYTES = 32,
    PART_BYTES = 64 * 1024 * 1024
};

#define MS INT64_C(1000000)

struct figures {
    double insert_new_ns;
    double insert_warm_ns;
    double again_ns;
    double locate_ns;
    double node_bytes;
    double finish_ms;
    double report_ms;
    double full_report_ms;
    double own_text_report_ms;
    double report_bytes;
    double full_report_bytes;
};

/* --- helpers --- */

static void must_ok(enum smp_status status, const char *what)
{
    if (status == SMP_OK)
        return;
    fprintf(stderr, "bench_tree: %s: %s\n", what, smp_status_text(status));
    exit(1);
}

static void *must_calloc(size_t count, size_t size)
{
    void *piece = calloc(count, size);

    must(piece != NULL, "out of memory");
    return piece;
}

static void keep_best(double *best, int64_t since_ns, size_t count)
{
    const double each = (double)(smp_clock_own_cpu_ns() - since_ns) / (double)count;

    if (*best <= 0 || each < *best)
        *best = each;
}

/* --- the tree under test --- */

/* Adds every stack; leaves[i] becomes the leaf of stack i. */
static void add_all(const struct generated_input *input, struct smp_tree *tree, uint32_t *leaves)
{
    const struct generated_service *service = input->service;
    const uint32_t *locations = input->locations;

    for (size_t i = 0; i < service->stack_count; i++) {
        const struct generated_stack *stack = &service->stacks[i];
        uint32_t root = 0;
        enum smp_status status = smp_tree_root(tree, generated_group(stack->group).index, &root);
        if (status == SMP_OK)
            status = smp_tree_add(tree, root, locations, stack->count, &leaves[i]);
        must_ok(status, "add");
        tree_credit(tree, leaves[i], MS, 0, 1);
        locations += stack->count;
    }
}

/* Does what the sampler does for a thread with an unchanged stack: engine/threads/last_stack.h. */
static size_t look_again(const struct generated_input *input, struct smp_tree *tree,
                         const uint32_t *leaves, double *best)
{
    struct smp_memory_budget budget = { .max_bytes = PART_BYTES };
    struct smp_last_stack *last = must_calloc(THREADS, sizeof(*last));
    struct generated_stack *stacks = input->service->stacks;
    struct smp_sample sample = { .omitted = 0 };
    size_t frames = 0;
    size_t matches = 0;
    int64_t since_ns;

    for (size_t i = 0; i < THREADS; i++) {
        sample.frames = stacks[i].frames;
        sample.count = sample.leaf_count = stacks[i].count;
        smp_last_stack_keep(&last[i], &budget, 1, &sample, leaves[i], SMP_OUTCOME_WALKED);
        frames += stacks[i].count;
    }
    since_ns = smp_clock_own_cpu_ns();
    for (size_t poll = 0; poll < POLLS; poll++) {
        for (size_t i = 0; i < THREADS; i++) {
            sample.frames = stacks[i].frames;
            sample.count = sample.leaf_count = stacks[i].count;
            if (!smp_last_stack_matches(&last[i], 1, &sample))
                continue;
            tree_credit(tree, last[i].node, MS, 0, 1);
            matches++;
        }
    }
    keep_best(best, since_ns, frames * POLLS);
    for (size_t i = 0; i < THREADS; i++)
        smp_last_stack_fini(&last[i], &budget);
    free(last);
    return matches;
}

static struct smp_tree *measure_tree(const struct generated_input *input, struct figures *figures)
{
    const size_t frames = input->service->frame_count;
    uint32_t *leaves = must_calloc(input->service->stack_count, sizeof(uint32_t));
    struct smp_tree *tree = NULL;

    for (size_t pass = 0; pass < PASSES; pass++) {
        int64_t since_ns;
        smp_tree_destroy(tree);
        must_ok(smp_tree_create(NULL, SMP_SAMPLED_MEASURES, PART_BYTES, &tree), "tree");
        since_ns = smp_clock_own_cpu_ns();
        add_all(input, tree, leaves);
        keep_best(&figures->insert_new_ns, since_ns, frames);
    }
    for (size_t pass = 0; pass < PASSES; pass++) {
        const int64_t since_ns = smp_clock_own_cpu_ns();
        add_all(input, tree, leaves);
        keep_best(&figures->insert_warm_ns, since_ns, frames);
    }
    for (size_t pass = 0; pass < PASSES; pass++)
        must(look_again(input, tree, leaves, &figures->again_ns) == (size_t)THREADS * POLLS,
             "a stack was not the one it was");
    figures->node_bytes = (double)smp_tree_bytes(tree) / (double)smp_tree_node_count(tree);
    free(leaves);
    return tree;
}

static void measure_locate(struct generated_input *input, struct figures *figures)
{
    for (size_t pass = 0; pass < PASSES; pass++) {
        const int64_t since_ns = smp_clock_own_cpu_ns();
        generated_input_locate(input);
        keep_best(&figures->locate_ns, since_ns, input->service->frame_count);
    }
}

/* --- report --- */

static bool no_title(void *self, int64_t from_wall_ms, int64_t till_wall_ms)
{
    (void)self;
    (void)from_wall_ms;
    (void)till_wall_ms;
    return true;
}

static bool count_bytes(void *self, const char *title, size_t title_length, const char *rows,
                        size_t rows_length)
{
    size_t *bytes = self;

    (void)title;
    (void)rows;
    *bytes += title_length + rows_length;
    return true;
}

static bool no_flush(void *self)
{
    (void)self;
    return true;
}

/* Finishes a tree of all stacks. every_node: each node has its own time, so each is a row. */
static struct smp_profile *take_snapshot(struct generated_input *input, bool every_node,
                                         double *finish_ms)
{
    uint32_t *leaves = must_calloc(input->service->stack_count, sizeof(uint32_t));
    struct smp_thread_groups *groups = NULL;
    struct smp_profile *profile = NULL;
    struct smp_tree *tree = NULL;
    int64_t since_ns;

    must_ok(smp_tree_create(&input->quota, SMP_SAMPLED_MEASURES, PART_BYTES, &tree), "tree");
    must_ok(smp_thread_groups_create(&input->quota, PART_BYTES, &groups), "groups");
    add_all(input, tree, leaves);
    free(leaves);
    for (uint32_t i = 1; every_node && i < smp_tree_node_count(tree); i++)
        tree_credit(tree, i, MS, 0, 1);
    for (uint32_t i = 0; i < MADE_GROUPS; i++) {
        const struct smp_group group = smp_thread_groups_find(
            groups, (struct smp_group_key){ .name = generated_group_name(i) });
        struct smp_group_info *info = smp_thread_groups_info(groups, group);
        must(group.index == generated_group(i).index, "groups are numbered in another way");
        must_ok(smp_tree_root(tree, group.index, &info->root), "root");
        smp_tally_note(&info->tally, SMP_OUTCOME_WALKED);
        smp_thread_groups_see(groups, group, i + 1, generated_group_name(i));
    }
    since_ns = smp_clock_own_cpu_ns();
    must_ok(smp_profile_create(&input->quota, tree, groups, input->methods, &profile), "snapshot");
    keep_best(finish_ms, since_ns, MS);
    return profile;
}

/* Returns the size of the report. */
static size_t measure_report(struct generated_input *input, bool every_node, double *finish_ms,
                             double *best)
{
    const struct smp_export_style style = { .order = SMP_ORDER_BY_NAME };
    size_t bytes = 0;
    const struct smp_outputer outputer = {
        .title = no_title, .record = count_bytes, .flush = no_flush, .self = &bytes
    };

    for (size_t pass = 0; pass < PASSES; pass++) {
        struct smp_profile *profile = take_snapshot(input, every_node, finish_ms);
        unsigned cut = 0;
        const int64_t since_ns = smp_clock_own_cpu_ns();
        bytes = 0;
        must_ok(smp_report_text(profile, style, &input->quota, &outputer, &cut), "report");
        keep_best(best, since_ns, MS);
        must(cut == 0, "a record was cut");
        smp_profile_release(profile);
    }
    return bytes;
}

/* For a tree in which no two nodes show the same frame: all texts are made and sorted. */
static void measure_own_texts(struct figures *figures)
{
    struct generated_input input;
    double finish_ms = 0;

    generated_input_init(&input, NODES, true);
    (void)measure_report(&input, true, &finish_ms, &figures->own_text_report_ms);
    generated_input_fini(&input);
}

/* --- the naive version --- */

static void add_all_to_reference(const struct generated_input *input,
                                 struct reference_tree *reference, size_t stacks)
{
    const char *const *texts = input->texts;

    for (size_t i = 0; i < stacks; i++) {
        const struct generated_stack *stack = &input->service->stacks[i];
        struct reference_node *leaf =
            reference_tree_add(reference, generated_group_name(stack->group), texts, stack->count);
        leaf->self_wall_ns += MS;
        leaf->samples++;
        texts += stack->count;
    }
}

static struct reference_tree *measure_reference(const struct generated_input *input,
                                                struct figures *figures)
{
    const size_t frames = input->service->frame_count;
    struct reference_tree *reference = NULL;
    size_t again = 0;
    int64_t since_ns;

    for (size_t pass = 0; pass < PASSES; pass++) {
        reference_tree_destroy(reference);
        reference = reference_tree_create();
        since_ns = smp_clock_own_cpu_ns();
        add_all_to_reference(input, reference, input->service->stack_count);
        keep_best(&figures->insert_new_ns, since_ns, frames);
    }
    for (size_t pass = 0; pass < PASSES; pass++) {
        since_ns = smp_clock_own_cpu_ns();
        add_all_to_reference(input, reference, input->service->stack_count);
        keep_best(&figures->insert_warm_ns, since_ns, frames);
    }
    for (size_t i = 0; i < THREADS; i++)
        again += input->service->stacks[i].count;
    for (size_t poll = 0; poll < (size_t)PASSES * POLLS; poll++) {
        since_ns = smp_clock_own_cpu_ns();
        add_all_to_reference(input, reference, THREADS);
        keep_best(&figures->again_ns, since_ns, again);
    }
    since_ns = smp_clock_own_cpu_ns();
    reference_tree_totals(reference);
    keep_best(&figures->finish_ms, since_ns, MS);
    since_ns = smp_clock_own_cpu_ns();
    figures->full_report_bytes = (double)reference_tree_print(reference, NULL);
    keep_best(&figures->full_report_ms, since_ns, MS);
    figures->node_bytes =
        (double)reference_tree_bytes(reference) / (double)reference_tree_count(reference);
    return reference;
}

/* The tree is finished; the naive version has its totals. */
static bool are_equal(const struct generated_input *input, const struct smp_tree *tree,
                      const struct reference_tree *reference)
{
    const struct smp_node *nodes = smp_tree_nodes(tree);
    const size_t count = smp_tree_node_count(tree);
    struct reference_node **references = must_calloc(count, sizeof(struct reference_node *));
    size_t equal = 0;

    for (uint32_t i = 1; i < count; i++) {
        const char *text = generated_input_text(input, nodes[i].location);
        const struct reference_node *other = references[i] =
            reference_tree_find(reference, references[nodes[i].parent], text);
        if (other != NULL && other->total_wall_ns == tree_wall(tree, i) &&
            other->samples == tree_own_samples(tree, i))
            equal++;
    }
    free(references);
    return equal == count - 1 && equal == reference_tree_count(reference);
}

/* --- the table --- */

static void print_row(const char *what, const char *unit, double ours, double reference,
                      const char *wanted)
{
    if (reference > 0)
        printf("%-38s %-9s %9.2f %9.2f %8.1f   %s\n", what, unit, ours, reference, reference / ours,
               wanted);
    else
        printf("%-38s %-9s %9.2f %9s %8s   %s\n", what, unit, ours, "-", "-", wanted);
}

static void print_table(const struct generated_input *input, size_t nodes,
                        const struct figures *ours, const struct figures *reference)
{
    printf("%zu nodes, %zu stacks of %.0f frames on average, %d groups, shuffled; best of %d\n\n",
           nodes, input->service->stack_count,
           (double)input->service->frame_count / (double)input->service->stack_count, MADE_GROUPS,
           PASSES);
    printf("%-38s %-9s %9s %9s %8s   %s\n", "", "unit", "ours", "reference", "ratio", "wanted");
    print_row("add, into an empty tree", "ns/frame", ours->insert_new_ns, reference->insert_new_ns,
              "");
    print_row("add, all known", "ns/frame", ours->insert_warm_ns, reference->insert_warm_ns,
              "<= 10");
    print_row("the thread's last stack again", "ns/frame", ours->again_ns, reference->again_ns,
              "<= 2");
    print_row("method and line looked up, all known", "ns/frame", ours->locate_ns, 0, "");
    print_row("memory", "byte/node", ours->node_bytes, reference->node_bytes, "<= 32");
    print_row("totals (snapshot)", "ms", ours->finish_ms, reference->finish_ms, "");
    print_row("report, time at the leaves", "ms", ours->report_ms, 0, "<= 50");
    print_row("report, time at every node", "ms", ours->full_report_ms, reference->full_report_ms,
              "<= 50");
    print_row("report, each frame another text", "ms", ours->own_text_report_ms, 0, "<= 50");
    printf("\nthe reports have %.1f and %.1f MB\n", ours->report_bytes / 1e6,
           ours->full_report_bytes / 1e6);
}

int main(void)
{
    struct generated_input input;
    struct figures ours = { .node_bytes = 0 };
    struct figures dumb = { .node_bytes = 0 };
    struct smp_tree *tree;
    struct reference_tree *reference;
    bool equal;

    generated_input_init(&input, NODES, false);
    tree = measure_tree(&input, &ours);
    measure_locate(&input, &ours);
    ours.report_bytes = (double)measure_report(&input, false, &ours.finish_ms, &ours.report_ms);
    ours.full_report_bytes =
        (double)measure_report(&input, true, &ours.finish_ms, &ours.full_report_ms);
    measure_own_texts(&ours);
    reference = measure_reference(&input, &dumb);
    print_table(&input, smp_tree_node_count(tree), &ours, &dumb);

    smp_tree_finish(tree);
    equal = are_equal(&input, tree, reference);
    smp_tree_destroy(tree);
    reference_tree_destroy(reference);
    generated_input_fini(&input);
    must(equal, "the tree and its reference differ");
    must(ours.node_bytes <= MAX_NODE_BYTES, "a node takes more than it may");
    return 0;
}
