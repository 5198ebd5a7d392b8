/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tids.h - which OS thread is which Java thread, for threads older than the library.
 *
 * JVMTI reads a Java thread's CPU time, the system that of each OS thread: it is the same clock.
 * Read before and after, the system's two values enclose the JVM's if the two threads are one; for
 * a blocked thread all three are equal to the nanosecond.
 *
 *   OS thread's clock ≤ Java thread's clock ≤ OS thread's clock      for the right one, always
 *
 * So the right OS thread is never excluded, and once all others are, it is found. A match counts
 * only if it is the only one among all OS threads and holds in a second, closer reading, in which
 * the Java thread still lives. All others stay unknown (0), to be tried again later.
 *
 * Threads that did the same and are parked may have used the same CPU time to the nanosecond: of
 * ten thousand alike, a third. For these the JVM's own record of the tid is read, a hint from an
 * unsupported place. It is used only if it agreed for every thread that was found by the clocks,
 * and if the clocks do not exclude it.
 *
 * Threads  any; whatever the clocks allow.
 * Errors   SMP_ENOMEM. each: also SMP_EUNSUPPORTED, if the system has no list.
 * Cost     three clock readings per OS thread and Java thread, and a sort.
 */
#ifndef SMP_JVM_THREADS_TIDS_H
#define SMP_JVM_THREADS_TIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* thread is an index. Both return false if there is no such thread, or it has ended. */
struct smp_tid_clocks {
    bool (*os_thread_ns)(void *self, int32_t tid, int64_t *out);
    bool (*thread_ns)(void *self, size_t thread, int64_t *out);
    /* A hint of the thread's tid; 0: there is none. May be NULL. */
    int32_t (*hint)(void *self, size_t thread);
    void *self;
};

enum {
    SMP_TIDS_MAX_CANDIDATES = 16, /* for one thread, after the first reading */
    SMP_TIDS_HINTS_AGREED = 4     /* hints that were right, before one is taken */
};

/* tids[0 .. tid_count): every OS thread that may be one. out[i]: the tid of thread i, or 0. */
SMP_CHECKED enum smp_status smp_tids_match(const struct smp_tid_clocks *clocks, const int32_t *tids,
                                           size_t tid_count, size_t thread_count, int32_t *out);

/* Calls visit with the tid of each thread of this process, until one returns false for lack of
 * memory. */
SMP_CHECKED enum smp_status smp_tids_each(bool (*visit)(void *context, int32_t tid), void *context);

#endif
