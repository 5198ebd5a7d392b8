/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handshakes.h - the handshakes of one session that complete asynchronous walks, and how much time
 * they may take.
 *
 * On a busy machine a handshake waits until its thread gets a CPU, and the sampler polls no other
 * thread meanwhile. So handshakes get a percentage of the time. Time that they do not use is saved,
 * up to a limit, for a start at which all methods are new. If virtual threads are in use a
 * handshake with a running thread would stall them: walk makes none, and make_ids takes its place.
 *
 * Owns     memory for one stack, made at the first handshake.
 * Threads  one sampler thread.
 * Errors   false: not allowed now, or refused.
 * Cost     walk: 0.5 us a frame, and as long as the thread takes to reach its next safepoint.
 *          make_ids: as smp_method_ids_make_all.
 */
#ifndef SMP_JVM_WALK_HANDSHAKES_H
#define SMP_JVM_WALK_HANDSHAKES_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/sample.h"

enum {
    SMP_HANDSHAKES_PERCENT = 5, /* of the time, at most */
    SMP_HANDSHAKES_SAVED_NS = 50000000,
    SMP_HANDSHAKES_FRAMES = 1024, /* room beyond twice the frames that are expected */
    SMP_HANDSHAKES_MOST = 8192    /* most frames of a walk: 4 ms */
};

struct smp_handshakes {
    struct smp_frame *frames;
    size_t capacity;
    int64_t saved_ns;   /* may be spent; negative: overdrawn */
    int64_t counted_ns; /* the time up to which saved_ns is counted */
};

void smp_handshakes_init(struct smp_handshakes *handshakes);
void smp_handshakes_fini(struct smp_handshakes *handshakes);

/* The whole stack of a thread, about so many frames deep, valid until the next call; the ids of its
 * methods are made. False also for a much deeper stack. */
bool smp_handshakes_walk(struct smp_handshakes *handshakes, jobject thread, size_t frames,
                         struct smp_sample *out);
/* If virtual threads are in use, makes the ids of all loaded methods, for the next walks. */
bool smp_handshakes_make_ids(struct smp_handshakes *handshakes, JNIEnv *env);

#endif
