/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_owners.h - who holds the lock that a thread waits for: the core's lock owners.
 *
 *   the Thread object says: at a monitor ─► monitor_owner.h
 *                           parked       ─► sync_owner.h
 *                           neither      ─► unread: another thread's class initialiser
 *
 * Nothing is sent to any thread, and no safepoint or handshake is needed.
 *
 * Owns     the layout of monitors, found at the first read, kept for good.
 * Threads  any attached one.
 * Errors   UNREAD.
 * Cost     see the two.
 */
#ifndef SMP_JVM_LOCKS_LOCK_OWNERS_H
#define SMP_JVM_LOCKS_LOCK_OWNERS_H

#include "engine/jvm.h"

struct smp_lock_owners smp_jvm_lock_owners(void);

/* Are owners of monitors read? Finds the layout, the first time. */
bool smp_jvm_lock_owners_reads_monitors(void);

#endif
