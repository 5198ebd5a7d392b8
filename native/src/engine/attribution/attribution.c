/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/attribution/attribution.h"

#include <stddef.h>

struct smp_group_tree smp_attribution_tree(struct smp_attribution *attribution,
                                           struct smp_thread_record *record)
{
    if (record->tree_epoch != attribution->tree_epoch) {
        record->tree = smp_interval_find(attribution->interval,
                                         (struct smp_group_key){ .name = record->group_name },
                                         record->thread->serial, record->raw_name);
        record->tree_epoch = attribution->tree_epoch;
        smp_last_stack_forget(&record->last);
    }
    return record->tree;
}

static struct smp_tree_target pseudo_target(struct smp_attribution *attribution,
                                            struct smp_group_tree tree, enum smp_outcome outcome)
{
    /* A stopped process or a stopped JVM keeps the thread from a CPU, as a CPU quota does. */
    const bool is_stopped =
        outcome == SMP_OUTCOME_PROCESS_STOPPED || outcome == SMP_OUTCOME_GC_ACTIVE;
    struct smp_tree_target target = { .tree = tree,
                                      .outcome = outcome,
                                      .state =
                                          is_stopped ? SMP_STATE_RUNNABLE : SMP_STATE_RUNNING };

    target.node = smp_interval_add_pseudo(attribution->interval, tree, &target.outcome);
    return target;
}

struct smp_tree_target smp_attribution_pseudo(struct smp_attribution *attribution,
                                              struct smp_thread_record *record,
                                              enum smp_outcome outcome)
{
    return pseudo_target(attribution, smp_attribution_tree(attribution, record), outcome);
}

/* Finds or adds the node of a stack with frames. Returns false without memory. A path that lacks
 * the name of a frame would be a different stack, so it is not added. */
static bool add_stack_path(struct smp_attribution *attribution, struct smp_group_tree tree,
                           const struct smp_sample *sample, uint32_t *node)
{
    struct smp_stack_path *path = &attribution->path;

    smp_stack_path_find(path, attribution->methods, attribution->names, sample);
    if (!path->over_limit &&
        smp_interval_add(attribution->interval, tree, path->locations + path->first,
                         path->count - path->first, node))
        return true;
    attribution->ran_out = true;
    return false;
}

/* Adds a stack that has no node in this group yet. The target's state is not set. */
static struct smp_tree_target add_stack(struct smp_attribution *attribution,
                                        struct smp_group_tree tree, enum smp_outcome outcome,
                                        const struct smp_sample *sample,
                                        struct smp_wait_verdict *verdict)
{
    const struct smp_stack_path *path = &attribution->path;
    struct smp_tree_target target = { .tree = tree,
                                      .outcome = outcome,
                                      .omitted = sample->omitted };

    *verdict = (struct smp_wait_verdict){ .state = SMP_STATE_IDLE };
    if (sample->count == 0)
        return pseudo_target(attribution, tree, outcome);
    smp_interval_saw_depth(attribution->interval, tree, sample->count + sample->omitted);
    const bool is_added = add_stack_path(attribution, tree, sample, &target.node);
    *verdict = smp_wait_verdict_find(attribution->methods, sample, path->locations, path->count);
    return is_added ? target : pseudo_target(attribution, tree, SMP_OUTCOME_OVER_MEMORY_LIMIT);
}

/* --- states --- */

static void keep_verdict(struct smp_last_stack *last, struct smp_wait_verdict verdict)
{
    last->verdict_state = (uint8_t)verdict.state;
    last->verdict_leaf = (uint8_t)verdict.leaf;
}

enum smp_thread_state smp_attribution_judge(struct smp_last_stack *last, enum smp_wait_word word)
{
    const struct smp_wait_verdict verdict = { .state = (enum smp_thread_state)last->verdict_state,
                                              .leaf = (enum smp_wait_leaf)last->verdict_leaf };

    last->word = (uint8_t)word;
    last->state = (uint8_t)smp_wait_state(verdict, word);
    return (enum smp_thread_state)last->state;
}

/* --- found --- */

/* Returns the node of a stack or, if the thread is in a counted call, that call's node below it. */
static uint32_t node_in_call(const struct smp_attribution *attribution, uint32_t node,
                             const struct smp_sample *sample)
{
    const struct smp_call_rows *const calls = &attribution->calls;
    const uint32_t counted =
        calls->find == NULL || sample->spot.tree == 0 ? 0 : calls->find(calls->self, &sample->spot);

    return counted == 0 ? node : smp_interval_add_call(attribution->interval, node, counted);
}

static struct smp_tree_target own_stack_target(struct smp_attribution *attribution,
                                               struct smp_thread_record *record,
                                               const struct smp_found *found)
{
    const struct smp_sample *sample = found->sample;
    struct smp_last_stack *last = &record->last;
    struct smp_wait_verdict verdict;
    struct smp_tree_target target = {
        .tree = record->tree,
        .outcome = found->outcome,
        .omitted = sample->omitted,
    };

    if (smp_last_stack_matches(last, attribution->stack_epoch, sample)) {
        target.node = last->stack_node;
        if (last->outcome == SMP_OUTCOME_OVER_MEMORY_LIMIT)
            target.outcome = last->outcome;
    } else {
        target = add_stack(attribution, record->tree, found->outcome, sample, &verdict);
        smp_last_stack_keep(last, &attribution->budget, attribution->stack_epoch, sample,
                            target.node, target.outcome);
        keep_verdict(last, verdict);
    }
    if (target.outcome != SMP_OUTCOME_OVER_MEMORY_LIMIT)
        target.node = node_in_call(attribution, target.node, sample);
    last->node = target.node;
    target.state = smp_attribution_judge(last, found->word);
    return target;
}

struct smp_tree_target smp_attribution_found(struct smp_attribution *attribution,
                                             struct smp_thread_record *record,
                                             const struct smp_found *found)
{
    const bool is_empty = found->outcome == SMP_OUTCOME_NO_JAVA_FRAMES;

    if (found->mounted.name == NULL)
        (void)smp_attribution_tree(attribution, record);
    if (smp_outcome_frame(found->outcome) != NULL && !is_empty)
        return smp_attribution_pseudo(attribution, record, found->outcome);
    if (found->mounted.name == NULL)
        return own_stack_target(attribution, record, found);
    return smp_attribution_found_in(attribution,
                                    smp_interval_find(attribution->interval, found->mounted,
                                                      record->thread->serial, record->raw_name),
                                    found);
}

struct smp_tree_target smp_attribution_found_in(struct smp_attribution *attribution,
                                                struct smp_group_tree tree,
                                                const struct smp_found *found)
{
    const bool is_empty = found->outcome == SMP_OUTCOME_NO_JAVA_FRAMES;
    struct smp_wait_verdict verdict;
    struct smp_tree_target target;

    if (smp_outcome_frame(found->outcome) != NULL && !is_empty)
        return pseudo_target(attribution, tree, found->outcome);
    target = add_stack(attribution, tree, found->outcome, found->sample, &verdict);
    target.state = smp_wait_state(verdict, found->word);
    return target;
}

bool smp_attribution_idle(struct smp_attribution *attribution, struct smp_thread_record *record,
                          struct smp_tree_target *out)
{
    struct smp_last_stack *last = &record->last;
    struct smp_wait_verdict verdict;
    struct smp_sample sample;

    out->tree = smp_attribution_tree(attribution, record);
    if (last->epoch != attribution->stack_epoch) {
        if (!smp_last_stack_get(last, &sample))
            return false;
        const enum smp_outcome outcome =
            sample.count == 0 ? SMP_OUTCOME_NO_JAVA_FRAMES : SMP_OUTCOME_WALKED;
        const struct smp_tree_target target =
            add_stack(attribution, out->tree, outcome, &sample, &verdict);
        smp_last_stack_move(last, attribution->stack_epoch, target.node, target.outcome);
        keep_verdict(last, verdict);
        (void)smp_attribution_judge(last, (enum smp_wait_word)last->word);
    }
    out->node = last->node;
    out->state = (enum smp_thread_state)last->state;
    out->omitted = last->omitted;
    out->outcome = last->outcome == SMP_OUTCOME_OVER_MEMORY_LIMIT ? SMP_OUTCOME_OVER_MEMORY_LIMIT
                                                                  : SMP_OUTCOME_IDLE;
    return true;
}

/* --- errors --- */

/* If found_epoch is not the current one, the thread has not been polled in this interval. */
static void found_at(struct smp_attribution *attribution, struct smp_thread_record *record,
                     uint32_t node, bool is_running)
{
    record->found_epoch = attribution->tree_epoch;
    record->found_node = node;
    record->found_running = is_running;
}

void smp_attribution_moved(struct smp_attribution *attribution, struct smp_thread_record *record,
                           const struct smp_tree_target *target, bool is_running,
                           const struct smp_poll_weight *weight)
{
    const bool has_moved = record->found_node != target->node;
    const bool has_switched = record->found_running != is_running;

    if (record->found_epoch == attribution->tree_epoch && (has_moved || has_switched)) {
        const float change = smp_error_change(weight->weight_ns, weight->probability);
        if (has_moved)
            smp_tree_moved(attribution->interval->tree, record->found_node, target->node, change,
                           weight->tick);
        if (has_switched)
            smp_interval_ran(attribution->interval, target->tree, is_running ? change : -change,
                             weight->tick);
    }
    found_at(attribution, record, target->node, is_running);
}

void smp_attribution_resumed(struct smp_attribution *attribution, struct smp_thread_record *record,
                             const struct smp_tree_target *target)
{
    if (record->found_epoch != attribution->tree_epoch)
        found_at(attribution, record, target->node, record->found_running);
}

void smp_attribution_unseen(struct smp_attribution *attribution,
                            const struct smp_tree_target *target,
                            const struct smp_poll_weight *weight)
{
    const float change = smp_error_change(weight->weight_ns, weight->probability);

    smp_tree_moved(attribution->interval->tree, target->node, target->tree.root, change,
                   weight->tick);
    smp_interval_ran(attribution->interval, target->tree, -change, weight->tick);
}

void smp_attribution_stayed(struct smp_attribution *attribution, struct smp_thread_record *record,
                            const struct smp_tree_target *target)
{
    found_at(attribution, record, target->node, false);
}

uint32_t smp_attribution_add_holder(struct smp_attribution *attribution, struct smp_group_tree tree,
                                    const struct smp_sample *sample)
{
    enum smp_outcome outcome =
        sample->count == 0 ? SMP_OUTCOME_NO_JAVA_FRAMES : SMP_OUTCOME_OVER_MEMORY_LIMIT;
    uint32_t node = 0;

    if (tree.root == 0)
        return 0;
    if (sample->count > 0 && add_stack_path(attribution, tree, sample, &node))
        return node;
    return smp_interval_add_pseudo(attribution->interval, tree, &outcome);
}

void smp_attribution_note(struct smp_attribution *attribution, const struct smp_tree_target *target,
                          int64_t wall_ns, struct smp_span span)
{
    smp_interval_note(attribution->interval, target->tree, target->node, target->outcome,
                      target->state, wall_ns, span);
    if (target->outcome != SMP_OUTCOME_OVER_MEMORY_LIMIT)
        smp_interval_count(attribution->interval, SMP_COUNTER_FRAMES_OMITTED, target->omitted);
}
