/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribution.h - from what was found of a thread to the node of the tree that its time goes to.
 *
 * A stack equal to the last one goes to the node that one had; one that is known but has no node in
 * this interval yet (an idle thread's, at the start of an interval) is added from its copy, without
 * a walk.
 *
 * Owns     nothing: interval, names and filter are the sampler's.
 * Threads  the sampler thread only.
 * Errors   none: what there is no memory for becomes the outcome OVER_LIMIT and its pseudo-frame,
 *          and ran_out is set.
 * Cost     a known stack: one memcmp.
 */
#ifndef SMP_ENGINE_ATTRIBUTION_ATTRIBUTION_H
#define SMP_ENGINE_ATTRIBUTION_ATTRIBUTION_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/attribution/interval.h"
#include "engine/attribution/stack_path.h"
#include "engine/threads/last_stack.h"
#include "engine/threads/thread_table.h"
#include "model/methods.h"
#include "model/outcome.h"
#include "model/sample.h"

/* The sampler sets its members. */
struct smp_attribution {
    struct smp_interval *interval;
    struct smp_methods *methods;
    const struct smp_name_source *names;
    struct smp_stack_path path;
    struct smp_last_stack_budget budget;
    uint64_t key_epoch;   /* rises with each interval */
    uint64_t stack_epoch; /* rises with each filter */
    bool ran_out;         /* of memory, since somebody set this to false */
};

/* Where a piece of time goes, and as what it counts. */
struct smp_tree_target {
    struct smp_group_key key;
    uint32_t node;
    enum smp_outcome outcome;
    size_t omitted; /* frames of its stack that are not in the tree */
};

/* The thread's place in this interval, found anew where its group or the interval has changed. */
struct smp_group_key smp_attribution_key(struct smp_attribution *attribution,
                                         struct smp_thread_record *record);

/*
 * The spot of what was found. sample counts only where the outcome has a stack. The stack is
 * remembered as the record's last one, unless group_name says that it is not the thread's own but
 * one of that group's.
 */
struct smp_tree_target smp_attribution_found(struct smp_attribution *attribution,
                                             struct smp_thread_record *record,
                                             enum smp_outcome outcome,
                                             const struct smp_sample *sample,
                                             const char *group_name);

/* The spot of the last stack, as idle; false: there is none. */
bool smp_attribution_idle(struct smp_attribution *attribution, struct smp_thread_record *record,
                          struct smp_tree_target *out);

/* The spot of an outcome that has no stack. */
struct smp_tree_target smp_attribution_pseudo(struct smp_attribution *attribution,
                                              struct smp_thread_record *record,
                                              enum smp_outcome outcome);

void smp_attribution_note(struct smp_attribution *attribution, const struct smp_tree_target *target,
                          int64_t wall_ns);

#endif
