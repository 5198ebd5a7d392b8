/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference_tree.h - a naive version of model/tree: string keys, a chained hash map, one malloc
 * per node.
 *
 * It is written to be obviously right, not fast. Tests compare tree.c with it, and benchmarks
 * measure tree.c against it. Out of memory ends the test program.
 *
 * Owns     its nodes and copies of all texts.
 * Threads  one.
 * Cost     add: one string hash and compare a frame. totals: O(nodes * depth).
 */
#ifndef SMP_TEST_REFERENCE_TREE_H
#define SMP_TEST_REFERENCE_TREE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct reference_node {
    struct reference_node *parent; /* NULL: the node is the root of a group */
    char *text;
    int64_t self_wall_ns;
    int64_t self_cpu_ns;
    uint64_t samples;
    int64_t total_wall_ns; /* set by reference_tree_totals */
    int64_t total_cpu_ns;
    size_t visits;                      /* for the test's own use */
    struct reference_node *next;        /* in order of creation */
    struct reference_node *next_in_map; /* same bucket */
};

struct reference_tree;

struct reference_tree *reference_tree_create(void);
void reference_tree_destroy(struct reference_tree *tree);

/* Returns the child of parent with this text, or NULL. parent NULL: returns the root of
 * this group. */
struct reference_node *reference_tree_find(const struct reference_tree *tree,
                                           struct reference_node *parent, const char *text);
struct reference_node *reference_tree_find_or_add(struct reference_tree *tree,
                                                  struct reference_node *parent, const char *text);
/* texts[0] is the leaf. Returns the leaf's node, or the group's root if count is 0. */
struct reference_node *reference_tree_add(struct reference_tree *tree, const char *group,
                                          const char *const *texts, size_t count);
void reference_tree_totals(struct reference_tree *tree);
/* Prints every node as a row of the text report, siblings in text order. Needs totals. Recurses.
 * Returns the number of bytes; out may be NULL. */
size_t reference_tree_print(const struct reference_tree *tree, FILE *out);

struct reference_node *reference_tree_first(const struct reference_tree *tree);
size_t reference_tree_count(const struct reference_tree *tree);
/* Bytes that malloc was asked for: nodes, texts and map. */
size_t reference_tree_bytes(const struct reference_tree *tree);

#endif
