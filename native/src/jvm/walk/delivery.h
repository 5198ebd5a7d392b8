/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delivery.h - converts a finished walk to a sample in place, and delivers it to the core. A
 * handshake completes some walks:
 *
 *   a method without an id (rare, see method_ids.h): our own walk copies its name. If there was no
 *     room for the copy, or with AsyncGetCallTrace, a handshake creates the ids. They are taken
 *     from the same depth, counted from the root, if the thread is still in the same calls.
 *     Otherwise the frame becomes a pseudo-frame.
 *   a thread that waits in the JVM, on a frame that cannot be walked asynchronously: the stack by a
 *     handshake is delivered, which is the same as long as the thread waits.
 *
 * Owns     the state of its handshakes, a buffer for the name of a virtual thread.
 * Threads  one sampler thread.
 * Errors   the outcomes of jvm.h.
 * Cost     O(frames), and a handshake if one is needed.
 */
#ifndef SMP_JVM_WALK_DELIVERY_H
#define SMP_JVM_WALK_DELIVERY_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/jvm.h"
#include "handler/walk_data.h"
#include "hotspot/thread_layout.h"
#include "jvm/code/named_methods.h"
#include "jvm/walk/handshakes.h"
#include "jvm/walk/mounted_check.h"

enum { SMP_DELIVERY_NAME_BYTES = 256 /* of a virtual thread's name */ };

struct smp_delivery {
    size_t capacity; /* frames of a sample; a deeper stack loses its middle frames */
    struct smp_jvm_states states;
    struct smp_handshakes handshakes;
    struct smp_named_methods *named; /* NULL: copied method names are not used */
    struct smp_mounted_check mounted_check;
    char name[SMP_DELIVERY_NAME_BYTES];
};

/* The receiver, as in smp_async_walker.collect. */
struct smp_delivery_to {
    smp_on_answer *answered;
    void *context;
};

/* A finished walk. */
struct smp_walked {
    struct smp_thread *thread;
    uint64_t token;
    struct smp_jvm_frame *frames; /* overwritten by the delivery */
    uint32_t capacity;
    const struct smp_walk_answer *answer;
    jobject mounted; /* its virtual thread; NULL: none, or unknown */
    bool is_retried;
    bool is_late; /* the thread may have no CPU for a handshake */
};

/* Delivers an answer without a stack. */
void smp_delivery_none(uint64_t token, enum smp_answer answer, struct smp_delivery_to to);
/* Delivers a walk that has frames. */
void smp_delivery_stack(struct smp_delivery *delivery, JNIEnv *env, const struct smp_walked *walked,
                        struct smp_delivery_to to);
/* Called if a walk has no frames. Returns true if the thread waits in the JVM or in native code
 * and a stack by a handshake was delivered. */
bool smp_delivery_waiting(struct smp_delivery *delivery, const struct smp_walked *walked,
                          struct smp_delivery_to to);

/* Steps of a delivery. They do not allocate. */

/* In place: sample->frames becomes frames + answer->first. A frame without an id gets key 0. */
void smp_walked_sample_make(struct smp_jvm_frame *frames, const struct smp_walk_answer *answer,
                            struct smp_sample *sample);
bool smp_walked_sample_is_missing(const struct smp_sample *sample);
/*
 * Fills in missing keys from another walk of the same thread: from frames at the same depth, from
 * the root up to the first different call. Returns true if no key is missing any more.
 */
bool smp_walked_sample_fill(struct smp_sample *sample, const struct smp_frame *other, size_t count);
/* Replaces frames without a key by pseudo-frames of SMP_METHODS_NO_ID. */
void smp_walked_sample_keep_nameless(struct smp_sample *sample);
/* Removes the middle of a stack that is deeper than capacity, which is at least 2. */
void smp_walked_sample_cut(struct smp_sample *sample, size_t capacity);

#endif
