/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"
#include "counting/call_graph.h"
#include "counting/worklist.h"

bool smp_places_is_free(const struct smp_call_graph *graph)
{
    return graph->methods < graph->max_methods;
}

bool smp_places_waits(const struct smp_call_graph *graph, const struct smp_indexed_method *method)
{
    return (method->flags & SMP_MARK_UNTRIED) != 0 ||
           (method->id >= 0 &&
            smp_method_ids_at(&graph->ids, method->id)->state == SMP_METHOD_WAITING);
}

void smp_places_wait(struct smp_call_graph *graph, struct smp_indexed_method *method)
{
    if ((method->flags & SMP_MARK_UNTRIED) != 0)
        return;
    method->flags |= SMP_MARK_UNTRIED;
    graph->places.waiting++;
    graph->places.untried++;
}

void smp_places_end_trial(struct smp_call_graph *graph, struct smp_indexed_method *method)
{
    if ((method->flags & SMP_MARK_UNTRIED) == 0)
        return;
    method->flags &= (uint16_t)~SMP_MARK_UNTRIED;
    graph->places.waiting--;
    graph->places.untried--;
}

/* --- measuring --- */

static void begin_measuring(struct smp_call_graph *graph)
{
    struct smp_places *const places = &graph->places;

    places->id_end = smp_method_ids_end(&graph->ids);
    for (int32_t id = 0; id < places->id_end; id++) {
        struct smp_method_record *const record = smp_method_ids_at(&graph->ids, id);

        if (record != NULL && record->state != SMP_METHOD_WAITING)
            record->calls = 0;
    }
    places->judgements = 0;
    places->has_calls = false;
    places->root_calls = 0;
    places->phase = SMP_PLACES_MEASURING;
}

static bool is_live_root(const struct smp_call_graph *graph, const struct smp_method_record *record)
{
    return record->state != SMP_METHOD_RETIRED &&
           (smp_worklist_method_of(graph, record)->flags & SMP_MARK_ROOT) != 0;
}

void smp_call_graph_note_calls(struct smp_call_graph *graph, int32_t id, uint64_t calls)
{
    struct smp_places *const places = &graph->places;
    struct smp_method_record *const record = smp_method_ids_at(&graph->ids, id);

    if (places->phase != SMP_PLACES_MEASURING || id >= places->id_end || record == NULL)
        return;
    record->calls += calls < UINT64_MAX - record->calls ? calls : 0;
    places->has_calls |= calls > 0;
    places->root_calls += is_live_root(graph, record) ? calls : 0;
}

static uint64_t calls_for_roots(uint64_t calls, double roots)
{
    const double scaled = (double)calls / roots * SMP_PLACES_PRECISION;

    return scaled < (double)(UINT64_MAX / 2) ? (uint64_t)scaled : UINT64_MAX / 2;
}

/* Divides calls by the calls of roots, because measurements differ in length. If no root was
 * called, because one runs all the time, this counts as one call, so that the figures of
 * measurements can be compared. */
static void end_measuring(struct smp_call_graph *graph)
{
    struct smp_places *const places = &graph->places;
    const double roots = places->root_calls > 0 ? (double)places->root_calls : 1;

    for (int32_t id = 0; id < places->id_end; id++) {
        struct smp_method_record *const record = smp_method_ids_at(&graph->ids, id);

        if (record != NULL && record->state == SMP_METHOD_INSTRUMENTED)
            record->calls = calls_for_roots(record->calls, roots);
    }
}

/* --- exchanging --- */

/* Returns whether the method keeps its place regardless of its calls. */
static bool keeps_place(const struct smp_call_graph *graph, const struct smp_method_record *record)
{
    const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, record->in_class);

    return record->state == SMP_METHOD_INSTRUMENTED &&
           (it->is_pending || (it->body.methods[record->number].flags & SMP_MARK_ROOT) != 0);
}

static bool has_more_calls(const void *context, uint32_t a, uint32_t b)
{
    const struct smp_call_graph *const graph = context;
    const struct smp_method_record *const one = smp_method_ids_at(&graph->ids, (int32_t)a);
    const struct smp_method_record *const other = smp_method_ids_at(&graph->ids, (int32_t)b);

    if (keeps_place(graph, one) != keeps_place(graph, other))
        return keeps_place(graph, one);
    if (one->calls != other->calls)
        return one->calls > other->calls;
    return one->state == SMP_METHOD_INSTRUMENTED && other->state == SMP_METHOD_WAITING;
}

/* Gives a method a place, or takes its place away. Returns whether it did. */
static bool exchange_place(struct smp_call_graph *graph, int32_t id, bool gives)
{
    struct smp_method_record *const record = smp_method_ids_at(&graph->ids, id);

    if (record->state != (gives ? SMP_METHOD_WAITING : SMP_METHOD_INSTRUMENTED) ||
        (gives && !smp_places_is_free(graph)))
        return false;
    /* While the class is still pending, no bytes without the probe have been made. */
    if (gives && !smp_class_index_at(&graph->index, record->in_class)->is_pending)
        record->since_ms = 0;
    smp_worklist_set_state(graph, smp_worklist_method_of(graph, record),
                           gives ? SMP_METHOD_INSTRUMENTED : SMP_METHOD_WAITING);
    smp_worklist_add_urgent(graph, record->in_class);
    return true;
}

/* Gives the places to the methods that were called most. A method that has got its id since the
 * measurement began keeps its place. Returns whether anything has changed; without memory nothing
 * does. */
static bool rank(struct smp_call_graph *graph, size_t places, bool *has_memory)
{
    const size_t most = (size_t)graph->places.id_end + 1;
    uint32_t *const ids = smp_alloc(graph->plan->quota, 2 * most * sizeof(*ids));
    size_t count = 0;
    size_t kept = 0; /* methods that keep their places: the first ones in order */
    bool has_changed = false;

    *has_memory = ids != NULL;
    if (ids == NULL)
        return false;
    for (int32_t id = 0; id < graph->places.id_end; id++) {
        const struct smp_method_record *const record = smp_method_ids_at(&graph->ids, id);

        if (record == NULL ||
            (record->state != SMP_METHOD_INSTRUMENTED && record->state != SMP_METHOD_WAITING))
            continue;
        ids[count++] = (uint32_t)id;
        kept += keeps_place(graph, record);
    }
    smp_sort(ids, ids + most, count, has_more_calls, graph);
    for (size_t i = places > kept ? places : kept; i < count; i++)
        has_changed |= exchange_place(graph, (int32_t)ids[i], false);
    for (size_t i = 0; i < places && i < count; i++)
        has_changed |= exchange_place(graph, (int32_t)ids[i], true);
    smp_free(graph->plan->quota, ids);
    return has_changed;
}

/* Returns the number of visited callers that name the method's class in byte code. Callers through
 * a super type do not count. A root has the highest number, to come first. */
static uint32_t coded_callers_of(const struct smp_call_graph *graph, uint32_t class_name,
                                 const struct smp_indexed_method *method)
{
    uint32_t reachable = smp_symbols_at(&graph->index.symbols, class_name)->first_reachable;
    uint32_t callers = 0;

    if ((method->flags & SMP_MARK_ROOT) != 0)
        return UINT32_MAX;
    while (reachable != 0) {
        const struct smp_call_target *const target =
            smp_class_index_target(&graph->index, reachable);

        if (target->signature == method->signature && target->visited_callers > callers)
            callers = target->visited_callers;
        reachable = target->next_reachable;
    }
    return callers;
}

/* Goes through untried methods with at least so many callers. Returns how many there are, or how
 * many have got a place, at most most. */
static uint32_t each_untried(struct smp_call_graph *graph, uint32_t callers, uint32_t most,
                             bool tries)
{
    uint32_t count = 0;

    for (uint32_t c = 1; c < graph->index.classes.top; c++) {
        const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, c);

        for (uint32_t m = 0; it->name != 0 && m < it->body.method_count && count < most; m++) {
            const struct smp_indexed_method *const method = &it->body.methods[m];

            if ((method->flags & SMP_MARK_UNTRIED) == 0 ||
                coded_callers_of(graph, it->name, method) < callers)
                continue;
            if (tries)
                smp_worklist_add(graph, c, m);
            if (tries && method->id >= 0)
                smp_worklist_add_urgent(graph, c);
            count += !tries || method->id >= 0;
        }
    }
    return count;
}

static uint32_t try_some(struct smp_call_graph *graph, uint32_t most)
{
    static const uint32_t callers[] = { UINT32_MAX, SMP_PLACES_MANY_CALLERS,
                                        SMP_PLACES_SOME_CALLERS, 0 };
    uint32_t given = 0;

    for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++)
        given += each_untried(graph, callers[i], most - given, true);
    return given;
}

/* Returns the number of trials to begin now: 0 if no method could get an id. As long as classes
 * are pending, only methods with many callers may come before them. */
static uint32_t trials_of(struct smp_call_graph *graph)
{
    const struct smp_pool *const records = &graph->ids.records;
    const bool has_backlog = smp_worklist_first_pending(graph) != 0;
    const uint32_t share = graph->max_methods / SMP_PLACES_TRIAL_SHARE;
    const uint32_t ids = records->limit - records->count;
    uint32_t most = share > 0 ? share : 1;

    if (most > SMP_PLACES_TRIALS)
        most = SMP_PLACES_TRIALS;
    return each_untried(graph, has_backlog ? SMP_PLACES_MANY_CALLERS : 0, most < ids ? most : ids,
                        false);
}

static void begin_applying(struct smp_call_graph *graph)
{
    graph->places.phase = SMP_PLACES_APPLYING;
    graph->places.judgements = 0;
}

static bool run_exchange(struct smp_call_graph *graph)
{
    const bool has_backlog = smp_worklist_first_pending(graph) != 0;
    const uint32_t trials = trials_of(graph);
    uint32_t given = 0;
    bool has_memory = false;
    bool has_changed = false;

    graph->places.phase = SMP_PLACES_IDLE;
    if (trials == 0 && graph->places.untried > 0 && has_backlog && !graph->places.has_trial)
        return false;
    end_measuring(graph);
    has_changed = rank(graph, graph->max_methods - trials, &has_memory);
    if (has_memory) {
        graph->found_ahead = 0;
        given = try_some(graph, trials);
        smp_worklist_process(graph);
    }
    graph->places.is_stuck = given == 0 && graph->places.untried > 0 && !has_backlog;
    graph->places.has_trial = given > 0;
    if (given > 0)
        begin_applying(graph);
    return has_changed || given > 0;
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
        /* Below a root without a probe no call is counted. */
        places->judgements += places->has_calls || each_untried(graph, UINT32_MAX, 1, false) > 0;
        places->has_calls = false;
        return places->judgements >= SMP_PLACES_PATIENCE && run_exchange(graph);
    }
    return false;
}
