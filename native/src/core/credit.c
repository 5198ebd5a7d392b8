/* SPDX-License-Identifier: Apache-2.0 */
#include "core/credit.h"

#include <stddef.h>

struct smp_place smp_credit_place(struct smp_credit *credit, struct smp_thread_record *record)
{
    if (record->place_epoch != credit->place_epoch) {
        record->place = smp_interval_find(credit->interval, record->group_name,
                                          record->thread->serial, record->raw_name);
        record->place_epoch = credit->place_epoch;
        smp_last_stack_forget(&record->last);
    }
    return record->place;
}

static struct smp_spot pseudo_spot(struct smp_credit *credit, struct smp_place place,
                                   enum smp_outcome outcome)
{
    struct smp_spot spot = { .place = place, .outcome = outcome };

    spot.node = smp_interval_add_pseudo(credit->interval, place, &spot.outcome);
    return spot;
}

struct smp_spot smp_credit_pseudo(struct smp_credit *credit, struct smp_thread_record *record,
                                  enum smp_outcome outcome)
{
    return pseudo_spot(credit, smp_credit_place(credit, record), outcome);
}

/* Of a stack that has no node in this place yet. */
static struct smp_spot add_stack(struct smp_credit *credit, struct smp_place place,
                                 enum smp_outcome outcome, const struct smp_sample *sample)
{
    struct smp_stack_path *path = &credit->path;
    struct smp_spot spot = { .place = place, .outcome = outcome, .omitted = sample->omitted };

    if (sample->count == 0)
        return pseudo_spot(credit, place, outcome);
    smp_interval_saw_depth(credit->interval, place, sample->count + sample->omitted);
    smp_stack_path_find(path, credit->methods, credit->names, sample);
    /* A stack with a frame that could not be named would be somebody else's. */
    if (!path->over_limit &&
        smp_interval_add(credit->interval, place, path->locations + path->first,
                         path->count - path->first, &spot.node))
        return spot;
    credit->ran_out = true;
    return pseudo_spot(credit, place, SMP_OUTCOME_OVER_LIMIT);
}

static struct smp_spot own_stack(struct smp_credit *credit, struct smp_thread_record *record,
                                 enum smp_outcome outcome, const struct smp_sample *sample)
{
    struct smp_last_stack *last = &record->last;
    struct smp_spot spot = {
        .place = record->place,
        .outcome = outcome,
        .omitted = sample->omitted,
    };

    if (smp_last_stack_matches(last, credit->stack_epoch, sample)) {
        spot.node = last->node;
        if (last->outcome == SMP_OUTCOME_OVER_LIMIT)
            spot.outcome = last->outcome;
        return spot;
    }
    spot = add_stack(credit, record->place, outcome, sample);
    smp_last_stack_keep(last, &credit->budget, credit->stack_epoch, sample, spot.node,
                        spot.outcome);
    /* Without a copy the node is known all the same, as long as the interval lasts. */
    if (!last->has_frames)
        smp_last_stack_move(last, credit->stack_epoch, spot.node, spot.outcome);
    return spot;
}

struct smp_spot smp_credit_found(struct smp_credit *credit, struct smp_thread_record *record,
                                 enum smp_outcome outcome, const struct smp_sample *sample,
                                 const char *group_name)
{
    const bool is_empty = outcome == SMP_OUTCOME_EMPTY;

    if (group_name == NULL)
        (void)smp_credit_place(credit, record);
    if (smp_outcome_frame(outcome) != NULL && !is_empty)
        return smp_credit_pseudo(credit, record, outcome);
    if (group_name == NULL)
        return own_stack(credit, record, outcome, sample);
    return add_stack(
        credit,
        smp_interval_find(credit->interval, group_name, record->thread->serial, record->raw_name),
        outcome, sample);
}

bool smp_credit_idle(struct smp_credit *credit, struct smp_thread_record *record,
                     struct smp_spot *out)
{
    struct smp_last_stack *last = &record->last;
    struct smp_sample sample;

    out->place = smp_credit_place(credit, record);
    if (last->epoch != credit->stack_epoch) {
        if (!smp_last_stack_get(last, &sample))
            return false;
        const enum smp_outcome outcome = sample.count == 0 ? SMP_OUTCOME_EMPTY : SMP_OUTCOME_WALKED;
        const struct smp_spot spot = add_stack(credit, out->place, outcome, &sample);
        smp_last_stack_move(last, credit->stack_epoch, spot.node, spot.outcome);
    }
    out->node = last->node;
    out->omitted = last->omitted;
    out->outcome =
        last->outcome == SMP_OUTCOME_OVER_LIMIT ? SMP_OUTCOME_OVER_LIMIT : SMP_OUTCOME_IDLE;
    return true;
}

void smp_credit_note(struct smp_credit *credit, const struct smp_spot *spot, int64_t wall_ns)
{
    smp_interval_note(credit->interval, spot->place, spot->node, spot->outcome, wall_ns);
    if (spot->outcome != SMP_OUTCOME_OVER_LIMIT)
        smp_interval_count(credit->interval, SMP_COUNTER_FRAMES_OMITTED, spot->omitted);
}
