/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_trees.h - the engine's data for each thread's call tree: caller and method of each node,
 * its node in the interval's tree, and its pending time.
 *
 *   a tick    position {tree, ordinal} ──► pending time       the method may still be unknown
 *   a read    {ordinal, parent, method} ─► the node's entry
 *   then      pending time, calls ───────► node of the interval's tree, added after its callers
 *
 * Owns     trees and their entries, 64 bytes for each ordinal.
 * Threads  the sampler thread only.
 * Errors   get, entry: NULL without memory; nothing is changed.
 * Cost     get: a binary search, except for the last tree. remove, entry: constant on average.
 */
#ifndef SMP_ENGINE_SOURCES_CALL_TREES_H
#define SMP_ENGINE_SOURCES_CALL_TREES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "engine/call_counter.h"
#include "model/thread_groups.h"

struct smp_call_entry {
    int64_t method;      /* SMP_METHOD_UNCOUNTED: not known yet */
    uint32_t parent;     /* ordinal of the caller; 0: none */
    uint32_t node;       /* in the tree of the interval */
    uint32_t epoch;      /* the interval of tree; 0: none yet */
    int64_t wall_ns;     /* pending; negative: less than the known time of its callees */
    int64_t callees;     /* exact timing: calls that it made since its time was credited */
    int64_t probed;      /* exact timing: its own calls since then, except as root */
    bool is_pending : 1; /* in the tree's list of entries with pending time */
    uint32_t depth : 24; /* 1: an outermost root; 0: still unknown */
    uint32_t next;       /* next in that list; 0: none */
};

struct smp_call_tree {
    uint64_t number;  /* the counter's number of the tree */
    uint64_t serial;  /* of the thread; 0: virtual threads, or unknown */
    char *raw_name;   /* for virtual threads the name of their group; NULL: unknown */
    char *group;      /* name of the last known group; NULL: none yet */
    bool has_left;    /* the thread's record is gone */
    bool is_excluded; /* by the options, the filter or the name rule */
    size_t index;     /* last known index of its record */
    struct {
        struct smp_group_tree tree; /* its group in the interval */
        uint32_t epoch;             /* the interval of the above; 0: none yet */
        uint64_t pass;              /* the pass of call_credit.h that updated this; 0: never */
        bool is_counted;            /* there is a counted tree */
        uint32_t over_node;         /* its [over memory limit] */
    } target;
    struct smp_call_entry *entries; /* by ordinal */
    uint32_t capacity;
    uint32_t first_pending; /* ordinal; 0: none */
    int64_t hook_ns;        /* pending time inside of probes */
    int64_t stamped_ns;     /* the part of it that is inside of the stamps of exact times */
    int64_t outermost;      /* exact timing: calls without a counted caller */
};

struct smp_call_tree_place {
    uint64_t number;
    struct smp_call_tree *tree; /* NULL: removed */
};

/* Starts zeroed except for quota. */
struct smp_call_trees {
    struct smp_quota *quota;
    struct smp_call_tree_place *places; /* sorted by number */
    size_t count;                       /* includes removed ones, at most half of all */
    size_t gone;
    size_t capacity;
    size_t last; /* index of the last found one */
};

void smp_call_trees_fini(struct smp_call_trees *trees);
/* Returns the tree of this thread, a new one if necessary. */
struct smp_call_tree *smp_call_trees_get(struct smp_call_trees *trees,
                                         const struct smp_counted_thread *thread);
/* Returns NULL if no tree has this number. */
struct smp_call_tree *smp_call_trees_find(struct smp_call_trees *trees, uint64_t number);
void smp_call_trees_remove(struct smp_call_trees *trees, uint64_t number);
/* Forgets the pending time of all trees. */
void smp_call_trees_reset(struct smp_call_trees *trees);

/* Returns an entry, valid until the next call. ordinal > 0. */
struct smp_call_entry *smp_call_tree_entry(struct smp_call_trees *trees, struct smp_call_tree *tree,
                                           uint32_t ordinal);
/* Adds an entry to the tree's list of entries with pending time. */
void smp_call_tree_note_pending(struct smp_call_tree *tree, uint32_t ordinal);
void smp_call_tree_forget_pending(struct smp_call_tree *tree);

#endif
