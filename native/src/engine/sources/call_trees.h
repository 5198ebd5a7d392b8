/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_trees.h - what the source of counted calls knows of each thread's tree of calls: the caller
 * and the method of each node, its node in the interval's tree, and time that is not credited yet.
 *
 *   a tick    position {tree, ordinal} ──► pending time       the node's method may be unknown yet
 *   a read    {ordinal, parent, method} ─► the node's entry
 *   then      pending time, calls ───────► node of the interval's tree, made along the callers
 *
 * Owns     trees and their entries, 64 bytes for each ordinal.
 * Threads  the sampler thread only.
 * Errors   get, entry: NULL where the quota or the system refuse memory: nothing has changed.
 * Cost     get: a binary search, none for the tree of the call before. remove: constant on average.
 *          entry: constant, but where the tree grows.
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
    uint32_t node;       /* in the interval's tree, */
    uint32_t epoch;      /* of the interval with this number; 0: none yet */
    int64_t wall_ns;     /* pending; negative: its callees have got more than is known of it yet */
    int64_t callees;     /* exact timing: calls that it has made since its time was credited last */
    int64_t probed;      /* exact timing: its own calls since then, but those that are roots */
    bool is_pending : 1; /* in the tree's list of those that have pending time */
    uint32_t depth : 24; /* calls from the outermost root on, with it; 0: not known yet */
    uint32_t next;       /* in that list; 0: the last one */
};

struct smp_call_tree {
    uint64_t number;  /* the counter's */
    uint64_t serial;  /* of the thread; 0: of virtual threads, or not known */
    char *raw_name;   /* of virtual threads their group's name; NULL: not known */
    char *group;      /* name of the group it was in last; NULL: none yet */
    bool has_left;    /* this thread has no record any more */
    bool is_excluded; /* by the options, the filter or the rule for names */
    size_t index;     /* where the thread table had the thread last */
    struct {
        struct smp_group_tree tree; /* in the interval, */
        uint32_t epoch;             /* with this number; 0: none yet */
        uint64_t pass;   /* of call_credit.h, in which all this was brought up to date; 0: never */
        bool is_counted; /* tree is a counted one */
        uint32_t over_node; /* its [over memory limit] */
    } target;
    struct smp_call_entry *entries; /* by ordinal */
    uint32_t capacity;
    uint32_t first_pending; /* ordinal; 0: none */
    int64_t hook_ns;        /* pending time inside of probes, */
    int64_t stamped_ns;     /* and how much of it exact times of calls contain */
    int64_t outermost;      /* exact timing: calls since then that no counted call has made */
};

struct smp_call_tree_place {
    uint64_t number;
    struct smp_call_tree *tree; /* NULL: it is gone */
};

/* Zeroed but for quota: empty. */
struct smp_call_trees {
    struct smp_quota *quota;
    struct smp_call_tree_place *places; /* rising numbers */
    size_t count;                       /* with those that are gone, at most half of them */
    size_t gone;
    size_t capacity;
    size_t last; /* found last */
};

void smp_call_trees_fini(struct smp_call_trees *trees);
/* The tree of this thread, made when new. */
struct smp_call_tree *smp_call_trees_get(struct smp_call_trees *trees,
                                         const struct smp_counted_thread *thread);
/* NULL: there is none. */
struct smp_call_tree *smp_call_trees_find(struct smp_call_trees *trees, uint64_t number);
void smp_call_trees_remove(struct smp_call_trees *trees, uint64_t number);
/* Forgets the pending time of all. */
void smp_call_trees_reset(struct smp_call_trees *trees);

/* Valid until the next call. ordinal > 0. */
struct smp_call_entry *smp_call_tree_entry(struct smp_call_trees *trees, struct smp_call_tree *tree,
                                           uint32_t ordinal);
/* Puts an entry of the tree into the list of those that have pending time. */
void smp_call_tree_note_pending(struct smp_call_tree *tree, uint32_t ordinal);
void smp_call_tree_forget_pending(struct smp_call_tree *tree);
/* Sets a name of a tree to a copy. False: no memory, it is as before. */
bool smp_call_tree_rename(struct smp_call_trees *trees, char **name, const char *text);

#endif
