/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach_options.h - what a reach (reach.h) is made with, and the kinds of what it loses.
 *
 * Owns     no rules and no filter: they are borrowed.
 * Threads  any.
 */
#ifndef SMP_COUNTING_REACH_OPTIONS_H
#define SMP_COUNTING_REACH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counting/call_filter.h"
#include "counting/root_rules.h"

enum smp_scheme { SMP_SCHEME_LAZY, SMP_SCHEME_EAGER, SMP_SCHEME_TOTAL };

enum {
    SMP_REACH_LOOK_AHEAD = 2, /* calls: a batch for each of them on the way down would be many */
    SMP_REACH_LOOK_AHEAD_LIMIT = 16,
    SMP_EAGER_CLASSES = 1000, /* that pass the filter and are loaded at a start: few, so EAGER */
    SMP_REACH_MAX_METHODS = 32768,    /* the default limit of ids */
    SMP_REACH_METHODS_LIMIT = 1 << 20 /* what a limit may be at most: SMP_CALL_METHODS */
};

struct smp_reach_options {
    const struct smp_root_rules *rules;
    const struct smp_call_filter *filter;
    size_t max_bytes;
    uint32_t max_methods; /* 1 to SMP_REACH_METHODS_LIMIT */
    enum smp_scheme scheme;
    uint8_t look_ahead; /* LAZY: 1 to SMP_REACH_LOOK_AHEAD_LIMIT */
};

/* How far a rule has come. */
enum smp_rule_state {
    SMP_RULE_NOT_LOADED, /* no class of its name was loaded */
    SMP_RULE_NO_METHOD,  /* a class was, without such a method */
    SMP_RULE_NEVER,      /* it is a class that never is instrumented */
    SMP_RULE_NO_CODE,    /* the method is native or abstract */
    SMP_RULE_NO_PROBE,   /* it has code, and no probe: a loss says why */
    SMP_RULE_FOUND,      /* it has a probe, or is to get one */
    SMP_RULE_ENTERED
};

/* What is known of the methods of one name; all false: none of them is counted. */
struct smp_reach_sample {
    bool is_root;
    bool is_inside;   /* by the filter, or because it is a root */
    bool is_followed; /* what it calls is wanted */
};

/* Of each: how many, and the first by name. */
enum smp_reach_loss {
    SMP_LOSS_LEFT_ALONE,   /* methods without a probe; the texts begin with the reason */
    SMP_LOSS_EXCLUDED,     /* reached methods that the filter excludes, with TOTAL those beside a
                              root; those of the JDK are not counted */
    SMP_LOSS_TRIVIAL,      /* reached methods that are empty, getters or setters */
    SMP_LOSS_METHOD_LIMIT, /* methods that got no id */
    SMP_LOSS_MEMORY_LIMIT, /* classes that did not fit */
    SMP_LOSS_DROPPED,      /* methods that cost too much */
    SMP_LOSS_SAMPLED,      /* methods that samples showed before they were wanted */
    SMP_REACH_LOSS_COUNT
};

#endif
