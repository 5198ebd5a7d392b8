/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_export.c - the time to write each format, the memory needed besides the snapshot, and the
 * size of the output, for a made-up service with time at its leaves only and at every node.
 *
 * Times depend on the machine and are only shown. The program fails if a writer takes more than
 * MAX_EXTRA_BYTES, which does not depend on the machine.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "export/exporters.h"
#include "model/profile.h"
#include "support/generated_input.h"
#include "support/tree_amounts.h"

enum {
    NODES = 120000,
    PASSES = 5, /* the best pass counts, because other programs disturb the others */
    PART_BYTES = 64 * 1024 * 1024,
    MAX_EXTRA_BYTES = 8 * 1024 * 1024
};

#define MS INT64_C(1000000)

static void must_ok(enum smp_status status, const char *what)
{
    if (status == SMP_OK)
        return;
    fprintf(stderr, "bench_export: %s: %s\n", what, smp_status_text(status));
    exit(1);
}

/* --- the snapshot --- */

static void add_all(const struct generated_input *input, struct smp_tree *tree)
{
    const struct generated_service *service = input->service;
    const uint32_t *locations = input->locations;

    for (size_t i = 0; i < service->stack_count; i++) {
        const struct generated_stack *stack = &service->stacks[i];
        uint32_t root = 0;
        uint32_t leaf = 0;
        must_ok(smp_tree_root(tree, generated_group(stack->group).index, &root), "root");
        must_ok(smp_tree_add(tree, root, locations, stack->count, &leaf), "add");
        tree_credit(tree, leaf, 50 * MS + (int64_t)i, 20 * MS, 1);
        locations += stack->count;
    }
}

static struct smp_profile *take_snapshot(struct generated_input *input, bool every_node)
{
    struct smp_thread_groups *groups = NULL;
    struct smp_profile *profile = NULL;
    struct smp_tree *tree = NULL;

    must_ok(smp_tree_create(&input->quota, SMP_SAMPLED_MEASURES, PART_BYTES, &tree), "tree");
    must_ok(smp_thread_groups_create(&input->quota, PART_BYTES, &groups), "groups");
    add_all(input, tree);
    for (uint32_t i = 1; every_node && i < smp_tree_node_count(tree); i++)
        tree_credit(tree, i, 50 * MS + i, 20 * MS, 1);
    for (uint32_t i = 0; i < MADE_GROUPS; i++) {
        const struct smp_group group = smp_thread_groups_find(
            groups, (struct smp_group_key){ .name = generated_group_name(i) });
        struct smp_group_info *info = smp_thread_groups_info(groups, group);
        must_ok(smp_tree_root(tree, group.index, &info->root), "root");
        smp_tally_note(&info->tally, SMP_OUTCOME_WALKED);
        smp_thread_groups_see(groups, group, i + 1, generated_group_name(i));
    }
    must_ok(smp_profile_create(&input->quota, tree, groups, input->methods, &profile), "snapshot");
    return profile;
}

/* --- measuring --- */

struct figures {
    double best_ms;
    size_t extra_bytes;
    size_t bytes;
};

static bool count_bytes(void *self, const char *bytes, size_t length)
{
    size_t *sum = self;

    (void)bytes;
    *sum += length;
    return true;
}

static struct figures measure(const struct smp_profile *profile, enum smp_format format)
{
    const struct smp_export_style style = { .measure = SMP_MEASURE_WALL, .period_ns = 50 * MS };
    struct figures figures = { .best_ms = 0 };
    const struct smp_output output = { .write = count_bytes, .self = &figures.bytes };

    for (int pass = 0; pass < PASSES; pass++) {
        struct smp_quota quota;
        int64_t since_ns;
        double ms;

        smp_quota_init(&quota, (size_t)1 << 30);
        figures.bytes = 0;
        since_ns = smp_clock_own_cpu_ns();
        must_ok(smp_export(profile, format, &style, &quota, &output), "export");
        ms = (double)(smp_clock_own_cpu_ns() - since_ns) / 1e6;
        if (pass == 0 || ms < figures.best_ms)
            figures.best_ms = ms;
        figures.extra_bytes = atomic_load(&quota.peak);
    }
    return figures;
}

static const struct row {
    const char *name;
    enum smp_format format;
    bool is_streaming;
    const char *wanted;
} rows[] = { { "COLLAPSED", SMP_FORMAT_COLLAPSED, true, "<= 150 ms, 8 MB" },
             { "PPROF", SMP_FORMAT_PPROF, true, "<= 200 ms, 8 MB" },
             { "SPEEDSCOPE", SMP_FORMAT_SPEEDSCOPE, true, "8 MB" },
             { "JSON", SMP_FORMAT_JSON, true, "<= 400 ms, 8 MB" },
             { "TOP", SMP_FORMAT_TOP, true, "8 MB" },
             { "TEXT", SMP_FORMAT_TEXT, false, "" } };

/* Returns false if a promise is broken. */
static bool print_table(const struct smp_profile *profile, const char *what)
{
    bool is_kept = true;

    printf("%zu nodes, %s; best of %d\n\n%-12s %9s %9s %9s   %s\n",
           smp_tree_node_count(profile->tree), what, PASSES, "", "ms", "extra MB", "output MB",
           "wanted");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct figures figures = measure(profile, rows[i].format);
        printf("%-12s %9.2f %9.2f %9.2f   %s\n", rows[i].name, figures.best_ms,
               (double)figures.extra_bytes / 1e6, (double)figures.bytes / 1e6, rows[i].wanted);
        if (rows[i].is_streaming && figures.extra_bytes > MAX_EXTRA_BYTES)
            is_kept = false;
    }
    printf("\n");
    return is_kept;
}

int main(void)
{
    struct generated_input input;
    bool is_kept = true;

    generated_input_init(&input, NODES, false);
    for (int every_node = 0; every_node <= 1; every_node++) {
        struct smp_profile *profile = take_snapshot(&input, every_node);
        is_kept &= print_table(profile, every_node ? "time at every node" : "time at the leaves");
        smp_profile_release(profile);
    }
    generated_input_fini(&input);
    if (!is_kept)
        fprintf(stderr, "bench_export: a writer takes more memory than it may\n");
    return is_kept ? 0 : 1;
}
