/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/places.h"

#include <string.h>

#include "base/sort.h"
#include "counting/reach.h"
#include "counting/wanted.h"

void smp_places_fini(struct smp_reach *reach)
{
    smp_free(reach->plan->quota, reach->places.calls);
}

bool smp_places_is_free(const struct smp_reach *reach)
{
    return reach->methods < reach->max_methods;
}

void smp_places_wait(struct smp_reach *reach, struct smp_indexed_method *method)
{
    if ((method->flags & SMP_WANTED_WAITING) != 0)
        return;
    method->flags |= SMP_WANTED_WAITING;
    reach->places.waiting++;
    reach->places.untried += method->id < 0;
}

void smp_places_end_wait(struct smp_reach *reach, struct smp_indexed_method *method)
{
    if ((method->flags & SMP_WANTED_WAITING) == 0)
        return;
    method->flags &= (uint16_t)~SMP_WANTED_WAITING;
    reach->places.waiting--;
    reach->places.untried -= method->id < 0;
}

/* --- measuring --- */

static bool has_figures(struct smp_reach *reach)
{
    struct smp_places *const places = &reach->places;
    const uint32_t count = (uint32_t)smp_method_ids_end(&reach->ids);
    uint64_t *grown = NULL;

    if (count <= places->id_count)
        return true;
    grown = smp_realloc(reach->plan->quota, places->calls, count * sizeof(*grown));
    if (grown == NULL)
        return false;
    memset(grown + places->id_count, 0, (count - places->id_count) * sizeof(*grown));
    places->calls = grown;
    places->id_count = count;
    return true;
}

/* Has it had a probe, so that its calls are known? */
static bool is_exchanged(const struct smp_method_record *record)
{
    return record != NULL &&
           (record->state == SMP_METHOD_WANTED || record->state == SMP_METHOD_WAITING);
}

static void begin_measuring(struct smp_reach *reach)
{
    struct smp_places *const places = &reach->places;

    if (!has_figures(reach))
        return;
    for (uint32_t id = 0; id < places->id_count; id++) {
        const struct smp_method_record *const record = smp_method_ids_at(&reach->ids, (int32_t)id);

        if (record == NULL || record->state != SMP_METHOD_WAITING)
            places->calls[id] = 0;
    }
    places->judgements = 0;
    places->has_calls = false;
    places->root_calls = 0;
    places->phase = SMP_PLACES_MEASURING;
}

void smp_reach_note_calls(struct smp_reach *reach, int32_t id, uint64_t calls)
{
    struct smp_places *const places = &reach->places;

    if (places->phase != SMP_PLACES_MEASURING || id < 0 || (uint32_t)id >= places->id_count)
        return;
    places->calls[id] += calls < UINT64_MAX - places->calls[id] ? calls : 0;
    places->has_calls |= calls > 0;
    if (smp_method_ids_at(&reach->ids, id) != NULL && smp_method_ids_at(&reach->ids, id)->is_root)
        places->root_calls += calls;
}

/* Measurements are not equally long: for each call of a root. */
static void end_measuring(struct smp_reach *reach)
{
    struct smp_places *const places = &reach->places;

    for (uint32_t id = 0; places->root_calls > 0 && id < places->id_count; id++) {
        const struct smp_method_record *const record = smp_method_ids_at(&reach->ids, (int32_t)id);

        if (record != NULL && record->state == SMP_METHOD_WANTED)
            places->calls[id] = (uint64_t)((double)places->calls[id] / (double)places->root_calls *
                                           SMP_PLACES_PRECISION);
    }
}

/* --- exchanging --- */

struct exchange {
    struct smp_reach *reach;
    uint32_t *ids;
    uint32_t *scratch;
    size_t count;
    size_t kept; /* of these, the first ones: they keep their places */
    bool has_changed;
};

/* Does it keep its place, whatever its calls? */
static bool is_kept(const struct smp_reach *reach, const struct smp_method_record *record)
{
    return record->state == SMP_METHOD_WANTED &&
           (record->is_root || smp_class_index_at(&reach->index, record->in_class)->is_dirty);
}

static bool has_more_calls(const void *context, uint32_t a, uint32_t b)
{
    const struct smp_reach *const reach = context;
    const struct smp_method_record *const one = smp_method_ids_at(&reach->ids, (int32_t)a);
    const struct smp_method_record *const other = smp_method_ids_at(&reach->ids, (int32_t)b);

    if (is_kept(reach, one) != is_kept(reach, other))
        return is_kept(reach, one);
    if (reach->places.calls[a] != reach->places.calls[b])
        return reach->places.calls[a] > reach->places.calls[b];
    return one->state == SMP_METHOD_WANTED && other->state == SMP_METHOD_WAITING;
}

/* A method that has got its id since the measurement began keeps its place. */
static bool collect(struct exchange *exchange)
{
    struct smp_reach *const reach = exchange->reach;
    const uint32_t count = reach->places.id_count;

    exchange->ids = smp_alloc(reach->plan->quota, (count + 1) * sizeof(*exchange->ids));
    exchange->scratch = smp_alloc(reach->plan->quota, (count + 1) * sizeof(*exchange->scratch));
    if (exchange->ids == NULL || exchange->scratch == NULL)
        return false;
    for (uint32_t id = 0; id < count; id++) {
        const struct smp_method_record *const record = smp_method_ids_at(&reach->ids, (int32_t)id);

        if (!is_exchanged(record))
            continue;
        exchange->ids[exchange->count++] = id;
        exchange->kept += is_kept(reach, record);
    }
    smp_sort(exchange->ids, exchange->scratch, exchange->count, has_more_calls, reach);
    return true;
}

static void take_place(struct exchange *exchange, int32_t id)
{
    struct smp_reach *const reach = exchange->reach;
    struct smp_method_record *const record = smp_method_ids_at(&reach->ids, id);
    struct smp_indexed_method *const method =
        smp_wanted_method(reach, record->in_class, record->number);

    if (record->state != SMP_METHOD_WANTED)
        return;
    record->state = SMP_METHOD_WAITING;
    reach->methods--;
    smp_places_wait(reach, method);
    smp_wanted_set_urgent(reach, record->in_class);
    exchange->has_changed = true;
}

static void give_place(struct exchange *exchange, int32_t id)
{
    struct smp_reach *const reach = exchange->reach;
    struct smp_method_record *const record = smp_method_ids_at(&reach->ids, id);
    struct smp_indexed_method *const method =
        smp_wanted_method(reach, record->in_class, record->number);

    if (record->state != SMP_METHOD_WAITING || !smp_places_is_free(reach))
        return;
    record->state = SMP_METHOD_WANTED;
    reach->methods++;
    smp_places_end_wait(reach, method);
    smp_wanted_set_urgent(reach, record->in_class);
    exchange->has_changed = true;
}

/* Those that were called most have so many places. */
static void rank(struct exchange *exchange, size_t places)
{
    for (size_t i = places > exchange->kept ? places : exchange->kept; i < exchange->count; i++)
        take_place(exchange, (int32_t)exchange->ids[i]);
    for (size_t i = 0; i < places && i < exchange->count; i++)
        give_place(exchange, (int32_t)exchange->ids[i]);
}

static bool is_untried(const struct smp_indexed_method *method)
{
    return method->id < 0 && (method->flags & SMP_WANTED_WAITING) != 0;
}

/* As far as byte code says; not those that call it by a type above. A root comes first. */
static uint32_t callers_of(const struct smp_reach *reach, const struct smp_indexed_class *in_class,
                           const struct smp_indexed_method *method)
{
    uint32_t reached = smp_symbols_at(&reach->index.class_names, in_class->name)->first_reached;
    uint32_t callers = 0;

    if ((method->flags & SMP_WANTED_ROOT) != 0)
        return UINT32_MAX;
    while (reached != 0) {
        const struct smp_call_target *const target =
            smp_call_targets_at(&reach->index.targets, reached);

        if (target->signature == method->signature && target->reached_by > callers)
            callers = target->reached_by;
        reached = target->next_reached;
    }
    return callers;
}

static uint32_t try_class(struct smp_reach *reach, uint32_t tried, uint32_t callers, uint32_t most)
{
    uint32_t given = 0;

    for (uint32_t m = 0; given < most; m++) {
        const struct smp_indexed_class *const it = smp_class_index_at(&reach->index, tried);

        if (m >= it->body.method_count)
            break;
        if (!is_untried(&it->body.methods[m]) ||
            callers_of(reach, it, &it->body.methods[m]) < callers)
            continue;
        smp_wanted_add(reach, tried, m);
        if (smp_wanted_method(reach, tried, m)->id < 0)
            continue;
        smp_wanted_set_urgent(reach, tried);
        given++;
    }
    return given;
}

static uint32_t try_called(struct smp_reach *reach, uint32_t callers, uint32_t most)
{
    uint32_t given = 0;

    for (uint32_t c = 1; c < reach->index.classes.top && given < most; c++) {
        if (smp_class_index_at(&reach->index, c)->name != 0)
            given += try_class(reach, c, callers, most - given);
    }
    return given;
}

static uint32_t try_some(struct smp_reach *reach, uint32_t most)
{
    static const uint32_t callers[] = { UINT32_MAX, SMP_PLACES_MANY_CALLERS,
                                        SMP_PLACES_SOME_CALLERS, 0 };
    uint32_t given = 0;

    for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++)
        given += try_called(reach, callers[i], most - given);
    return given;
}

static uint32_t count_untried(const struct smp_reach *reach, uint32_t callers, uint32_t most)
{
    uint32_t count = 0;

    for (uint32_t c = 1; c < reach->index.classes.top && count < most; c++) {
        const struct smp_indexed_class *const it = smp_class_index_at(&reach->index, c);

        for (uint32_t m = 0; it->name != 0 && m < it->body.method_count; m++)
            count += is_untried(&it->body.methods[m]) &&
                     callers_of(reach, it, &it->body.methods[m]) >= callers;
    }
    return count < most ? count : most;
}

/* Trials now: none where no method could get an id. As long as classes wait for their probes, only
 * what many methods call may come before them. */
static uint32_t trials_of(const struct smp_reach *reach)
{
    const struct smp_pool *const records = &reach->ids.records;
    const uint32_t share = reach->max_methods / SMP_PLACES_TRIAL_SHARE;
    const uint32_t ids = records->limit - records->count;
    uint32_t most = share > 0 ? share : 1;

    if (most > SMP_PLACES_TRIALS)
        most = SMP_PLACES_TRIALS;
    return count_untried(reach, reach->first_dirty != 0 ? SMP_PLACES_MANY_CALLERS : 0,
                         most < ids ? most : ids);
}

static void begin_applying(struct smp_reach *reach)
{
    reach->places.phase = SMP_PLACES_APPLYING;
    reach->places.judgements = 0;
}

static bool run_exchange(struct smp_reach *reach)
{
    struct exchange exchange = { .reach = reach };
    const bool has_backlog = reach->first_dirty != 0;
    const uint32_t trials = trials_of(reach);
    uint32_t given = 0;

    reach->places.phase = SMP_PLACES_IDLE;
    if (trials == 0 && reach->places.untried > 0 && has_backlog && !reach->places.has_trial)
        return false;
    end_measuring(reach);
    if (collect(&exchange)) {
        reach->found_ahead = 0;
        rank(&exchange, reach->max_methods - trials);
        given = try_some(reach, trials);
        smp_wanted_drain(reach);
    }
    smp_free(reach->plan->quota, exchange.ids);
    smp_free(reach->plan->quota, exchange.scratch);
    reach->places.is_stuck = given == 0 && reach->places.untried > 0 && !has_backlog;
    reach->places.has_trial = given > 0;
    if (given > 0)
        begin_applying(reach);
    return exchange.has_changed || given > 0;
}

bool smp_reach_judge_places(struct smp_reach *reach)
{
    struct smp_places *const places = &reach->places;

    switch (places->phase) {
    case SMP_PLACES_IDLE:
        if (places->untried > 0 && !places->is_stuck)
            begin_applying(reach);
        return false;
    case SMP_PLACES_APPLYING:
        places->judgements = reach->urgent == 0 ? places->judgements + 1 : 0;
        if (places->judgements >= SMP_PLACES_APPLIED)
            begin_measuring(reach);
        return false;
    case SMP_PLACES_MEASURING:
        /* Below a root that has no probe no call is counted. */
        places->judgements += places->has_calls || count_untried(reach, UINT32_MAX, 1) > 0;
        places->has_calls = false;
        return places->judgements >= SMP_PLACES_PATIENCE && run_exchange(reach);
    }
    return false;
}

/* --- what waits --- */

void smp_reach_each_waiting(const struct smp_reach *reach, size_t most, smp_on_waiting *each,
                            void *self)
{
    char text[SMP_LOSS_TEXT_BYTES];
    size_t named = 0;

    for (uint32_t c = 1; c < reach->index.classes.top && named < most; c++) {
        const struct smp_indexed_class *const it = smp_class_index_at(&reach->index, c);

        for (uint32_t m = 0; it->name != 0 && m < it->body.method_count && named < most; m++) {
            if ((it->body.methods[m].flags & SMP_WANTED_WAITING) == 0)
                continue;
            smp_wanted_text(reach, c, m, text);
            each(self, text);
            named++;
        }
    }
}
