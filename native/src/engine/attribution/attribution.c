/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/attribution/attribution.h"

#include <stddef.h>

struct smp_group_tree smp_attribution_tree(struct smp_attribution *attribution,
                                           struct smp_thread_record *record)
{
    if (record->tree_epoch != attribution->tree_epoch) {
        record->tree = smp_interval_find(attribution->interval, smp_thread_record_key(record),
                                         record->thread->serial, record->raw_name);
        record->tree_epoch = attribution->tree_epoch;
        smp_last_stack_forget(&record->last);
    }
    return record->tree;
}

static struct smp_tree_target pseudo_target(struct smp_attribution *attribution,
                                            struct smp_group_tree tree, enum smp_outcome outcome)
{
    struct smp_tree_target target = { .tree = tree, .outcome = outcome };

    target.node = smp_interval_add_pseudo(attribution->interval, tree, &target.outcome);
    return target;
}

struct smp_tree_target smp_attribution_pseudo(struct smp_attribution *attribution,
                                              struct smp_thread_record *record,
                                              enum smp_outcome outcome)
{
    return pseudo_target(attribution, smp_attribution_tree(attribution, record), outcome);
}

/* For a stack without a node in this group. */
static struct smp_tree_target add_stack(struct smp_attribution *attribution,
                                        struct smp_group_tree tree, enum smp_outcome outcome,
                                        const struct smp_sample *sample)
{
    struct smp_stack_path *path = &attribution->path;
    struct smp_tree_target target = { .tree = tree,
                                      .outcome = outcome,
                                      .omitted = sample->omitted };

    if (sample->count == 0)
        return pseudo_target(attribution, tree, outcome);
    smp_interval_saw_depth(attribution->interval, tree, sample->count + sample->omitted);
    smp_stack_path_find(path, attribution->methods, attribution->names, sample);
    /* Without the name of a frame it would be another stack. */
    if (!path->over_limit &&
        smp_interval_add(attribution->interval, tree, path->locations + path->first,
                         path->count - path->first, &target.node))
        return target;
    attribution->ran_out = true;
    return pseudo_target(attribution, tree, SMP_OUTCOME_OVER_MEMORY_LIMIT);
}

static struct smp_tree_target own_stack_target(struct smp_attribution *attribution,
                                               struct smp_thread_record *record,
                                               enum smp_outcome outcome,
                                               const struct smp_sample *sample)
{
    struct smp_last_stack *last = &record->last;
    struct smp_tree_target target = {
        .tree = record->tree,
        .outcome = outcome,
        .omitted = sample->omitted,
    };

    if (smp_last_stack_matches(last, attribution->stack_epoch, sample)) {
        target.node = last->node;
        if (last->outcome == SMP_OUTCOME_OVER_MEMORY_LIMIT)
            target.outcome = last->outcome;
        return target;
    }
    target = add_stack(attribution, record->tree, outcome, sample);
    smp_last_stack_keep(last, &attribution->budget, attribution->stack_epoch, sample, target.node,
                        target.outcome);
    return target;
}

struct smp_tree_target smp_attribution_found(struct smp_attribution *attribution,
                                             struct smp_thread_record *record,
                                             enum smp_outcome outcome,
                                             const struct smp_sample *sample,
                                             struct smp_group_key mounted)
{
    const bool is_empty = outcome == SMP_OUTCOME_NO_JAVA_FRAMES;

    if (mounted.name == NULL)
        (void)smp_attribution_tree(attribution, record);
    if (smp_outcome_frame(outcome) != NULL && !is_empty)
        return smp_attribution_pseudo(attribution, record, outcome);
    if (mounted.name == NULL)
        return own_stack_target(attribution, record, outcome, sample);
    return add_stack(
        attribution,
        smp_interval_find(attribution->interval, mounted, record->thread->serial, record->raw_name),
        outcome, sample);
}

struct smp_tree_target smp_attribution_found_in(struct smp_attribution *attribution,
                                                struct smp_group_tree tree,
                                                enum smp_outcome outcome,
                                                const struct smp_sample *sample)
{
    if (smp_outcome_frame(outcome) != NULL)
        return pseudo_target(attribution, tree, outcome);
    return add_stack(attribution, tree, outcome, sample);
}

bool smp_attribution_idle(struct smp_attribution *attribution, struct smp_thread_record *record,
                          struct smp_tree_target *out)
{
    struct smp_last_stack *last = &record->last;
    struct smp_sample sample;

    out->tree = smp_attribution_tree(attribution, record);
    if (last->epoch != attribution->stack_epoch) {
        if (!smp_last_stack_get(last, &sample))
            return false;
        const enum smp_outcome outcome =
            sample.count == 0 ? SMP_OUTCOME_NO_JAVA_FRAMES : SMP_OUTCOME_WALKED;
        const struct smp_tree_target target = add_stack(attribution, out->tree, outcome, &sample);
        smp_last_stack_move(last, attribution->stack_epoch, target.node, target.outcome);
    }
    out->node = last->node;
    out->omitted = last->omitted;
    out->outcome = last->outcome == SMP_OUTCOME_OVER_MEMORY_LIMIT ? SMP_OUTCOME_OVER_MEMORY_LIMIT
                                                                  : SMP_OUTCOME_IDLE;
    return true;
}

void smp_attribution_note(struct smp_attribution *attribution, const struct smp_tree_target *target,
                          int64_t wall_ns)
{
    smp_interval_note(attribution->interval, target->tree, target->node, target->outcome, wall_ns);
    if (target->outcome != SMP_OUTCOME_OVER_MEMORY_LIMIT)
        smp_interval_count(attribution->interval, SMP_COUNTER_FRAMES_OMITTED, target->omitted);
}
