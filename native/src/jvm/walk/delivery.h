/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delivery.h - delivers what a thread has walked to the core: frames become a sample, in place,
 * completed by a handshake if that helps.
 *
 *   a method without an id (rare, see method_ids.h)   our own walk has copied its name. The copy is
 *                                                     missing if there was no room for it, and
 *                                                     AsyncGetCallTrace copies none: then one
 *                                                     handshake makes the ids. They are taken from
 *                                                     the same depth, counted from the root, if the
 *                                                     thread is still in the same calls. Else the
 *                                                     frame is a pseudo-frame
 *   a thread that waits inside the JVM, on a frame    the handshake's stack: it is the same as long
 *   that cannot be walked asynchronously              as the thread waits
 *
 * Owns     its handshakes, and the text of a virtual thread's name.
 * Threads  one sampler thread.
 * Errors   outcomes of jvm.h.
 * Cost     O(frames), and the handshake.
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
    size_t capacity; /* frames of a sample; a deeper stack loses its middle */
    struct smp_jvm_states states;
    struct smp_handshakes handshakes;
    struct smp_named_methods *named; /* NULL: copied names of methods are not used */
    struct smp_mounted_check mounted_check;
    char name[SMP_DELIVERY_NAME_BYTES];
};

/* The receiver, as of smp_async_walker's collect. */
struct smp_delivery_to {
    smp_on_answer *answered;
    void *context;
};

/* A finished walk. */
struct smp_walked {
    struct smp_thread *thread;
    uint64_t token;
    struct smp_jvm_frame *frames; /* [0 .. capacity), used up by the delivery */
    uint32_t capacity;
    const struct smp_walk_answer *answer;
    jobject mounted; /* the virtual thread that was on it; NULL: none, or not known */
    bool is_retried;
    bool is_late; /* the thread has no CPU for a handshake */
};

/* Delivers an answer without a stack. */
void smp_delivery_none(uint64_t token, enum smp_answer answer, struct smp_delivery_to to);
/* Delivers a walk that has frames. */
void smp_delivery_stack(struct smp_delivery *delivery, JNIEnv *env, const struct smp_walked *walked,
                        struct smp_delivery_to to);
/* There is no whole stack. True: the thread waits in the JVM or in native code, and a handshake's
 * stack is delivered. */
bool smp_delivery_waiting(struct smp_delivery *delivery, const struct smp_walked *walked,
                          struct smp_delivery_to to);

/* Steps of a delivery. The sample takes the place of the frames: none of them allocates. */

/* In place: sample->frames is frames + answer->first. A frame without a method id gets key 0. */
void smp_walked_sample_make(struct smp_jvm_frame *frames, const struct smp_walk_answer *answer,
                            struct smp_sample *sample);
bool smp_walked_sample_is_missing(const struct smp_sample *sample);
/*
 * Fills missing keys from another walk of the same thread, at the same depth from the root, as far
 * as the two stacks are equal, call for call. True: no key is missing any more.
 */
bool smp_walked_sample_fill(struct smp_sample *sample, const struct smp_frame *other, size_t count);
/* Frames whose keys are missing become pseudo-frames of SMP_METHODS_NO_ID: the others keep their
 * places. */
void smp_walked_sample_keep_nameless(struct smp_sample *sample);
/* Keeps both ends of a stack deeper than capacity, which is at least 2. */
void smp_walked_sample_cut(struct smp_sample *sample, size_t capacity);

#endif
