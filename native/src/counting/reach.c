/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/reach.h"

#include <assert.h>
#include <string.h>

#include "counting/wanted.h"
#include "model/class_name.h"

/* --- lifecycle --- */

static enum smp_status add_rule_tables(struct smp_reach *reach)
{
    reach->rule_count = smp_root_rules_count(reach->plan->rules);
    if (reach->rule_count == 0)
        return SMP_OK;
    reach->rule_states = smp_alloc(reach->plan->quota, reach->rule_count);
    reach->rule_matches = smp_alloc(reach->plan->quota, reach->rule_count * sizeof(bool));
    return reach->rule_states != NULL && reach->rule_matches != NULL ? SMP_OK : SMP_ENOMEM;
}

enum smp_status smp_reach_create(const struct smp_counting_plan *plan, uint32_t max_ids,
                                 struct smp_reach **out)
{
    struct smp_reach *reach = NULL;
    enum smp_status status = SMP_OK;

    if (max_ids < 1 || max_ids > SMP_PLAN_METHODS_LIMIT || plan->look_ahead < 1 ||
        plan->look_ahead > SMP_PLAN_LOOK_AHEAD_LIMIT)
        return SMP_EINVAL;
    reach = smp_alloc(plan->quota, sizeof(*reach));
    if (reach == NULL)
        return SMP_ENOMEM;
    reach->plan = plan;
    reach->max_methods = plan->max_methods < max_ids ? plan->max_methods : max_ids;
    reach->budget =
        (struct smp_memory_budget){ .quota = plan->quota, .max_bytes = plan->max_bytes };
    smp_class_index_init(&reach->index, &reach->budget);
    smp_method_ids_init(&reach->ids, &reach->budget, &reach->index.class_names,
                        &reach->index.signatures, max_ids);
    smp_type_search_init(&reach->search, &reach->index);
    status = add_rule_tables(reach);
    if (status == SMP_OK)
        *out = reach;
    else
        smp_reach_destroy(reach);
    return status;
}

void smp_reach_destroy(struct smp_reach *reach)
{
    if (reach == NULL)
        return;
    smp_places_fini(reach);
    smp_type_search_fini(&reach->search);
    smp_method_ids_fini(&reach->ids);
    smp_class_index_fini(&reach->index);
    smp_free(reach->plan->quota, reach->rule_matches);
    smp_free(reach->plan->quota, reach->rule_states);
    smp_free(reach->plan->quota, reach);
}

/* --- roots --- */

/* Notes which rules speak of this class. */
static bool match_rules(struct smp_reach *reach, const struct smp_class_outline *outline,
                        bool is_never)
{
    bool has_any = false;

    for (size_t i = 0; i < reach->rule_count; i++) {
        const bool matches =
            !outline->is_hidden && smp_root_rules_match_class(reach->plan->rules, i, outline->name);

        reach->rule_matches[i] = matches && !is_never;
        has_any |= reach->rule_matches[i];
        if (matches)
            smp_wanted_advance_rule(reach, i, is_never ? SMP_RULE_NEVER : SMP_RULE_NO_METHOD);
    }
    return has_any;
}

static bool is_text(struct smp_slice name, const char *text)
{
    return name.length == strlen(text) && memcmp(name.bytes, text, name.length) == 0;
}

/* What TOTAL begins with where no root is named. */
static bool is_usual_root(const struct smp_method_outline *method)
{
    const bool is_static = (method->access & SMP_ACCESS_STATIC) != 0;

    if (is_text(method->name, "main"))
        return is_static && is_text(method->descriptor, "([Ljava/lang/String;)V");
    return !is_static && is_text(method->name, "run") && is_text(method->descriptor, "()V");
}

static bool has_code(const struct smp_method_outline *method)
{
    return (method->access & (SMP_ACCESS_NATIVE | SMP_ACCESS_ABSTRACT)) == 0;
}

/* A method of the class whose rules were matched last. state: how far that brings its rules. */
static enum smp_root_kind match_root(struct smp_reach *reach, struct smp_slice class_name,
                                     const struct smp_method_outline *method,
                                     enum smp_rule_state state)
{
    const struct smp_root_rules *const rules = reach->plan->rules;
    enum smp_root_kind kind = SMP_ROOT_NONE;

    for (size_t i = 0; i < reach->rule_count; i++) {
        if (!reach->rule_matches[i] ||
            !smp_root_rules_match_method(rules, i, class_name, method->name, method->descriptor))
            continue;
        if (kind != SMP_ROOT_NAMED)
            kind =
                smp_root_rules_is_exact(rules, i, class_name) ? SMP_ROOT_NAMED : SMP_ROOT_MATCHED;
        smp_wanted_advance_rule(reach, i, state);
    }
    return kind;
}

static enum smp_root_kind root_kind_of(struct smp_reach *reach,
                                       const struct smp_class_outline *outline, size_t number,
                                       bool is_allowed)
{
    const struct smp_method_outline *const method = &outline->methods[number];

    if (reach->rule_count > 0)
        return match_root(reach, outline->name, method,
                          has_code(method) ? SMP_RULE_NO_PROBE : SMP_RULE_NO_CODE);
    return reach->plan->instrumentation == SMP_INSTRUMENTATION_TOTAL && is_allowed &&
                   has_code(method) && is_usual_root(method)
               ? SMP_ROOT_MATCHED
               : SMP_ROOT_NONE;
}

/* --- loading --- */

static bool is_proxy(const struct smp_class_outline *outline)
{
    return is_text(outline->super_name, "java/lang/reflect/Proxy") &&
           smp_call_filter_is_proxy(outline->name);
}

struct loading {
    struct smp_reach *reach;
    bool is_allowed;
    bool passes_on;
};

static bool keeps_calls(void *self, const struct smp_class_outline *outline, size_t method)
{
    const struct loading *const loading = self;

    if (loading->reach->plan->instrumentation == SMP_INSTRUMENTATION_TOTAL)
        return false;
    return loading->is_allowed || loading->passes_on ||
           root_kind_of(loading->reach, outline, method, false) != SMP_ROOT_NONE;
}

static void retire_ids(struct smp_reach *reach, const struct smp_class_body *body)
{
    for (uint32_t m = 0; m < body->method_count; m++) {
        struct smp_indexed_method *const method = &body->methods[m];

        const bool has_probe = smp_wanted_has_probe(method);

        smp_places_end_wait(reach, method);
        if (method->id < 0)
            continue;
        if (has_probe) {
            reach->methods--;
            reach->roots -= smp_method_ids_at(&reach->ids, method->id)->is_root;
        }
        smp_method_ids_retire(&reach->ids, method->id);
    }
}

/* What a class had before. Its methods that were adopted have no id any more. */
static void forget_body(struct smp_reach *reach, struct smp_class_body *body)
{
    smp_wanted_unexpand(reach, body);
    retire_ids(reach, body);
    smp_class_index_discard(&reach->index, body);
}

/* Gives a method of the new bytes what the old one of its signature had. One that is trivial starts
 * anew: before its bytes were known that was not known, and it may have got an id. */
static void adopt_method(struct smp_reach *reach, uint32_t loaded, uint32_t number,
                         struct smp_indexed_method *old)
{
    struct smp_indexed_method *const method = smp_wanted_method(reach, loaded, number);

    method->flags = old->flags & SMP_WANTED_COUNTED;
    if (method->is_trivial && (old->flags & SMP_WANTED_ROOT) == 0)
        return;
    method->flags |= old->flags & SMP_WANTED_DROPPED;
    if (old->id >= 0) {
        struct smp_method_record *const record = smp_method_ids_at(&reach->ids, old->id);

        record->number = number;
        if ((old->flags & SMP_WANTED_LEFT_ALONE) != 0) { /* these bytes may fit */
            record->state = SMP_METHOD_WANTED;
            reach->methods++;
            reach->roots += record->is_root;
        }
        method->flags |= old->flags & SMP_WANTED_WAITING;
        old->flags &= (uint16_t)~SMP_WANTED_WAITING;
        method->id = old->id;
        old->id = -1;
    }
    smp_wanted_look_ahead(reach, loaded, number, old->ahead);
}

static void adopt_body(struct smp_reach *reach, uint32_t loaded, struct smp_class_body *old)
{
    const struct smp_class_body *const body = &smp_class_index_at(&reach->index, loaded)->body;

    for (uint32_t m = 0; m < body->method_count && old->method_count > 0; m++) {
        const int32_t found = smp_class_body_find(old, body->methods[m].signature);

        if (found >= 0)
            adopt_method(reach, loaded, m, &old->methods[found]);
    }
    smp_wanted_adopt_initialisers(reach, loaded);
}

/* Of TOTAL, where no call says that it is missed: a main method, and what stands beside a root. */
static bool is_excluded(const struct smp_reach *reach, const struct smp_indexed_class *in_class,
                        const struct smp_method_outline *method, bool has_rules)
{
    if (reach->plan->instrumentation != SMP_INSTRUMENTATION_TOTAL || in_class->is_allowed ||
        in_class->passes_on)
        return false;
    return has_rules ||
           (reach->rule_count == 0 && is_text(method->name, "main") && is_usual_root(method));
}

static void want_roots(struct smp_reach *reach, const struct smp_class_outline *outline,
                       uint32_t loaded, bool has_rules)
{
    const struct smp_indexed_class *const it = smp_class_index_at(&reach->index, loaded);
    const bool wants_all =
        reach->plan->instrumentation == SMP_INSTRUMENTATION_TOTAL && it->is_allowed;

    for (uint32_t m = 0; m < it->body.method_count; m++)
        smp_wanted_set_root(reach, &it->body.methods[m],
                            root_kind_of(reach, outline, m, it->is_allowed));
    for (uint32_t m = 0; m < it->body.method_count; m++) {
        if (wants_all || (it->body.methods[m].flags & SMP_WANTED_ROOT) != 0 ||
            is_excluded(reach, it, &outline->methods[m], has_rules))
            smp_wanted_add(reach, loaded, m);
    }
}

static void lose_class(struct smp_reach *reach, const struct smp_class_outline *outline,
                       struct smp_class_body *old)
{
    const uint32_t known = smp_reach_find(reach, outline->loader, outline->name);
    static const char why[] = "over the memory limit: ";
    char *const text = smp_losses_add(&reach->losses[SMP_LOSS_LEFT_ALONE], 0);

    if (text != NULL) {
        memcpy(text, why, sizeof(why) - 1);
        smp_class_name_text(text + sizeof(why) - 1, SMP_LOSS_TEXT_BYTES - sizeof(why) + 1,
                            outline->name);
    }
    /* It may have the method. */
    for (size_t i = 0; i < reach->rule_count; i++) {
        if (reach->rule_matches[i])
            smp_wanted_advance_rule(reach, i, SMP_RULE_NO_PROBE);
    }
    forget_body(reach, old);
    if (known != 0)
        smp_reach_unload(reach, known);
}

/* Methods may have got their ids before the class's bytes were seen. */
static void name_source_file(struct smp_reach *reach, uint32_t loaded)
{
    const struct smp_indexed_class *const it = smp_class_index_at(&reach->index, loaded);

    for (uint32_t m = 0; m < it->body.method_count; m++) {
        const int32_t id = it->body.methods[m].id;

        if (id >= 0 && smp_method_ids_at(&reach->ids, id)->source_file != it->source_file)
            smp_method_ids_set_source(&reach->ids, id, it->source_file);
    }
}

static void set_dirty_if_probed(struct smp_reach *reach, uint32_t loaded)
{
    const struct smp_class_body *const body = &smp_class_index_at(&reach->index, loaded)->body;

    for (uint32_t m = 0; m < body->method_count; m++) {
        if (smp_wanted_has_probe(&body->methods[m])) {
            smp_wanted_set_dirty(reach, loaded);
            return;
        }
    }
}

enum smp_status smp_reach_load(struct smp_reach *reach, const struct smp_class_outline *outline,
                               uint32_t *out)
{
    const bool is_never = smp_call_filter_is_never(outline->name);
    const bool is_allowed = !is_never && !outline->is_hidden &&
                            smp_call_filter_passes(reach->plan->filter, outline->name);
    const bool has_rules = match_rules(reach, outline, is_never);
    const bool passes_on = outline->is_hidden || (!is_never && is_proxy(outline));
    struct loading loading = { .reach = reach, .is_allowed = is_allowed, .passes_on = passes_on };
    struct smp_class_outline known = *outline;
    struct smp_class_body old = { 0 };
    uint32_t loaded = 0;
    enum smp_status status = SMP_OK;

    if (!is_allowed && !has_rules && !passes_on)
        known.source_file = (struct smp_slice){ 0 }; /* nothing of it gets an id */
    status = smp_class_index_put(&reach->index, &known, keeps_calls, &loading, &loaded, &old);
    if (status == SMP_OK && !smp_type_search_reserve(&reach->search))
        status = SMP_ENOMEM;
    if (status != SMP_OK) {
        lose_class(reach, outline, &old);
        return status;
    }
    smp_class_index_at(&reach->index, loaded)->is_allowed = is_allowed;
    smp_class_index_at(&reach->index, loaded)->passes_on = passes_on;
    smp_class_index_at(&reach->index, loaded)->lacks_calls = outline->lacks_calls;
    smp_wanted_set_clean(reach, loaded);
    /* What only the old bytes called is not reached any more before the new ones are looked at. */
    adopt_body(reach, loaded, &old);
    forget_body(reach, &old);
    want_roots(reach, outline, loaded, has_rules);
    smp_wanted_visit_class(reach, loaded);
    smp_wanted_drain(reach);
    name_source_file(reach, loaded);
    set_dirty_if_probed(reach, loaded);
    *out = loaded;
    return SMP_OK;
}

uint32_t smp_reach_find(const struct smp_reach *reach, uint64_t loader, struct smp_slice name)
{
    return smp_class_index_find(&reach->index, loader, name);
}

bool smp_reach_is_loaded(const struct smp_reach *reach, uint32_t class_id)
{
    return class_id != 0 && class_id < reach->index.classes.top &&
           smp_class_index_at(&reach->index, class_id)->name != 0;
}

void smp_reach_unload(struct smp_reach *reach, uint32_t unloaded)
{
    smp_wanted_set_clean(reach, unloaded);
    forget_body(reach, &smp_class_index_at(&reach->index, unloaded)->body);
    smp_class_index_remove(&reach->index, unloaded);
}

void smp_reach_unload_loader(struct smp_reach *reach, uint64_t loader)
{
    for (uint32_t c = 1; c < reach->index.classes.top; c++) {
        const struct smp_indexed_class *const it = smp_class_index_at(&reach->index, c);

        if (it->name != 0 && it->loader == loader)
            smp_reach_unload(reach, c);
    }
}

/* --- probes --- */

static void note_planned(const struct smp_reach *reach, int32_t id)
{
    struct smp_method_record *const record = smp_method_ids_at(&reach->ids, id);

    if (record->since_ms == 0)
        record->since_ms = SMP_METHOD_SINCE_SOON;
}

void smp_reach_probed(struct smp_reach *reach, uint32_t probed, int64_t since_ms)
{
    const struct smp_class_body *const body = &smp_class_index_at(&reach->index, probed)->body;

    for (uint32_t m = 0; m < body->method_count; m++) {
        struct smp_method_record *const record =
            smp_method_ids_at(&reach->ids, body->methods[m].id);
        if (record != NULL && record->since_ms == SMP_METHOD_SINCE_SOON)
            record->since_ms = since_ms;
    }
}

size_t smp_reach_plan(struct smp_reach *reach, uint32_t planned, struct smp_method_probe *out,
                      size_t count)
{
    const struct smp_class_body *const body = &smp_class_index_at(&reach->index, planned)->body;
    size_t probes = 0;

    for (size_t m = 0; m < count; m++) {
        const struct smp_indexed_method *const method =
            m < body->method_count ? &body->methods[m] : NULL;

        out[m] = (struct smp_method_probe){ .id = -1 };
        if (method == NULL || !smp_wanted_has_probe(method))
            continue;
        out[m].id = method->id;
        out[m].is_root = (method->flags & SMP_WANTED_ROOT) != 0;
        note_planned(reach, method->id);
        probes++;
    }
    smp_wanted_set_clean(reach, planned);
    return probes;
}

bool smp_reach_has_dirty(const struct smp_reach *reach)
{
    return reach->first_dirty != 0;
}

bool smp_reach_is_dirty(const struct smp_reach *reach, uint32_t class_id)
{
    return smp_class_index_at(&reach->index, class_id)->is_dirty;
}

size_t smp_reach_take_batch(struct smp_reach *reach, uint32_t *out, size_t max)
{
    size_t taken = 0;

    while (taken < max && reach->first_dirty != 0) {
        out[taken] = reach->first_dirty;
        smp_wanted_set_clean(reach, out[taken]);
        taken++;
    }
    reach->batches += taken > 0;
    return taken;
}

void smp_reach_put_back(struct smp_reach *reach, uint32_t returned)
{
    smp_wanted_set_dirty(reach, returned);
}

void smp_reach_refuse_class(struct smp_reach *reach, uint32_t refused, const char *why)
{
    struct smp_indexed_class *const it = smp_class_index_at(&reach->index, refused);

    it->refusal = why;
    for (uint32_t m = 0; m < it->body.method_count; m++) {
        if (smp_wanted_has_probe(&it->body.methods[m]))
            smp_wanted_take_probe(reach, refused, m, SMP_LOSS_LEFT_ALONE, why, 0);
        smp_wanted_refuse_waiting(reach, refused, m, why);
    }
    smp_wanted_drain(reach);
    smp_wanted_set_clean(reach, refused);
}

bool smp_reach_is_refused(const struct smp_reach *reach, uint32_t class_id)
{
    return smp_class_index_at(&reach->index, class_id)->refusal != NULL;
}

void smp_reach_leave_alone(struct smp_reach *reach, uint32_t in_class, uint32_t method,
                           enum smp_reach_loss loss, const char *why)
{
    const struct smp_class_body *const body = &smp_class_index_at(&reach->index, in_class)->body;

    if (method >= body->method_count || !smp_wanted_has_probe(&body->methods[method]))
        return;
    smp_wanted_take_probe(reach, in_class, method, loss, why, 0);
    smp_wanted_drain(reach);
}

/* --- entries --- */

void smp_reach_entered(struct smp_reach *reach, int32_t id)
{
    struct smp_method_record *const record = smp_method_ids_at(&reach->ids, id);

    if (record == NULL || record->state == SMP_METHOD_RETIRED || record->is_entered)
        return;
    record->is_entered = true;
    if (record->is_root) {
        reach->is_root_entered = true;
        smp_wanted_advance_rules_of(reach, id, SMP_RULE_ENTERED);
    }
    if (smp_wanted_scheme(reach) != SMP_INSTRUMENTATION_LAZY)
        return;
    smp_wanted_expand(reach, record->in_class, record->number);
    smp_wanted_drain(reach);
}

static uint32_t count_allowed(const struct smp_reach *reach)
{
    uint32_t count = 0;

    for (uint32_t c = 1; c < reach->index.classes.top; c++) {
        const struct smp_indexed_class *const it = smp_class_index_at(&reach->index, c);
        count += it->name != 0 && it->is_allowed;
    }
    return count;
}

/* More ids may move the records, and are followed by themselves. */
static void expand_known(struct smp_reach *reach, bool is_all)
{
    const int32_t end = smp_method_ids_end(&reach->ids);

    for (int32_t id = 0; id < end; id++) {
        const struct smp_method_record *const record = smp_method_ids_at(&reach->ids, id);
        if (record != NULL && record->state != SMP_METHOD_RETIRED && (is_all || record->is_entered))
            smp_wanted_expand(reach, record->in_class, record->number);
    }
    smp_wanted_drain(reach);
}

void smp_reach_follow_loaded(struct smp_reach *reach)
{
    if (reach->plan->instrumentation != SMP_INSTRUMENTATION_AUTO ||
        count_allowed(reach) > SMP_PLAN_EAGER_CLASSES)
        return;
    reach->follows_loaded = true;
    expand_known(reach, true);
}

void smp_reach_loaded_done(struct smp_reach *reach)
{
    if (!reach->follows_loaded || smp_reach_has_dirty(reach))
        return;
    reach->follows_loaded = false;
    expand_known(reach, false);
}

void smp_reach_called(struct smp_reach *reach, struct smp_slice class_name,
                      struct smp_slice signature)
{
    const struct smp_class_index *const index = &reach->index;
    const uint32_t owner =
        smp_symbols_find(&index->class_names, class_name.bytes, class_name.length);
    const uint32_t called = smp_symbols_find(&index->signatures, signature.bytes, signature.length);

    /* No class that is known has such a method: all that declare it are of the JDK. */
    if (owner == 0 || called == 0)
        return;
    reach->found_ahead = smp_wanted_scheme(reach) == SMP_INSTRUMENTATION_LAZY
                             ? (uint8_t)(reach->plan->look_ahead - 1)
                             : 0;
    smp_wanted_find(reach, owner, called);
    if (smp_symbols_at(&index->signatures, called)->text[0] == '<')
        smp_instances_add_named(reach, owner, reach->found_ahead);
    smp_wanted_drain(reach);
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

static void find_simplified(struct smp_reach *reach, struct smp_slice class_name,
                            struct smp_slice method_name, struct smp_reach_sample *out)
{
    for (uint32_t c = 1; c < reach->index.classes.top; c++) {
        const struct smp_indexed_class *const it = smp_class_index_at(&reach->index, c);

        if (it->name != 0 && it->is_allowed &&
            is_simplified(smp_symbols_at(&reach->index.class_names, it->name), class_name))
            smp_wanted_sampled(reach, c, method_name, true, out);
    }
}

struct smp_reach_sample smp_reach_sampled(struct smp_reach *reach, struct smp_slice class_name,
                                          struct smp_slice method_name, bool is_called)
{
    const struct smp_class_index *const index = &reach->index;
    const bool is_wanted = is_called && reach->plan->instrumentation != SMP_INSTRUMENTATION_TOTAL;
    const uint32_t name =
        smp_symbols_find(&index->class_names, class_name.bytes, class_name.length);
    uint32_t found = name != 0 ? smp_symbols_at(&index->class_names, name)->first_class : 0;
    struct smp_reach_sample seen = { 0 };

    reach->found_ahead = smp_wanted_scheme(reach) == SMP_INSTRUMENTATION_LAZY
                             ? (uint8_t)(reach->plan->look_ahead - 1)
                             : 0;
    if (found == 0 && is_wanted && smp_call_filter_passes(reach->plan->filter, class_name))
        find_simplified(reach, class_name, method_name, &seen);
    for (; found != 0; found = smp_class_index_at(index, found)->next_named)
        smp_wanted_sampled(reach, found, method_name, is_wanted, &seen);
    smp_wanted_drain(reach);
    return seen;
}

bool smp_reach_is_kept(const struct smp_reach *reach, int32_t id)
{
    const struct smp_method_record *const record = smp_method_ids_at(&reach->ids, id);
    const struct smp_class_body *body = NULL;

    if (record == NULL || record->state == SMP_METHOD_RETIRED)
        return false;
    body = &smp_class_index_at(&reach->index, record->in_class)->body;
    return (body->methods[record->number].flags & SMP_WANTED_NAMED) != 0;
}

bool smp_reach_drop(struct smp_reach *reach, int32_t id, int64_t wall_ms)
{
    const struct smp_method_record *const record = smp_method_ids_at(&reach->ids, id);
    uint32_t in_class = 0;
    uint32_t number = 0;

    if (record == NULL || record->state != SMP_METHOD_WANTED || smp_reach_is_kept(reach, id))
        return false;
    in_class = record->in_class;
    number = record->number;
    /* What costs too much was called, whether a round has noted that or not. More ids may move the
     * record. */
    smp_reach_entered(reach, id);
    smp_wanted_take_probe(reach, in_class, number, SMP_LOSS_DROPPED, NULL, wall_ms);
    smp_wanted_set_dirty(reach, in_class);
    smp_wanted_drain(reach);
    return true;
}

uint32_t smp_reach_recycle(struct smp_reach *reach, smp_id_in_use *in_use, void *self)
{
    const uint32_t freed = smp_method_ids_recycle(&reach->ids, in_use, self);

    if (freed > 0)
        reach->places.is_stuck = false;
    return freed;
}

/* --- what is known --- */

const struct smp_method_ids *smp_reach_ids(const struct smp_reach *reach)
{
    return &reach->ids;
}

const struct smp_root_rules *smp_reach_rules(const struct smp_reach *reach)
{
    return reach->plan->rules;
}

enum smp_rule_state smp_reach_rule_state(const struct smp_reach *reach, size_t rule)
{
    assert(rule < reach->rule_count);
    return reach->rule_states[rule];
}

const struct smp_losses *smp_reach_losses(const struct smp_reach *reach, enum smp_reach_loss loss)
{
    return &reach->losses[loss];
}

void smp_reach_figures(const struct smp_reach *reach, struct smp_reach_figures *out)
{
    *out = (struct smp_reach_figures){ .classes = reach->index.classes.count,
                                       .methods = reach->methods,
                                       .waiting = reach->places.waiting,
                                       .ids = reach->ids.records.count,
                                       .retired = reach->ids.retired,
                                       .roots = reach->roots,
                                       .is_root_entered = reach->is_root_entered,
                                       .batches = reach->batches,
                                       .steps = reach->search.steps,
                                       .used_bytes = reach->budget.used_bytes };
}
