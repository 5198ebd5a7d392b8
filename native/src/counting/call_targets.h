/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_targets.h - what loaded methods call: {class, name and descriptor, how}, each stored once,
 * however many methods call it.
 *
 * It is a name, not a method: its class need not be loaded, and there may be several of that name.
 *
 * Owns     its targets. One lives as long as it is held.
 * Threads  one at a time.
 * Errors   intern: 0 where there is no memory; nothing has changed then.
 * Cost     intern: one hash. Each target: 40 bytes.
 */
#ifndef SMP_COUNTING_CALL_TARGETS_H
#define SMP_COUNTING_CALL_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#include "counting/pool.h"
#include "counting/symbols.h"

enum { SMP_CALL_TARGETS_LIMIT = 16 * 1024 * 1024 };

struct smp_call_target {
    uint32_t owner;     /* symbol of a class name, held */
    uint32_t signature; /* symbol `name.descriptor`, held */
    uint32_t next;      /* in its bucket */
    uint32_t holds;
    /* the call graph's: */
    uint32_t reached_by;    /* expanded methods that call it; more than 0: it is reached */
    uint32_t next_reached;  /* of the same owner: symbol's first_reached */
    uint32_t prior_reached; /* likewise; 0: it is the first */
    uint32_t next_pending;
    uint32_t caller; /* the last caller that was read, so that each counts once */
    uint8_t ahead;   /* how many calls are looked ahead from what it finds */
    uint8_t how;     /* SMP_TARGET_ flags */
    bool is_pending;
};

enum {
    SMP_TARGET_DISPATCHED = 1, /* an override may be called */
    SMP_TARGET_MADE = 2        /* a new object, or a method handle: others call it */
};

struct smp_call_targets {
    struct smp_pool pool;
    struct smp_symbols *classes;    /* borrowed */
    struct smp_symbols *signatures; /* borrowed */
    uint32_t *buckets;
    uint32_t bucket_count;
};

void smp_call_targets_init(struct smp_call_targets *targets, struct smp_memory_budget *budget,
                           struct smp_symbols *classes, struct smp_symbols *signatures);
/* Before the symbols' fini. */
void smp_call_targets_fini(struct smp_call_targets *targets);

/* Held once more. Both symbols stay the caller's. */
uint32_t smp_call_targets_intern(struct smp_call_targets *targets, uint32_t owner,
                                 uint32_t signature, uint8_t how);
void smp_call_targets_release(struct smp_call_targets *targets, uint32_t target);

static inline struct smp_call_target *smp_call_targets_at(const struct smp_call_targets *targets,
                                                          uint32_t target)
{
    return smp_pool_at(&targets->pool, target);
}

#endif
