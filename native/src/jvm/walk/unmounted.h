/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unmounted.h - draws virtual threads at random, and walks those that are not mounted.
 *
 *   virtual_thread_sets ─► key_set: some threads of each ─► no carrier? ─► JVMTI's GetStackTrace
 *
 * From JDK 22 on GetStackTrace reads an unmounted virtual thread on the calling thread: only that
 * virtual thread is kept from being mounted meanwhile. Older JDKs stop for each such thread. JDKs
 * older than 25, on which this was measured, are refused.
 *
 * A thread may be mounted between the check of its carrier and the walk. Then the walk is a
 * handshake, and shows the stack of a moment later.
 *
 * Platform threads of an executor are skipped. The number of an executor's virtual threads is
 * estimated from those drawn, if it has both; the number of all others is exact.
 *
 * Owns     memory for one stack and one name; references to sets of threads. All are made at the
 *          first draw.
 * Threads  one sampler thread. destroy: any attached one.
 * Errors   create: SMP_ENOMEM. draw: as jvm.h.
 * Cost     draw: the sets' (virtual_thread_sets.h), and about 10 us for each thread walked.
 */
#ifndef SMP_JVM_WALK_UNMOUNTED_H
#define SMP_JVM_WALK_UNMOUNTED_H

#include <jni.h>
#include <stddef.h>

#include "base/status.h"
#include "engine/jvm.h"

enum {
    SMP_UNMOUNTED_OLDEST_JDK = 25,
    SMP_UNMOUNTED_SLOTS = 8192 /* of the sets' tables, read in one draw */
};

struct smp_unmounted;

/* capacity: frames of a sample, at least 2. */
SMP_CHECKED enum smp_status smp_unmounted_create(size_t capacity, struct smp_unmounted **out);
/* NULL is fine. */
void smp_unmounted_destroy(JNIEnv *env, struct smp_unmounted *unmounted);
/* Borrows unmounted. */
struct smp_virtual_threads smp_unmounted_functions(struct smp_unmounted *unmounted);

#endif
