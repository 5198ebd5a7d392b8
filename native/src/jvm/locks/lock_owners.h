/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_owners.h - implements smp_lock_owners: finds the owner of the lock that a thread waits for.
 *
 *   status of the Thread: blocked ─► monitor_owner.h
 *                         parked  ─► sync_owner.h
 *                         neither ─► unknown: it waits for a class initialiser
 *
 * Needs no signal, handshake or safepoint.
 *
 * Owns     the layout of monitors, found at the first read and kept for ever.
 * Threads  any attached thread.
 * Errors   SMP_OWNER_UNKNOWN, SMP_OWNER_UNREAD.
 * Cost     see the two headers.
 */
#ifndef SMP_JVM_LOCKS_LOCK_OWNERS_H
#define SMP_JVM_LOCKS_LOCK_OWNERS_H

#include "engine/jvm.h"

struct smp_lock_owners smp_jvm_lock_owners(void);

/* Returns whether owners of monitors can be read. The first call finds the layout. */
bool smp_jvm_lock_owners_reads_monitors(void);

#endif
