/* SPDX-License-Identifier: Apache-2.0 */
#include "support/reference_tree.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BUCKETS = 64 };

struct reference_tree {
    struct reference_node **buckets;
    size_t bucket_count;
    struct reference_node *first;
    struct reference_node *last;
    size_t count;
    size_t bytes;
};

static void *must_alloc(struct reference_tree *tree, size_t size)
{
    void *piece = calloc(1, size);

    if (piece == NULL) {
        fputs("reference_tree: out of memory\n", stderr);
        exit(2);
    }
    tree->bytes += size;
    return piece;
}

/* FNV-1a of the text, seeded with the parent. */
static size_t hash_of(const struct reference_node *parent, const char *text)
{
    uint64_t hash = 14695981039346656037u ^ (uint64_t)(uintptr_t)parent;

    for (const char *at = text; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    return (size_t)(hash ^ (hash >> 32));
}

static void put(struct reference_tree *tree, struct reference_node *node)
{
    const size_t bucket = hash_of(node->parent, node->text) % tree->bucket_count;

    node->next_in_map = tree->buckets[bucket];
    tree->buckets[bucket] = node;
}

/* Doubles the buckets when there are as many nodes as buckets, as any hash map does. */
static void grow(struct reference_tree *tree)
{
    free(tree->buckets);
    tree->bytes -= tree->bucket_count * sizeof(*tree->buckets);
    tree->bucket_count *= 2;
    tree->buckets = must_alloc(tree, tree->bucket_count * sizeof(*tree->buckets));
    for (struct reference_node *node = tree->first; node != NULL; node = node->next)
        put(tree, node);
}

struct reference_tree *reference_tree_create(void)
{
    struct reference_tree start = { .bucket_count = FIRST_BUCKETS };
    struct reference_tree *tree = must_alloc(&start, sizeof(*tree));

    *tree = start;
    tree->buckets = must_alloc(tree, FIRST_BUCKETS * sizeof(*tree->buckets));
    return tree;
}

void reference_tree_destroy(struct reference_tree *tree)
{
    struct reference_node *node;

    if (tree == NULL)
        return;
    node = tree->first;
    while (node != NULL) {
        struct reference_node *next = node->next;
        free(node->text);
        free(node);
        node = next;
    }
    free(tree->buckets);
    free(tree);
}

struct reference_node *reference_tree_find(const struct reference_tree *tree,
                                           struct reference_node *parent, const char *text)
{
    struct reference_node *node = tree->buckets[hash_of(parent, text) % tree->bucket_count];

    while (node != NULL && (node->parent != parent || strcmp(node->text, text) != 0))
        node = node->next_in_map;
    return node;
}

struct reference_node *reference_tree_find_or_add(struct reference_tree *tree,
                                                  struct reference_node *parent, const char *text)
{
    struct reference_node *node = reference_tree_find(tree, parent, text);

    if (node != NULL)
        return node;
    if (tree->count == tree->bucket_count)
        grow(tree);
    node = must_alloc(tree, sizeof(*node));
    node->parent = parent;
    node->text = must_alloc(tree, strlen(text) + 1);
    memcpy(node->text, text, strlen(text) + 1);
    if (tree->last == NULL)
        tree->first = node;
    else
        tree->last->next = node;
    tree->last = node;
    tree->count++;
    put(tree, node);
    return node;
}

struct reference_node *reference_tree_add(struct reference_tree *tree, const char *group,
                                          const char *const *texts, size_t count)
{
    struct reference_node *node = reference_tree_find_or_add(tree, NULL, group);

    for (size_t i = count; i > 0; i--)
        node = reference_tree_find_or_add(tree, node, texts[i - 1]);
    return node;
}

void reference_tree_totals(struct reference_tree *tree)
{
    for (struct reference_node *node = tree->first; node != NULL; node = node->next) {
        node->total_wall_ns = 0;
        node->total_cpu_ns = 0;
    }
    for (struct reference_node *node = tree->first; node != NULL; node = node->next) {
        for (struct reference_node *at = node; at != NULL; at = at->parent) {
            at->total_wall_ns += node->self_wall_ns;
            at->total_cpu_ns += node->self_cpu_ns;
        }
    }
}

/* Orders by parent, then by text. */
static int compare_nodes(const void *a, const void *b)
{
    const struct reference_node *one = *(struct reference_node *const *)a;
    const struct reference_node *other = *(struct reference_node *const *)b;

    if (one->parent != other->parent)
        return (uintptr_t)one->parent < (uintptr_t)other->parent ? -1 : 1;
    return strcmp(one->text, other->text);
}

/* Returns the index of the first sorted node with this parent, or count. */
static size_t first_child(struct reference_node *const *sorted, size_t count,
                          const struct reference_node *parent)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        const size_t middle = (low + high) / 2;
        if ((uintptr_t)sorted[middle]->parent < (uintptr_t)parent)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t print_below(struct reference_node *const *sorted, size_t count,
                          const struct reference_node *parent, int depth, FILE *out)
{
    size_t bytes = 0;

    for (size_t i = first_child(sorted, count, parent); i < count && sorted[i]->parent == parent;
         i++) {
        char row[1024];
        const int length =
            snprintf(row, sizeof(row), "%*s%-*s Cumulative time(ms): %lld, Method time(ms): %lld\n",
                     2 * depth, "", depth < 75 ? 150 - 2 * depth : 0, sorted[i]->text,
                     (long long)(sorted[i]->total_wall_ns / 1000000),
                     (long long)(sorted[i]->self_wall_ns / 1000000));
        if (out != NULL)
            fputs(row, out);
        bytes += (size_t)length + print_below(sorted, count, sorted[i], depth + 1, out);
    }
    return bytes;
}

size_t reference_tree_print(const struct reference_tree *tree, FILE *out)
{
    struct reference_tree scratch = { .count = 0 };
    struct reference_node **sorted = must_alloc(&scratch, (tree->count + 1) * sizeof(*sorted));
    size_t count = 0;
    size_t bytes;

    for (struct reference_node *node = tree->first; node != NULL; node = node->next)
        sorted[count++] = node;
    qsort(sorted, count, sizeof(*sorted), compare_nodes);
    bytes = print_below(sorted, count, NULL, 0, out);
    free(sorted);
    return bytes;
}

struct reference_node *reference_tree_first(const struct reference_tree *tree)
{
    return tree->first;
}

size_t reference_tree_count(const struct reference_tree *tree)
{
    return tree->count;
}

size_t reference_tree_bytes(const struct reference_tree *tree)
{
    return tree->bytes;
}
