/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribution.h - finds the node of the tree to which a thread's time is credited.
 *
 * If a stack equals the thread's last one, its time goes to the node of that one. When an interval
 * begins, the last stack of an idle thread has no node yet: it is added from its copy, without a
 * walk.
 *
 * Owns     the path buffer; interval, names and filter belong to the sampler.
 * Threads  the sampler thread only.
 * Errors   without memory the outcome is OVER_MEMORY_LIMIT, with its pseudo-frame, and ran_out is
 *          set.
 * Cost     a known stack: one memcmp.
 */
#ifndef SMP_ENGINE_ATTRIBUTION_ATTRIBUTION_H
#define SMP_ENGINE_ATTRIBUTION_ATTRIBUTION_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/attribution/interval.h"
#include "engine/attribution/stack_path.h"
#include "engine/attribution/wait_state.h"
#include "engine/threads/last_stack.h"
#include "engine/threads/thread_table.h"
#include "model/methods.h"
#include "model/outcome.h"
#include "model/sample.h"

/* Finds the counted row of the call that a thread is in. */
struct smp_call_rows {
    /* In a probe: the root of the counted group. 0: not known. */
    uint32_t (*find)(void *self, const struct smp_call_spot *spot);
    void *self;
};

/* The sampler sets its members. */
struct smp_attribution {
    struct smp_interval *interval;
    struct smp_methods *methods;
    const struct smp_name_source *names;
    struct smp_stack_path path;
    struct smp_memory_budget budget;
    struct smp_call_rows calls; /* find is NULL if no calls are counted or their times are not
                                 * sampled */
    uint64_t tree_epoch;        /* rises when an interval begins and when its tree is folded */
    uint64_t stack_epoch;       /* rises with each new filter */
    bool ran_out;               /* there was no memory for a stack; the sampler clears it */
};

/* The node that is credited with time, and the outcome that is counted. */
struct smp_tree_target {
    struct smp_group_tree tree;
    uint32_t node;
    enum smp_outcome outcome;
    enum smp_thread_state state;
    size_t omitted; /* number of frames of its stack that are not in the tree */
};

/* Returns the tree of the thread's group in this interval. Looks it up if the group or the interval
 * has changed. */
struct smp_group_tree smp_attribution_tree(struct smp_attribution *attribution,
                                           struct smp_thread_record *record);

/* The result of a walk. Valid during the call. */
struct smp_found {
    enum smp_outcome outcome;
    bool is_given_up;        /* there will be no stack: the thread most likely has its last one */
    enum smp_wait_word word; /* RUNS: the thread runs or wants a CPU */
    const struct smp_sample *sample; /* only if the outcome has a stack */
    struct smp_group_key mounted; /* the group of a virtual thread's stack; name is NULL: the stack
                                   * is the thread's own */
};

/* Returns the target of a stack. The stack becomes the record's last stack, unless it belongs to a
 * virtual thread. */
struct smp_tree_target smp_attribution_found(struct smp_attribution *attribution,
                                             struct smp_thread_record *record,
                                             const struct smp_found *found);

/* Returns the target of a stack in this tree, for a thread without a record. */
struct smp_tree_target smp_attribution_found_in(struct smp_attribution *attribution,
                                                struct smp_group_tree tree,
                                                const struct smp_found *found);

/* Sets *out to the target of the last stack, with the outcome IDLE and the state in which the
 * thread was found. Returns false if there is no last stack. */
bool smp_attribution_idle(struct smp_attribution *attribution, struct smp_thread_record *record,
                          struct smp_tree_target *out);

/* Finds the state of the last stack from what the JVM says now, stores it there and returns it. */
enum smp_thread_state smp_attribution_judge(struct smp_last_stack *last, enum smp_wait_word word);

/* Returns the target of an outcome without a stack. */
struct smp_tree_target smp_attribution_pseudo(struct smp_attribution *attribution,
                                              struct smp_thread_record *record,
                                              enum smp_outcome outcome);

/* A poll that stands for weight_ns, and came with this probability. */
struct smp_poll_weight {
    int64_t weight_ns;
    double probability;
    uint32_t tick; /* equal for polls that chance has moved together, else different */
};

static inline uint32_t smp_poll_tick(int64_t now_ns)
{
    const int64_t ns_per_number = 1000;

    return (uint32_t)(now_ns / ns_per_number);
}

/* A poll has found the thread at this node, running or not. Adds the effect on the error to this
 * node and to the one before it. tree: of the node's group. */
void smp_attribution_moved(struct smp_attribution *attribution, struct smp_thread_record *record,
                           const struct smp_tree_target *target, bool is_running,
                           const struct smp_poll_weight *weight);
/* As moved, for the thread's first poll in this interval: when the interval began, the thread was
 * where the last poll of the previous interval had found it. */
void smp_attribution_resumed(struct smp_attribution *attribution, struct smp_thread_record *record,
                             const struct smp_tree_target *target);
/* The interval ends weight_ns after the last poll of a running thread. The thread may have moved
 * since, so this adds to the error. */
void smp_attribution_unseen(struct smp_attribution *attribution,
                            const struct smp_tree_target *target,
                            const struct smp_poll_weight *weight);
/* The thread is still where the previous poll found it. */
void smp_attribution_stayed(struct smp_attribution *attribution, struct smp_thread_record *record,
                            const struct smp_tree_target *target);

/* Returns the node of a lock holder's stack, in the tree of holders of its group. Returns 0 without
 * memory for the tree. */
uint32_t smp_attribution_add_holder(struct smp_attribution *attribution, struct smp_group_tree tree,
                                    const struct smp_sample *sample);

/* Counts one poll and credits its target for the span. wall_ns is longer than the span if the poll
 * stands for many threads. */
void smp_attribution_note(struct smp_attribution *attribution, const struct smp_tree_target *target,
                          int64_t wall_ns, struct smp_span span);

#endif
