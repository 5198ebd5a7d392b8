/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/worklist.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

bool smp_worklist_is_of_rule(const struct smp_call_graph *graph, const struct smp_root_rule *rule,
                             int32_t id)
{
    const struct smp_method_name name = smp_method_ids_name(&graph->ids, id);

    return smp_root_rule_matches_class(rule, name.class_name) &&
           smp_root_rule_matches_method(rule, name.class_name, name.method_name, name.descriptor);
}

/* --- pending classes --- */

static void link_pending(struct smp_call_graph *graph, uint32_t pending, uint32_t prior,
                         uint32_t next)
{
    struct smp_indexed_class *const it = smp_class_index_at(&graph->index, pending);

    it->is_pending = true;
    it->prior_pending = prior;
    it->next_pending = next;
    smp_class_index_at(&graph->index, prior)->next_pending = pending;
    smp_class_index_at(&graph->index, next)->prior_pending = pending;
}

void smp_worklist_add_pending(struct smp_call_graph *graph, uint32_t pending)
{
    if (!smp_class_index_at(&graph->index, pending)->is_pending)
        link_pending(graph, pending, smp_class_index_at(&graph->index, 0)->prior_pending, 0);
}

void smp_worklist_add_urgent(struct smp_call_graph *graph, uint32_t pending)
{
    struct smp_indexed_class *const it = smp_class_index_at(&graph->index, pending);

    if (it->is_urgent)
        return;
    smp_worklist_remove_pending(graph, pending);
    link_pending(graph, pending, 0, smp_worklist_first_pending(graph));
    it->is_urgent = true;
    graph->urgent++;
}

void smp_worklist_remove_pending(struct smp_call_graph *graph, uint32_t removed)
{
    struct smp_indexed_class *const it = smp_class_index_at(&graph->index, removed);

    if (!it->is_pending)
        return;
    smp_class_index_at(&graph->index, it->prior_pending)->next_pending = it->next_pending;
    smp_class_index_at(&graph->index, it->next_pending)->prior_pending = it->prior_pending;
    it->is_pending = false;
    graph->urgent -= it->is_urgent;
    it->is_urgent = false;
}

/* --- methods --- */

void smp_worklist_text(const struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                       const char *why, char out[SMP_MAX_COUNTING_NAME_BYTES])
{
    enum { MOST_WHY = SMP_MAX_COUNTING_NAME_BYTES / 2 };
    const uint32_t signature =
        smp_class_index_at(&graph->index, in_class)->body.methods[method].signature;
    int length = 0;

    if (why != NULL)
        length = snprintf(out, MOST_WHY, "%s: ", why);
    if (length >= MOST_WHY)
        length = MOST_WHY - 1;
    smp_method_text(out + length, SMP_MAX_COUNTING_NAME_BYTES - (size_t)length,
                    smp_class_index_name(&graph->index, in_class),
                    smp_signature_name(smp_symbols_text(&graph->index.symbols, signature)));
}

static void count_loss(struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                       enum smp_counting code, const char *why)
{
    char text[SMP_MAX_COUNTING_NAME_BYTES];

    smp_counting_account_add(graph->account, code, 1);
    if (smp_counting_account_listed(graph->account, code) == SMP_MAX_COUNTING_NAMES)
        return;
    smp_worklist_text(graph, in_class, method, why, text);
    (void)smp_counting_account_name(graph->account, code, text);
}

/* As count_loss, but once for each method: one without an id may be found many times. */
static void count_once(struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                       enum smp_counting code, const char *why)
{
    struct smp_indexed_method *const it = smp_worklist_method(graph, in_class, method);

    if ((it->flags & SMP_MARK_COUNTED) != 0)
        return;
    it->flags |= SMP_MARK_COUNTED;
    count_loss(graph, in_class, method, code, why);
}

static bool is_jdk_class(const struct smp_call_graph *graph, uint32_t class_index)
{
    return smp_call_filter_is_jdk(smp_class_index_name(&graph->index, class_index));
}

static bool is_initialiser(const struct smp_call_graph *graph,
                           const struct smp_indexed_method *method)
{
    return smp_symbols_at(&graph->index.symbols, method->signature)->text[0] == '<';
}

/* --- targets --- */

static void queue_target(struct smp_call_graph *graph, uint32_t queued)
{
    struct smp_call_target *const target = smp_class_index_target(&graph->index, queued);

    if (target->is_queued)
        return;
    target->is_queued = true;
    target->next_queued = graph->first_queued;
    graph->first_queued = queued;
}

/* Adds a visited caller of the target. */
static void add_caller(struct smp_call_graph *graph, uint32_t called)
{
    struct smp_call_target *const target = smp_class_index_target(&graph->index, called);
    struct smp_symbol *const owner = smp_symbols_at(&graph->index.symbols, target->owner);

    if (target->visited_callers++ > 0)
        return;
    target->next_reachable = owner->first_reachable;
    owner->first_reachable = called;
    queue_target(graph, called);
}

/* Raises the look-ahead of a target, whose methods are then searched for again. */
static void raise_target(struct smp_call_graph *graph, uint32_t raised, uint8_t ahead)
{
    struct smp_call_target *const target = smp_class_index_target(&graph->index, raised);

    if (ahead <= target->ahead)
        return;
    target->ahead = ahead;
    queue_target(graph, raised);
}

static void remove_caller(struct smp_call_graph *graph, uint32_t left)
{
    struct smp_call_target *const target = smp_class_index_target(&graph->index, left);
    uint32_t *link = &smp_symbols_at(&graph->index.symbols, target->owner)->first_reachable;

    assert(target->visited_callers > 0);
    if (--target->visited_callers > 0)
        return;
    assert(!target->is_queued);
    target->ahead = 0;
    while (*link != left)
        link = &smp_class_index_target(&graph->index, *link)->next_reachable;
    *link = target->next_reachable;
}

static bool is_caller(const struct smp_call_graph *graph, const struct smp_indexed_method *method,
                      uint32_t called)
{
    const struct smp_call_target *const target = smp_class_index_target(&graph->index, called);

    return method->ahead > 0 ||
           ((method->flags & SMP_MARK_MAKES) != 0 && (target->how & SMP_TARGET_MADE) != 0);
}

void smp_worklist_look_ahead(struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                             uint8_t ahead)
{
    const struct smp_class_body *const body = &smp_class_index_at(&graph->index, in_class)->body;
    struct smp_indexed_method *const it = &body->methods[method];

    if (ahead <= it->ahead)
        return;
    for (uint32_t i = 0; i < it->call_count; i++) {
        const uint32_t called = body->calls[it->first_call + i];

        if (!is_caller(graph, it, called))
            add_caller(graph, called);
        raise_target(graph, called, (uint8_t)(ahead - 1));
    }
    it->ahead = ahead;
}

static void call_made(struct smp_call_graph *graph, const struct smp_class_body *body,
                      struct smp_indexed_method *initialiser)
{
    for (uint32_t i = 0; i < initialiser->call_count; i++) {
        const uint32_t called = body->calls[initialiser->first_call + i];

        if ((smp_class_index_target(&graph->index, called)->how & SMP_TARGET_MADE) != 0 &&
            !is_caller(graph, initialiser, called))
            add_caller(graph, called);
    }
    initialiser->flags |= SMP_MARK_MAKES;
}

void smp_worklist_release(struct smp_call_graph *graph, struct smp_class_body *body)
{
    for (uint32_t m = 0; m < body->method_count; m++) {
        struct smp_indexed_method *const it = &body->methods[m];

        for (uint32_t i = 0; i < it->call_count; i++) {
            if (is_caller(graph, it, body->calls[it->first_call + i]))
                remove_caller(graph, body->calls[it->first_call + i]);
        }
        it->ahead = 0;
        it->flags &= (uint16_t)~SMP_MARK_MAKES;
    }
}

void smp_worklist_adopt_initialisers(struct smp_call_graph *graph, uint32_t in_class)
{
    const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, in_class);

    for (uint32_t m = 0; it->is_initialised && m < it->body.method_count; m++) {
        if (is_initialiser(graph, &it->body.methods[m]))
            call_made(graph, &it->body, &it->body.methods[m]);
    }
}

/* If the calls of the class are not known, it gets a new plan, for which the JVM hands in its
 * bytes. */
static void initialise(struct smp_call_graph *graph, uint32_t in_class)
{
    struct smp_indexed_class *const it = smp_class_index_at(&graph->index, in_class);

    if (it->is_initialised || graph->plan->instrumentation == SMP_INSTRUMENTATION_TOTAL)
        return;
    it->is_initialised = true;
    if (it->lacks_calls && it->refusal == NULL)
        smp_worklist_add_pending(graph, in_class);
    smp_worklist_adopt_initialisers(graph, in_class);
}

/* --- instances --- */

/* Queues the class for a search for its overrides. */
static void set_changed(struct smp_call_graph *graph, uint32_t changed)
{
    struct smp_indexed_class *const it = smp_class_index_at(&graph->index, changed);

    if (it->is_changed)
        return;
    it->is_changed = true;
    it->next_changed = graph->first_changed;
    graph->first_changed = changed;
}

static void raise_instances(struct smp_call_graph *graph, uint32_t made, uint8_t ahead)
{
    struct smp_indexed_class *const it = smp_class_index_at(&graph->index, made);

    if (ahead < it->instances)
        return;
    it->instances = (uint8_t)(ahead + 1);
    set_changed(graph, made);
}

/* ahead: the look-ahead from its overrides. */
static void add_instance(struct smp_call_graph *graph, uint32_t made, uint8_t ahead)
{
    if (smp_class_index_at(&graph->index, made)->is_allowed)
        raise_instances(graph, made, ahead);
}

/* EAGER visits every method it finds, so it needs no look-ahead. */
void smp_worklist_visit(struct smp_call_graph *graph, uint32_t in_class, uint32_t method)
{
    const bool is_lazy = smp_worklist_scheme(graph) == SMP_INSTRUMENTATION_LAZY;
    const uint8_t ahead = is_lazy ? graph->plan->look_ahead : 1;

    smp_worklist_look_ahead(graph, in_class, method, ahead);
    if ((smp_worklist_method(graph, in_class, method)->access & SMP_ACCESS_STATIC) == 0)
        add_instance(graph, in_class, (uint8_t)(ahead - 1));
}

/* --- methods --- */

void smp_worklist_set_state(struct smp_call_graph *graph, const struct smp_indexed_method *method,
                            enum smp_method_state state)
{
    struct smp_method_record *const record = smp_method_ids_at(&graph->ids, method->id);
    const bool is_root = (method->flags & SMP_MARK_ROOT) != 0;

    graph->methods -= record->state == SMP_METHOD_INSTRUMENTED;
    graph->methods += state == SMP_METHOD_INSTRUMENTED;
    graph->roots -= is_root && record->state == SMP_METHOD_INSTRUMENTED;
    graph->roots += is_root && state == SMP_METHOD_INSTRUMENTED;
    graph->places.waiting -= record->state == SMP_METHOD_WAITING;
    graph->places.waiting += state == SMP_METHOD_WAITING;
    record->state = (uint8_t)state;
}

static void give_id(struct smp_call_graph *graph, uint32_t in_class, uint32_t method)
{
    const struct smp_indexed_class *const class_of = smp_class_index_at(&graph->index, in_class);
    struct smp_indexed_method *const it = &class_of->body.methods[method];
    struct smp_method_record *record = NULL;

    if (!smp_places_is_free(graph) || !smp_method_ids_reserve(&graph->ids)) {
        smp_places_wait(graph, it);
        return;
    }
    smp_places_end_trial(graph, it);
    it->id = smp_method_ids_take(&graph->ids, class_of->name, it->signature);
    it->flags &= (uint16_t)~SMP_MARK_COUNTED;
    record = smp_method_ids_at(&graph->ids, it->id);
    record->in_class = in_class;
    record->number = method;
    smp_method_ids_set_source(&graph->ids, it->id, class_of->source_file);
    graph->methods++;
    graph->roots += (it->flags & SMP_MARK_ROOT) != 0;
    smp_worklist_add_pending(graph, in_class);
    initialise(graph, in_class);
    if (smp_worklist_scheme(graph) == SMP_INSTRUMENTATION_EAGER)
        smp_worklist_visit(graph, in_class, method);
}

void smp_worklist_add(struct smp_call_graph *graph, uint32_t in_class, uint32_t method)
{
    const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, in_class);
    const struct smp_indexed_method *const added = &it->body.methods[method];
    const bool is_root = (added->flags & SMP_MARK_ROOT) != 0;

    if (added->id >= 0 || (added->access & (SMP_ACCESS_NATIVE | SMP_ACCESS_ABSTRACT)) != 0)
        return;
    if (!is_root && !it->is_allowed) {
        if (it->passes_on) /* not a step: its callees are as far away as itself */
            smp_worklist_look_ahead(graph, in_class, method, (uint8_t)(graph->found_ahead + 1));
        else if (!is_jdk_class(graph, in_class))
            count_once(graph, in_class, method, SMP_COUNTING_EXCLUDED, NULL);
        return;
    }
    if (!is_root && added->is_trivial) {
        count_once(graph, in_class, method, SMP_COUNTING_TRIVIAL, NULL);
        return;
    }
    if (it->refusal == NULL) {
        give_id(graph, in_class, method);
        return;
    }
    count_once(graph, in_class, method, SMP_COUNTING_LEFT_ALONE, it->refusal);
    if (graph->plan->instrumentation != SMP_INSTRUMENTATION_TOTAL)
        smp_worklist_visit(graph, in_class, method);
}

void smp_worklist_take_probe(struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                             enum smp_counting code, const char *why)
{
    struct smp_indexed_method *const it = smp_worklist_method(graph, in_class, method);
    const bool is_dropped = code == SMP_COUNTING_DROPPED;
    const bool had_probe = smp_worklist_has_probe(graph, it);

    if (!had_probe && !smp_places_waits(graph, it))
        return;
    smp_places_end_trial(graph, it);
    if (it->id >= 0)
        smp_worklist_set_state(graph, it, is_dropped ? SMP_METHOD_DROPPED : SMP_METHOD_LEFT_ALONE);
    /* A method may be left alone again at each change of its class. */
    if (is_dropped)
        count_loss(graph, in_class, method, code, why);
    else
        count_once(graph, in_class, method, code, why);
    if (had_probe && graph->plan->instrumentation != SMP_INSTRUMENTATION_TOTAL)
        smp_worklist_visit(graph, in_class, method);
}

/* --- methods that searches find --- */

/* Handles a method that is called. If its class belongs to a library outside of the filter, the
 * method may run on an object of any subtype inside of the filter, and call it back. This is not
 * assumed of classes of the JDK, which have too many subtypes. */
static void leave_filter(struct smp_call_graph *graph, uint32_t in_class, uint32_t method)
{
    const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, in_class);
    const struct smp_indexed_method *const left = &it->body.methods[method];

    if (!it->is_allowed && !it->passes_on &&
        (left->access & (SMP_ACCESS_STATIC | SMP_ACCESS_ABSTRACT)) == 0 &&
        !is_initialiser(graph, left) && !is_jdk_class(graph, in_class))
        raise_instances(graph, in_class, graph->found_ahead);
}

/* A bridge does not count as a step, because it only calls the method of the source. */
static void add_found(void *self, uint32_t in_class, uint32_t method)
{
    struct smp_call_graph *const graph = self;
    const struct smp_indexed_method *it = NULL;

    smp_worklist_add(graph, in_class, method);
    leave_filter(graph, in_class, method);
    it = smp_worklist_method(graph, in_class, method);
    if (it->id >= 0)
        smp_worklist_look_ahead(
            graph, in_class, method,
            (uint8_t)(graph->found_ahead + ((it->access & SMP_ACCESS_BRIDGE) != 0)));
}

/* Searches a range of the classes that the search for subtypes has found. */
static void find_in_subtypes(struct smp_call_graph *graph, uint32_t signature, size_t from,
                             size_t to, bool is_override)
{
    const uint32_t *const subtypes = graph->index.subtypes.room.items;

    smp_class_index_search(&graph->index, signature, subtypes + from, to - from, is_override,
                           add_found, graph);
}

static void find_in_class(struct smp_call_graph *graph, uint32_t signature, uint32_t in_class,
                          bool is_override)
{
    smp_class_index_search(&graph->index, signature, &in_class, 1, is_override, add_found, graph);
}

static void find_own(struct smp_call_graph *graph, uint32_t owner, uint32_t signature)
{
    smp_class_index_subtypes(&graph->index, owner);
    find_in_subtypes(graph, signature, 0, graph->index.same_count, false);
}

void smp_worklist_called(struct smp_call_graph *graph, uint32_t owner, uint32_t signature)
{
    uint32_t made = smp_class_index_first(&graph->index, owner);

    find_own(graph, owner, signature);
    if (smp_symbols_at(&graph->index.symbols, signature)->text[0] != '<')
        return;
    for (; made != 0; made = smp_class_index_at(&graph->index, made)->next_named)
        add_instance(graph, made, graph->found_ahead);
}

static bool has_name(const struct smp_call_graph *graph, const struct smp_indexed_method *method,
                     struct smp_slice name)
{
    const struct smp_slice signature = smp_symbols_text(&graph->index.symbols, method->signature);

    return smp_slice_equals(smp_signature_name(signature), name);
}

/* Judges all methods of the name, because a sample does not tell overloads apart. */
static void judge_overloads(struct smp_call_graph *graph, uint32_t in_class, struct smp_slice name,
                            bool *has_id, struct smp_sampled_method *out)
{
    const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, in_class);
    bool waits = false;

    for (uint32_t m = 0; m < it->body.method_count; m++) {
        const struct smp_indexed_method *const method = &it->body.methods[m];

        if (!has_name(graph, method, name))
            continue;
        out->is_root |= (method->flags & SMP_MARK_ROOT) != 0;
        out->is_inside |= out->is_root || (it->is_allowed && !method->is_trivial);
        *has_id |= method->id >= 0;
        waits |= method->id >= 0 && (method->ahead == 0 || it->lacks_calls);
    }
    out->is_followed |= *has_id && !waits;
}

void smp_worklist_sampled(struct smp_call_graph *graph, uint32_t in_class, struct smp_slice name,
                          bool is_called, struct smp_sampled_method *out)
{
    const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, in_class);
    bool has_id = false;

    judge_overloads(graph, in_class, name, &has_id, out);
    for (uint32_t m = 0; is_called && it->is_allowed && !has_id && m < it->body.method_count; m++) {
        if (!has_name(graph, &it->body.methods[m], name))
            continue;
        add_found(graph, in_class, m);
        if (it->body.methods[m].id >= 0)
            count_loss(graph, in_class, m, SMP_COUNTING_SAMPLED, NULL);
    }
}

/* --- searches --- */

static bool can_be_overridden(const struct smp_call_graph *graph,
                              const struct smp_indexed_method *declared)
{
    return (declared->access & (SMP_ACCESS_PRIVATE | SMP_ACCESS_STATIC)) == 0 &&
           !is_initialiser(graph, declared);
}

/* Adds the methods of class made that override methods of class outside. */
static void add_overrides(struct smp_call_graph *graph, uint32_t made, uint32_t outside)
{
    const struct smp_class_body *const body = &smp_class_index_at(&graph->index, outside)->body;

    for (uint32_t m = 0; m < body->method_count; m++) {
        if (can_be_overridden(graph, &body->methods[m]))
            find_in_class(graph, body->methods[m].signature, made, true);
    }
}

/* The super types of an instance have been initialised, and their constructors have run. */
static void search_supers(struct smp_call_graph *graph, uint32_t made)
{
    const struct smp_class_list *const supers = &graph->index.supers;

    smp_class_index_supers(&graph->index, made);
    for (size_t s = 0; s < supers->count; s++) {
        uint32_t super = smp_class_index_first(&graph->index, smp_class_list_at(supers, s));

        for (; super != 0; super = smp_class_index_at(&graph->index, super)->next_named) {
            if (smp_class_index_at(&graph->index, super)->is_allowed)
                initialise(graph, super);
            else
                add_overrides(graph, made, super);
        }
    }
}

static void search_changed(struct smp_call_graph *graph)
{
    const uint32_t changed = graph->first_changed;
    struct smp_indexed_class *const it = smp_class_index_at(&graph->index, changed);
    const struct smp_class_list *const subtypes = &graph->index.subtypes;

    graph->first_changed = it->next_changed;
    it->is_changed = false;
    graph->found_ahead = (uint8_t)(it->instances - 1);
    if (it->is_allowed) {
        search_supers(graph, changed);
        return;
    }
    smp_class_index_subtypes(&graph->index, it->name);
    for (size_t i = 0; i < subtypes->count; i++)
        add_instance(graph, smp_class_list_at(subtypes, i), graph->found_ahead);
}

/* Searches a class of the owner's name for a target without a descriptor. text: `name.` */
static void find_by_name(struct smp_call_graph *graph, const struct smp_call_target *target,
                         struct smp_slice text, uint32_t in_class)
{
    const struct smp_class_body *const body = &smp_class_index_at(&graph->index, in_class)->body;

    if (target->signature == graph->index.made)
        add_instance(graph, in_class, target->ahead);
    for (uint32_t m = 0; m < body->method_count; m++) {
        if (smp_slice_begins(smp_symbols_text(&graph->index.symbols, body->methods[m].signature),
                             text.bytes, text.length))
            add_found(graph, in_class, m);
    }
}

static bool has_descriptor(struct smp_slice signature)
{
    return signature.length == 0 || signature.bytes[signature.length - 1] != '.';
}

static void process_target(struct smp_call_graph *graph)
{
    struct smp_call_target *const target =
        smp_class_index_target(&graph->index, graph->first_queued);
    const struct smp_slice text = smp_symbols_text(&graph->index.symbols, target->signature);
    uint32_t named = smp_class_index_first(&graph->index, target->owner);

    graph->first_queued = target->next_queued;
    target->is_queued = false;
    graph->found_ahead = target->ahead;
    if (!has_descriptor(text)) {
        for (; named != 0; named = smp_class_index_at(&graph->index, named)->next_named)
            find_by_name(graph, target, text, named);
        return;
    }
    find_own(graph, target->owner, target->signature);
    if ((target->how & SMP_TARGET_DISPATCHED) != 0)
        find_in_subtypes(graph, target->signature, graph->index.same_count,
                         graph->index.subtypes.count, true);
}

void smp_worklist_process(struct smp_call_graph *graph)
{
    while (graph->first_queued != 0 || graph->first_changed != 0) {
        if (graph->first_queued != 0)
            process_target(graph);
        else
            search_changed(graph);
    }
}

/* Searches a subtype for the reachable targets of one super type. */
static void visit_targets(struct smp_call_graph *graph, uint32_t name, uint32_t in_class,
                          bool is_own)
{
    uint32_t reachable = smp_symbols_at(&graph->index.symbols, name)->first_reachable;

    while (reachable != 0) {
        const struct smp_call_target *const target =
            smp_class_index_target(&graph->index, reachable);
        const struct smp_slice text = smp_symbols_text(&graph->index.symbols, target->signature);

        reachable = target->next_reachable;
        graph->found_ahead = target->ahead;
        if (has_descriptor(text) && (is_own || (target->how & SMP_TARGET_DISPATCHED) != 0))
            find_in_class(graph, target->signature, in_class, !is_own);
        else if (is_own)
            find_by_name(graph, target, text, in_class);
    }
}

/* An instance of a super type outside of the filter may be an object of the visited class. */
static void visit_instances(struct smp_call_graph *graph, uint32_t name, uint32_t visited)
{
    uint32_t super = smp_class_index_first(&graph->index, name);

    for (; super != 0; super = smp_class_index_at(&graph->index, super)->next_named) {
        const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, super);

        if (!it->is_allowed && it->instances > 0)
            add_instance(graph, visited, (uint8_t)(it->instances - 1));
    }
}

/* Subtypes may have been loaded before the class, and have more super types through it now. */
void smp_worklist_visit_class(struct smp_call_graph *graph, uint32_t visited)
{
    const struct smp_class_list *const subtypes = &graph->index.subtypes;
    const struct smp_class_list *const supers = &graph->index.supers;

    smp_class_index_subtypes(&graph->index, smp_class_index_at(&graph->index, visited)->name);
    for (size_t i = 0; i < subtypes->count; i++) {
        const uint32_t subtype = smp_class_list_at(subtypes, i);

        smp_class_index_supers(&graph->index, subtype);
        for (size_t s = 0; s < supers->count; s++) {
            visit_targets(graph, smp_class_list_at(supers, s), subtype, s == 0);
            visit_instances(graph, smp_class_list_at(supers, s), subtype);
        }
        if (smp_class_index_at(&graph->index, subtype)->instances > 0)
            set_changed(graph, subtype);
    }
}
