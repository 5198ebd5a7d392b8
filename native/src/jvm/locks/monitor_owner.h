/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor_owner.h - which thread owns the monitor that another one waits for, read from outside.
 *
 *     CPU clock of the waiting thread (the caller has read it)
 *   behind its gate: its monitor ─► owner's word, object ─► the owner: by id, address, stack,
 *   behind its gate: the same monitor ─► CPU clock                    or in a lock stack
 *
 * A monitor is not freed while a thread waits for it, but the thread may stop waiting between two
 * reads. So the monitor is read by safe reads, and the result counts only if the thread has not run
 * meanwhile. Nothing is sent to any thread.
 *
 * A monitor that was locked before a thread waited for it has an anonymous owner until the owner
 * leaves it. Then the object is in the owner's lock stack, or in none if the owner is a virtual
 * thread that is not mounted. Objects move in safepoints, with ZGC after them, so no safepoint may
 * have begun between the two reads.
 *
 * Threads  any attached one; the waiting thread is another one, held by the caller.
 * Errors   UNREAD.
 * Cost     1 to 2 us: two safe reads and a clock; an anonymous owner takes some loads more for each
 *          thread; the first read of a wait also reads the name of the lock's class, five safe
 *          reads.
 */
#ifndef SMP_JVM_LOCKS_MONITOR_OWNER_H
#define SMP_JVM_LOCKS_MONITOR_OWNER_H

#include <stdint.h>

#include "engine/jvm.h"
#include "hotspot/monitor_layout.h"

/* The JVM's layout that a reading needs. */
struct smp_monitor_reader {
    struct smp_monitor_layout layout;
    const uint64_t *safepoints; /* safepoint_count.h; NULL: anonymous owners are not read */
};

/* The thread waits to enter a monitor, or to get it back after Object.wait. cpu_ns: its CPU clock;
 * negative: the caller has not read it. */
void smp_monitor_owner_read(const struct smp_monitor_reader *reader, struct smp_thread *waiter,
                            int64_t cpu_ns, struct smp_lock_owner *out);

#endif
