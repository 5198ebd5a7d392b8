/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/call_trees.h"

#include <string.h>

#include "base/sort.h"
#include "engine/threads/thread_table.h"

enum { FIRST_ENTRIES = 64 };

static void free_tree(struct smp_call_trees *trees, struct smp_call_tree *tree)
{
    if (tree == NULL)
        return;
    smp_free(trees->quota, tree->entries);
    smp_free(trees->quota, tree->group);
    smp_free(trees->quota, tree->raw_name);
    smp_free(trees->quota, tree);
}

void smp_call_trees_fini(struct smp_call_trees *trees)
{
    for (size_t i = 0; i < trees->count; i++)
        free_tree(trees, trees->places[i].tree);
    smp_free(trees->quota, trees->places);
    trees->places = NULL;
    trees->count = 0;
    trees->gone = 0;
    trees->capacity = 0;
}

static uint64_t place_number_at(const void *places, size_t index)
{
    return ((const struct smp_call_tree_place *)places)[index].number;
}

/* Returns the index of the first place whose number is not below this one. */
static size_t find_place(const struct smp_call_trees *trees, uint64_t number)
{
    return smp_lower_bound(trees->places, trees->count, place_number_at, number);
}

struct smp_call_tree *smp_call_trees_find(struct smp_call_trees *trees, uint64_t number)
{
    if (trees->last >= trees->count || trees->places[trees->last].number != number)
        trees->last = find_place(trees, number);
    if (trees->last >= trees->count || trees->places[trees->last].number != number)
        return NULL;
    return trees->places[trees->last].tree;
}

static bool has_place_room(struct smp_call_trees *trees)
{
    struct smp_call_tree_place *const places = smp_grow_items(
        trees->quota, trees->places, &trees->capacity, trees->count + 1, sizeof(*places));

    if (places != NULL)
        trees->places = places;
    return places != NULL;
}

static struct smp_call_tree *make_call_tree(struct smp_call_trees *trees,
                                            const struct smp_counted_thread *thread)
{
    struct smp_call_tree *tree = smp_alloc(trees->quota, sizeof(*tree));

    if (tree == NULL)
        return NULL;
    tree->number = thread->tree;
    tree->serial = thread->serial;
    tree->has_left = thread->serial == 0;
    if (thread->name != NULL && !smp_set_name(trees->quota, &tree->raw_name, thread->name)) {
        free_tree(trees, tree);
        return NULL;
    }
    return tree;
}

struct smp_call_tree *smp_call_trees_get(struct smp_call_trees *trees,
                                         const struct smp_counted_thread *thread)
{
    struct smp_call_tree *tree = smp_call_trees_find(trees, thread->tree);
    size_t at;

    if (tree == NULL) {
        tree = has_place_room(trees) ? make_call_tree(trees, thread) : NULL;
        if (tree == NULL)
            return NULL;
        at = find_place(trees, thread->tree);
        memmove(&trees->places[at + 1], &trees->places[at],
                (trees->count - at) * sizeof(*trees->places));
        trees->places[at] = (struct smp_call_tree_place){ .number = thread->tree, .tree = tree };
        trees->count++;
        trees->last = at;
    }
    return tree;
}

/* Runs once for many removals, because all trees may end in the same read. */
static void drop_gone_places(struct smp_call_trees *trees)
{
    size_t kept = 0;

    for (size_t i = 0; i < trees->count; i++) {
        if (trees->places[i].tree != NULL)
            trees->places[kept++] = trees->places[i];
    }
    trees->count = kept;
    trees->gone = 0;
}

void smp_call_trees_remove(struct smp_call_trees *trees, uint64_t number)
{
    struct smp_call_tree *tree = smp_call_trees_find(trees, number);
    const size_t at = trees->last;

    if (tree == NULL)
        return;
    free_tree(trees, tree);
    trees->places[at].tree = NULL;
    trees->gone++;
    if (trees->gone > trees->count / 2)
        drop_gone_places(trees);
}

void smp_call_tree_forget_pending(struct smp_call_tree *tree)
{
    uint32_t next;

    for (uint32_t at = tree->first_pending; at != 0; at = next) {
        struct smp_call_entry *entry = &tree->entries[at];
        next = entry->next;
        entry->is_pending = false;
        entry->wall_ns = 0;
        entry->callees = 0;
        entry->probed = 0;
    }
    tree->first_pending = 0;
    tree->hook_ns = 0;
    tree->stamped_ns = 0;
    tree->outermost = 0;
}

void smp_call_trees_reset(struct smp_call_trees *trees)
{
    for (size_t i = 0; i < trees->count; i++) {
        if (trees->places[i].tree != NULL)
            smp_call_tree_forget_pending(trees->places[i].tree);
    }
}

static bool grow_entries(struct smp_call_trees *trees, struct smp_call_tree *tree, uint32_t ordinal)
{
    uint64_t capacity = tree->capacity == 0 ? FIRST_ENTRIES : tree->capacity;
    struct smp_call_entry *entries;

    while (capacity <= ordinal)
        capacity *= 2;
    if (capacity > UINT32_MAX)
        return false;
    entries = smp_realloc(trees->quota, tree->entries, (size_t)capacity * sizeof(*entries));
    if (entries == NULL)
        return false;
    for (size_t i = tree->capacity; i < capacity; i++)
        entries[i] = (struct smp_call_entry){ .method = SMP_METHOD_UNCOUNTED };
    tree->entries = entries;
    tree->capacity = (uint32_t)capacity;
    return true;
}

struct smp_call_entry *smp_call_tree_entry(struct smp_call_trees *trees, struct smp_call_tree *tree,
                                           uint32_t ordinal)
{
    if (ordinal >= tree->capacity && !grow_entries(trees, tree, ordinal))
        return NULL;
    return &tree->entries[ordinal];
}

void smp_call_tree_note_pending(struct smp_call_tree *tree, uint32_t ordinal)
{
    struct smp_call_entry *entry = &tree->entries[ordinal];

    if (entry->is_pending)
        return;
    entry->is_pending = true;
    entry->next = tree->first_pending;
    tree->first_pending = ordinal;
}
