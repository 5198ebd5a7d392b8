/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/sort.h"
#include "counting/call_graph.h"
#include "counting/places.h"
#include "counting/worklist.h"

void smp_places_fini(struct smp_call_graph *graph)
{
    smp_free(graph->plan->quota, graph->places.calls);
}

bool smp_places_is_free(const struct smp_call_graph *graph)
{
    return graph->methods < graph->max_methods;
}

void smp_places_wait(struct smp_call_graph *graph, struct smp_indexed_method *method)
{
    if ((method->flags & SMP_MARK_WAITING) != 0)
        return;
    method->flags |= SMP_MARK_WAITING;
    graph->places.waiting++;
    graph->places.untried += method->id < 0;
}

void smp_places_end_wait(struct smp_call_graph *graph, struct smp_indexed_method *method)
{
    if ((method->flags & SMP_MARK_WAITING) == 0)
        return;
    method->flags &= (uint16_t)~SMP_MARK_WAITING;
    graph->places.waiting--;
    graph->places.untried -= method->id < 0;
}

/* --- measuring --- */

static bool has_figures(struct smp_call_graph *graph)
{
    struct smp_places *const places = &graph->places;
    const uint32_t count = (uint32_t)smp_method_ids_end(&graph->ids);
    uint64_t *grown = NULL;

    if (count <= places->id_count)
        return true;
    grown = smp_realloc(graph->plan->quota, places->calls, count * sizeof(*grown));
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

static void begin_measuring(struct smp_call_graph *graph)
{
    struct smp_places *const places = &graph->places;

    if (!has_figures(graph))
        return;
    for (uint32_t id = 0; id < places->id_count; id++) {
        const struct smp_method_record *const record = smp_method_ids_at(&graph->ids, (int32_t)id);

        if (record == NULL || record->state != SMP_METHOD_WAITING)
            places->calls[id] = 0;
    }
    places->judgements = 0;
    places->has_calls = false;
    places->root_calls = 0;
    places->phase = SMP_PLACES_MEASURING;
}

void smp_call_graph_note_calls(struct smp_call_graph *graph, int32_t id, uint64_t calls)
{
    struct smp_places *const places = &graph->places;

    if (places->phase != SMP_PLACES_MEASURING || id < 0 || (uint32_t)id >= places->id_count)
        return;
    places->calls[id] += calls < UINT64_MAX - places->calls[id] ? calls : 0;
    places->has_calls |= calls > 0;
    if (smp_method_ids_at(&graph->ids, id) != NULL && smp_method_ids_at(&graph->ids, id)->is_root)
        places->root_calls += calls;
}

static uint64_t calls_for_roots(uint64_t calls, double roots)
{
    const double scaled = (double)calls / roots * SMP_PLACES_PRECISION;

    return scaled < (double)(UINT64_MAX / 2) ? (uint64_t)scaled : UINT64_MAX / 2;
}

/* Measurements are not equally long, so calls are those for each call of a root. A root that does
 * not end may have no call in one: it counts as one call, as what was measured before is compared
 * with this. */
static void end_measuring(struct smp_call_graph *graph)
{
    struct smp_places *const places = &graph->places;
    const double roots = places->root_calls > 0 ? (double)places->root_calls : 1;

    for (uint32_t id = 0; id < places->id_count; id++) {
        const struct smp_method_record *const record = smp_method_ids_at(&graph->ids, (int32_t)id);

        if (record != NULL && record->state == SMP_METHOD_WANTED)
            places->calls[id] = calls_for_roots(places->calls[id], roots);
    }
}

/* --- exchanging --- */

struct exchange {
    struct smp_call_graph *graph;
    uint32_t *ids;
    uint32_t *scratch;
    size_t count;
    size_t kept; /* of these, the first ones: they keep their places */
    bool has_changed;
};

/* Does it keep its place, whatever its calls? */
static bool keeps_place(const struct smp_call_graph *graph, const struct smp_method_record *record)
{
    return record->state == SMP_METHOD_WANTED &&
           (record->is_root || smp_class_index_at(&graph->index, record->in_class)->is_dirty);
}

static bool has_more_calls(const void *context, uint32_t a, uint32_t b)
{
    const struct smp_call_graph *const graph = context;
    const struct smp_method_record *const one = smp_method_ids_at(&graph->ids, (int32_t)a);
    const struct smp_method_record *const other = smp_method_ids_at(&graph->ids, (int32_t)b);

    if (keeps_place(graph, one) != keeps_place(graph, other))
        return keeps_place(graph, one);
    if (graph->places.calls[a] != graph->places.calls[b])
        return graph->places.calls[a] > graph->places.calls[b];
    return one->state == SMP_METHOD_WANTED && other->state == SMP_METHOD_WAITING;
}

/* A method that has got its id since the measurement began keeps its place. */
static bool collect(struct exchange *exchange)
{
    struct smp_call_graph *const graph = exchange->graph;
    const uint32_t count = graph->places.id_count;

    exchange->ids = smp_alloc(graph->plan->quota, (count + 1) * sizeof(*exchange->ids));
    exchange->scratch = smp_alloc(graph->plan->quota, (count + 1) * sizeof(*exchange->scratch));
    if (exchange->ids == NULL || exchange->scratch == NULL)
        return false;
    for (uint32_t id = 0; id < count; id++) {
        const struct smp_method_record *const record = smp_method_ids_at(&graph->ids, (int32_t)id);

        if (!is_exchanged(record))
            continue;
        exchange->ids[exchange->count++] = id;
        exchange->kept += keeps_place(graph, record);
    }
    smp_sort(exchange->ids, exchange->scratch, exchange->count, has_more_calls, graph);
    return true;
}

static void take_method_place(struct exchange *exchange, int32_t id)
{
    struct smp_call_graph *const graph = exchange->graph;
    struct smp_method_record *const record = smp_method_ids_at(&graph->ids, id);
    struct smp_indexed_method *const method =
        smp_worklist_method(graph, record->in_class, record->number);

    if (record->state != SMP_METHOD_WANTED)
        return;
    record->state = SMP_METHOD_WAITING;
    graph->methods--;
    smp_places_wait(graph, method);
    smp_worklist_set_urgent(graph, record->in_class);
    exchange->has_changed = true;
}

static void give_method_place(struct exchange *exchange, int32_t id)
{
    struct smp_call_graph *const graph = exchange->graph;
    struct smp_method_record *const record = smp_method_ids_at(&graph->ids, id);
    struct smp_indexed_method *const method =
        smp_worklist_method(graph, record->in_class, record->number);

    if (record->state != SMP_METHOD_WAITING || !smp_places_is_free(graph))
        return;
    /* Where the class is still due, no bytes without the probe were made. */
    if (!smp_class_index_at(&graph->index, record->in_class)->is_dirty)
        record->since_ms = 0;
    record->state = SMP_METHOD_WANTED;
    graph->methods++;
    smp_places_end_wait(graph, method);
    smp_worklist_set_urgent(graph, record->in_class);
    exchange->has_changed = true;
}

/* Those that were called most have so many places. */
static void rank(struct exchange *exchange, size_t places)
{
    for (size_t i = places > exchange->kept ? places : exchange->kept; i < exchange->count; i++)
        take_method_place(exchange, (int32_t)exchange->ids[i]);
    for (size_t i = 0; i < places && i < exchange->count; i++)
        give_method_place(exchange, (int32_t)exchange->ids[i]);
}

static bool is_untried(const struct smp_indexed_method *method)
{
    return method->id < 0 && (method->flags & SMP_MARK_WAITING) != 0;
}

/* As far as byte code says; not those that call it by a type above. A root comes first. */
static uint32_t coded_callers_of(const struct smp_call_graph *graph,
                                 const struct smp_indexed_class *in_class,
                                 const struct smp_indexed_method *method)
{
    uint32_t reached = smp_symbols_at(&graph->index.class_names, in_class->name)->first_reached;
    uint32_t callers = 0;

    if ((method->flags & SMP_MARK_ROOT) != 0)
        return UINT32_MAX;
    while (reached != 0) {
        const struct smp_call_target *const target =
            smp_call_targets_at(&graph->index.targets, reached);

        if (target->signature == method->signature && target->reached_by > callers)
            callers = target->reached_by;
        reached = target->next_reached;
    }
    return callers;
}

static uint32_t try_class(struct smp_call_graph *graph, uint32_t tried, uint32_t callers,
                          uint32_t most)
{
    uint32_t given = 0;

    for (uint32_t m = 0; given < most; m++) {
        const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, tried);

        if (m >= it->body.method_count)
            break;
        if (!is_untried(&it->body.methods[m]) ||
            coded_callers_of(graph, it, &it->body.methods[m]) < callers)
            continue;
        smp_worklist_add(graph, tried, m);
        if (smp_worklist_method(graph, tried, m)->id < 0)
            continue;
        smp_worklist_set_urgent(graph, tried);
        given++;
    }
    return given;
}

static uint32_t try_called(struct smp_call_graph *graph, uint32_t callers, uint32_t most)
{
    uint32_t given = 0;

    for (uint32_t c = 1; c < graph->index.classes.top && given < most; c++) {
        if (smp_class_index_at(&graph->index, c)->name != 0)
            given += try_class(graph, c, callers, most - given);
    }
    return given;
}

static uint32_t try_some(struct smp_call_graph *graph, uint32_t most)
{
    static const uint32_t callers[] = { UINT32_MAX, SMP_PLACES_MANY_CALLERS,
                                        SMP_PLACES_SOME_CALLERS, 0 };
    uint32_t given = 0;

    for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++)
        given += try_called(graph, callers[i], most - given);
    return given;
}

static uint32_t count_untried(const struct smp_call_graph *graph, uint32_t callers, uint32_t most)
{
    uint32_t count = 0;

    for (uint32_t c = 1; c < graph->index.classes.top && count < most; c++) {
        const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, c);

        for (uint32_t m = 0; it->name != 0 && m < it->body.method_count; m++)
            count += is_untried(&it->body.methods[m]) &&
                     coded_callers_of(graph, it, &it->body.methods[m]) >= callers;
    }
    return count < most ? count : most;
}

/* Trials now: none where no method could get an id. As long as classes wait for their probes, only
 * what many methods call may come before them. */
static uint32_t trials_of(const struct smp_call_graph *graph)
{
    const struct smp_pool *const records = &graph->ids.records;
    const uint32_t share = graph->max_methods / SMP_PLACES_TRIAL_SHARE;
    const uint32_t ids = records->limit - records->count;
    uint32_t most = share > 0 ? share : 1;

    if (most > SMP_PLACES_TRIALS)
        most = SMP_PLACES_TRIALS;
    return count_untried(graph, graph->first_dirty != 0 ? SMP_PLACES_MANY_CALLERS : 0,
                         most < ids ? most : ids);
}

static void begin_applying(struct smp_call_graph *graph)
{
    graph->places.phase = SMP_PLACES_APPLYING;
    graph->places.judgements = 0;
}

static bool run_exchange(struct smp_call_graph *graph)
{
    struct exchange exchange = { .graph = graph };
    const bool has_backlog = graph->first_dirty != 0;
    const uint32_t trials = trials_of(graph);
    uint32_t given = 0;

    graph->places.phase = SMP_PLACES_IDLE;
    if (trials == 0 && graph->places.untried > 0 && has_backlog && !graph->places.has_trial)
        return false;
    end_measuring(graph);
    if (collect(&exchange)) {
        graph->found_ahead = 0;
        rank(&exchange, graph->max_methods - trials);
        given = try_some(graph, trials);
        smp_worklist_process(graph);
    }
    smp_free(graph->plan->quota, exchange.ids);
    smp_free(graph->plan->quota, exchange.scratch);
    graph->places.is_stuck = given == 0 && graph->places.untried > 0 && !has_backlog;
    graph->places.has_trial = given > 0;
    if (given > 0)
        begin_applying(graph);
    return exchange.has_changed || given > 0;
}

bool smp_call_graph_judge_places(struct smp_call_graph *graph)
{
    struct smp_places *const places = &graph->places;

    switch (places->phase) {
    case SMP_PLACES_IDLE:
        if (places->untried > 0 && !places->is_stuck)
            begin_applying(graph);
        return false;
    case SMP_PLACES_APPLYING:
        places->judgements = graph->urgent == 0 ? places->judgements + 1 : 0;
        if (places->judgements >= SMP_PLACES_APPLIED)
            begin_measuring(graph);
        return false;
    case SMP_PLACES_MEASURING:
        /* Below a root that has no probe no call is counted. */
        places->judgements += places->has_calls || count_untried(graph, UINT32_MAX, 1) > 0;
        places->has_calls = false;
        return places->judgements >= SMP_PLACES_PATIENCE && run_exchange(graph);
    }
    return false;
}

/* --- what waits --- */

void smp_call_graph_each_waiting(const struct smp_call_graph *graph, size_t most,
                                 smp_on_waiting *each, void *self)
{
    char text[SMP_LOSS_TEXT_BYTES];
    size_t named = 0;

    for (uint32_t c = 1; c < graph->index.classes.top && named < most; c++) {
        const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, c);

        for (uint32_t m = 0; it->name != 0 && m < it->body.method_count && named < most; m++) {
            if ((it->body.methods[m].flags & SMP_MARK_WAITING) == 0)
                continue;
            smp_worklist_text(graph, c, m, text);
            each(self, text);
            named++;
        }
    }
}
