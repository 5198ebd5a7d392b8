/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_chain.h - follows the owner of the lock for which a thread waits, the owner of the lock for
 * which that owner waits, and so on, up to the thread that can run.
 *
 *   waits ─► owner, which waits ─► owner, which does not   the holder
 *                            └─► none, or unknown          a row
 *                            └─► an earlier owner          a cycle (deadlocks.h)
 *
 * An owner must run before it can release a lock. The owner is therefore read again only if its
 * CPU clock has moved, or if there is no clock.
 *
 * Owns     the lock states of threads (struct smp_lock_state), allocated when needed.
 * Threads  the sampler thread only.
 * Errors   without memory for its state a thread counts as unknown.
 * Cost     read: 1 to 2 us. follow: a look-up for each owner, and a read for each that was blocked
 *          at its last poll and has run since.
 */
#ifndef SMP_ENGINE_SOURCES_LOCK_CHAIN_H
#define SMP_ENGINE_SOURCES_LOCK_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/sources/wall_state.h"

/* Allocates the thread's lock state if necessary. Returns false without memory. */
bool smp_lock_chain_know(struct smp_wall *wall, struct smp_wall_thread *thread);
void smp_lock_chain_forget(struct smp_wall *wall, struct smp_wall_thread *thread);
/* Returns the thread with this serial and its lock state. NULL: no such thread, or no memory. */
struct smp_wall_thread *smp_lock_chain_find(struct smp_wall *wall, uint64_t serial, size_t index);
struct smp_wall_thread *smp_lock_chain_owner(struct smp_wall *wall, struct smp_wall_thread *thread);

/* Returns whether the thread still has the stack of its last poll. Reads its clock once a tick. */
bool smp_lock_chain_has_not_run(const struct smp_wall *wall, struct smp_wall_thread *thread);

/* Called when the thread has run since its last poll. is_blocked: it waits again, perhaps for the
 * same lock: JDK 17 wakes up threads at monitors once a second. */
void smp_lock_chain_anew(struct smp_wall_thread *thread, bool is_blocked);
/* Reads the owner if it is unknown or may have changed. */
void smp_lock_chain_read(struct smp_wall *wall, struct smp_wall_thread *thread);
/* Reads the owner without keeping it. */
void smp_lock_chain_ask(const struct smp_wall *wall, const struct smp_wall_thread *thread,
                        struct smp_lock_owner *out);
/* Returns the class of the lock for which the thread waits, or "". */
const char *smp_lock_chain_class(const struct smp_wall *wall, const struct smp_wall_thread *thread);

struct smp_lock_chain_end {
    struct smp_wall_thread *holder; /* NULL: see row */
    enum smp_holder_row row;
    bool is_cycle; /* the chain leads back to the thread, whose lock the holder owns */
};

struct smp_lock_chain_end smp_lock_chain_follow(struct smp_wall *wall,
                                                struct smp_wall_thread *thread);

#endif
