/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_chain.h - who owns the lock that a thread waits for, whose lock that one waits for, and so
 * on to the thread that could go on.
 *
 *   waits ─► owner, who waits ─► owner, who does not                 its end
 *                            └─► no thread, or one that is not known  a row
 *                            └─► an owner before it                   a cycle (deadlocks.h)
 *
 * An owner must run before it can let go of a lock, so it is read again only where its CPU clock
 * has moved, or where there is no thread whose clock could say so.
 *
 * Owns     what is known of a thread's locks (struct smp_lock_state), made where it is needed.
 * Threads  the sampler thread only.
 * Errors   without memory for a state a thread is not known.
 * Cost     read: what the JVM takes (1 to 2 us). follow: a look-up for each owner, and a read for
 *          one that was blocked at its last poll and has run since.
 */
#ifndef SMP_ENGINE_SOURCES_LOCK_CHAIN_H
#define SMP_ENGINE_SOURCES_LOCK_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/sources/wall_state.h"

/* The thread has a state from now on. False: no memory. */
bool smp_lock_chain_know(struct smp_wall *wall, struct smp_wall_thread *thread);
void smp_lock_chain_forget(struct smp_wall *wall, struct smp_wall_thread *thread);
/* The thread with this serial, with a state; NULL: there is none, or no memory. */
struct smp_wall_thread *smp_lock_chain_find(struct smp_wall *wall, uint64_t serial, size_t index);
struct smp_wall_thread *smp_lock_chain_owner(struct smp_wall *wall, struct smp_wall_thread *thread);

/* The thread has the stack that its last poll found. Its clock is read once a tick. */
bool smp_lock_chain_has_not_run(const struct smp_wall *wall, struct smp_wall_thread *thread);

/* The thread has run since its last poll. is_blocked: it waits again, maybe for the same lock: JDK
 * 17 wakes up threads at monitors once a second. */
void smp_lock_chain_anew(struct smp_wall_thread *thread, bool is_blocked);
/* Reads the owner where it is not known, or may be another one. */
void smp_lock_chain_read(struct smp_wall *wall, struct smp_wall_thread *thread);
/* What the JVM says now, which changes nothing here. */
void smp_lock_chain_ask(const struct smp_wall *wall, const struct smp_wall_thread *thread,
                        struct smp_lock_owner *out);
/* The class of the lock that the thread waits for; "": not known. */
const char *smp_lock_chain_class(const struct smp_wall *wall, const struct smp_wall_thread *thread);

struct smp_lock_chain_end {
    struct smp_wall_thread *holder; /* NULL: the row */
    enum smp_holder_row row;
    bool is_cycle; /* it leads back to the thread: holder owns the lock that this one waits for */
};

struct smp_lock_chain_end smp_lock_chain_follow(struct smp_wall *wall,
                                                struct smp_wall_thread *thread);

#endif
