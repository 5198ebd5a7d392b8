/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/threads/last_stack.h"

#include <string.h>

void smp_last_stack_fini(struct smp_last_stack *last, struct smp_memory_budget *budget)
{
    smp_memory_budget_give(budget, last->frames, last->capacity * sizeof(*last->frames));
    *last = (struct smp_last_stack){ 0 };
}

bool smp_last_stack_matches(const struct smp_last_stack *last, uint64_t epoch,
                            const struct smp_sample *sample)
{
    if (!last->has_frames || last->epoch != epoch || last->count != sample->count ||
        last->omitted != sample->omitted || last->leaf_count != sample->leaf_count)
        return false;
    return sample->count == 0 ||
           memcmp(last->frames, sample->frames, sample->count * sizeof(*last->frames)) == 0;
}

/* Makes room for count frames. Discards the old ones. */
static bool reserve_frames(struct smp_last_stack *last, struct smp_memory_budget *budget,
                           size_t count)
{
    const size_t step = SMP_LAST_STACK_STEP;
    const size_t capacity = (count + step - 1) / step * step;

    if (count <= last->capacity)
        return true;
    smp_last_stack_fini(last, budget);
    last->frames = smp_memory_budget_take(budget, capacity * sizeof(*last->frames));
    if (last->frames != NULL)
        last->capacity = capacity;
    return last->frames != NULL;
}

void smp_last_stack_keep(struct smp_last_stack *last, struct smp_memory_budget *budget,
                         uint64_t epoch, const struct smp_sample *sample, uint32_t node,
                         enum smp_outcome outcome)
{
    last->has_frames = reserve_frames(last, budget, sample->count);
    if (last->has_frames && sample->count > 0)
        memcpy(last->frames, sample->frames, sample->count * sizeof(*last->frames));
    last->count = sample->count;
    last->leaf_count = sample->leaf_count;
    last->omitted = sample->omitted;
    last->version++;
    smp_last_stack_move(last, epoch, node, outcome);
}

void smp_last_stack_forget(struct smp_last_stack *last)
{
    last->epoch = 0;
}

bool smp_last_stack_get(const struct smp_last_stack *last, struct smp_sample *out)
{
    if (!last->has_frames)
        return false;
    *out = (struct smp_sample){
        .frames = last->frames,
        .capacity = last->capacity,
        .count = last->count,
        .leaf_count = last->leaf_count,
        .omitted = last->omitted,
    };
    return true;
}

void smp_last_stack_move(struct smp_last_stack *last, uint64_t epoch, uint32_t node,
                         enum smp_outcome outcome)
{
    last->epoch = epoch;
    last->stack_node = node;
    last->node = node;
    last->outcome = outcome;
}
