/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside.h - walks threads that wait, from the sampler thread, without disturbing them; those
 * for which that fails are walked by JVMTI.
 *
 *   walk_outside ─► proven_walk.h ─┬ proven, each method has an id or its names ─► the sample
 *                                  └ else ─► (the engine) walk ─► by_jvmti.h, which makes the ids
 *
 * The names of methods without an id are copied by each walk, so inside the proof.
 *
 * A handshake costs five to eight times as much, and on JDK 25 it stalls all virtual threads
 * meanwhile.
 *
 * This is the engine OWN's walk of waiting threads (async.h). After two differences in a row from
 * JVMTI's stacks another engine takes its place, for running threads as well.
 *
 * Owns     a walker: memory for two stacks, for the words of one, and SMP_OUTSIDE_NAMES_BYTES
 *          for names.
 * Threads  open, close: any attached one, as once.h. A walker: one sampler thread.
 * Errors   open: none. create: SMP_ENOMEM.
 * Cost     a walk of 64 frames: 1.1 to 2.1 us. open: one pass over the JVM's list of fields.
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
    SMP_OUTSIDE_TRIES = 2,              /* of one walk, where the thread has run meanwhile */
    SMP_OUTSIDE_NAMES_BYTES = 16 * 1024 /* of methods without an id, in one walk */
};

/* After smp_async_open, whether that succeeded or not; close before smp_async_close. */
void smp_outside_open(void);
void smp_outside_close(void);

bool smp_outside_is_usable(void);

/* Hook of agent.h: no walk begins from here on. Waits for those under way. */
void smp_outside_vm_dies(void);

struct smp_outside;

/* capacity: frames of a sample, at least 2. how: NULL, or the walk of a test; constant. */
SMP_CHECKED enum smp_status smp_outside_create(size_t capacity, const struct smp_proven_walk *how,
                                               struct smp_outside **out);
/* As smp_by_signal_name_by. Without this call JVMTI walks such stacks. */
void smp_outside_name_by(struct smp_outside *walker, struct smp_named_methods *named);
/* NULL is fine. */
void smp_outside_destroy(struct smp_outside *walker);
/* Borrows walker. */
struct smp_walker smp_outside_functions(struct smp_outside *walker);

/* How many walks of this walker ended with this proof. */
uint64_t smp_outside_count(const struct smp_outside *walker, enum smp_proof proof);

#endif
