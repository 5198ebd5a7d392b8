/* SPDX-License-Identifier: Apache-2.0 */
/*
 * by_signal.h - the asynchronous walker of one session: requests walks from running threads by
 * signal, and delivers them. Walks threads in native code on the sampler thread, without a signal.
 *
 *   request ─► slot ┬ signal ─► (thread walks itself) ─► collect ─► another try? ─► delivery.h
 *                   └ native_walk.h ──────────────────────►┘
 *
 * collect retries after some microseconds if the thread could not be walked where it was, such as
 * in a state transition, or with a larger buffer if the stack was too deep.
 *
 * A thread without a CPU cannot answer in time. Its late walk, which shows where it lost its CPU,
 * is kept until take_late or the next request. Up to SMP_WALK_INFO_REQUESTS sessions can have a
 * request at the same thread.
 *
 * If the handler of another library has taken the signal, no answer comes. A late request is
 * therefore abandoned when its thread has run for SMP_ASYNC_TAKEN_MS, and repeated.
 *
 * Native code may block the signal. The signal mask of a thread that has not answered in time is
 * read. If our signal is blocked, the request is abandoned, and the thread gets no request until
 * it has unblocked the signal.
 *
 * Owns     the buffers of frames, a buffer for the words of one stack, a mailbox.
 * Threads  create, destroy: any. The functions: one sampler thread.
 * Errors   as in jvm.h. request returns SMP_EUNSUPPORTED unless smp_async_open has succeeded.
 * Cost     a request: a system call and a wake-up, or a walk. No allocation once all buffers
 *          exist.
 */
#ifndef SMP_JVM_WALK_BY_SIGNAL_H
#define SMP_JVM_WALK_BY_SIGNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/jvm.h"
#include "jvm/walk/delivery.h"

enum {
    SMP_ASYNC_IN_FLIGHT = 64,     /* requests of a session between two collects */
    SMP_ASYNC_LATE = 256,         /* late requests; above that the oldest are abandoned */
    SMP_ASYNC_LATE_MS = 2000,     /* minimum time that a late request is kept */
    SMP_ASYNC_TAKEN_MS = 500,     /* CPU time after which an unanswered signal counts as lost */
    SMP_ASYNC_MASK_MS = 1000,     /* minimum time between two readings of a signal mask */
    SMP_ASYNC_FIRST_FRAMES = 512, /* initial capacity of a buffer; doubled as needed */
    SMP_ASYNC_TRIES = 3,          /* for one thread in one collect */
    SMP_ASYNC_TRY_GAP_NS = 50000  /* pause between two tries */
};

struct smp_by_signal;

/* capacity: frames of a sample, at least 2. signal: as in smp_async_open. SMP_EINVAL,
 * SMP_ENOMEM. */
SMP_CHECKED enum smp_status smp_by_signal_create(size_t capacity, int signal,
                                                 struct smp_by_signal **out);
/* Methods without an id get keys of named, from the names that walks copy. named must outlive
 * walker. Without this call such frames have no names. */
void smp_by_signal_name_by(struct smp_by_signal *walker, struct smp_named_methods *named);
/* Waits for running handlers. walker may be NULL. */
void smp_by_signal_destroy(struct smp_by_signal *walker);
/* Borrows walker. */
struct smp_async_walker smp_by_signal_functions(struct smp_by_signal *walker);

/* Delivers a walk of a CPU timer. env is the calling thread's, or NULL while the JVM shuts down.
 * Returns false if the buffer was too small for the whole stack. */
bool smp_by_signal_deliver(struct smp_by_signal *walker, JNIEnv *env,
                           const struct smp_walked *walked, struct smp_delivery_to to);
/* The next larger buffer capacity: twice the room, up to what a sample needs. */
uint32_t smp_by_signal_more_room(const struct smp_by_signal *walker, uint32_t room);

#endif
