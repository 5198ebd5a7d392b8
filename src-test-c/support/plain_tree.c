/* SPDX-License-Identifier: Apache-2.0 */
#include "support/plain_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BUCKETS = 64 };

struct plain_tree {
    struct plain_node **buckets;
    size_t bucket_count;
    struct plain_node *first;
    struct plain_node *last;
    size_t count;
    size_t bytes;
};

static void *must_alloc(struct plain_tree *tree, size_t size)
{
    void *piece = calloc(1, size);

    if (piece == NULL) {
        fputs("plain_tree: out of memory\n", stderr);
        exit(2);
    }
    tree->bytes += size;
    return piece;
}

/* FNV-1a of the text, started from the parent. */
static size_t hash_of(const struct plain_node *parent, const char *text)
{
    uint64_t hash = 14695981039346656037u ^ (uint64_t)(uintptr_t)parent;

    for (const char *at = text; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    return (size_t)(hash ^ (hash >> 32));
}

static void put(struct plain_tree *tree, struct plain_node *node)
{
    const size_t bucket = hash_of(node->parent, node->text) % tree->bucket_count;

    node->next_in_map = tree->buckets[bucket];
    tree->buckets[bucket] = node;
}

/* Twice as many buckets once there is a node for each, as any hash map does. */
static void grow(struct plain_tree *tree)
{
    free(tree->buckets);
    tree->bytes -= tree->bucket_count * sizeof(*tree->buckets);
    tree->bucket_count *= 2;
    tree->buckets = must_alloc(tree, tree->bucket_count * sizeof(*tree->buckets));
    for (struct plain_node *node = tree->first; node != NULL; node = node->next)
        put(tree, node);
}

struct plain_tree *plain_tree_create(void)
{
    struct plain_tree start = { .bucket_count = FIRST_BUCKETS };
    struct plain_tree *tree = must_alloc(&start, sizeof(*tree));

    *tree = start;
    tree->buckets = must_alloc(tree, FIRST_BUCKETS * sizeof(*tree->buckets));
    return tree;
}

void plain_tree_destroy(struct plain_tree *tree)
{
    struct plain_node *node;

    if (tree == NULL)
        return;
    node = tree->first;
    while (node != NULL) {
        struct plain_node *next = node->next;
        free(node->text);
        free(node);
        node = next;
    }
    free(tree->buckets);
    free(tree);
}

struct plain_node *plain_tree_find(const struct plain_tree *tree, struct plain_node *parent,
                                   const char *text)
{
    struct plain_node *node = tree->buckets[hash_of(parent, text) % tree->bucket_count];

    while (node != NULL && (node->parent != parent || strcmp(node->text, text) != 0))
        node = node->next_in_map;
    return node;
}

struct plain_node *plain_tree_find_or_add(struct plain_tree *tree, struct plain_node *parent,
                                          const char *text)
{
    struct plain_node *node = plain_tree_find(tree, parent, text);

    if (node != NULL)
        return node;
    if (tree->count == tree->bucket_count)
        grow(tree);
    node = must_alloc(tree, sizeof(*node));
    node->parent = parent;
    node->text = must_alloc(tree, strlen(text) + 1);
    strcpy(node->text, text);
    if (tree->last == NULL)
        tree->first = node;
    else
        tree->last->next = node;
    tree->last = node;
    tree->count++;
    put(tree, node);
    return node;
}

struct plain_node *plain_tree_add(struct plain_tree *tree, const char *group,
                                  const char *const *texts, size_t count)
{
    struct plain_node *node = plain_tree_find_or_add(tree, NULL, group);

    for (size_t i = count; i > 0; i--)
        node = plain_tree_find_or_add(tree, node, texts[i - 1]);
    return node;
}

void plain_tree_totals(struct plain_tree *tree)
{
    for (struct plain_node *node = tree->first; node != NULL; node = node->next) {
        node->total_wall_ns = 0;
        node->total_cpu_ns = 0;
    }
    for (struct plain_node *node = tree->first; node != NULL; node = node->next) {
        for (struct plain_node *at = node; at != NULL; at = at->parent) {
            at->total_wall_ns += node->self_wall_ns;
            at->total_cpu_ns += node->self_cpu_ns;
        }
    }
}

struct plain_node *plain_tree_first(const struct plain_tree *tree)
{
    return tree->first;
}

size_t plain_tree_count(const struct plain_tree *tree)
{
    return tree->count;
}

size_t plain_tree_bytes(const struct plain_tree *tree)
{
    return tree->bytes;
}
