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
    smp_symbols_init(&index->symbols, budget);
    smp_pool_init(&index->targets, budget, sizeof(struct smp_call_target), SMP_CALL_TARGETS_LIMIT);
    smp_pool_init(&index->classes, budget, sizeof(struct smp_indexed_class), SMP_CLASSES_LIMIT);
    smp_pool_init(&index->edges, budget, sizeof(struct smp_subtype_edge), SMP_EDGES_LIMIT);
}

static struct smp_subtype_edge *edge_at(const struct smp_class_index *index, uint32_t edge)
{
    return smp_pool_at(&index->edges, edge);
}

static size_t method_bytes(size_t count)
{
    return count * (sizeof(struct smp_indexed_method) + sizeof(uint16_t));
}

/* Frees the memory of a body. Does not release symbols and targets. */
static void free_body(struct smp_class_index *index, struct smp_class_body *body)
{
    smp_memory_budget_give(index->budget, body->methods, method_bytes(body->method_count));
    smp_memory_budget_give(index->budget, body->calls, body->call_count * sizeof(*body->calls));
    *body = (struct smp_class_body){ 0 };
}

void smp_class_index_fini(struct smp_class_index *index)
{
    for (uint32_t c = 1; c < index->classes.top; c++) {
        struct smp_indexed_class *const it = smp_class_index_at(index, c);

        if (it->name != 0)
            free_body(index, &it->body);
    }
    smp_memory_budget_give(index->budget, index->calls.items, index->calls.bytes);
    smp_memory_budget_give(index->budget, index->text.items, index->text.bytes);
    smp_memory_budget_give(index->budget, index->subtypes.room.items, index->subtypes.room.bytes);
    smp_memory_budget_give(index->budget, index->supers.room.items, index->supers.room.bytes);
    smp_memory_budget_give(index->budget, index->open.room.items, index->open.room.bytes);
    smp_pool_fini(&index->edges);
    smp_pool_fini(&index->classes);
    smp_hash_map_fini(&index->targets_by_hash, &smp_hash_ids, index->budget);
    smp_pool_fini(&index->targets);
    smp_symbols_fini(&index->symbols);
}

uint32_t smp_class_index_find(const struct smp_class_index *index, uint64_t loader,
                              struct smp_slice name)
{
    const uint32_t symbol = smp_symbols_find(&index->symbols, name);
    uint32_t found = symbol != 0 ? smp_class_index_first(index, symbol) : 0;

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

/* --- call targets --- */

static uint32_t hash_target(uint32_t owner, uint32_t signature, uint8_t how)
{
    const uint32_t hash = smp_hash_u32(smp_hash_u32(SMP_HASH_START, owner), signature);

    return smp_hash_u32(hash, how);
}

/* Returns the target, held once more, or 0 without memory. */
static uint32_t intern_target(struct smp_class_index *index, uint32_t owner, uint32_t signature,
                              uint8_t how)
{
    const uint32_t hash = hash_target(owner, signature, how);
    size_t step = 0;
    uint32_t found = 0;

    while ((found = smp_hash_ids_next(&index->targets_by_hash, hash, &step)) != 0) {
        struct smp_call_target *const target = smp_class_index_target(index, found);

        if (target->owner == owner && target->signature == signature && target->how == how) {
            target->holds++;
            return found;
        }
    }
    if (!smp_hash_map_reserve(&index->targets_by_hash, &smp_hash_ids, index->budget, 1) ||
        !smp_pool_reserve(&index->targets, 1))
        return 0;
    found = smp_pool_take(&index->targets);
    smp_hash_ids_put(&index->targets_by_hash, hash, found);
    *smp_class_index_target(index, found) =
        (struct smp_call_target){ .owner = smp_symbols_hold(&index->symbols, owner),
                                  .signature = smp_symbols_hold(&index->symbols, signature),
                                  .holds = 1,
                                  .how = how };
    return found;
}

static void release_target(struct smp_class_index *index, uint32_t target)
{
    struct smp_call_target *const released = smp_class_index_target(index, target);

    if (--released->holds > 0)
        return;
    assert(released->visited_callers == 0 && !released->is_queued);
    smp_hash_ids_remove(&index->targets_by_hash,
                        hash_target(released->owner, released->signature, released->how), target);
    smp_symbols_release(&index->symbols, released->owner);
    smp_symbols_release(&index->symbols, released->signature);
    smp_pool_give(&index->targets, target);
}

/* --- reading a class --- */

static uint32_t intern_signature(struct smp_class_index *index, struct smp_slice name,
                                 struct smp_slice descriptor)
{
    const size_t length = name.length + 1 + descriptor.length;
    char *text = NULL;

    if (!smp_memory_budget_fit(index->budget, &index->text, length))
        return 0;
    text = index->text.items;
    memcpy(text, name.bytes, name.length);
    text[name.length] = '.';   /* no name of a method has a dot */
    if (descriptor.length > 0) /* else bytes may be NULL */
        memcpy(text + name.length + 1, descriptor.bytes, descriptor.length);
    return smp_symbols_intern(&index->symbols, (struct smp_slice){ text, length });
}

/* Adds a target to the method that is being read, unless it has the target already. */
static bool add_target(struct smp_class_index *index, uint32_t owner, uint32_t signature,
                       uint8_t how)
{
    uint32_t *calls = NULL;
    uint32_t target = 0;
    uint32_t *place = NULL;

    if (!smp_memory_budget_fit(index->budget, &index->calls,
                               (index->call_count + 1) * sizeof(*calls)))
        return false;
    target = intern_target(index, owner, signature, how);
    if (target == 0)
        return false;
    calls = index->calls.items;
    place = &smp_class_index_target(index, target)->place;
    if (*place >= index->first_call && *place < index->call_count && calls[*place] == target) {
        release_target(index, target);
        return true;
    }
    *place = index->call_count;
    calls[index->call_count++] = target;
    return true;
}

/* A call that is not dispatched may be the first use of a class, and so run its initialiser. */
static bool add_call(struct smp_class_index *index, const struct smp_call_summary *call)
{
    const bool is_dispatched = call->is_dispatched && !smp_slice_begins(call->name, "<", 1);
    const uint8_t how = (uint8_t)((is_dispatched ? SMP_TARGET_DISPATCHED : 0) |
                                  (call->is_made ? SMP_TARGET_MADE : 0));
    uint32_t owner = 0;
    uint32_t signature = 0;
    bool is_added = false;

    if (smp_slice_begins(call->owner, "[", 1))
        return true; /* clone() of an array */
    owner = smp_symbols_intern(&index->symbols, call->owner);
    signature = intern_signature(index, call->name, call->descriptor);
    if (owner != 0 && signature != 0)
        is_added = add_target(index, owner, signature, how) &&
                   (is_dispatched || call->descriptor.length == 0 ||
                    add_target(index, owner, index->clinit, 0));
    smp_symbols_release(&index->symbols, owner);
    smp_symbols_release(&index->symbols, signature);
    return is_added;
}

static bool read_indexed_method(struct smp_class_index *index,
                                const struct smp_method_summary *summary, bool keeps_calls,
                                struct smp_indexed_method *method)
{
    *method = (struct smp_indexed_method){ .signature = intern_signature(index, summary->name,
                                                                         summary->descriptor),
                                           .first_call = index->call_count,
                                           .id = -1,
                                           .access = summary->access,
                                           .is_trivial = summary->is_trivial };
    if (method->signature == 0)
        return false;
    index->first_call = index->call_count;
    for (size_t i = 0; keeps_calls && i < summary->call_count; i++) {
        if (!add_call(index, &summary->calls[i]))
            return false;
    }
    method->call_count = index->call_count - method->first_call;
    return true;
}

static bool has_smaller_signature(const void *context, uint32_t a, uint32_t b)
{
    const struct smp_indexed_method *const methods = context;

    return methods[a].signature < methods[b].signature;
}

/* Sorts in the memory for calls, which have been copied already. */
static bool sort_methods(struct smp_class_index *index, const struct smp_class_body *body)
{
    const size_t count = body->method_count;
    uint32_t *numbers = NULL;

    if (!smp_memory_budget_fit(index->budget, &index->calls, 2 * count * sizeof(*numbers)))
        return false;
    numbers = index->calls.items;
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = i;
    smp_sort(numbers, numbers + count, count, has_smaller_signature, body->methods);
    for (uint32_t i = 0; i < count; i++)
        body->by_signature[i] = (uint16_t)numbers[i];
    return true;
}

static bool keep_calls(struct smp_class_index *index, struct smp_class_body *body)
{
    const size_t bytes = index->call_count * sizeof(*body->calls);

    if (bytes == 0)
        return true;
    body->calls = smp_memory_budget_take(index->budget, bytes);
    if (body->calls == NULL)
        return false;
    memcpy(body->calls, index->calls.items, bytes);
    body->call_count = index->call_count;
    index->call_count = 0;
    return true;
}

/* If this fails half-way, discard_read releases the body. */
static bool read_body(struct smp_class_index *index, const struct smp_class_summary *summary,
                      bool keeps_calls, struct smp_class_body *body)
{
    if (summary->method_count == 0)
        return true;
    body->methods = smp_memory_budget_take(index->budget, method_bytes(summary->method_count));
    if (body->methods == NULL)
        return false;
    body->method_count = (uint32_t)summary->method_count;
    body->by_signature = (uint16_t *)(void *)(body->methods + body->method_count);
    for (size_t i = 0; i < summary->method_count; i++) {
        if (!read_indexed_method(index, &summary->methods[i], keeps_calls, &body->methods[i]))
            return false;
    }
    return keep_calls(index, body) && sort_methods(index, body);
}

void smp_class_index_discard(struct smp_class_index *index, struct smp_class_body *body)
{
    for (uint32_t i = 0; i < body->call_count; i++)
        release_target(index, body->calls[i]);
    for (uint32_t i = 0; i < body->method_count; i++)
        smp_symbols_release(&index->symbols, body->methods[i].signature);
    free_body(index, body);
}

static void discard_read(struct smp_class_index *index, struct smp_class_body *body)
{
    while (index->call_count > 0)
        release_target(index, ((uint32_t *)index->calls.items)[--index->call_count]);
    smp_class_index_discard(index, body);
}

/* --- super types --- */

/* The super class comes first, as in the class file. */
static struct smp_slice super_at(const struct smp_class_summary *summary, size_t i)
{
    if (i == 0 && summary->super_name.length == 0)
        return (struct smp_slice){ OBJECT, sizeof(OBJECT) - 1 };
    return i == 0 ? summary->super_name : summary->interfaces[i - 1];
}

static size_t count_supers(const struct smp_class_summary *summary)
{
    return smp_slice_is(summary->name, OBJECT) ? 0 : summary->interface_count + 1;
}

static void remove_edges(struct smp_class_index *index, uint32_t edge)
{
    while (edge != 0) {
        struct smp_subtype_edge *const it = edge_at(index, edge);
        const uint32_t next_edge = it->next_of_subtype;

        if (it->prior != 0)
            edge_at(index, it->prior)->next = it->next;
        else
            smp_symbols_at(&index->symbols, it->super_name)->first_edge = it->next;
        if (it->next != 0)
            edge_at(index, it->next)->prior = it->prior;
        smp_symbols_release(&index->symbols, it->super_name);
        smp_pool_give(&index->edges, edge);
        edge = next_edge;
    }
}

/* Takes a reserved edge, and takes over the hold of super_name. */
static uint32_t link_edge(struct smp_class_index *index, uint32_t subtype, uint32_t super_name)
{
    const uint32_t added = smp_pool_take(&index->edges);
    struct smp_symbol *const super = smp_symbols_at(&index->symbols, super_name);

    *edge_at(index, added) = (struct smp_subtype_edge){ .super_name = super_name,
                                                        .subtype = subtype,
                                                        .next = super->first_edge };
    if (super->first_edge != 0)
        edge_at(index, super->first_edge)->prior = added;
    super->first_edge = added;
    return added;
}

/* *out is the first of the new edges; on failure none are added. */
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
        const uint32_t name = smp_symbols_intern(&index->symbols, super);
        uint32_t edge = 0;

        if (name == 0) {
            remove_edges(index, first);
            return false;
        }
        edge = link_edge(index, subtype, name);
        if (last != 0)
            edge_at(index, last)->next_of_subtype = edge;
        else
            first = edge;
        last = edge;
    }
    *out = first;
    return true;
}

/* --- classes --- */

/* Takes a reserved class without methods, and takes over the hold of name. */
static uint32_t link_class(struct smp_class_index *index, uint64_t loader, uint32_t name)
{
    const uint32_t added = smp_pool_take(&index->classes);
    struct smp_indexed_class *const it = smp_class_index_at(index, added);

    it->loader = loader;
    it->name = name;
    it->next_named = smp_class_index_first(index, name);
    smp_symbols_at(&index->symbols, name)->first_class = added;
    return added;
}

/* Removes a class whose edges and body have been removed. */
static void unlink_class(struct smp_class_index *index, uint32_t removed)
{
    struct smp_indexed_class *const it = smp_class_index_at(index, removed);
    uint32_t *link = &smp_symbols_at(&index->symbols, it->name)->first_class;

    while (*link != removed)
        link = &smp_class_index_at(index, *link)->next_named;
    *link = it->next_named;
    smp_symbols_release(&index->symbols, it->name);
    smp_symbols_release(&index->symbols, it->source_file);
    smp_pool_give(&index->classes, removed);
    /* A free record has the index of the next free one in its first bytes, and no name. */
    it->name = 0;
}

/* Without memory the source file is not known. */
static void set_source_file(struct smp_class_index *index, struct smp_indexed_class *it,
                            struct smp_slice source_file)
{
    const uint32_t old = it->source_file;

    if (source_file.length == 0)
        return;
    it->source_file = smp_symbols_intern(&index->symbols, source_file);
    smp_symbols_release(&index->symbols, old);
}

static uint32_t insert_class(struct smp_class_index *index, const struct smp_class_summary *summary)
{
    uint32_t name = 0;

    if (!smp_pool_reserve(&index->classes, 1))
        return 0;
    name = smp_symbols_intern(&index->symbols, summary->name);
    return name != 0 ? link_class(index, summary->loader, name) : 0;
}

static bool reserve_list(struct smp_class_index *index, struct smp_class_list *list, size_t needed)
{
    return smp_memory_budget_fit(index->budget, &list->room, needed * sizeof(uint32_t));
}

/* Every name of a super type has an edge, so there are at most as many names. */
static bool reserve_lists(struct smp_class_index *index)
{
    const size_t classes = index->classes.count;

    return reserve_list(index, &index->subtypes, classes) &&
           reserve_list(index, &index->open, classes) &&
           reserve_list(index, &index->supers, index->edges.count + 1);
}

static uint32_t intern_text(struct smp_class_index *index, const char *text)
{
    return smp_symbols_intern(&index->symbols, (struct smp_slice){ text, strlen(text) });
}

enum smp_status smp_class_index_put(struct smp_class_index *index,
                                    const struct smp_class_summary *summary, bool keeps_calls,
                                    uint32_t *out, struct smp_class_body *old)
{
    const uint32_t known = smp_class_index_find(index, summary->loader, summary->name);
    struct smp_class_body body = { 0 };
    uint32_t first_edge = 0;
    uint32_t put = known;
    struct smp_indexed_class *it = NULL;

    if (summary->method_count > SMP_MAX_METHODS_OF_CLASS)
        return SMP_EINVAL;
    if (index->clinit == 0)
        index->clinit = intern_text(index, CLINIT);
    if (index->made == 0)
        index->made = intern_text(index, MADE);
    if (index->clinit == 0 || index->made == 0)
        return SMP_ENOMEM;
    if (known == 0)
        put = insert_class(index, summary);
    if (put == 0)
        return SMP_ENOMEM;
    if (!read_body(index, summary, keeps_calls, &body) ||
        !add_edges(index, put, summary, &first_edge) || !reserve_lists(index)) {
        remove_edges(index, first_edge);
        discard_read(index, &body);
        if (known == 0)
            unlink_class(index, put);
        return SMP_ENOMEM;
    }
    it = smp_class_index_at(index, put);
    remove_edges(index, it->first_edge);
    *old = it->body;
    it->first_edge = first_edge;
    it->body = body;
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

/* --- searches --- */

static void add_to(struct smp_class_list *list, uint32_t item)
{
    assert(list->count < list->room.bytes / sizeof(item));
    ((uint32_t *)list->room.items)[list->count++] = item;
}

static void add_class_once(struct smp_class_index *index, struct smp_class_list *list,
                           uint32_t added)
{
    struct smp_indexed_class *const it = smp_class_index_at(index, added);

    if (it->visited == index->search)
        return;
    it->visited = index->search;
    index->steps++;
    add_to(list, added);
}

/* Adds the loaded classes of a name. */
static void add_named(struct smp_class_index *index, struct smp_class_list *list, uint32_t name)
{
    uint32_t named = smp_class_index_first(index, name);

    for (; named != 0; named = smp_class_index_at(index, named)->next_named)
        add_class_once(index, list, named);
}

static void add_subtypes_of(struct smp_class_index *index, uint32_t name)
{
    uint32_t edge = smp_symbols_at(&index->symbols, name)->first_edge;

    while (edge != 0) {
        const struct smp_subtype_edge *const it = edge_at(index, edge);

        add_class_once(index, &index->subtypes, it->subtype);
        edge = it->next;
    }
}

/* The list is its own queue: each class in it is searched for further subtypes. */
void smp_class_index_subtypes(struct smp_class_index *index, uint32_t name)
{
    struct smp_class_list *const list = &index->subtypes;

    index->search++;
    list->count = 0;
    add_named(index, list, name);
    index->same_count = list->count;
    add_subtypes_of(index, name);
    for (size_t i = index->same_count; i < list->count; i++)
        add_subtypes_of(index, smp_class_index_at(index, smp_class_list_at(list, i))->name);
}

static void add_name_once(struct smp_class_index *index, uint32_t name)
{
    struct smp_symbol *const symbol = smp_symbols_at(&index->symbols, name);

    if (symbol->visited == index->search)
        return;
    symbol->visited = index->search;
    add_to(&index->supers, name);
}

static void add_supers_of(struct smp_class_index *index, uint32_t of)
{
    uint32_t edge = smp_class_index_at(index, of)->first_edge;

    index->steps++;
    while (edge != 0) {
        const struct smp_subtype_edge *const it = edge_at(index, edge);

        add_name_once(index, it->super_name);
        edge = it->next_of_subtype;
    }
}

/* Starts with the class's own edges: another class of its name may extend other types. If a circle
 * leads back to the name, that class counts, too, and the name is in the list twice. */
void smp_class_index_supers(struct smp_class_index *index, uint32_t of)
{
    struct smp_class_list *const list = &index->supers;

    index->search++;
    list->count = 0;
    add_to(list, smp_class_index_at(index, of)->name);
    add_supers_of(index, of);
    for (size_t i = 1; i < list->count; i++) {
        uint32_t named = smp_class_index_first(index, smp_class_list_at(list, i));

        for (; named != 0; named = smp_class_index_at(index, named)->next_named)
            add_supers_of(index, named);
    }
}

void smp_class_index_search(struct smp_class_index *index, uint32_t signature,
                            const uint32_t *classes, size_t count, bool is_override,
                            smp_method_found *found, void *self)
{
    const bool is_clinit = signature == index->clinit;
    struct smp_class_list *const open = &index->open;

    index->search++;
    open->count = 0;
    for (size_t i = 0; i < count; i++)
        add_class_once(index, open, classes[i]);
    while (open->count > 0) {
        const uint32_t visited = smp_class_list_at(open, --open->count);
        const struct smp_indexed_class *const it = smp_class_index_at(index, visited);
        const int32_t method = smp_class_body_find(&it->body, signature);
        uint32_t edge = it->first_edge;

        if (method >= 0) {
            const uint16_t access = it->body.methods[method].access;

            if (!is_override || (access & (SMP_ACCESS_PRIVATE | SMP_ACCESS_STATIC)) == 0)
                found(self, visited, (uint32_t)method);
            if (!is_clinit)
                continue;
        }
        while (edge != 0) {
            const struct smp_subtype_edge *const super = edge_at(index, edge);

            add_named(index, open, super->super_name);
            /* Initialising a class does not initialise its interfaces. */
            edge = is_clinit ? 0 : super->next_of_subtype;
        }
    }
}
