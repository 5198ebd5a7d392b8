/* SPDX-License-Identifier: Apache-2.0 */
/*
 * by_signal.h - the asynchronous walker of one session: asks running threads by signal, and
 * turns their answers into samples.
 *
 *   request ─► slot, signal ─► (thread walks itself) ─► collect ─► second look? ─► sample
 *
 * collect asks again, after some microseconds, where the thread was caught at a point that cannot
 * be walked: in a transition, while its frames are rewritten. A frame without a method id is rare,
 * see method_ids.h. One handshake with that thread makes the ids; the missing ones are taken from the
 * same depth, counted from the root, where the thread is still in the same calls. A frame that is
 * without a name even then stays in the stack as a pseudo-frame. A stack that does not reach the
 * thread's root takes it from a handshake likewise. A thread that waits inside the JVM where it
 * cannot be walked by itself is walked by a handshake, too. A deeper stack than expected is asked
 * for again with more room.
 *
 * A thread that has no CPU cannot answer in time. Its answer is kept until it is fetched
 * (take_late) or another request is made: it is where the thread was when it lost its CPU, so where
 * it waited. Every session has its own request at a thread, SMP_WALK_INFO_REQUESTS sessions at most.
 *
 * Owns     room for the answers; a mailbox.
 * Threads  create and destroy: any; the functions: one sampler thread. Until smp_async_open, and
 *          where that refuses, request is SMP_EUNSUPPORTED for every thread.
 * Errors   as jvm.h.
 * Cost     a system call and a wake-up per request; no allocation once each buffer is made.
 */
#ifndef SMP_JVM_WALK_BY_SIGNAL_H
#define SMP_JVM_WALK_BY_SIGNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/jvm.h"
#include "jvm/walk/handler/stack_walk.h"

enum {
    SMP_ASYNC_IN_FLIGHT = 64,      /* requests of a session between two collects */
    SMP_ASYNC_LATE = 256,          /* whose answer is still awaited after that; then no more */
    SMP_ASYNC_LATE_MS = 2000,      /* so long, before its room is taken for another's */
    SMP_ASYNC_FIRST_FRAMES = 512,  /* room at first, for each of them; doubled where needed */
    SMP_ASYNC_MAX_FRAMES = 65536,  /* deeper stacks are not walked */
    SMP_ASYNC_TRIES = 3,           /* at one thread in one collect */
    SMP_ASYNC_TRY_GAP_NS = 50000,  /* between two of them */
    SMP_ASYNC_STACKS_GAP_MS = 200, /* between two readings of where stacks lie, the first in vain */
    SMP_ASYNC_STACKS_REST = 20,    /* else so many times as long as it took */
    SMP_ASYNC_HANDSHAKE_FRAMES = 1024, /* looked at for ids, from the leaf */
    /* Handshakes for ids are waited for so many percent of the time, at most: on a busy machine the
     * thread has to get a CPU first. So much may be saved up, for a start with all methods new. */
    SMP_ASYNC_HANDSHAKE_PERCENT = 5,
    SMP_ASYNC_HANDSHAKE_SAVED_NS = 50000000,
    SMP_ASYNC_NAME_BYTES = 256 /* of a virtual thread's name */
};

struct smp_by_signal;

/* capacity: frames of a sample; as the JVMTI walker's, a deeper one loses its middle. signal: as
 * smp_async_open is given it. SMP_ENOMEM. */
SMP_CHECKED enum smp_status smp_by_signal_create(size_t capacity, int signal,
                                                 struct smp_by_signal **out);
/* Waits for handlers at work. NULL is fine. */
void smp_by_signal_destroy(struct smp_by_signal *walker);
/* Borrows walker. */
struct smp_async_walker smp_by_signal_functions(struct smp_by_signal *walker);

/*
 * Tells what a thread has walked for somebody else, in frames[0 .. capacity), which are used up; a
 * method without an id is cured as above. False: and it was deeper than capacity.
 */
bool smp_by_signal_deliver(struct smp_by_signal *walker, struct smp_thread *thread,
                           struct smp_jvm_frame *frames, uint32_t capacity,
                           const struct smp_walk_answer *walked, uint64_t token,
                           void (*answered)(void *context, uint64_t token, enum smp_answer answer,
                                            const struct smp_sample *sample,
                                            const struct smp_mounted_thread *mounted),
                           void *context);

/* What no answer tells; since create. */
struct smp_by_signal_stats {
    uint64_t requests;
    uint64_t raw_failures; /* of AsyncGetCallTrace alone, at first looks */
    uint64_t retries;
    uint64_t cures; /* handshakes for ids */
};
void smp_by_signal_get_stats(const struct smp_by_signal *walker, struct smp_by_signal_stats *out);

#endif
