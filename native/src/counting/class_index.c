/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/class_index.h"

#include <assert.h>
#include <string.h>

#include "base/sort.h"

static const char OBJECT[] = "java/lang/Object";
static const char CLINIT[] = "<clinit>.()V";
static const char MADE[] = SMP_CALL_OF_NEW ".";

void smp_class_index_init(struct smp_class_index *index, struct smp_memory_budget *budget)
{
    *index = (struct smp_class_index){ .budget = budget };
    smp_symbols_init(&index->class_names, budget);
    smp_symbols_init(&index->signatures, budget);
    smp_call_targets_init(&index->targets, budget, &index->class_names, &index->signatures);
    smp_pool_init(&index->classes, budget, sizeof(struct smp_indexed_class), SMP_CLASSES_LIMIT);
    smp_pool_init(&index->edges, budget, sizeof(struct smp_subtype_edge), SMP_EDGES_LIMIT);
}

static size_t body_bytes(const struct smp_class_body *body)
{
    return body->method_count * (sizeof(*body->methods) + sizeof(*body->by_signature)) +
           body->call_count * sizeof(*body->calls);
}

/* Its symbols and targets are not released. */
static void free_body(struct smp_class_index *index, struct smp_class_body *body)
{
    smp_memory_budget_give(index->budget, body->methods, body_bytes(body));
    *body = (struct smp_class_body){ 0 };
}

void smp_class_index_fini(struct smp_class_index *index)
{
    for (uint32_t c = 1; c < index->classes.top; c++) {
        struct smp_indexed_class *const it = smp_class_index_at(index, c);

        if (it->name != 0)
            free_body(index, &it->body);
    }
    smp_memory_budget_give(index->budget, index->scratch,
                           index->scratch_count * sizeof(*index->scratch));
    smp_memory_budget_give(index->budget, index->text, index->text_bytes);
    smp_pool_fini(&index->edges);
    smp_pool_fini(&index->classes);
    smp_call_targets_fini(&index->targets);
    smp_symbols_fini(&index->signatures);
    smp_symbols_fini(&index->class_names);
    index->scratch = NULL;
    index->text = NULL;
}

uint32_t smp_class_index_find(const struct smp_class_index *index, uint64_t loader,
                              struct smp_slice name)
{
    const uint32_t symbol = smp_symbols_find(&index->class_names, name.bytes, name.length);
    uint32_t found = 0;

    if (symbol == 0)
        return 0;
    found = smp_symbols_at(&index->class_names, symbol)->first_class;
    while (found != 0 && smp_class_index_at(index, found)->loader != loader)
        found = smp_class_index_at(index, found)->next_named;
    return found;
}

int32_t smp_class_body_find(const struct smp_class_body *body, uint32_t signature)
{
    uint32_t from = 0;
    uint32_t to = body->method_count;

    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        const uint32_t number = body->by_signature[middle];

        if (body->methods[number].signature == signature)
            return (int32_t)number;
        if (body->methods[number].signature < signature)
            from = middle + 1;
        else
            to = middle;
    }
    return -1;
}

/* --- reading a class --- */

/* A class that is being read: what fails half-way is let go whole. */
struct draft {
    struct smp_class_body body;
    size_t calls; /* in scratch, held */
};

static bool grow_scratch(struct smp_class_index *index, size_t needed)
{
    size_t count = index->scratch_count > 0 ? index->scratch_count : 256;
    uint32_t *grown = NULL;

    if (needed <= index->scratch_count)
        return true;
    while (count < needed)
        count *= 2;
    grown = smp_memory_budget_grow(index->budget, index->scratch,
                                   index->scratch_count * sizeof(*grown), count * sizeof(*grown));
    if (grown == NULL)
        return false;
    index->scratch = grown;
    index->scratch_count = count;
    return true;
}

static uint32_t intern_signature(struct smp_class_index *index, struct smp_slice name,
                                 struct smp_slice descriptor)
{
    const size_t length = name.length + 1 + descriptor.length;

    if (length > index->text_bytes) {
        const size_t bytes = length < 256 ? 256 : 2 * length;
        char *const text = smp_memory_budget_take(index->budget, bytes);

        if (text == NULL)
            return 0;
        smp_memory_budget_give(index->budget, index->text, index->text_bytes);
        index->text = text;
        index->text_bytes = bytes;
    }
    memcpy(index->text, name.bytes, name.length);
    index->text[name.length] = '.'; /* which no name of a method has */
    if (descriptor.length > 0)      /* a name alone has none, and no bytes */
        memcpy(index->text + name.length + 1, descriptor.bytes, descriptor.length);
    return smp_symbols_intern(&index->signatures, index->text, length);
}

/* Adds a target to those of the method that is being read, unless it is there. */
static bool add_target(struct smp_class_index *index, struct draft *draft, uint32_t owner,
                       uint32_t signature, uint8_t how)
{
    uint32_t target = 0;

    if (!grow_scratch(index, draft->calls + 1))
        return false;
    target = smp_call_targets_intern(&index->targets, owner, signature, how);
    if (target == 0)
        return false;
    if (smp_call_targets_at(&index->targets, target)->caller == index->caller) {
        smp_call_targets_release(&index->targets, target);
        return true;
    }
    smp_call_targets_at(&index->targets, target)->caller = index->caller;
    index->scratch[draft->calls++] = target;
    return true;
}

/* A call that is not dispatched may be the first use of its class, which runs its initialiser. */
static bool add_call(struct smp_class_index *index, struct draft *draft,
                     const struct smp_call_summary *call)
{
    const bool is_dispatched =
        call->is_dispatched && (call->name.length == 0 || call->name.bytes[0] != '<');
    const uint8_t how = (uint8_t)((is_dispatched ? SMP_TARGET_DISPATCHED : 0) |
                                  (call->is_made ? SMP_TARGET_MADE : 0));
    uint32_t owner = 0;
    uint32_t signature = 0;
    bool is_added = false;

    if (call->owner.length > 0 && call->owner.bytes[0] == '[')
        return true; /* clone() of an array */
    owner = smp_symbols_intern(&index->class_names, call->owner.bytes, call->owner.length);
    signature = intern_signature(index, call->name, call->descriptor);
    if (owner != 0 && signature != 0)
        is_added = add_target(index, draft, owner, signature, how) &&
                   (is_dispatched || call->descriptor.length == 0 ||
                    add_target(index, draft, owner, index->clinit, 0));
    smp_symbols_release(&index->class_names, owner);
    smp_symbols_release(&index->signatures, signature);
    return is_added;
}

/* A number that no target remembers. */
static void next_caller(struct smp_class_index *index)
{
    if (++index->caller != 0)
        return;
    for (uint32_t t = 1; t < index->targets.pool.top; t++)
        smp_call_targets_at(&index->targets, t)->caller = 0;
    index->caller = 1;
}

static bool read_indexed_method(struct smp_class_index *index, struct draft *draft,
                                const struct smp_method_summary *summary, bool keeps_calls,
                                struct smp_indexed_method *method)
{
    *method = (struct smp_indexed_method){ .signature = intern_signature(index, summary->name,
                                                                         summary->descriptor),
                                           .first_call = (uint32_t)draft->calls,
                                           .id = -1,
                                           .access = summary->access,
                                           .is_trivial = summary->is_trivial };
    if (method->signature == 0)
        return false;
    next_caller(index);
    for (size_t i = 0; keeps_calls && i < summary->call_count; i++) {
        if (!add_call(index, draft, &summary->calls[i]))
            return false;
    }
    method->call_count = (uint32_t)draft->calls - method->first_call;
    return true;
}

static bool has_smaller_signature(const void *context, uint32_t a, uint32_t b)
{
    const struct smp_indexed_method *const methods = context;

    return methods[a].signature < methods[b].signature;
}

/* by_signature, sorted in scratch, whose calls have been copied. */
static bool sort_methods(struct smp_class_index *index, struct smp_class_body *body)
{
    const size_t count = body->method_count;

    if (!grow_scratch(index, 2 * count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        index->scratch[i] = i;
    smp_sort(index->scratch, index->scratch + count, count, has_smaller_signature, body->methods);
    for (uint32_t i = 0; i < count; i++)
        body->by_signature[i] = (uint16_t)index->scratch[i];
    return true;
}

/* The draft's methods, with as much room for calls as there are. */
static bool size_body(struct smp_class_index *index, struct draft *draft)
{
    struct smp_class_body sized = { .method_count = draft->body.method_count,
                                    .call_count = (uint32_t)draft->calls };
    const size_t method_bytes = sized.method_count * sizeof(*sized.methods);
    char *const piece = smp_memory_budget_take(index->budget, body_bytes(&sized));

    if (piece == NULL)
        return false;
    memcpy(piece, draft->body.methods, method_bytes);
    sized.methods = (struct smp_indexed_method *)(void *)piece;
    sized.calls = (uint32_t *)(void *)(piece + method_bytes);
    sized.by_signature = (uint16_t *)(void *)(sized.calls + sized.call_count);
    if (sized.call_count > 0)
        memcpy(sized.calls, index->scratch, sized.call_count * sizeof(*sized.calls));
    free_body(index, &draft->body);
    draft->body = sized;
    draft->calls = 0; /* they are the body's now */
    return true;
}

static bool read_body(struct smp_class_index *index, const struct smp_class_summary *summary,
                      smp_keeps_calls *keeps_calls, void *self, struct draft *draft)
{
    struct smp_class_body *const body = &draft->body;

    if (summary->method_count == 0)
        return true;
    body->method_count = (uint32_t)summary->method_count;
    body->methods = smp_memory_budget_take(index->budget, body_bytes(body));
    if (body->methods == NULL) {
        body->method_count = 0;
        return false;
    }
    for (size_t i = 0; i < summary->method_count; i++) {
        if (!read_indexed_method(index, draft, &summary->methods[i], keeps_calls(self, summary, i),
                                 &body->methods[i]))
            return false;
    }
    return size_body(index, draft) && sort_methods(index, body);
}

void smp_class_index_discard(struct smp_class_index *index, struct smp_class_body *body)
{
    for (uint32_t i = 0; i < body->call_count; i++)
        smp_call_targets_release(&index->targets, body->calls[i]);
    for (uint32_t i = 0; i < body->method_count; i++)
        smp_symbols_release(&index->signatures, body->methods[i].signature);
    free_body(index, body);
}

static void discard_draft(struct smp_class_index *index, struct draft *draft)
{
    for (size_t i = 0; i < draft->calls; i++)
        smp_call_targets_release(&index->targets, index->scratch[i]);
    smp_class_index_discard(index, &draft->body);
}

/* --- super types --- */

/* In the order of the class file. NULL name: no more. */
static struct smp_slice super_at(const struct smp_class_summary *summary, size_t i)
{
    if (i == 0 && summary->super_name.length == 0)
        return (struct smp_slice){ OBJECT, sizeof(OBJECT) - 1 };
    return i == 0 ? summary->super_name : summary->interfaces[i - 1];
}

/* Object extends nothing. */
static size_t count_supers(const struct smp_class_summary *summary)
{
    const bool is_object = summary->name.length == sizeof(OBJECT) - 1 &&
                           memcmp(summary->name.bytes, OBJECT, sizeof(OBJECT) - 1) == 0;

    return is_object ? 0 : summary->interface_count + 1;
}

static void remove_edges(struct smp_class_index *index, uint32_t edge)
{
    while (edge != 0) {
        struct smp_subtype_edge *const it = smp_class_index_edge(index, edge);
        const uint32_t next_edge = it->next_of_subtype;

        if (it->prior != 0)
            smp_class_index_edge(index, it->prior)->next = it->next;
        else
            smp_symbols_at(&index->class_names, it->super_name)->first_edge = it->next;
        if (it->next != 0)
            smp_class_index_edge(index, it->next)->prior = it->prior;
        smp_symbols_release(&index->class_names, it->super_name);
        smp_pool_give(&index->edges, edge);
        edge = next_edge;
    }
}

/* An edge that has been reserved; name is held for it. */
static uint32_t link_edge(struct smp_class_index *index, uint32_t subtype, uint32_t super_name)
{
    const uint32_t added = smp_pool_take(&index->edges);
    struct smp_symbol *const super = smp_symbols_at(&index->class_names, super_name);

    *smp_class_index_edge(index, added) = (struct smp_subtype_edge){ .super_name = super_name,
                                                                     .subtype = subtype,
                                                                     .next = super->first_edge };
    if (super->first_edge != 0)
        smp_class_index_edge(index, super->first_edge)->prior = added;
    super->first_edge = added;
    return added;
}

/* The first of the new edges in *out; on failure there are none. */
static bool add_edges(struct smp_class_index *index, uint32_t subtype,
                      const struct smp_class_summary *summary, uint32_t *out)
{
    const size_t count = count_supers(summary);
    uint32_t first = 0;
    uint32_t last = 0;

    if (!smp_pool_reserve(&index->edges, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct smp_slice super = super_at(summary, i);
        const uint32_t name = smp_symbols_intern(&index->class_names, super.bytes, super.length);
        uint32_t edge = 0;

        if (name == 0) {
            remove_edges(index, first);
            return false;
        }
        edge = link_edge(index, subtype, name);
        if (last != 0)
            smp_class_index_edge(index, last)->next_of_subtype = edge;
        else
            first = edge;
        last = edge;
    }
    *out = first;
    return true;
}

/* --- classes --- */

/* One without methods, that has been reserved; name is held for it. */
static uint32_t link_class(struct smp_class_index *index, uint64_t loader, uint32_t name)
{
    const uint32_t added = smp_pool_take(&index->classes);
    struct smp_symbol *const symbol = smp_symbols_at(&index->class_names, name);
    struct smp_indexed_class *const it = smp_class_index_at(index, added);

    it->loader = loader;
    it->name = name;
    it->next_named = symbol->first_class;
    if (symbol->first_class != 0)
        smp_class_index_at(index, symbol->first_class)->prior_named = added;
    symbol->first_class = added;
    return added;
}

static void unlink_class(struct smp_class_index *index, uint32_t removed)
{
    struct smp_indexed_class *const it = smp_class_index_at(index, removed);
    const uint32_t name = it->name;
    const uint32_t source_file = it->source_file;

    if (it->prior_named != 0)
        smp_class_index_at(index, it->prior_named)->next_named = it->next_named;
    else
        smp_symbols_at(&index->class_names, name)->first_class = it->next_named;
    if (it->next_named != 0)
        smp_class_index_at(index, it->next_named)->prior_named = it->prior_named;
    smp_pool_give(&index->classes, removed);
    /* A record that was given back holds the next free one in its first bytes, and no name. */
    it->name = 0;
    smp_symbols_release(&index->class_names, name);
    smp_symbols_release(&index->signatures, source_file);
}

/* Without memory it is not known. */
static void set_source_file(struct smp_class_index *index, struct smp_indexed_class *it,
                            struct smp_slice source_file)
{
    const uint32_t old = it->source_file;

    if (source_file.length == 0)
        return;
    it->source_file = smp_symbols_intern(&index->signatures, source_file.bytes, source_file.length);
    smp_symbols_release(&index->signatures, old);
}

static uint32_t find_or_add(struct smp_class_index *index, const struct smp_class_summary *summary,
                            bool *is_added)
{
    const uint32_t found = smp_class_index_find(index, summary->loader, summary->name);
    uint32_t name = 0;

    *is_added = false;
    if (found != 0)
        return found;
    if (!smp_pool_reserve(&index->classes, 1))
        return 0;
    name = smp_symbols_intern(&index->class_names, summary->name.bytes, summary->name.length);
    if (name == 0)
        return 0;
    *is_added = true;
    return link_class(index, summary->loader, name);
}

enum smp_status smp_class_index_put(struct smp_class_index *index,
                                    const struct smp_class_summary *summary,
                                    smp_keeps_calls *keeps_calls, void *self, uint32_t *out,
                                    struct smp_class_body *old)
{
    struct draft draft = { 0 };
    uint32_t first_edge = 0;
    uint32_t put = 0;
    bool is_added = false;
    struct smp_indexed_class *it = NULL;

    if (summary->method_count > SMP_MAX_METHODS_OF_CLASS)
        return SMP_EINVAL;
    if (index->clinit == 0)
        index->clinit = smp_symbols_intern(&index->signatures, CLINIT, sizeof(CLINIT) - 1);
    if (index->made == 0)
        index->made = smp_symbols_intern(&index->signatures, MADE, sizeof(MADE) - 1);
    if (index->clinit == 0 || index->made == 0)
        return SMP_ENOMEM;
    put = find_or_add(index, summary, &is_added);
    if (put == 0)
        return SMP_ENOMEM;
    if (!read_body(index, summary, keeps_calls, self, &draft) ||
        !add_edges(index, put, summary, &first_edge)) {
        discard_draft(index, &draft);
        if (is_added)
            unlink_class(index, put);
        return SMP_ENOMEM;
    }
    it = smp_class_index_at(index, put);
    remove_edges(index, it->first_edge);
    *old = it->body;
    it->first_edge = first_edge;
    it->body = draft.body;
    set_source_file(index, it, summary->source_file);
    *out = put;
    return SMP_OK;
}

void smp_class_index_remove(struct smp_class_index *index, uint32_t removed)
{
    struct smp_indexed_class *const it = smp_class_index_at(index, removed);

    remove_edges(index, it->first_edge);
    smp_class_index_discard(index, &it->body);
    unlink_class(index, removed);
}
