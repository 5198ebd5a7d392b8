/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_chain.h - who owns the lock that a thread waits for, whose lock that owner waits for, and so
 * on to the thread that could go on.
 *
 *   waits ─► owner, who waits ─► owner, who does not      its end
 *                            └─► none, or an unknown one  a row
 *                            └─► an owner before it       a cycle (deadlocks.h)
 *
 * An owner must run before it can release a lock. So it is read again only if its CPU clock has
 * moved, or if no clock of a thread could prove that.
 *
 * Owns     the lock states of threads (struct smp_lock_state), allocated when they are needed.
 * Threads  the sampler thread only.
 * Errors   without memory for a state the thread counts as unknown.
 * Cost     read: a read by the JVM (1 to 2 us). follow: a look-up for each owner, and a read for
 *          each one that was blocked at its last poll and has run since.
 */
#ifndef SMP_ENGINE_SOURCES_LOCK_CHAIN_H
#define SMP_ENGINE_SOURCES_LOCK_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/sources/wall_state.h"

/* Makes sure that the thread has a lock state. False: no memory. */
bool smp_lock_chain_know(struct smp_wall *wall, struct smp_wall_thread *thread);
void smp_lock_chain_forget(struct smp_wall *wall, struct smp_wall_thread *thread);
/* Returns the thread with this serial, with a lock state. NULL: no such thread, or no memory. */
struct smp_wall_thread *smp_lock_chain_find(struct smp_wall *wall, uint64_t serial, size_t index);
struct smp_wall_thread *smp_lock_chain_owner(struct smp_wall *wall, struct smp_wall_thread *thread);

/* True if the thread still has the stack that its last poll found. Reads its clock once a tick. */
bool smp_lock_chain_has_not_run(const struct smp_wall *wall, struct smp_wall_thread *thread);

/* Call it when the thread has run since its last poll. is_blocked: it waits again, maybe for the
 * same lock, because JDK 17 wakes up threads at monitors once a second. */
void smp_lock_chain_anew(struct smp_wall_thread *thread, bool is_blocked);
/* Reads the owner if it is not known or may have changed. */
void smp_lock_chain_read(struct smp_wall *wall, struct smp_wall_thread *thread);
/* Asks the JVM, and changes nothing here. */
void smp_lock_chain_ask(const struct smp_wall *wall, const struct smp_wall_thread *thread,
                        struct smp_lock_owner *out);
/* Returns the class of the lock that the thread waits for; "": not known. */
const char *smp_lock_chain_class(const struct smp_wall *wall, const struct smp_wall_thread *thread);

struct smp_lock_chain_end {
    struct smp_wall_thread *holder; /* NULL: see row */
    enum smp_holder_row row;
    bool is_cycle; /* the chain leads back to the thread: holder owns the lock that it waits for */
};

struct smp_lock_chain_end smp_lock_chain_follow(struct smp_wall *wall,
                                                struct smp_wall_thread *thread);

#endif
