/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handshakes.h - makes and budgets the handshakes of one session that complete asynchronous walks.
 *
 * On a busy machine a handshake waits until its thread gets a CPU, and the sampler polls no other
 * thread meanwhile. Therefore handshakes may use only a percentage of the time. Unused time is
 * saved up to a limit, for program starts, when all methods are new. Handshakes with running
 * threads would stall virtual threads, so if those are in use, walk makes none; make_ids is used
 * instead.
 *
 * Owns     memory for one stack, allocated at the first handshake.
 * Threads  one sampler thread.
 * Errors   false: the budget is used up, or the JVM refuses.
 * Cost     walk: 0.5 us for each frame, and the time until the thread reaches a safepoint.
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
    SMP_HANDSHAKES_PERCENT = 5, /* maximum share of the time */
    SMP_HANDSHAKES_SAVED_NS = 50000000,
    SMP_HANDSHAKES_FRAMES = 1024, /* room in addition to twice the expected frames */
    SMP_HANDSHAKES_MOST = 8192    /* maximum frames of a walk (4 ms) */
};

struct smp_handshakes {
    struct smp_frame *frames;
    size_t capacity;
    int64_t saved_ns;   /* remaining budget; negative: overdrawn */
    int64_t counted_ns; /* the time of saved_ns */
};

void smp_handshakes_init(struct smp_handshakes *handshakes);
void smp_handshakes_fini(struct smp_handshakes *handshakes);

/* Gets the whole stack of a thread that has about this number of frames, and creates the ids of
 * its methods. *out is valid until the next call. Returns false also for a much deeper stack. */
bool smp_handshakes_walk(struct smp_handshakes *handshakes, jobject thread, size_t frames,
                         struct smp_sample *out);
/* If virtual threads are in use, creates the ids of all loaded methods for the next walks. */
bool smp_handshakes_make_ids(struct smp_handshakes *handshakes, JNIEnv *env);

#endif
