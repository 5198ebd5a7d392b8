/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/call_graph.h"

#include <assert.h>
#include <string.h>

#include "counting/worklist.h"
#include "model/class_name.h"

/* --- lifecycle --- */

static enum smp_status add_rule_tables(struct smp_call_graph *graph)
{
    graph->rule_count = smp_root_rules_count(graph->plan->rules);
    if (graph->rule_count == 0)
        return SMP_OK;
    graph->rule_states = smp_alloc(graph->plan->quota, graph->rule_count);
    graph->rule_matches = smp_alloc(graph->plan->quota, graph->rule_count * sizeof(bool));
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
    smp_method_ids_init(&graph->ids, &graph->budget, &graph->index.class_names,
                        &graph->index.signatures, max_ids);
    smp_type_search_init(&graph->search, &graph->index);
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
    smp_places_fini(graph);
    smp_type_search_fini(&graph->search);
    smp_method_ids_fini(&graph->ids);
    smp_class_index_fini(&graph->index);
    smp_free(graph->plan->quota, graph->rule_matches);
    smp_free(graph->plan->quota, graph->rule_states);
    smp_free(graph->plan->quota, graph);
}

/* --- roots --- */

/* Notes which rules speak of this class. */
static bool match_rules(struct smp_call_graph *graph, const struct smp_class_summary *summary,
                        bool is_never)
{
    bool has_any = false;

    for (size_t i = 0; i < graph->rule_count; i++) {
        const bool matches =
            !summary->is_hidden && smp_root_rules_match_class(graph->plan->rules, i, summary->name);

        graph->rule_matches[i] = matches && !is_never;
        has_any |= graph->rule_matches[i];
        if (matches)
            smp_worklist_advance_rule(graph, i, is_never ? SMP_RULE_NEVER : SMP_RULE_NO_METHOD);
    }
    return has_any;
}

static bool is_text(struct smp_slice name, const char *text)
{
    return name.length == strlen(text) && memcmp(name.bytes, text, name.length) == 0;
}

/* What TOTAL begins with where no root is named. */
static bool is_usual_root(const struct smp_method_summary *method)
{
    const bool is_static = (method->access & SMP_ACCESS_STATIC) != 0;

    if (is_text(method->name, "main"))
        return is_static && is_text(method->descriptor, "([Ljava/lang/String;)V");
    return !is_static && is_text(method->name, "run") && is_text(method->descriptor, "()V");
}

static bool has_code(const struct smp_method_summary *method)
{
    return (method->access & (SMP_ACCESS_NATIVE | SMP_ACCESS_ABSTRACT)) == 0;
}

/* A method of the class whose rules were matched last. state: how far that brings its rules. */
static enum smp_root_kind match_root(struct smp_call_graph *graph, struct smp_slice class_name,
                                     const struct smp_method_summary *method,
                                     enum smp_rule_state state)
{
    const struct smp_root_rules *const rules = graph->plan->rules;
    enum smp_root_kind kind = SMP_ROOT_NONE;

    for (size_t i = 0; i < graph->rule_count; i++) {
        if (!graph->rule_matches[i] ||
            !smp_root_rules_match_method(rules, i, class_name, method->name, method->descriptor))
            continue;
        if (kind != SMP_ROOT_NAMED)
            kind =
                smp_root_rules_is_exact(rules, i, class_name) ? SMP_ROOT_NAMED : SMP_ROOT_MATCHED;
        smp_worklist_advance_rule(graph, i, state);
    }
    return kind;
}

static enum smp_root_kind root_kind_of(struct smp_call_graph *graph,
                                       const struct smp_class_summary *summary, size_t number,
                                       bool is_allowed)
{
    const struct smp_method_summary *const method = &summary->methods[number];

    if (graph->rule_count > 0)
        return match_root(graph, summary->name, method,
                          has_code(method) ? SMP_RULE_NO_PROBE : SMP_RULE_NO_CODE);
    return graph->plan->instrumentation == SMP_INSTRUMENTATION_TOTAL && is_allowed &&
                   has_code(method) && is_usual_root(method)
               ? SMP_ROOT_MATCHED
               : SMP_ROOT_NONE;
}

/* --- loading --- */

static bool is_proxy(const struct smp_class_summary *summary)
{
    return is_text(summary->super_name, "java/lang/reflect/Proxy") &&
           smp_call_filter_is_proxy(summary->name);
}

struct loading {
    struct smp_call_graph *graph;
    bool is_allowed;
    bool passes_on;
};

static bool keeps_calls(void *self, const struct smp_class_summary *summary, size_t method)
{
    const struct loading *const loading = self;

    if (loading->graph->plan->instrumentation == SMP_INSTRUMENTATION_TOTAL)
        return false;
    return loading->is_allowed || loading->passes_on ||
           root_kind_of(loading->graph, summary, method, false) != SMP_ROOT_NONE;
}

static void retire_ids(struct smp_call_graph *graph, const struct smp_class_body *body)
{
    for (uint32_t m = 0; m < body->method_count; m++) {
        struct smp_indexed_method *const method = &body->methods[m];

        const bool has_probe = smp_worklist_has_probe(method);

        smp_places_end_wait(graph, method);
        if (method->id < 0)
            continue;
        if (has_probe) {
            graph->methods--;
            graph->roots -= smp_method_ids_at(&graph->ids, method->id)->is_root;
        }
        smp_method_ids_retire(&graph->ids, method->id);
    }
}

/* What a class had before. Its methods that were adopted have no id any more. */
static void forget_body(struct smp_call_graph *graph, struct smp_class_body *body)
{
    smp_worklist_unexpand(graph, body);
    retire_ids(graph, body);
    smp_class_index_discard(&graph->index, body);
}

/* Gives a method of the new bytes what the old one of its signature had. One that is trivial starts
 * anew: before its bytes were known that was not known, and it may have got an id. */
static void adopt_method(struct smp_call_graph *graph, uint32_t loaded, uint32_t number,
                         struct smp_indexed_method *old)
{
    struct smp_indexed_method *const method = smp_worklist_method(graph, loaded, number);

    method->flags = old->flags & SMP_MARK_COUNTED;
    if (method->is_trivial && (old->flags & SMP_MARK_ROOT) == 0)
        return;
    method->flags |= old->flags & SMP_MARK_DROPPED;
    if (old->id >= 0) {
        struct smp_method_record *const record = smp_method_ids_at(&graph->ids, old->id);

        record->number = number;
        if ((old->flags & SMP_MARK_LEFT_ALONE) != 0) { /* these bytes may fit */
            record->state = SMP_METHOD_WANTED;
            graph->methods++;
            graph->roots += record->is_root;
        }
        method->flags |= old->flags & SMP_MARK_WAITING;
        old->flags &= (uint16_t)~SMP_MARK_WAITING;
        method->id = old->id;
        old->id = -1;
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

/* Of TOTAL, where no call says that it is missed: a main method, and what stands beside a root. */
static bool is_excluded(const struct smp_call_graph *graph,
                        const struct smp_indexed_class *in_class,
                        const struct smp_method_summary *method, bool has_rules)
{
    if (graph->plan->instrumentation != SMP_INSTRUMENTATION_TOTAL || in_class->is_allowed ||
        in_class->passes_on)
        return false;
    return has_rules ||
           (graph->rule_count == 0 && is_text(method->name, "main") && is_usual_root(method));
}

static void want_roots(struct smp_call_graph *graph, const struct smp_class_summary *summary,
                       uint32_t loaded, bool has_rules)
{
    const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, loaded);
    const bool wants_all =
        graph->plan->instrumentation == SMP_INSTRUMENTATION_TOTAL && it->is_allowed;

    for (uint32_t m = 0; m < it->body.method_count; m++)
        smp_worklist_set_root(graph, &it->body.methods[m],
                              root_kind_of(graph, summary, m, it->is_allowed));
    for (uint32_t m = 0; m < it->body.method_count; m++) {
        if (wants_all || (it->body.methods[m].flags & SMP_MARK_ROOT) != 0 ||
            is_excluded(graph, it, &summary->methods[m], has_rules))
            smp_worklist_add(graph, loaded, m);
    }
}

static void lose_class(struct smp_call_graph *graph, const struct smp_class_summary *summary,
                       struct smp_class_body *old)
{
    const uint32_t known = smp_call_graph_find(graph, summary->loader, summary->name);
    static const char why[] = "over the memory limit: ";
    char *const text = smp_losses_add(&graph->losses[SMP_LOSS_LEFT_ALONE], 0);

    if (text != NULL) {
        memcpy(text, why, sizeof(why) - 1);
        smp_class_name_text(text + sizeof(why) - 1, SMP_LOSS_TEXT_BYTES - sizeof(why) + 1,
                            summary->name);
    }
    /* It may have the method. */
    for (size_t i = 0; i < graph->rule_count; i++) {
        if (graph->rule_matches[i])
            smp_worklist_advance_rule(graph, i, SMP_RULE_NO_PROBE);
    }
    forget_body(graph, old);
    if (known != 0)
        smp_call_graph_unload(graph, known);
}

/* Methods may have got their ids before the class's bytes were seen. */
static void name_source_file(struct smp_call_graph *graph, uint32_t loaded)
{
    const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, loaded);

    for (uint32_t m = 0; m < it->body.method_count; m++) {
        const int32_t id = it->body.methods[m].id;

        if (id >= 0 && smp_method_ids_at(&graph->ids, id)->source_file != it->source_file)
            smp_method_ids_set_source(&graph->ids, id, it->source_file);
    }
}

static void set_dirty_if_probed(struct smp_call_graph *graph, uint32_t loaded)
{
    const struct smp_class_body *const body = &smp_class_index_at(&graph->index, loaded)->body;

    for (uint32_t m = 0; m < body->method_count; m++) {
        if (smp_worklist_has_probe(&body->methods[m])) {
            smp_worklist_set_dirty(graph, loaded);
            return;
        }
    }
}

enum smp_status smp_call_graph_load(struct smp_call_graph *graph,
                                    const struct smp_class_summary *summary, uint32_t *out)
{
    const bool is_never = smp_call_filter_is_never(summary->name);
    const bool is_allowed = !is_never && !summary->is_hidden &&
                            smp_call_filter_passes(graph->plan->filter, summary->name);
    const bool has_rules = match_rules(graph, summary, is_never);
    const bool passes_on = summary->is_hidden || (!is_never && is_proxy(summary));
    struct loading loading = { .graph = graph, .is_allowed = is_allowed, .passes_on = passes_on };
    struct smp_class_summary known = *summary;
    struct smp_class_body old = { 0 };
    uint32_t loaded = 0;
    enum smp_status status = SMP_OK;

    if (!is_allowed && !has_rules && !passes_on)
        known.source_file = (struct smp_slice){ 0 }; /* nothing of it gets an id */
    status = smp_class_index_put(&graph->index, &known, keeps_calls, &loading, &loaded, &old);
    if (status == SMP_OK && !smp_type_search_reserve(&graph->search))
        status = SMP_ENOMEM;
    if (status != SMP_OK) {
        lose_class(graph, summary, &old);
        return status;
    }
    smp_class_index_at(&graph->index, loaded)->is_allowed = is_allowed;
    smp_class_index_at(&graph->index, loaded)->passes_on = passes_on;
    smp_class_index_at(&graph->index, loaded)->lacks_calls = summary->lacks_calls;
    smp_worklist_set_clean(graph, loaded);
    /* What only the old bytes called is not reached any more before the new ones are looked at. */
    adopt_body(graph, loaded, &old);
    forget_body(graph, &old);
    want_roots(graph, summary, loaded, has_rules);
    smp_worklist_visit_class(graph, loaded);
    smp_worklist_process(graph);
    name_source_file(graph, loaded);
    set_dirty_if_probed(graph, loaded);
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
    smp_worklist_set_clean(graph, unloaded);
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

static void note_planned(const struct smp_call_graph *graph, int32_t id)
{
    struct smp_method_record *const record = smp_method_ids_at(&graph->ids, id);

    if (record->since_ms == 0)
        record->since_ms = SMP_METHOD_SINCE_SOON;
}

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
        const struct smp_indexed_method *const method =
            m < body->method_count ? &body->methods[m] : NULL;

        out[m] = (struct smp_method_probe){ .id = -1 };
        if (method == NULL || !smp_worklist_has_probe(method))
            continue;
        out[m].id = method->id;
        out[m].is_root = (method->flags & SMP_MARK_ROOT) != 0;
        note_planned(graph, method->id);
        probes++;
    }
    smp_worklist_set_clean(graph, planned);
    return probes;
}

bool smp_call_graph_has_dirty(const struct smp_call_graph *graph)
{
    return graph->first_dirty != 0;
}

bool smp_call_graph_is_dirty(const struct smp_call_graph *graph, uint32_t class_id)
{
    return smp_class_index_at(&graph->index, class_id)->is_dirty;
}

size_t smp_call_graph_take_batch(struct smp_call_graph *graph, uint32_t *out, size_t max)
{
    size_t taken = 0;

    while (taken < max && graph->first_dirty != 0) {
        out[taken] = graph->first_dirty;
        smp_worklist_set_clean(graph, out[taken]);
        taken++;
    }
    graph->batches += taken > 0;
    return taken;
}

void smp_call_graph_put_back(struct smp_call_graph *graph, uint32_t returned)
{
    smp_worklist_set_dirty(graph, returned);
}

void smp_call_graph_refuse_class(struct smp_call_graph *graph, uint32_t refused, const char *why)
{
    struct smp_indexed_class *const it = smp_class_index_at(&graph->index, refused);

    it->refusal = why;
    for (uint32_t m = 0; m < it->body.method_count; m++) {
        if (smp_worklist_has_probe(&it->body.methods[m]))
            smp_worklist_take_probe(graph, refused, m, SMP_LOSS_LEFT_ALONE, why, 0);
        smp_worklist_refuse_waiting(graph, refused, m, why);
    }
    smp_worklist_process(graph);
    smp_worklist_set_clean(graph, refused);
}

bool smp_call_graph_is_refused(const struct smp_call_graph *graph, uint32_t class_id)
{
    return smp_class_index_at(&graph->index, class_id)->refusal != NULL;
}

void smp_call_graph_leave_alone(struct smp_call_graph *graph, uint32_t in_class, uint32_t method,
                                enum smp_call_graph_loss loss, const char *why)
{
    const struct smp_class_body *const body = &smp_class_index_at(&graph->index, in_class)->body;

    if (method >= body->method_count || !smp_worklist_has_probe(&body->methods[method]))
        return;
    smp_worklist_take_probe(graph, in_class, method, loss, why, 0);
    smp_worklist_process(graph);
}

/* --- entries --- */

void smp_call_graph_entered(struct smp_call_graph *graph, int32_t id)
{
    struct smp_method_record *const record = smp_method_ids_at(&graph->ids, id);

    if (record == NULL || record->state == SMP_METHOD_RETIRED || record->is_entered)
        return;
    record->is_entered = true;
    if (record->is_root) {
        graph->is_root_entered = true;
        smp_worklist_advance_rules_of(graph, id, SMP_RULE_ENTERED);
    }
    if (smp_worklist_scheme(graph) != SMP_INSTRUMENTATION_LAZY)
        return;
    smp_worklist_expand(graph, record->in_class, record->number);
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

/* More ids may move the records, and are followed by themselves. */
static void expand_known(struct smp_call_graph *graph, bool is_all)
{
    const int32_t end = smp_method_ids_end(&graph->ids);

    for (int32_t id = 0; id < end; id++) {
        const struct smp_method_record *const record = smp_method_ids_at(&graph->ids, id);
        if (record != NULL && record->state != SMP_METHOD_RETIRED && (is_all || record->is_entered))
            smp_worklist_expand(graph, record->in_class, record->number);
    }
    smp_worklist_process(graph);
}

void smp_call_graph_follow_loaded(struct smp_call_graph *graph)
{
    if (graph->plan->instrumentation != SMP_INSTRUMENTATION_AUTO ||
        count_allowed(graph) > SMP_PLAN_EAGER_CLASSES)
        return;
    graph->follows_loaded = true;
    expand_known(graph, true);
}

void smp_call_graph_loaded_done(struct smp_call_graph *graph)
{
    if (!graph->follows_loaded || smp_call_graph_has_dirty(graph))
        return;
    graph->follows_loaded = false;
    expand_known(graph, false);
}

void smp_call_graph_called(struct smp_call_graph *graph, struct smp_slice class_name,
                           struct smp_slice signature)
{
    const struct smp_class_index *const index = &graph->index;
    const uint32_t owner =
        smp_symbols_find(&index->class_names, class_name.bytes, class_name.length);
    const uint32_t called = smp_symbols_find(&index->signatures, signature.bytes, signature.length);

    /* No class that is known has such a method: all that declare it are of the JDK. */
    if (owner == 0 || called == 0)
        return;
    graph->found_ahead = smp_worklist_scheme(graph) == SMP_INSTRUMENTATION_LAZY
                             ? (uint8_t)(graph->plan->look_ahead - 1)
                             : 0;
    smp_worklist_find(graph, owner, called);
    if (smp_symbols_at(&index->signatures, called)->text[0] == '<')
        smp_instances_add_named(graph, owner, graph->found_ahead);
    smp_worklist_process(graph);
}

/* com/acme/Order$$SpringCGLIB$$0, without its number. Most names are not: the part before the marks
 * differs. */
static bool is_simplified(const struct smp_symbol *symbol, struct smp_slice class_name)
{
    char text[SMP_LOSS_TEXT_BYTES];
    const char *const mark = memmem(class_name.bytes, class_name.length, "$$", 2);

    if (mark == NULL || symbol->length >= sizeof(text) ||
        symbol->length < (size_t)(mark - class_name.bytes) ||
        memcmp(symbol->text, class_name.bytes, (size_t)(mark - class_name.bytes)) != 0)
        return false;
    memcpy(text, symbol->text, symbol->length + 1);
    smp_class_name_simplify(text);
    return strlen(text) == class_name.length &&
           memcmp(text, class_name.bytes, class_name.length) == 0;
}

static void find_simplified(struct smp_call_graph *graph, struct smp_slice class_name,
                            struct smp_slice method_name, struct smp_call_graph_sample *out)
{
    for (uint32_t c = 1; c < graph->index.classes.top; c++) {
        const struct smp_indexed_class *const it = smp_class_index_at(&graph->index, c);

        if (it->name != 0 && it->is_allowed &&
            is_simplified(smp_symbols_at(&graph->index.class_names, it->name), class_name))
            smp_worklist_sampled(graph, c, method_name, true, out);
    }
}

struct smp_call_graph_sample smp_call_graph_sampled(struct smp_call_graph *graph,
                                                    struct smp_slice class_name,
                                                    struct smp_slice method_name, bool is_called)
{
    const struct smp_class_index *const index = &graph->index;
    const bool is_wanted = is_called && graph->plan->instrumentation != SMP_INSTRUMENTATION_TOTAL;
    const uint32_t name =
        smp_symbols_find(&index->class_names, class_name.bytes, class_name.length);
    uint32_t found = name != 0 ? smp_symbols_at(&index->class_names, name)->first_class : 0;
    struct smp_call_graph_sample seen = { 0 };

    graph->found_ahead = smp_worklist_scheme(graph) == SMP_INSTRUMENTATION_LAZY
                             ? (uint8_t)(graph->plan->look_ahead - 1)
                             : 0;
    if (found == 0 && is_wanted && smp_call_filter_passes(graph->plan->filter, class_name))
        find_simplified(graph, class_name, method_name, &seen);
    for (; found != 0; found = smp_class_index_at(index, found)->next_named)
        smp_worklist_sampled(graph, found, method_name, is_wanted, &seen);
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
    uint32_t in_class = 0;
    uint32_t number = 0;

    if (record == NULL || record->state != SMP_METHOD_WANTED || smp_call_graph_is_kept(graph, id))
        return false;
    in_class = record->in_class;
    number = record->number;
    /* What costs too much was called, whether a round has noted that or not. More ids may move the
     * record. */
    smp_call_graph_entered(graph, id);
    smp_worklist_take_probe(graph, in_class, number, SMP_LOSS_DROPPED, NULL, wall_ms);
    smp_worklist_set_dirty(graph, in_class);
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

/* --- what is known --- */

const struct smp_method_ids *smp_call_graph_ids(const struct smp_call_graph *graph)
{
    return &graph->ids;
}

const struct smp_root_rules *smp_call_graph_rules(const struct smp_call_graph *graph)
{
    return graph->plan->rules;
}

enum smp_rule_state smp_call_graph_rule_state(const struct smp_call_graph *graph, size_t rule)
{
    assert(rule < graph->rule_count);
    return graph->rule_states[rule];
}

const struct smp_losses *smp_call_graph_losses(const struct smp_call_graph *graph,
                                               enum smp_call_graph_loss loss)
{
    return &graph->losses[loss];
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
                                            .steps = graph->search.steps,
                                            .used_bytes = graph->budget.used_bytes };
}
