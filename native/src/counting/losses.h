/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.h - what a call graph (call_graph.h) does not count: how many of a kind, and the first of
 * them by name; and how far each rule for roots has come.
 *
 * Threads  one at a time.
 * Cost     constant; 5 KB for each kind.
 */
#ifndef SMP_COUNTING_LOSSES_H
#define SMP_COUNTING_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

enum { SMP_LOSSES_NAMED = 20, SMP_LOSS_TEXT_BYTES = 240 };

struct smp_losses {
    uint64_t count;
    uint32_t named;                     /* of these, the first ones */
    int64_t since_ms[SMP_LOSSES_NAMED]; /* wall clock; 0 where the time does not matter */
    char texts[SMP_LOSSES_NAMED][SMP_LOSS_TEXT_BYTES];
};

/* One more. Returns the room for its text, or NULL where enough are named. */
static inline char *smp_losses_add(struct smp_losses *losses, int64_t since_ms)
{
    char *text = NULL;

    losses->count++;
    if (losses->named < SMP_LOSSES_NAMED) {
        losses->since_ms[losses->named] = since_ms;
        text = losses->texts[losses->named++];
    }
    return text;
}

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
struct smp_call_graph_sample {
    bool is_root;
    bool is_inside;   /* by the filter, or because it is a root */
    bool is_followed; /* what it calls is wanted */
};

/* Of each: how many, and the first by name. */
enum smp_call_graph_loss {
    SMP_LOSS_LEFT_ALONE, /* methods without a probe, and classes that did not fit; the texts begin
                              with the reason */
    SMP_LOSS_EXCLUDED,   /* reached methods that the filter excludes, with TOTAL those beside a
                              root; those of the JDK are not counted */
    SMP_LOSS_TRIVIAL,    /* reached methods that are empty, getters or setters */
    SMP_LOSS_DROPPED,    /* methods that cost too much */
    SMP_LOSS_SAMPLED,    /* methods that samples showed before they were wanted */
    SMP_CALL_GRAPH_LOSS_COUNT
};

#endif
