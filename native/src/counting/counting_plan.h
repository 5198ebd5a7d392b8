/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counting_plan.h - the options of counting, read once. The source of counted calls makes the plan
 * and hands it down by pointer to the instrumenter and the call graph.
 *
 * Owns     rules, filter and their texts; holds its quota.
 * Threads  hold, release: any. Everything but the holds is constant once the plan is handed down.
 * Errors   create: SMP_ENOMEM where system or quota refuse memory.
 */
#ifndef SMP_COUNTING_COUNTING_PLAN_H
#define SMP_COUNTING_COUNTING_PLAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "counting/call_filter.h"
#include "counting/root_rules.h"
#include "model/options.h"

enum {
    SMP_PLAN_LOOK_AHEAD = 2, /* calls; with 1 each further level of calls would need a batch */
    SMP_PLAN_LOOK_AHEAD_LIMIT = 16,
    SMP_PLAN_EAGER_CLASSES = 300,     /* AUTO is EAGER if at most so many loaded classes pass */
    SMP_PLAN_MAX_METHODS = 32768,     /* the default limit of methods */
    SMP_PLAN_METHODS_LIMIT = 1 << 20, /* the highest limit: SMP_CALL_METHODS */
    SMP_PLAN_MESSAGE_BYTES = 512      /* of the reason why nothing can be counted */
};

struct smp_counting_plan {
    _Atomic uint32_t holds;
    struct smp_quota *quota; /* pays for all of counting; NULL: no quota */
    char *texts[2];          /* rootMethods, instrumentationFilter */
    struct smp_root_rule *rules;
    size_t rule_count;
    struct smp_call_filter filter;
    size_t max_bytes; /* the quota's limit */
    enum smp_instrumentation instrumentation;
    enum smp_method_timing timing; /* EXACT: every call is timed; else only calls of roots */
    uint32_t max_methods;          /* with a probe at a time: 1 to SMP_PLAN_METHODS_LIMIT */
    uint32_t max_nodes;            /* of a tree */
    uint32_t max_depth;            /* of a tree */
    uint8_t look_ahead;            /* LAZY: 1 to SMP_PLAN_LOOK_AHEAD_LIMIT */
};

/* The state of methods that samples show only by name; all false: none of them is counted. */
struct smp_sampled_method {
    bool is_root;
    bool is_inside;   /* passes the filter, or is a root */
    bool is_followed; /* its callees are known, and have probes or get them */
};

/* Makes a plan, held once. Reads both lists, and sets look_ahead, max_bytes and max_methods; the
 * caller sets the other fields before it hands the plan down. */
SMP_CHECKED enum smp_status smp_counting_plan_create(struct smp_quota *quota, const char *roots,
                                                     const char *filter,
                                                     struct smp_counting_plan **out);
struct smp_counting_plan *smp_counting_plan_hold(struct smp_counting_plan *plan);
/* NULL is fine. */
void smp_counting_plan_release(struct smp_counting_plan *plan);

#endif
