/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/call_graph.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"
#include "counting/worklist.h"
#include "model/class_name.h"

/* --- lifecycle --- */

enum { MS_PER_S = 1000, TIME_BYTES = 40 };

static enum smp_status add_rule_tables(struct smp_call_graph *graph)
{
    const size_t count = graph->plan->rule_count;

    if (count == 0)
        return SMP_OK;
    graph->rule_states = smp_alloc(graph->plan->quota, count);
    graph->rule_matches = smp_alloc(graph->plan->quota, count * sizeof(bool));
    return graph->rule_states != NULL && graph->rule_matches != NULL ? SMP_OK : SMP_ENOMEM;
}

enum smp_status smp_call_graph_create(const struct smp_counting_plan *plan, uint32_t max_ids,
                                      struct smp_call_graph **out)
{
    struct smp_call_graph *graph = NULL;
    enum smp_status status = SMP_OK;

    if (max_ids < 1 || max_ids > SMP_PLAN_METHODS_LIMIT || plan->look_ahead < 1 ||
        plan->look_ahead > SMP_PLAN_LOOK_AHEAD_LIMIT)
        return SMP_EINVAL;
    graph = smp_alloc(plan->quota, sizeof(*graph));
    if (graph == NULL)
        return SMP_ENOMEM;
    graph->plan = plan;
    graph->max_methods = plan->max_methods < max_ids ? plan->max_methods : max_ids;
    graph->budget =
        (struct smp_memory_budget){ .quota = plan->quota, .max_bytes = plan->max_bytes };
    smp_class_index_init(&graph->index, &graph->budget);
    smp_method_ids_init(&graph->ids, &graph->budget, &graph->index.symbols, max_ids);
    status = smp_counting_account_create(plan->quota, &graph->account);
    if (status == SMP_OK)
        status = add_rule_tables(graph);
    if (status == SMP_OK)
        *out = graph;
    else
        smp_call_graph_destroy(graph);
    return status;
}

void smp_call_graph_destroy(struct smp_call_graph *graph)
{
    if (graph == NULL)
        return;
    smp_counting_account_destroy(graph->account);
    smp_method_ids_fini(&graph->ids);
    smp_class_index_fini(&graph->index);
    smp_free(graph->plan->quota, graph->rule_matches);
    smp_free(graph->plan->quota, graph->rule_states);
    smp_free(graph->plan->quota, graph);
}

/* --- roots --- */

/* Sets the rule's state, which never goes back. */
static void advance_rule(struct smp_call_graph *graph, size_t rule, enum smp_rule_state state)
{
    if (graph->rule_states[rule] < state)
        graph->rule_states[rule] = (uint8_t)state;
}

/* Notes which rules match this class. Returns whether any does. */
static bool match_rules(struct smp_call_graph *graph, const struct smp_class_summary *summary,
                        bool is_never)
{
    bool has_any = false;

    for (size_t i = 0; i < graph->plan->rule_count; i++) {
        const bool matches = !summary->is_hidden &&
                             smp_root_rule_matches_class(&graph->plan->rules[i], summary->name);

        graph->rule_matches[i] = matches && !is_never;
        has_any |= graph->rule_matches[i];
        if (matches)
            advance_rule(graph, i, is_never ? SMP_RULE_NEVER : SMP_RULE_NO_METHOD);
    }
    return has_any;
}

/* Returns whether the method is a root of TOTAL without rules. */
static bool is_usual_root(const struct smp_method_summary *method)
{
    const bool is_static = (method->access & SMP_ACCESS_STATIC) != 0;

    if (smp_slice_is(method->name, "main"))
        return is_static && smp_slice_is(method->descriptor, "([Ljava/lang/String;)V");
    return !is_static && smp_slice_is(method->name, "run") &&
           smp_slice_is(method->descriptor, "()V");
}

static bool has_code(const struct smp_method_summary *method)
{
    return (method->access & (SMP_ACCESS_NATIVE | SMP_ACCESS_ABSTRACT)) == 0;
}

/* Returns the root marks of a method of the class whose rules were matched last. */
static uint16_t match_root(struct smp_call_graph *graph, struct smp_slice class_name,
                           const struct smp_method_summary *method)
{
    uint16_t marks = 0;

    for (size_t i = 0; i < graph->plan->rule_count; i++) {
        const struct smp_root_rule *const rule = &graph->plan->rules[i];

        if (!graph->rule_matches[i] ||
            !smp_root_rule_matches_method(rule, class_name, method->name, method->descriptor))
            continue;
        marks |= smp_root_rule_is_exact(rule, class_name) ? SMP_MARK_ROOT | SMP_MARK_NAMED
                                                          : SMP_MARK_ROOT;
        advance_rule(graph, i, has_code(method) ? SMP_RULE_FOUND : SMP_RULE_NO_CODE);
    }
    return marks;
}

static uint16_t root_marks_of(struct smp_call_graph *graph, const struct smp_class_summary *summary,
                              size_t number, bool is_allowed)
{
    const struct smp_method_summary *const method = &summary->methods[number];
    const bool is_usual = graph->plan->instrumentation == SMP_INSTRUMENTATION_TOTAL && is_allowed &&
                          has_code(method) && is_usual_root(method);

    if (graph->plan->rule_count > 0)
        return match_root(graph, summary->name, method);
    return is_usual ? SMP_MARK_ROOT : 0;
}

/* --- loading --- */

static bool has_root(struct smp_call_graph *graph, const struct smp_class_summary *summary)
{
    for (size_t m = 0; m < summary->method_count; m++) {
        if (root_marks_of(graph, summary, m, false) != 0)
            return true;
    }
    return false;
}

static void retire_ids(struct smp_call_graph *graph, const struct smp_class_body *body)
{
    for (uint32_t m = 0; m < body->method_count; m++) {
        smp_places_end_trial(graph, &body->methods[m]);
        if (body->methods[m].id >= 0) {
            smp_worklist_set_state(graph, &body->methods[m], SMP_METHOD_LEFT_ALONE);
            smp_method_ids_retire(&graph->ids, body->methods[m].id);
        }
    }
}

/* Discards the body that a class had before. Adopted methods have no id in it any more. */
static void forget_body(struct smp_call_graph *graph, struct smp_class_body *body)
{
    smp_worklist_release(graph, body);
    retire_ids(graph, body);
    smp_class_index_discard(&graph->index, body);
}

/* Gives a method of the new bytes the id and marks of the old method with its signature. A trivial
 * method starts anew: it may have got its id before its bytes were known. */
static void adopt_method(struct smp_call_graph *graph, uint32_t loaded, uint32_t number,
                         struct smp_indexed_method *old)
{
    struct smp_indexed_method *const method = smp_worklist_method(graph, loaded, number);

    method->flags = old->flags & SMP_MARK_COUNTED;
    if (method->is_trivial && (old->flags & SMP_MARK_ROOT) == 0)
        return;
    if (old->id >= 0) {
        method->id = old->id;
        method->flags |= old->flags & SMP_MARK_ROOT;
        old->id = -1;
        smp_method_ids_at(&graph->ids, method->id)->number = number;
        if (smp_method_ids_at(&graph->ids, method->id)->state == SMP_METHOD_LEFT_ALONE)
            smp_worklist_set_state(graph, method,
                                   SMP_METHOD_INSTRUMENTED); /* the new bytes may fit */
    }
    smp_worklist_look_ahead(graph, loaded, number, old->ahead);
}

static void adopt_body(struct smp_call_graph *graph, uint32_t loaded, struct smp_class_body *old)
{
    const struct smp_class_body *const body = &smp_class_index_at(&graph->index, loaded)->body;

    for (uint32_t m = 0; m < body->method_count && old->method_count > 0; m++) {
        const int32_t found = smp_class_body_find(old, body->methods[m].signature);

        if (found >= 0)
            adopt_method(graph, loaded, m, &old->methods[found]);
    }
    smp_worklist_adopt_initialisers(graph, loaded);
}

/* Returns whether an excluded method is reported when its class is loaded: a main method, or a
 * method of a root's class. TOTAL finds no calls that would report it later. */
static bool is_excluded(const struct smp_call_graph *graph,
                        const struct smp_indexed_class *in_class,
                        const struct smp_method_summary *method, bool has_rules)
{
    if (graph->plan->instrumentation != SMP_INSTRUMENTATION_TOTAL || in_class->is_allowed ||
        in_class->passes_on)
        return false;
    return has_rules || (graph->plan->rule_count == 0 && smp_slice_is(method->name, "main") &&
                         is_usual_root(method));
}

/* Sets the marks of a method that is not reachable yet, or that has kept its id. */
static void set_root(struct smp_call_graph *graph, struct smp_indexed_method *method,
                     uint16_t marks)
{
    if (smp_worklist_has_probe(graph, method)) {
        graph->roots -= (method->flags & SMP_MARK_ROOT) != 0;
        graph->roots += (marks & SMP_MARK_ROOT) != 0;
    }
    method->flags = (uint16_t)((method->flags & ~SMP_MARK_ROOT) | marks);
}

static void add_roots(struct smp_call_graph *graph, const struct smp_class_summary *summary,
                      uint32_t loaded, bool has_rules)
{
    const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, loaded);
    const bool adds_all =
        graph->plan->instrumentation == SMP_INSTRUMENTATION_TOTAL && it->is_allowed;
    const bool may_have = has_rules || graph->plan->rule_count == 0;

    for (uint32_t m = 0; m < it->body.method_count; m++)
        set_root(graph, &it->body.methods[m],
                 may_have ? root_marks_of(graph, summary, m, it->is_allowed) : 0);
    for (uint32_t m = 0; m < it->body.method_count; m++) {
        if (adds_all || (it->body.methods[m].flags & SMP_MARK_ROOT) != 0 ||
            is_excluded(graph, it, &summary->methods[m], has_rules))
            smp_worklist_add(graph, loaded, m);
    }
}

static void lose_class(struct smp_call_graph *graph, const struct smp_class_summary *summary,
                       struct smp_class_body *old)
{
    const uint32_t known = smp_call_graph_find(graph, summary->loader, summary->name);
    char text[SMP_MAX_COUNTING_NAME_BYTES] = "over the memory limit: ";
    const size_t length = strlen(text);

    (void)smp_class_name_text(text + length, sizeof(text) - length, summary->name);
    smp_counting_account_add(graph->account, SMP_COUNTING_LEFT_ALONE, 1);
    (void)smp_counting_account_name(graph->account, SMP_COUNTING_LEFT_ALONE, text);
    /* The class may have the method that the rule names. */
    for (size_t i = 0; i < graph->plan->rule_count; i++) {
        if (graph->rule_matches[i])
            advance_rule(graph, i, SMP_RULE_FOUND);
    }
    forget_body(graph, old);
    if (known != 0)
        smp_call_graph_unload(graph, known);
}

/* Completes methods that got their ids before the bytes and the source file were known. */
static void note_loaded_methods(struct smp_call_graph *graph, uint32_t loaded)
{
    const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, loaded);

    for (uint32_t m = 0; m < it->body.method_count; m++) {
        if (it->body.methods[m].id >= 0)
            smp_method_ids_set_source(&graph->ids, it->body.methods[m].id, it->source_file);
        if (smp_worklist_has_probe(graph, &it->body.methods[m]))
            smp_worklist_add_pending(graph, loaded);
    }
}

enum smp_status smp_call_graph_load(struct smp_call_graph *graph,
                                    const struct smp_class_summary *summary, uint32_t *out)
{
    const bool is_never = smp_call_filter_is_never(summary->name);
    const bool is_allowed = !is_never && !summary->is_hidden &&
                            smp_call_filter_passes(&graph->plan->filter, summary->name);
    const bool has_rules = match_rules(graph, summary, is_never);
    const bool passes_on = summary->is_hidden || (!is_never && smp_class_summary_is_proxy(summary));
    const bool keeps_calls = graph->plan->instrumentation != SMP_INSTRUMENTATION_TOTAL &&
                             (is_allowed || passes_on || (has_rules && has_root(graph, summary)));
    struct smp_class_summary known = *summary;
    struct smp_class_body old = { 0 };
    uint32_t loaded = 0;
    enum smp_status status = SMP_OK;

    if (!is_allowed && !has_rules && !passes_on)
        known.source_file = (struct smp_slice){ 0 }; /* no method of the class gets an id */
    status = smp_class_index_put(&graph->index, &known, keeps_calls, &loaded, &old);
    if (status != SMP_OK) {
        lose_class(graph, summary, &old);
        return status;
    }
    smp_class_index_at(&graph->index, loaded)->is_allowed = is_allowed;
    smp_class_index_at(&graph->index, loaded)->passes_on = passes_on;
    smp_class_index_at(&graph->index, loaded)->lacks_calls = summary->lacks_calls;
    smp_worklist_remove_pending(graph, loaded);
    /* Targets that only the old bytes called must be released before the new bytes are visited. */
    adopt_body(graph, loaded, &old);
    forget_body(graph, &old);
    add_roots(graph, summary, loaded, has_rules);
    smp_worklist_visit_class(graph, loaded);
    smp_worklist_process(graph);
    note_loaded_methods(graph, loaded);
    *out = loaded;
    return SMP_OK;
}

uint32_t smp_call_graph_find(const struct smp_call_graph *graph, uint64_t loader,
                             struct smp_slice name)
{
    return smp_class_index_find(&graph->index, loader, name);
}

bool smp_call_graph_is_loaded(const struct smp_call_graph *graph, uint32_t class_id)
{
    return class_id != 0 && class_id < graph->index.classes.top &&
           smp_class_index_at(&graph->index, class_id)->name != 0;
}

void smp_call_graph_unload(struct smp_call_graph *graph, uint32_t unloaded)
{
    smp_worklist_remove_pending(graph, unloaded);
    forget_body(graph, &smp_class_index_at(&graph->index, unloaded)->body);
    smp_class_index_remove(&graph->index, unloaded);
}

void smp_call_graph_unload_loader(struct smp_call_graph *graph, uint64_t loader)
{
    for (uint32_t c = 1; c < graph->index.classes.top; c++) {
        const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, c);

        if (it->name != 0 && it->loader == loader)
            smp_call_graph_unload(graph, c);
    }
}

/* --- probes --- */

void smp_call_graph_probed(struct smp_call_graph *graph, uint32_t probed, int64_t since_ms)
{
    const struct smp_class_body *const body = &smp_class_index_at(&graph->index, probed)->body;

    for (uint32_t m = 0; m < body->method_count; m++) {
        struct smp_method_record *const record =
            smp_method_ids_at(&graph->ids, body->methods[m].id);
        if (record != NULL && record->since_ms == SMP_METHOD_SINCE_SOON)
            record->since_ms = since_ms;
    }
}

size_t smp_call_graph_plan(struct smp_call_graph *graph, uint32_t planned,
                           struct smp_method_probe *out, size_t count)
{
    const struct smp_class_body *const body = &smp_class_index_at(&graph->index, planned)->body;
    size_t probes = 0;

    for (size_t m = 0; m < count; m++) {
        struct smp_method_record *record = NULL;

        out[m] = (struct smp_method_probe){ .id = -1 };
        if (m >= body->method_count || !smp_worklist_has_probe(graph, &body->methods[m]))
            continue;
        out[m].id = body->methods[m].id;
        out[m].is_root = (body->methods[m].flags & SMP_MARK_ROOT) != 0;
        record = smp_method_ids_at(&graph->ids, out[m].id);
        if (record->since_ms == 0)
            record->since_ms = SMP_METHOD_SINCE_SOON;
        probes++;
    }
    smp_worklist_remove_pending(graph, planned);
    return probes;
}

bool smp_call_graph_has_pending(const struct smp_call_graph *graph)
{
    return smp_worklist_first_pending(graph) != 0;
}

bool smp_call_graph_is_pending(const struct smp_call_graph *graph, uint32_t class_id)
{
    return smp_class_index_at(&graph->index, class_id)->is_pending;
}

size_t smp_call_graph_take_batch(struct smp_call_graph *graph, uint32_t *out, size_t max)
{
    size_t taken = 0;

    for (; taken < max && smp_worklist_first_pending(graph) != 0; taken++) {
        out[taken] = smp_worklist_first_pending(graph);
        smp_worklist_remove_pending(graph, out[taken]);
    }
    graph->batches += taken > 0;
    return taken;
}

void smp_call_graph_put_back(struct smp_call_graph *graph, uint32_t returned)
{
    smp_worklist_add_pending(graph, returned);
}

void smp_call_graph_refuse_class(struct smp_call_graph *graph, uint32_t refused, const char *why)
{
    struct smp_indexed_class *const it = smp_class_index_at(&graph->index, refused);

    it->refusal = why;
    for (uint32_t m = 0; m < it->body.method_count; m++)
        smp_worklist_take_probe(graph, refused, m, SMP_COUNTING_LEFT_ALONE, why);
    smp_worklist_process(graph);
    smp_worklist_remove_pending(graph, refused);
}

bool smp_call_graph_is_refused(const struct smp_call_graph *graph, uint32_t class_id)
{
    return smp_class_index_at(&graph->index, class_id)->refusal != NULL;
}

void smp_call_graph_leave_alone(struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                                enum smp_counting code, const char *why)
{
    const struct smp_class_body *const body = &smp_class_index_at(&graph->index, in_class)->body;

    if (method >= body->method_count || !smp_worklist_has_probe(graph, &body->methods[method]))
        return;
    smp_worklist_take_probe(graph, in_class, method, code, why);
    smp_worklist_process(graph);
}

/* --- entries --- */

void smp_call_graph_entered(struct smp_call_graph *graph, int32_t id)
{
    struct smp_method_record *const record = smp_method_ids_at(&graph->ids, id);

    if (record == NULL || record->state == SMP_METHOD_RETIRED || record->is_entered)
        return;
    record->is_entered = true;
    if ((smp_worklist_method_of(graph, record)->flags & SMP_MARK_ROOT) != 0) {
        graph->is_root_entered = true;
        for (size_t i = 0; i < graph->plan->rule_count; i++) {
            if (smp_worklist_is_of_rule(graph, &graph->plan->rules[i], id))
                advance_rule(graph, i, SMP_RULE_ENTERED);
        }
    }
    if (smp_worklist_scheme(graph) != SMP_INSTRUMENTATION_LAZY)
        return;
    smp_worklist_visit(graph, record->in_class, record->number);
    smp_worklist_process(graph);
}

static uint32_t count_allowed(const struct smp_call_graph *graph)
{
    uint32_t count = 0;

    for (uint32_t c = 1; c < graph->index.classes.top; c++) {
        const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, c);
        count += it->name != 0 && it->is_allowed;
    }
    return count;
}

/* Visits methods that have ids already. Since new ids may move the records, each is looked up
 * again. New methods are visited when they get their ids. */
static void visit_known(struct smp_call_graph *graph, bool is_all)
{
    const int32_t end = smp_method_ids_end(&graph->ids);

    for (int32_t id = 0; id < end; id++) {
        const struct smp_method_record *const record = smp_method_ids_at(&graph->ids, id);
        if (record != NULL && record->state != SMP_METHOD_RETIRED && (is_all || record->is_entered))
            smp_worklist_visit(graph, record->in_class, record->number);
    }
    smp_worklist_process(graph);
}

void smp_call_graph_follow_loaded(struct smp_call_graph *graph)
{
    if (graph->plan->instrumentation != SMP_INSTRUMENTATION_AUTO ||
        count_allowed(graph) > SMP_PLAN_EAGER_CLASSES)
        return;
    graph->follows_loaded = true;
    visit_known(graph, true);
}

void smp_call_graph_loaded_done(struct smp_call_graph *graph)
{
    if (!graph->follows_loaded || smp_call_graph_has_pending(graph))
        return;
    graph->follows_loaded = false;
    visit_known(graph, false);
}

/* Sets the look-ahead for methods that are one call away from an entered one. */
static void begin_finding(struct smp_call_graph *graph)
{
    const bool is_lazy = smp_worklist_scheme(graph) == SMP_INSTRUMENTATION_LAZY;

    graph->found_ahead = is_lazy ? (uint8_t)(graph->plan->look_ahead - 1) : 0;
}

void smp_call_graph_called(struct smp_call_graph *graph, struct smp_slice class_name,
                           struct smp_slice signature)
{
    const struct smp_symbols *const symbols = &graph->index.symbols;
    const uint32_t owner = smp_symbols_find(symbols, class_name);
    const uint32_t called = smp_symbols_find(symbols, signature);

    /* No known class has such a method: only classes of the JDK declare it. */
    if (owner == 0 || called == 0)
        return;
    begin_finding(graph);
    smp_worklist_called(graph, owner, called);
    smp_worklist_process(graph);
}

/* Returns whether class_name is the simplified name (com/acme/Order$$SpringCGLIB$$0 without its
 * number). Checks the part before the mark first, which differs for most names. */
static bool is_simplified(struct smp_slice name, struct smp_slice class_name)
{
    char text[SMP_MAX_COUNTING_NAME_BYTES];
    const char *const mark = memmem(class_name.bytes, class_name.length, "$$", 2);

    if (mark == NULL || name.length >= sizeof(text) ||
        !smp_slice_begins(name, class_name.bytes, (size_t)(mark - class_name.bytes)))
        return false;
    memcpy(text, name.bytes, name.length);
    text[name.length] = '\0';
    smp_class_name_simplify(text);
    return smp_slice_is(class_name, text);
}

static void find_simplified(struct smp_call_graph *graph, struct smp_slice class_name,
                            struct smp_slice method_name, struct smp_sampled_method *out)
{
    for (uint32_t c = 1; c < graph->index.classes.top; c++) {
        const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, c);

        if (it->name != 0 && it->is_allowed &&
            is_simplified(smp_class_index_name(&graph->index, c), class_name))
            smp_worklist_sampled(graph, c, method_name, true, out);
    }
}

struct smp_sampled_method smp_call_graph_sampled(struct smp_call_graph *graph,
                                                 struct smp_slice class_name,
                                                 struct smp_slice method_name, bool is_called)
{
    const struct smp_class_index *const index = &graph->index;
    const bool is_reachable =
        is_called && graph->plan->instrumentation != SMP_INSTRUMENTATION_TOTAL;
    const uint32_t name = smp_symbols_find(&index->symbols, class_name);
    uint32_t found = name != 0 ? smp_class_index_first(index, name) : 0;
    struct smp_sampled_method seen = { 0 };

    begin_finding(graph);
    if (found == 0 && is_reachable && smp_call_filter_passes(&graph->plan->filter, class_name))
        find_simplified(graph, class_name, method_name, &seen);
    for (; found != 0; found = smp_class_index_at(index, found)->next_named)
        smp_worklist_sampled(graph, found, method_name, is_reachable, &seen);
    smp_worklist_process(graph);
    return seen;
}

bool smp_call_graph_is_kept(const struct smp_call_graph *graph, int32_t id)
{
    const struct smp_method_record *const record = smp_method_ids_at(&graph->ids, id);
    const struct smp_class_body *body = NULL;

    if (record == NULL || record->state == SMP_METHOD_RETIRED)
        return false;
    body = &smp_class_index_at(&graph->index, record->in_class)->body;
    return (body->methods[record->number].flags & SMP_MARK_NAMED) != 0;
}

bool smp_call_graph_drop(struct smp_call_graph *graph, int32_t id, int64_t wall_ms)
{
    const struct smp_method_record *const record = smp_method_ids_at(&graph->ids, id);
    const time_t since = (time_t)(wall_ms / MS_PER_S);
    uint32_t in_class = 0;
    char why[TIME_BYTES] = "";
    struct tm utc;

    if (record == NULL || record->state != SMP_METHOD_INSTRUMENTED ||
        smp_call_graph_is_kept(graph, id))
        return false;
    if (gmtime_r(&since, &utc) != NULL)
        (void)strftime(why, sizeof(why), "since %Y-%m-%dT%H:%M:%SZ", &utc);
    in_class = record->in_class;
    /* The method was called, even if no round has noted that yet. New ids may move the record. */
    smp_call_graph_entered(graph, id);
    smp_worklist_take_probe(graph, in_class, smp_method_ids_at(&graph->ids, id)->number,
                            SMP_COUNTING_DROPPED, why);
    smp_worklist_add_pending(graph, in_class);
    smp_worklist_process(graph);
    return true;
}

uint32_t smp_call_graph_recycle(struct smp_call_graph *graph, smp_id_in_use *in_use, void *self)
{
    const uint32_t freed = smp_method_ids_recycle(&graph->ids, in_use, self);

    if (freed > 0)
        graph->places.is_stuck = false;
    return freed;
}

/* --- figures --- */

const struct smp_method_ids *smp_call_graph_ids(const struct smp_call_graph *graph)
{
    return &graph->ids;
}

void smp_call_graph_figures(const struct smp_call_graph *graph, struct smp_call_graph_figures *out)
{
    *out = (struct smp_call_graph_figures){ .classes = graph->index.classes.count,
                                            .methods = graph->methods,
                                            .waiting = graph->places.waiting,
                                            .ids = graph->ids.records.count,
                                            .retired = graph->ids.retired,
                                            .roots = graph->roots,
                                            .is_root_entered = graph->is_root_entered,
                                            .batches = graph->batches,
                                            .steps = graph->index.steps,
                                            .used_bytes = graph->budget.used_bytes };
}

/* --- the account --- */

static const char USUAL_ROOTS[] = "main(String[]) or run()";

static void add_rule(struct smp_counting_account *out, struct smp_slice rule,
                     enum smp_counting code, const char *reason)
{
    char shown[SMP_MAX_COUNTING_NAME_BYTES];
    const int length = snprintf(shown, sizeof(shown) / 2, "%s: ", reason);

    (void)smp_utf8_from_modified(shown + length, sizeof(shown) - (size_t)length, rule.bytes,
                                 rule.length);
    smp_counting_account_add(out, code, 1);
    (void)smp_counting_account_name(out, code, shown);
}

static bool has_probed_root(const struct smp_call_graph *graph, const struct smp_root_rule *rule)
{
    for (int32_t id = 0; id < smp_method_ids_end(&graph->ids); id++) {
        const struct smp_method_record *const record = smp_method_ids_at(&graph->ids, id);

        if (record != NULL && record->state == SMP_METHOD_INSTRUMENTED &&
            (smp_worklist_method_of(graph, record)->flags & SMP_MARK_ROOT) != 0 &&
            smp_worklist_is_of_rule(graph, rule, id))
            return true;
    }
    return false;
}

static void add_rules(struct smp_counting_account *out, const struct smp_call_graph *graph)
{
    static const struct {
        enum smp_counting code;
        const char *reason; /* NULL: the rule is not in the account */
    } states[] = {
        [SMP_RULE_NOT_LOADED] = { SMP_COUNTING_ROOTS_WITHOUT_CALLS, "not loaded yet" },
        [SMP_RULE_NO_METHOD] = { SMP_COUNTING_ROOTS_WITHOUT_CALLS, "not found in its class" },
        [SMP_RULE_NEVER] = { SMP_COUNTING_LEFT_ALONE, "the probes themselves run through it" },
        [SMP_RULE_NO_CODE] = { SMP_COUNTING_LEFT_ALONE, "native or abstract" },
        [SMP_RULE_FOUND] = { SMP_COUNTING_ROOTS_WITHOUT_CALLS, "not entered since it is counted" },
        [SMP_RULE_ENTERED] = { SMP_COUNTING_COUNT, NULL },
    };
    const enum smp_rule_state usual = graph->roots == 0 ? SMP_RULE_NOT_LOADED : SMP_RULE_FOUND;

    for (size_t i = 0; i < graph->plan->rule_count; i++) {
        const struct smp_root_rule *const rule = &graph->plan->rules[i];
        const enum smp_rule_state state = (enum smp_rule_state)graph->rule_states[i];
        /* A root without a probe is listed with its own reason. */
        if (states[state].reason != NULL &&
            (state != SMP_RULE_FOUND || has_probed_root(graph, rule)))
            add_rule(out, rule->text, states[state].code, states[state].reason);
    }
    /* Adds the roots of TOTAL without rules. An entered root may have been dropped meanwhile. */
    if (graph->plan->rule_count == 0 && !graph->is_root_entered)
        add_rule(out, (struct smp_slice){ USUAL_ROOTS, sizeof(USUAL_ROOTS) - 1 },
                 states[usual].code, states[usual].reason);
}

static void add_lost(struct smp_counting_account *out, const struct smp_call_graph *graph,
                     enum smp_counting code)
{
    smp_counting_account_add(out, code, smp_counting_account_figure(graph->account, code));
    for (size_t i = 0; i < smp_counting_account_listed(graph->account, code); i++)
        (void)smp_counting_account_name(out, code,
                                        smp_counting_account_name_at(graph->account, code, i));
}

static void add_waiting(struct smp_counting_account *out, const struct smp_call_graph *graph)
{
    const enum smp_counting code = SMP_COUNTING_OVER_METHOD_LIMIT;
    uint32_t left = graph->places.waiting;
    char text[SMP_MAX_COUNTING_NAME_BYTES];

    smp_counting_account_add(out, code, left);
    for (uint32_t c = 1; c < graph->index.classes.top && left > 0; c++) {
        const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, c);

        for (uint32_t m = 0; it->name != 0 && m < it->body.method_count && left > 0; m++) {
            if (!smp_places_waits(graph, &it->body.methods[m]))
                continue;
            smp_worklist_text(graph, c, m, NULL, text);
            (void)smp_counting_account_name(out, code, text);
            left = smp_counting_account_listed(out, code) < SMP_MAX_COUNTING_NAMES ? left - 1 : 0;
        }
    }
}

void smp_call_graph_account(const struct smp_call_graph *graph, struct smp_counting_account *out)
{
    add_rules(out, graph);
    add_lost(out, graph, SMP_COUNTING_LEFT_ALONE);
    add_lost(out, graph, SMP_COUNTING_EXCLUDED);
    add_lost(out, graph, SMP_COUNTING_TRIVIAL);
    add_lost(out, graph, SMP_COUNTING_DROPPED);
    add_lost(out, graph, SMP_COUNTING_SAMPLED);
    add_waiting(out, graph);
}
