/* SPDX-License-Identifier: Apache-2.0 */
/*
 * by_signal.h - the asynchronous walker of one session: requests walks from running threads by
 * signal, and delivers them. It walks threads in native code itself and sends them no signal.
 *
 *   request ─► slot ┬ signal ─► (thread walks itself) ─► collect ─► another try? ─► delivery.h
 *                   └ native_walk.h ──────────────────────►┘
 *
 * collect tries again, after some microseconds, if the thread was caught where it cannot be walked:
 * in a transition, say, or while its frames are rewritten. If the stack was deeper than expected it
 * tries again with more room.
 *
 * A thread that has no CPU cannot answer in time. Its walk is kept until it is taken (take_late) or
 * another request is made. It shows where the thread lost its CPU, so where it waited. Up to
 * SMP_WALK_INFO_REQUESTS sessions have a request each at a thread.
 *
 * If another library's handler has taken the signal, no answer comes. So a late request of a thread
 * that has run for SMP_ASYNC_TAKEN_MS meanwhile is given up, and the thread gets another one.
 *
 * Native code may block the signal. If a thread has not answered in time, its blocked signals are
 * read. If ours is one of them the request is given up, and the thread gets no request until it has
 * unblocked the signal.
 *
 * Owns     the buffers of frames; room for the words of one stack; a mailbox.
 * Threads  create and destroy: any; the functions: one sampler thread.
 * Errors   as jvm.h. Until smp_async_open, and if that refuses, request returns SMP_EUNSUPPORTED.
 * Cost     a system call and a wake-up, or a walk, per request; no allocation once each buffer is
 *          made.
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
    SMP_ASYNC_IN_FLIGHT = 64, /* requests of a session between two collects */
    SMP_ASYNC_LATE = 256,     /* requests that are late; then the oldest are given up */
    SMP_ASYNC_LATE_MS = 2000, /* a late request is kept so long at least */
    SMP_ASYNC_TAKEN_MS = 500, /* CPU time after which a signal without an answer is lost */
    SMP_ASYNC_MASK_MS = 1000, /* least time between two readings of a thread's blocked signals */
    SMP_ASYNC_FIRST_FRAMES = 512, /* room of a request at first; doubled if needed */
    SMP_ASYNC_TRIES = 3,          /* at one thread in one collect */
    SMP_ASYNC_TRY_GAP_NS = 50000  /* between two of them */
};

struct smp_by_signal;

/* capacity: frames of a sample, at least 2. signal: as in smp_async_open. SMP_EINVAL,
 * SMP_ENOMEM. */
SMP_CHECKED enum smp_status smp_by_signal_create(size_t capacity, int signal,
                                                 struct smp_by_signal **out);
/* Names of methods without an id, as walks have copied them, become keys of named, which outlives
 * walker. Without this call such frames have no names. */
void smp_by_signal_name_by(struct smp_by_signal *walker, struct smp_named_methods *named);
/* Waits for handlers that walk. NULL is fine. */
void smp_by_signal_destroy(struct smp_by_signal *walker);
/* Borrows walker. */
struct smp_async_walker smp_by_signal_functions(struct smp_by_signal *walker);

/* Delivers a thread's walk for a CPU timer. env: of the calling thread; NULL: the JVM shuts down.
 * False: with more room the walk may have more frames. */
bool smp_by_signal_deliver(struct smp_by_signal *walker, JNIEnv *env,
                           const struct smp_walked *walked, struct smp_delivery_to to);
/* Room for the walks after one that had this much: twice that, up to what a sample needs. */
uint32_t smp_by_signal_more_room(const struct smp_by_signal *walker, uint32_t room);

#endif
