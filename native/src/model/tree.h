/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - the calling-context trees of one interval, one per thread group, in one array of nodes.
 *
 *   node 0 ─┬─ root of group 1 ── Thread.run:840 ─┬─ Work.a:10 ── Work.b:12
 *           │                                     └─ Work.c:20
 *           └─ root of group 2 ── ...
 *
 * A child always has a higher index than its parent: totals are one reverse pass, and nothing here
 * recurses. A stack is added leaf first as a chain of find-or-add from the root end. Each node
 * remembers the child it found last, so a program that repeats itself is followed without hashing.
 *
 * While open, wall_ns, cpu_ns and samples are SELF figures. smp_tree_seal turns wall_ns and cpu_ns
 * into TOTALS (self and all descendants), reuses last_child as first_child and the hash slots as
 * the array of next siblings: a sealed tree takes no more memory than an open one.
 *
 * Owns     every node; a node lives until destroy.
 * Threads  one writer; readers only after seal.
 * Errors   SMP_EQUOTA at max_bytes, SMP_ENOMEM where the quota or the system refuses: no node and
 * no figure has changed (room made for the call may stay). SMP_ESTATE: it is sealed.
 * Cost     add: O(count), no string work. 32 bytes a node and hash slots of 4 bytes at a load of
 * 0.375 to 0.75: at most 43 bytes a node in all, also while it grows. destroy: O(1).
 */
#ifndef SMP_MODEL_TREE_H
#define SMP_MODEL_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"

/* In the location of a group's root: the group's index with this bit set. */
#define SMP_LOCATION_GROUP 0x80000000u

struct smp_node {
    uint32_t parent;
    uint32_t location;
    uint32_t
        last_child;   /* open: the child found last, 0 = none. sealed: the first child, 0 = none */
    uint32_t samples; /* self, in both states; sticks at UINT32_MAX */
    int64_t wall_ns;  /* open: self. sealed: total */
    int64_t cpu_ns;   /* open: self. sealed: total */
};

enum { SMP_MAX_NODES = 1 << 30 }; /* of one tree, whatever its max_bytes */

struct smp_tree;

/* max_bytes bounds nodes and slots together; SMP_EQUOTA where not even the first pages fit. */
SMP_CHECKED enum smp_status smp_tree_create(struct smp_quota *quota, size_t max_bytes,
                                            struct smp_tree **out);
void smp_tree_destroy(struct smp_tree *tree);

/* The root of a group's tree, made when new. */
SMP_CHECKED enum smp_status smp_tree_root(struct smp_tree *tree, uint32_t group, uint32_t *root);

/*
 * Follows locations from the root end (locations[count - 1]) to the leaf (locations[0]), adding
 * what is missing; *leaf is the node of locations[0]. Either the whole stack is in the tree
 * afterwards or nothing of it that was not there. count == 0: *leaf is root. No location is 0.
 */
SMP_CHECKED enum smp_status smp_tree_add(struct smp_tree *tree, uint32_t root,
                                         const uint32_t *locations, size_t count, uint32_t *leaf);

/* Adds to a node's self figures, which stick at their maximum. Times are not negative. Sealed: does
 * nothing. */
void smp_tree_credit(struct smp_tree *tree, uint32_t node, int64_t wall_ns, int64_t cpu_ns,
                     uint32_t samples);

/* Takes back wall time of the node's self figures, as far as there is any. Returns how much.
 * Sealed: nothing. */
int64_t smp_tree_take_back(struct smp_tree *tree, uint32_t node, int64_t wall_ns);

/* CPU time of a group that belongs to no node yet. */
struct smp_tree_unseen {
    int64_t cpu_ns;
    uint32_t fallback; /* where they go while no node of the group has CPU time; 0 = group's root */
    /* For the call of spread. */
    uint32_t largest;
    int64_t seen_ns;
    int64_t left_ns;
};

/*
 * Spreads what of reports for each group over the group's nodes, in proportion to their own CPU
 * time: exactly all of it, what does not divide goes to the node with the most. of's figure is 0
 * afterwards. Open trees only. O(nodes).
 */
void smp_tree_spread(struct smp_tree *tree,
                     struct smp_tree_unseen *(*of)(void *context, uint32_t group), void *context);

/* After this the tree is immutable and may be read by any thread it is handed to. */
void smp_tree_seal(struct smp_tree *tree);

const struct smp_node *smp_tree_nodes(const struct smp_tree *tree);
size_t smp_tree_node_count(const struct smp_tree *tree); /* including node 0 */
/* Sealed: next_siblings[node], 0 = none; in the order they were added. First children:
 * nodes[node].last_child. Open: NULL. */
const uint32_t *smp_tree_next_siblings(const struct smp_tree *tree);
/* What of a node's figures is its own. Sealed: O(children). */
void smp_tree_self(const struct smp_tree *tree, uint32_t node, int64_t *wall_ns, int64_t *cpu_ns);
size_t smp_tree_bytes(const struct smp_tree *tree);

#endif
