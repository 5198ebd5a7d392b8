/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside.h - walks waiting threads from the sampler thread without disturbing them. If such a
 * walk fails, JVMTI walks the thread.
 *
 *   walk_outside ─► proven_walk.h ─┬ proven, and all methods have ids or names ─► the sample
 *                                  └ else ─► (the engine) walk ─► by_jvmti.h, creates the ids
 *
 * The walk itself copies the names of methods without an id, so the proof covers them.
 *
 * A handshake costs five to eight times as much, and on JDK 25 it stalls all virtual threads.
 *
 * This walk belongs to the engine OWN (async.h). After two consecutive differences from JVMTI's
 * stacks another engine is used, also for running threads.
 *
 * Owns     a walker: memory for two stacks, for the words of one stack, and for names.
 * Threads  open, close: any attached thread, see once.h. A walker: one sampler thread.
 * Errors   create: SMP_ENOMEM.
 * Cost     a walk of 64 frames: 1.1 to 2.1 us.
 */
#ifndef SMP_JVM_WALK_OUTSIDE_H
#define SMP_JVM_WALK_OUTSIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "engine/jvm.h"
#include "hotspot/layout.h"
#include "jvm/code/named_methods.h"
#include "jvm/walk/proven_walk.h"

enum {
    SMP_OUTSIDE_TRIES = 2,              /* tries of a walk, if the thread has run meanwhile */
    SMP_OUTSIDE_NAMES_BYTES = 16 * 1024 /* names of methods without an id, in one walk */
};

/* Called after smp_async_open, even if that has failed. close is called before smp_async_close. */
void smp_outside_open(void);
void smp_outside_close(void);

bool smp_outside_is_usable(void);

/* Hook of agent.h: no walk begins from here on. Waits for running walks. */
void smp_outside_vm_dies(void);

struct smp_outside;

/* capacity is the number of frames of a sample, at least 2. how is NULL, or the walk of a test. */
SMP_CHECKED enum smp_status smp_outside_create(size_t capacity, const struct smp_proven_walk *how,
                                               struct smp_outside **out);
/* Like smp_by_signal_name_by. Without this call JVMTI walks stacks with such methods. */
void smp_outside_name_by(struct smp_outside *walker, struct smp_named_methods *named);
/* walker may be NULL. */
void smp_outside_destroy(struct smp_outside *walker);
/* Borrows walker. */
struct smp_walker smp_outside_functions(struct smp_outside *walker);

/* Returns the number of walks of this walker with this result. */
uint64_t smp_outside_count(const struct smp_outside *walker, enum smp_proof proof);

#endif
