/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counting_plan.h - what is counted: the options, read once, and handed down by pointer from the
 * source of counted calls to the instrumenter, and to what chooses the methods (call_graph.h).
 *
 * Owns     its texts; holds its quota.
 * Threads  hold, release: any. All but the holds is constant once it is handed down.
 * Errors   create: SMP_ENOMEM where system or quota refuse memory.
 */
#ifndef SMP_COUNTING_COUNTING_PLAN_H
#define SMP_COUNTING_COUNTING_PLAN_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "counting/call_filter.h"
#include "counting/root_rules.h"
#include "model/options.h"

enum {
    SMP_PLAN_LOOK_AHEAD = 2, /* calls: a batch for each of them on the way down would be many */
    SMP_PLAN_LOOK_AHEAD_LIMIT = 16,
    SMP_PLAN_EAGER_CLASSES = 300,     /* AUTO: that pass the filter and are loaded at the start */
    SMP_PLAN_MAX_METHODS = 32768,     /* the default limit of methods */
    SMP_PLAN_METHODS_LIMIT = 1 << 20, /* what a limit may be at most: SMP_CALL_METHODS */
    SMP_PLAN_MESSAGE_BYTES = 512      /* of the reason why nothing can be counted */
};

struct smp_counting_plan {
    _Atomic uint32_t holds;
    struct smp_quota *quota; /* of all that counting takes; NULL: the process alone */
    char *roots;             /* rootMethods: root_rules.h */
    char *filter;            /* instrumentationFilter: call_filter.h */
    size_t max_bytes;        /* the quota's limit */
    enum smp_instrumentation instrumentation;
    enum smp_method_timing timing; /* EXACT: each call has a time, else only calls of roots */
    uint32_t max_methods;          /* with a probe at a time: 1 to SMP_PLAN_METHODS_LIMIT */
    uint32_t max_nodes;            /* of a tree */
    uint32_t max_depth;            /* of a tree */
    uint8_t look_ahead;            /* LAZY: 1 to SMP_PLAN_LOOK_AHEAD_LIMIT */
};

/* Held once. The numbers and choices are the caller's to set before it hands the plan down;
 * look_ahead and max_bytes are set. */
SMP_CHECKED enum smp_status smp_counting_plan_create(struct smp_quota *quota, const char *roots,
                                                     const char *filter,
                                                     struct smp_counting_plan **out);
struct smp_counting_plan *smp_counting_plan_hold(struct smp_counting_plan *plan);
/* NULL is fine. */
void smp_counting_plan_release(struct smp_counting_plan *plan);

#endif
