/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor_owner.h - reads from memory which thread owns the monitor that another one waits for.
 *
 *     CPU clock of the waiting thread (the caller has read it)
 *   behind its gate: its monitor ─► owner's word, object ─► the owner: by id, address, stack,
 *   behind its gate: the same monitor ─► CPU clock                    or in a lock stack
 *
 * A monitor is not freed while a thread waits for it, but the thread may stop waiting at any time.
 * The monitor is therefore read with safe reads, and the result counts only if the thread has not
 * run meanwhile.
 *
 * A monitor that was locked before a thread waited for it has an anonymous owner until the owner
 * unlocks it. The owner is then the thread whose lock stack contains the object; if there is none,
 * the owner is an unmounted virtual thread. Objects move at safepoints (with ZGC after them), so
 * no safepoint may begin between the two reads.
 *
 * Threads  any attached thread but the waiting one, which the caller holds.
 * Errors   SMP_OWNER_UNREAD.
 * Cost     1 to 2 us: safe reads of the monitor and of the name of the lock's class, and a clock.
 *          An anonymous owner: also some loads for each thread.
 */
#ifndef SMP_JVM_LOCKS_MONITOR_OWNER_H
#define SMP_JVM_LOCKS_MONITOR_OWNER_H

#include <stdint.h>

#include "engine/jvm.h"
#include "hotspot/monitor_layout.h"

/* The JVM's layout for reading a monitor. */
struct smp_monitor_reader {
    struct smp_monitor_layout layout;
    const uint64_t *safepoints; /* safepoint_count.h; NULL: anonymous owners are not read */
};

/* The waiter enters a monitor, or re-enters it after Object.wait. cpu_ns is its CPU clock, or
 * negative if the caller has not read it. */
void smp_monitor_owner_read(const struct smp_monitor_reader *reader, struct smp_thread *waiter,
                            int64_t cpu_ns, struct smp_lock_owner *out);

#endif
