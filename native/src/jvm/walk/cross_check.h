/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cross_check.h - compares walks from outside with JVMTI's: the first walks of each session, then a
 * sample of them.
 *
 *   runs, CPU clock ─► walk from outside ─► JVMTI ─► CPU clock, runs
 *   neither has moved: the two stacks must be equal
 *
 * The clock shows that the thread runs. But a kernel may subtract the time of interrupts or of the
 * host, and then a short run costs nothing; so the number of the thread's runs is compared, too.
 *
 * Frames are equal if they are of the same method (code/same_method.h), at the same byte code.
 * Deep stacks are compared at their leaf end only. Two differences in a row mean that we misread
 * this JVM: our own walks end, in handlers as well (smp_hotspot_refuse), and the engine's name says
 * why.
 *
 * Owns     a check: memory for one stack. The process: how often, and two counts.
 * Threads  a check: one sampler thread. The rest: any.
 * Errors   init: SMP_ENOMEM. If the thread ran meanwhile the next walk is compared instead.
 * Cost     a handshake, and two files of /proc; on average nothing.
 */
#ifndef SMP_JVM_WALK_CROSS_CHECK_H
#define SMP_JVM_WALK_CROSS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/jvm.h"

enum {
    SMP_CROSS_CHECK_FIRST = 64,  /* walks of a session, all compared; */
    SMP_CROSS_CHECK_EACH = 4096, /* then one in so many */
    SMP_CROSS_CHECK_REASON_BYTES = 96
};

struct smp_cross_check {
    struct smp_sample other; /* JVMTI's */
    uint64_t walks;
    unsigned differences; /* in a row; after one the next walk is compared as well */
    bool is_due;
    int64_t cpu_ns; /* the thread's clock before the walk; -1: not known */
    uint64_t runs;  /* of the thread, before the walk; 0: not known */
};

/* capacity: of the samples that are compared. */
SMP_CHECKED enum smp_status smp_cross_check_init(struct smp_cross_check *check, size_t capacity);
void smp_cross_check_fini(struct smp_cross_check *check);

/* Before each walk from outside. */
void smp_cross_check_begin(struct smp_cross_check *check, const struct smp_thread *thread);
/* After one that was proven. False: JVMTI's stack is another one; reason says where they differ. */
bool smp_cross_check_end(struct smp_cross_check *check, const struct smp_walker *by_jvmti,
                         struct smp_thread *thread, const struct smp_sample *sample,
                         char reason[SMP_CROSS_CHECK_REASON_BYTES]);

/* Did the comparison before the last one show a difference, too? */
bool smp_cross_check_is_second(const struct smp_cross_check *check);

/* Is the next walk compared, after so many walks and differences in a row? */
bool smp_cross_check_takes(uint64_t walks, unsigned differences);
/* Counts a walk that was compared elsewhere. */
void smp_cross_check_count(bool is_different);

/* For tests: compares one walk in each from now on, in all sessions, from the first walk on. */
void smp_cross_check_set_each(uint64_t each);

struct smp_cross_check_counts {
    uint64_t compared;
    uint64_t different;
};
struct smp_cross_check_counts smp_cross_check_get_counts(void);
/* For tests: how the two stacks of the last difference differed; "": there was none. */
void smp_cross_check_last_difference(char reason[SMP_CROSS_CHECK_REASON_BYTES]);

#endif
