/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/worklist.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* --- dirty classes --- */

void smp_worklist_set_dirty(struct smp_call_graph *graph, uint32_t dirty)
{
    struct smp_indexed_class *const it = smp_class_index_at(&graph->index, dirty);

    if (it->is_dirty)
        return;
    it->is_dirty = true;
    it->next_dirty = 0;
    it->prior_dirty = graph->last_dirty;
    if (graph->last_dirty != 0)
        smp_class_index_at(&graph->index, graph->last_dirty)->next_dirty = dirty;
    else
        graph->first_dirty = dirty;
    graph->last_dirty = dirty;
}

void smp_worklist_set_urgent(struct smp_call_graph *graph, uint32_t dirty)
{
    struct smp_indexed_class *const it = smp_class_index_at(&graph->index, dirty);

    if (it->is_urgent)
        return;
    smp_worklist_set_clean(graph, dirty);
    it->is_dirty = true;
    it->is_urgent = true;
    graph->urgent++;
    it->prior_dirty = 0;
    it->next_dirty = graph->first_dirty;
    if (graph->first_dirty != 0)
        smp_class_index_at(&graph->index, graph->first_dirty)->prior_dirty = dirty;
    else
        graph->last_dirty = dirty;
    graph->first_dirty = dirty;
}

void smp_worklist_set_clean(struct smp_call_graph *graph, uint32_t clean)
{
    struct smp_indexed_class *const it = smp_class_index_at(&graph->index, clean);

    if (!it->is_dirty)
        return;
    if (it->prior_dirty != 0)
        smp_class_index_at(&graph->index, it->prior_dirty)->next_dirty = it->next_dirty;
    else
        graph->first_dirty = it->next_dirty;
    if (it->next_dirty != 0)
        smp_class_index_at(&graph->index, it->next_dirty)->prior_dirty = it->prior_dirty;
    else
        graph->last_dirty = it->prior_dirty;
    it->is_dirty = false;
    graph->urgent -= it->is_urgent;
    it->is_urgent = false;
}

/* --- rules --- */

void smp_worklist_advance_rule(struct smp_call_graph *graph, size_t rule, enum smp_rule_state state)
{
    if (graph->rule_states[rule] < state)
        graph->rule_states[rule] = (uint8_t)state;
}

static bool is_of_rule(const struct smp_call_graph *graph, size_t rule, int32_t id)
{
    const struct smp_slice class_name = smp_method_ids_class(&graph->ids, id);

    return smp_root_rules_match_class(graph->plan->rules, rule, class_name) &&
           smp_root_rules_match_method(graph->plan->rules, rule, class_name,
                                       smp_method_ids_name(&graph->ids, id),
                                       smp_method_ids_descriptor(&graph->ids, id));
}

void smp_worklist_advance_rules_of(struct smp_call_graph *graph, int32_t id,
                                   enum smp_rule_state state)
{
    for (size_t i = 0; i < graph->rule_count; i++) {
        if (is_of_rule(graph, i, id))
            smp_worklist_advance_rule(graph, i, state);
    }
}

/* The method has a probe, or is to get one: if it is a root, its rules are found. */
static void note_probe(struct smp_call_graph *graph, int32_t id)
{
    if (smp_method_ids_at(&graph->ids, id)->is_root)
        smp_worklist_advance_rules_of(graph, id, SMP_RULE_FOUND);
}

static bool has_probed_root(const struct smp_call_graph *graph, size_t rule)
{
    for (int32_t id = 0; id < smp_method_ids_end(&graph->ids); id++) {
        const struct smp_method_record *const record = smp_method_ids_at(&graph->ids, id);

        if (record != NULL && record->state == SMP_METHOD_WANTED && record->is_root &&
            is_of_rule(graph, rule, id))
            return true;
    }
    return false;
}

/* A root has no probe any more: rules that have no other one do not wait for its entry. */
static void note_probe_lost(struct smp_call_graph *graph, int32_t id)
{
    for (size_t i = 0; i < graph->rule_count; i++) {
        if (graph->rule_states[i] == SMP_RULE_FOUND && is_of_rule(graph, i, id) &&
            !has_probed_root(graph, i))
            graph->rule_states[i] = SMP_RULE_NO_PROBE;
    }
}

/* --- methods --- */

static void count_loss(struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                       enum smp_call_graph_loss loss, const char *why, int64_t wall_ms)
{
    const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, in_class);
    const struct smp_symbol *const name = smp_symbols_at(&graph->index.class_names, it->name);
    const struct smp_symbol *const signature =
        smp_symbols_at(&graph->index.signatures, it->body.methods[method].signature);
    char *const text = smp_losses_add(&graph->losses[loss], wall_ms);
    int length = 0;

    if (text == NULL)
        return;
    if (why != NULL)
        length = snprintf(text, SMP_LOSS_TEXT_BYTES / 2, "%s: ", why);
    if (length >= SMP_LOSS_TEXT_BYTES / 2)
        length = SMP_LOSS_TEXT_BYTES / 2 - 1;
    smp_method_text(text + length, SMP_LOSS_TEXT_BYTES - (size_t)length,
                    (struct smp_slice){ name->text, name->length }, smp_signature_name(signature));
}

void smp_worklist_text(const struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                       char out[SMP_LOSS_TEXT_BYTES])
{
    const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, in_class);
    const struct smp_symbol *const name = smp_symbols_at(&graph->index.class_names, it->name);
    const struct smp_symbol *const signature =
        smp_symbols_at(&graph->index.signatures, it->body.methods[method].signature);

    smp_method_text(out, SMP_LOSS_TEXT_BYTES, (struct smp_slice){ name->text, name->length },
                    smp_signature_name(signature));
}

/* The same, of a method that gets no id: once. */
static void count_once(struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                       enum smp_call_graph_loss loss, const char *why)
{
    struct smp_indexed_method *const it = smp_worklist_method(graph, in_class, method);

    if ((it->flags & SMP_MARK_COUNTED) != 0)
        return;
    it->flags |= SMP_MARK_COUNTED;
    count_loss(graph, in_class, method, loss, why, 0);
}

bool smp_worklist_is_jdk_class(const struct smp_call_graph *graph,
                               const struct smp_indexed_class *it)
{
    const struct smp_symbol *const name = smp_symbols_at(&graph->index.class_names, it->name);

    return smp_call_filter_is_jdk((struct smp_slice){ name->text, name->length });
}

static void give_id(struct smp_call_graph *graph, uint32_t in_class, uint32_t method)
{
    const uint32_t name = smp_class_index_at(&graph->index, in_class)->name;
    struct smp_indexed_method *const it = smp_worklist_method(graph, in_class, method);
    struct smp_method_record *record = NULL;

    if (!smp_places_is_free(graph) || !smp_method_ids_reserve(&graph->ids)) {
        smp_places_wait(graph, it);
        return;
    }
    smp_places_end_wait(graph, it);
    it->id = smp_method_ids_take(&graph->ids, name, it->signature);
    it->flags &= (uint16_t)~SMP_MARK_COUNTED;
    record = smp_method_ids_at(&graph->ids, it->id);
    record->in_class = in_class;
    record->number = method;
    record->is_root = (it->flags & SMP_MARK_ROOT) != 0;
    smp_method_ids_set_source(&graph->ids, it->id,
                              smp_class_index_at(&graph->index, in_class)->source_file);
    graph->methods++;
    graph->roots += record->is_root;
    note_probe(graph, it->id);
    smp_worklist_set_dirty(graph, in_class);
    smp_worklist_initialise(graph, in_class);
    if (smp_worklist_scheme(graph) == SMP_INSTRUMENTATION_EAGER)
        smp_worklist_expand(graph, in_class, method);
}

void smp_worklist_set_root(struct smp_call_graph *graph, struct smp_indexed_method *method,
                           enum smp_root_kind kind)
{
    struct smp_method_record *const record = smp_method_ids_at(&graph->ids, method->id);
    const bool is_root = kind != SMP_ROOT_NONE;

    if (is_root)
        method->flags |= SMP_MARK_ROOT;
    if (kind == SMP_ROOT_NAMED)
        method->flags |= SMP_MARK_NAMED;
    if (record == NULL)
        return;
    if (smp_worklist_has_probe(method))
        graph->roots += (uint32_t)is_root - (uint32_t)record->is_root;
    record->is_root = is_root;
    if (smp_worklist_has_probe(method))
        note_probe(graph, method->id);
}

void smp_worklist_add(struct smp_call_graph *graph, uint32_t in_class, uint32_t method)
{
    const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, in_class);
    const struct smp_indexed_method *const wanted = &it->body.methods[method];
    const bool is_root = (wanted->flags & SMP_MARK_ROOT) != 0;

    if (wanted->id >= 0 || (wanted->access & (SMP_ACCESS_NATIVE | SMP_ACCESS_ABSTRACT)) != 0)
        return;
    if (!is_root && !it->is_allowed) {
        if (it->passes_on) /* it is no step: what it calls is as far away as itself */
            smp_worklist_look_ahead(graph, in_class, method, (uint8_t)(graph->found_ahead + 1));
        else if (!smp_worklist_is_jdk_class(graph, it))
            count_once(graph, in_class, method, SMP_LOSS_EXCLUDED, NULL);
        return;
    }
    if (!is_root && wanted->is_trivial) {
        count_once(graph, in_class, method, SMP_LOSS_TRIVIAL, NULL);
        return;
    }
    if (it->refusal == NULL) {
        give_id(graph, in_class, method);
        return;
    }
    count_once(graph, in_class, method, SMP_LOSS_LEFT_ALONE, it->refusal);
    if (graph->plan->instrumentation != SMP_INSTRUMENTATION_TOTAL)
        smp_worklist_expand(graph, in_class, method);
}

void smp_worklist_take_probe(struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                             enum smp_call_graph_loss loss, const char *why, int64_t wall_ms)
{
    struct smp_indexed_method *const it = smp_worklist_method(graph, in_class, method);
    struct smp_method_record *const record = smp_method_ids_at(&graph->ids, it->id);
    const bool is_dropped = loss == SMP_LOSS_DROPPED;

    assert(smp_worklist_has_probe(it));
    it->flags |= is_dropped ? SMP_MARK_DROPPED : SMP_MARK_LEFT_ALONE;
    record->state = is_dropped ? SMP_METHOD_DROPPED : SMP_METHOD_LEFT_ALONE;
    graph->methods--;
    graph->roots -= record->is_root;
    if (record->is_root)
        note_probe_lost(graph, it->id);
    /* One that is left alone is so again whenever its class is transformed. */
    if (is_dropped)
        count_loss(graph, in_class, method, loss, why, wall_ms);
    else
        count_once(graph, in_class, method, loss, why);
    if (graph->plan->instrumentation != SMP_INSTRUMENTATION_TOTAL)
        smp_worklist_expand(graph, in_class, method);
}

void smp_worklist_refuse_waiting(struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                                 const char *why)
{
    struct smp_indexed_method *const it = smp_worklist_method(graph, in_class, method);

    if ((it->flags & SMP_MARK_WAITING) == 0)
        return;
    smp_places_end_wait(graph, it);
    if (it->id >= 0) {
        it->flags |= SMP_MARK_LEFT_ALONE;
        smp_method_ids_at(&graph->ids, it->id)->state = SMP_METHOD_LEFT_ALONE;
    }
    count_once(graph, in_class, method, SMP_LOSS_LEFT_ALONE, why);
}

/* --- targets --- */

static bool is_bridge(const struct smp_indexed_method *method)
{
    return (method->access & SMP_ACCESS_BRIDGE) != 0;
}

static void set_pending(struct smp_call_graph *graph, uint32_t pending)
{
    struct smp_call_target *const target = smp_call_targets_at(&graph->index.targets, pending);

    if (target->is_pending)
        return;
    target->is_pending = true;
    target->next_pending = graph->first_pending;
    graph->first_pending = pending;
}

/* By one more method. */
static void reach_target(struct smp_call_graph *graph, uint32_t reached)
{
    struct smp_call_target *const target = smp_call_targets_at(&graph->index.targets, reached);
    struct smp_symbol *const owner = smp_symbols_at(&graph->index.class_names, target->owner);

    if (target->reached_by++ > 0)
        return;
    target->prior_reached = 0;
    target->next_reached = owner->first_reached;
    if (owner->first_reached != 0)
        smp_call_targets_at(&graph->index.targets, owner->first_reached)->prior_reached = reached;
    owner->first_reached = reached;
    set_pending(graph, reached);
}

/* What it finds is looked ahead from again where that is farther than before. */
static void raise_target(struct smp_call_graph *graph, uint32_t raised, uint8_t ahead)
{
    struct smp_call_target *const target = smp_call_targets_at(&graph->index.targets, raised);

    if (ahead <= target->ahead)
        return;
    target->ahead = ahead;
    set_pending(graph, raised);
}

static void leave_target(struct smp_call_graph *graph, uint32_t left)
{
    struct smp_call_targets *const targets = &graph->index.targets;
    struct smp_call_target *const target = smp_call_targets_at(targets, left);

    assert(target->reached_by > 0);
    if (--target->reached_by > 0)
        return;
    assert(!target->is_pending);
    target->ahead = 0;
    if (target->prior_reached != 0)
        smp_call_targets_at(targets, target->prior_reached)->next_reached = target->next_reached;
    else
        smp_symbols_at(&graph->index.class_names, target->owner)->first_reached =
            target->next_reached;
    if (target->next_reached != 0)
        smp_call_targets_at(targets, target->next_reached)->prior_reached = target->prior_reached;
}

static bool has_reached(const struct smp_call_graph *graph, const struct smp_indexed_method *method,
                        uint32_t called)
{
    const struct smp_call_target *const target = smp_call_targets_at(&graph->index.targets, called);

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

        if (!has_reached(graph, it, called))
            reach_target(graph, called);
        raise_target(graph, called, (uint8_t)(ahead - 1));
    }
    it->ahead = ahead;
}

/* EAGER expands all it finds anyway. */
void smp_worklist_expand(struct smp_call_graph *graph, uint32_t in_class, uint32_t method)
{
    const bool is_lazy = smp_worklist_scheme(graph) == SMP_INSTRUMENTATION_LAZY;
    const uint8_t ahead = is_lazy ? graph->plan->look_ahead : 1;

    smp_worklist_look_ahead(graph, in_class, method, ahead);
    if ((smp_worklist_method(graph, in_class, method)->access & SMP_ACCESS_STATIC) == 0)
        smp_instances_add(graph, in_class, (uint8_t)(ahead - 1));
}

bool smp_worklist_is_initialiser(const struct smp_call_graph *graph,
                                 const struct smp_indexed_method *method)
{
    return smp_symbols_at(&graph->index.signatures, method->signature)->text[0] == '<';
}

static void reach_made(struct smp_call_graph *graph, const struct smp_class_body *body,
                       struct smp_indexed_method *initialiser)
{
    for (uint32_t i = 0; i < initialiser->call_count; i++) {
        const uint32_t called = body->calls[initialiser->first_call + i];

        if ((smp_call_targets_at(&graph->index.targets, called)->how & SMP_TARGET_MADE) != 0 &&
            !has_reached(graph, initialiser, called))
            reach_target(graph, called);
    }
    initialiser->flags |= SMP_MARK_MAKES;
}

void smp_worklist_adopt_initialisers(struct smp_call_graph *graph, uint32_t in_class)
{
    const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, in_class);

    for (uint32_t m = 0; it->is_initialised && m < it->body.method_count; m++) {
        if (smp_worklist_is_initialiser(graph, &it->body.methods[m]))
            reach_made(graph, &it->body, &it->body.methods[m]);
    }
}

/* Where its calls are not known, its plan is made anew, for which the JVM hands in its bytes. */
void smp_worklist_initialise(struct smp_call_graph *graph, uint32_t in_class)
{
    struct smp_indexed_class *const it = smp_class_index_at(&graph->index, in_class);

    if (it->is_initialised || graph->plan->instrumentation == SMP_INSTRUMENTATION_TOTAL)
        return;
    it->is_initialised = true;
    if (it->lacks_calls && it->refusal == NULL)
        smp_worklist_set_dirty(graph, in_class);
    smp_worklist_adopt_initialisers(graph, in_class);
}

void smp_worklist_unexpand(struct smp_call_graph *graph, struct smp_class_body *body)
{
    for (uint32_t m = 0; m < body->method_count; m++) {
        struct smp_indexed_method *const it = &body->methods[m];

        for (uint32_t i = 0; i < it->call_count; i++) {
            if (has_reached(graph, it, body->calls[it->first_call + i]))
                leave_target(graph, body->calls[it->first_call + i]);
        }
        it->ahead = 0;
        it->flags &= (uint16_t)~SMP_MARK_MAKES;
    }
}

/* A bridge is no step, as it only calls the method that was written. */
void smp_worklist_found(void *self, uint32_t in_class, uint32_t method)
{
    struct smp_call_graph *const graph = self;
    const struct smp_indexed_method *it = NULL;

    smp_worklist_add(graph, in_class, method);
    smp_instances_leave(graph, in_class, method);
    it = smp_worklist_method(graph, in_class, method);
    if (it->id >= 0)
        smp_worklist_look_ahead(graph, in_class, method,
                                (uint8_t)(graph->found_ahead + is_bridge(it)));
}

void smp_worklist_find(struct smp_call_graph *graph, uint32_t owner, uint32_t signature)
{
    struct smp_type_search *const search = &graph->search;

    smp_type_search_subtypes(search, owner);
    smp_type_search_methods(search, signature, search->subtypes.items, search->same_count, false,
                            smp_worklist_found, graph);
}

/* --- instances --- */

static void set_changed(struct smp_call_graph *graph, uint32_t changed)
{
    struct smp_indexed_class *const it = smp_class_index_at(&graph->index, changed);

    if (it->is_changed)
        return;
    it->is_changed = true;
    it->next_changed = graph->first_changed;
    graph->first_changed = changed;
}

void smp_instances_add(struct smp_call_graph *graph, uint32_t made, uint8_t ahead)
{
    struct smp_indexed_class *const it = smp_class_index_at(&graph->index, made);

    if (!it->is_allowed || ahead < it->instances)
        return;
    it->instances = (uint8_t)(ahead + 1);
    set_changed(graph, made);
}

void smp_instances_add_named(struct smp_call_graph *graph, uint32_t name, uint8_t ahead)
{
    uint32_t made = smp_symbols_at(&graph->index.class_names, name)->first_class;

    for (; made != 0; made = smp_class_index_at(&graph->index, made)->next_named)
        smp_instances_add(graph, made, ahead);
}

void smp_instances_leave(struct smp_call_graph *graph, uint32_t in_class, uint32_t method)
{
    struct smp_indexed_class *const it = smp_class_index_at(&graph->index, in_class);
    const struct smp_indexed_method *const left = &it->body.methods[method];

    if (it->is_allowed || it->passes_on || graph->found_ahead < it->instances ||
        (left->access & (SMP_ACCESS_STATIC | SMP_ACCESS_ABSTRACT)) != 0 ||
        smp_worklist_is_initialiser(graph, left) || smp_worklist_is_jdk_class(graph, it))
        return;
    it->instances = (uint8_t)(graph->found_ahead + 1);
    set_changed(graph, in_class);
}

void smp_instances_visit(struct smp_call_graph *graph, uint32_t visited)
{
    const struct smp_type_list *const supers = &graph->search.supers;

    if (smp_class_index_at(&graph->index, visited)->instances > 0)
        set_changed(graph, visited);
    for (size_t s = 0; s < supers->count; s++) {
        uint32_t super = smp_symbols_at(&graph->index.class_names, supers->items[s])->first_class;

        for (; super != 0; super = smp_class_index_at(&graph->index, super)->next_named) {
            const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, super);

            if (!it->is_allowed && it->instances > 0)
                smp_instances_add(graph, visited, (uint8_t)(it->instances - 1));
        }
    }
}

static bool can_be_overridden(const struct smp_call_graph *graph,
                              const struct smp_indexed_method *declared)
{
    return (declared->access & (SMP_ACCESS_PRIVATE | SMP_ACCESS_STATIC)) == 0 &&
           !smp_worklist_is_initialiser(graph, declared);
}

/* What the class has for the methods that another one, outside of the filter, declares. */
static void want_overrides(struct smp_call_graph *graph, uint32_t made, uint32_t outside)
{
    const struct smp_class_body *const body = &smp_class_index_at(&graph->index, outside)->body;

    for (uint32_t m = 0; m < body->method_count; m++) {
        if (can_be_overridden(graph, &body->methods[m]))
            smp_type_search_methods(&graph->search, body->methods[m].signature, &made, 1, true,
                                    smp_worklist_found, graph);
    }
}

static void add_subtypes(struct smp_call_graph *graph, const struct smp_indexed_class *outside)
{
    const struct smp_type_list *const subtypes = &graph->search.subtypes;

    smp_type_search_subtypes(&graph->search, outside->name);
    for (size_t i = 0; i < subtypes->count; i++)
        smp_instances_add(graph, subtypes->items[i], (uint8_t)(outside->instances - 1));
}

/* The super types of an instance are initialised with it, and their constructors have run. */
static void search_supers(struct smp_call_graph *graph, uint32_t made)
{
    struct smp_type_search *const search = &graph->search;

    smp_type_search_supers(search, made);
    for (size_t s = 0; s < search->supers.count; s++) {
        uint32_t super =
            smp_symbols_at(&graph->index.class_names, search->supers.items[s])->first_class;

        for (; super != 0; super = smp_class_index_at(&graph->index, super)->next_named) {
            if (!smp_class_index_at(&graph->index, super)->is_allowed)
                want_overrides(graph, made, super);
            else
                smp_worklist_initialise(graph, super);
        }
    }
}

void smp_instances_search(struct smp_call_graph *graph)
{
    const uint32_t changed = graph->first_changed;
    struct smp_indexed_class *const it = smp_class_index_at(&graph->index, changed);

    graph->first_changed = it->next_changed;
    it->is_changed = false;
    graph->found_ahead = (uint8_t)(it->instances - 1);
    if (it->is_allowed)
        search_supers(graph, changed);
    else
        add_subtypes(graph, it);
}

/* --- names --- */

static bool has_name(const struct smp_call_graph *graph, const struct smp_indexed_method *method,
                     struct smp_slice name)
{
    const struct smp_symbol *const signature =
        smp_symbols_at(&graph->index.signatures, method->signature);

    return signature->length > name.length && signature->text[name.length] == '.' &&
           memcmp(signature->text, name.bytes, name.length) == 0;
}

void smp_worklist_add_named(struct smp_call_graph *graph, uint32_t in_class, struct smp_slice name)
{
    const struct smp_class_body *const body = &smp_class_index_at(&graph->index, in_class)->body;

    for (uint32_t m = 0; m < body->method_count; m++) {
        if (has_name(graph, &body->methods[m], name))
            smp_worklist_found(graph, in_class, m);
    }
}

/* A sample does not say which overload it has. */
static void judge_overloads(struct smp_call_graph *graph, uint32_t in_class, struct smp_slice name,
                            bool *has_id, struct smp_call_graph_sample *out)
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
                          bool is_called, struct smp_call_graph_sample *out)
{
    const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, in_class);
    bool has_id = false;

    judge_overloads(graph, in_class, name, &has_id, out);
    for (uint32_t m = 0; is_called && it->is_allowed && !has_id && m < it->body.method_count; m++) {
        if (!has_name(graph, &it->body.methods[m], name))
            continue;
        smp_worklist_found(graph, in_class, m);
        if (it->body.methods[m].id >= 0)
            count_loss(graph, in_class, m, SMP_LOSS_SAMPLED, NULL, 0);
    }
}

static bool has_descriptor(const struct smp_call_graph *graph, const struct smp_call_target *target)
{
    const struct smp_symbol *const signature =
        smp_symbols_at(&graph->index.signatures, target->signature);

    return signature->text[signature->length - 1] != '.';
}

/* What a target without a descriptor stands for, in a class of its owner's name. */
static void find_by_name(struct smp_call_graph *graph, const struct smp_call_target *target,
                         uint32_t in_class)
{
    const struct smp_symbol *const signature =
        smp_symbols_at(&graph->index.signatures, target->signature);

    if (target->signature == graph->index.made)
        smp_instances_add(graph, in_class, target->ahead);
    else
        smp_worklist_add_named(graph, in_class,
                               (struct smp_slice){ signature->text, signature->length - 1 });
}

static void find_all_by_name(struct smp_call_graph *graph, const struct smp_call_target *target)
{
    uint32_t found = smp_symbols_at(&graph->index.class_names, target->owner)->first_class;

    for (; found != 0; found = smp_class_index_at(&graph->index, found)->next_named)
        find_by_name(graph, target, found);
}

static void find_pending(struct smp_call_graph *graph)
{
    struct smp_call_target *const target =
        smp_call_targets_at(&graph->index.targets, graph->first_pending);
    struct smp_type_search *const search = &graph->search;
    const uint32_t signature = target->signature;

    graph->first_pending = target->next_pending;
    target->is_pending = false;
    graph->found_ahead = target->ahead;
    if (!has_descriptor(graph, target)) {
        find_all_by_name(graph, target);
        return;
    }
    smp_worklist_find(graph, target->owner, signature);
    if ((target->how & SMP_TARGET_DISPATCHED) != 0)
        smp_type_search_methods(search, signature, search->subtypes.items + search->same_count,
                                search->subtypes.count - search->same_count, true,
                                smp_worklist_found, graph);
}

void smp_worklist_process(struct smp_call_graph *graph)
{
    while (graph->first_pending != 0 || graph->first_changed != 0) {
        if (graph->first_pending != 0)
            find_pending(graph);
        else
            smp_instances_search(graph);
    }
}

/* The reached targets of one super type, in one of its subtypes. */
static void visit_targets(struct smp_call_graph *graph, uint32_t name, uint32_t in_class,
                          bool is_own)
{
    uint32_t reached = smp_symbols_at(&graph->index.class_names, name)->first_reached;

    while (reached != 0) {
        const struct smp_call_target *const target =
            smp_call_targets_at(&graph->index.targets, reached);

        reached = target->next_reached;
        graph->found_ahead = target->ahead;
        if (!has_descriptor(graph, target)) {
            if (is_own)
                find_by_name(graph, target, in_class);
        } else if (is_own || (target->how & SMP_TARGET_DISPATCHED) != 0) {
            smp_type_search_methods(&graph->search, target->signature, &in_class, 1, !is_own,
                                    smp_worklist_found, graph);
        }
    }
}

/* Its subtypes may have been loaded before it: through it they have more super types now. */
void smp_worklist_visit_class(struct smp_call_graph *graph, uint32_t visited)
{
    struct smp_type_search *const search = &graph->search;

    smp_type_search_subtypes(search, smp_class_index_at(&graph->index, visited)->name);
    for (size_t i = 0; i < search->subtypes.count; i++) {
        const uint32_t subtype = search->subtypes.items[i];

        smp_type_search_supers(search, subtype);
        for (size_t s = 0; s < search->supers.count; s++)
            visit_targets(graph, search->supers.items[s], subtype, s == 0);
        smp_instances_visit(graph, subtype);
    }
}
