/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cross_check.h - compares walks from outside with JVMTI's: the first of a session, later a
 * sample.
 *
 *   runs, CPU clock ─► walk from outside ─► JVMTI ─► CPU clock, runs
 *   if both are unchanged, the two stacks must be equal
 *
 * A moved CPU clock shows that the thread has run. A kernel that subtracts the time of interrupts
 * or of the host may hide a short run, so the number of the thread's runs is also compared.
 *
 * Frames are equal if they have the same method (code/same_method.h) and bci. Deep stacks are
 * compared only at their leaf end. Two differences in a row mean that our layout is wrong for this
 * JVM: our own walks are disabled, also in handlers (smp_hotspot_refuse), and the engine's name
 * says why.
 *
 * Owns     a check: memory for one stack. The process: the rate and two counts.
 * Threads  a check: one sampler thread. All others: any.
 * Errors   init: SMP_ENOMEM. If the thread ran meanwhile, the next walk is compared instead.
 * Cost     a handshake and two files of /proc; on average negligible.
 */
#ifndef SMP_JVM_WALK_CROSS_CHECK_H
#define SMP_JVM_WALK_CROSS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/jvm.h"

enum {
    SMP_CROSS_CHECK_FIRST = 64,  /* all first walks of a session are compared, */
    SMP_CROSS_CHECK_EACH = 4096, /* then one in this many */
    SMP_CROSS_CHECK_REASON_BYTES = 96
};

struct smp_cross_check {
    struct smp_sample other; /* stack by JVMTI */
    uint64_t walks;
    unsigned differences; /* in a row; after one, the next walk is also compared */
    bool is_due;
    int64_t cpu_ns; /* CPU clock before the walk; -1: unknown */
    uint64_t runs;  /* number of the thread's runs before the walk; 0: unknown */
};

/* capacity: the capacity of the compared samples. */
SMP_CHECKED enum smp_status smp_cross_check_init(struct smp_cross_check *check, size_t capacity);
void smp_cross_check_fini(struct smp_cross_check *check);

/* Called before each walk from outside. */
void smp_cross_check_begin(struct smp_cross_check *check, const struct smp_thread *thread);
/* Called after each proven walk. Returns false if JVMTI's stack differs; reason says where. */
bool smp_cross_check_end(struct smp_cross_check *check, const struct smp_walker *by_jvmti,
                         struct smp_thread *thread, const struct smp_sample *sample,
                         char reason[SMP_CROSS_CHECK_REASON_BYTES]);

/* Returns whether the last two comparisons have both shown a difference. */
bool smp_cross_check_is_second(const struct smp_cross_check *check);

/* Returns whether the next walk is compared, after so many walks and differences in a row. */
bool smp_cross_check_takes(uint64_t walks, unsigned differences);
/* Counts a walk that was compared elsewhere. */
void smp_cross_check_count(bool is_different);

/* For tests: compares one of `each` walks, in all sessions and from their first walk on. */
void smp_cross_check_set_each(uint64_t each);

struct smp_cross_check_counts {
    uint64_t compared;
    uint64_t different;
};
struct smp_cross_check_counts smp_cross_check_get_counts(void);
/* For tests: copies a description of the last difference, or "" if there was none. */
void smp_cross_check_last_difference(char reason[SMP_CROSS_CHECK_REASON_BYTES]);

#endif
