/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_trees.h - the engine's side of each thread's tree of calls: the caller and the method of
 * each node, its node in the interval's tree, and time that is not credited yet.
 *
 *   a tick    position {tree, ordinal} ──► pending time       the node's method may be unknown yet
 *   a read    {ordinal, parent, method} ─► the node's entry
 *   then      pending time, calls ───────► node of the interval's tree, made along the callers
 *
 * Owns     trees and their entries, 64 bytes for each ordinal.
 * Threads  the sampler thread only.
 * Errors   get, entry: NULL if the quota or the system refuse memory; nothing has changed then.
 * Cost     get: a binary search; none for the same tree as before. remove: constant on average.
 *          entry: constant on average.
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
    uint32_t epoch;      /* with this number; 0: none yet */
    int64_t wall_ns;     /* pending; negative: its callees have more time than is known of it yet */
    int64_t callees;     /* exact timing: calls that it has made since its time was last credited */
    int64_t probed;      /* exact timing: its own calls since then, without roots */
    bool is_pending : 1; /* in the tree's list of those that have pending time */
    uint32_t depth : 24; /* the outermost root has 1; 0: not known yet */
    uint32_t next;       /* in that list; 0: the last one */
};

struct smp_call_tree {
    uint64_t number;  /* the counter's */
    uint64_t serial;  /* of the thread; 0: of virtual threads, or not known */
    char *raw_name;   /* for virtual threads the name of their group; NULL: not known */
    char *group;      /* name of its last group; NULL: none yet */
    bool has_left;    /* the thread has no record any more */
    bool is_excluded; /* by the options, the filter or the rule for names */
    size_t index;     /* the last index of its record */
    struct {
        struct smp_group_tree tree; /* in the interval, */
        uint32_t epoch;             /* with this number; 0: none yet */
        uint64_t pass;              /* of call_credit.h, in which all this was updated; 0: never */
        bool is_counted;            /* there is a counted tree */
        uint32_t over_node;         /* its [over memory limit] */
    } target;
    struct smp_call_entry *entries; /* by ordinal */
    uint32_t capacity;
    uint32_t first_pending; /* ordinal; 0: none */
    int64_t hook_ns;        /* pending time inside of probes, */
    int64_t stamped_ns;     /* and the part of it that exact times of calls contain */
    int64_t outermost;      /* exact timing: calls since then without a counted caller */
};

struct smp_call_tree_place {
    uint64_t number;
    struct smp_call_tree *tree; /* NULL: removed */
};

/* Zeroed but for quota: empty. */
struct smp_call_trees {
    struct smp_quota *quota;
    struct smp_call_tree_place *places; /* by rising number */
    size_t count;                       /* with removed ones, which are at most half */
    size_t gone;
    size_t capacity;
    size_t last; /* index that was found last */
};

void smp_call_trees_fini(struct smp_call_trees *trees);
/* The tree of this thread, made when new. */
struct smp_call_tree *smp_call_trees_get(struct smp_call_trees *trees,
                                         const struct smp_counted_thread *thread);
/* NULL: no tree has this number. */
struct smp_call_tree *smp_call_trees_find(struct smp_call_trees *trees, uint64_t number);
void smp_call_trees_remove(struct smp_call_trees *trees, uint64_t number);
/* Forgets the pending time of all trees. */
void smp_call_trees_reset(struct smp_call_trees *trees);

/* Valid until the next call. ordinal > 0. */
struct smp_call_entry *smp_call_tree_entry(struct smp_call_trees *trees, struct smp_call_tree *tree,
                                           uint32_t ordinal);
/* Adds an entry to the tree's list of entries with pending time. */
void smp_call_tree_note_pending(struct smp_call_tree *tree, uint32_t ordinal);
void smp_call_tree_forget_pending(struct smp_call_tree *tree);

#endif
