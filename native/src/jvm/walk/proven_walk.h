/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proven_walk.h - reads the stack of another thread, and proves that the stack stood still
 * meanwhile. Nothing is sent to the thread, and it is not held up.
 *
 *     CPU clock (the caller has read it)
 *   enter the gates
 *     state, anchor ─► walk ─► all words that it read, again ─► anchor, state ─► CPU clock
 *   leave them      the same state, anchor, words and clock? ─► proven
 *
 *   watched: the same without the clock, and words, anchor and state again and again for a time
 *
 * A thread in native code, or blocked in the JVM, has left the stack pointer of its last Java frame
 * in its thread object: the anchor. A thread whose CPU clock has not moved has not run, so the
 * words that were read are its stack. The clock alone is no proof on every kernel: if the kernel
 * subtracts the time of interrupts, a short run may cost nothing. Two equal readings alone are no
 * proof, because two stacks may take turns. Clock and readings together are a proof. A second walk
 * would read the same words and find the same frames, so only the words are read again. Method ids
 * are read during the walk, so their methods are in use, and cannot be unloaded meanwhile.
 *
 * A thread that runs native code cannot change its Java frames before it returns to Java. It is
 * watched, because it might return, run Java code and make the same call again. To go unnoticed, it
 * would have to do so between the same two words in each of at least a dozen rounds.
 *
 * Words that were read while the thread ran may be anything. They are not followed beyond the
 * thread's stack and the safe reads of hotspot, and are not kept.
 *
 * Threads  any; the thread itself is another one.
 * Errors   see smp_proof.
 * Cost     a walk, and a reading of a CPU clock (0.2 to 0.4 us); two where the caller has none. A
 *          watched thread: the time it is watched for.
 */
#ifndef SMP_JVM_WALK_PROVEN_WALK_H
#define SMP_JVM_WALK_PROVEN_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "hotspot/frames.h"
#include "hotspot/thread_layout.h"
#include "jvm/threads/registry.h"

enum {
    SMP_PROVEN_WORDS = 64 * 1024 /* room for words: half of 1 MB, most Java stacks' size */
};

enum smp_proof {
    SMP_PROOF_PROVEN,     /* the stack is the thread's; count 0: it has no Java frames */
    SMP_PROOF_NO_CLOCK,   /* its tid is not known, or there is no such thread any more */
    SMP_PROOF_ENDED,      /* the thread ends, or the JVM does */
    SMP_PROOF_UNSURE,     /* the thread may have ended before it was known (gate.h) */
    SMP_PROOF_NO_STACK,   /* it is not known where its stack lies */
    SMP_PROOF_IN_JAVA,    /* it runs Java, or is on its way to or from there */
    SMP_PROOF_UNWALKABLE, /* a frame was not understood */
    SMP_PROOF_HAS_RUN,    /* between the first reading and the last one */
    SMP_PROOF_LATE,       /* the thread waited for this walk too long, and went on */
    SMP_PROOF_COUNT
};

/* How to walk in this JVM. */
struct smp_proven_walk {
    struct smp_jvm_layout layout;
    void (*walk)(void *self, struct smp_frames_start start, uintptr_t stack_high,
                 struct smp_frames *out);
    void (*confirm)(void *self, const struct smp_frames *frames); /* once it is proven, or NULL */
    void *self;
};

/* A walk of one thread. */
struct smp_thread_walk {
    /* 0: the thread's CPU clock must not move. Else the thread may run, but must stay in native
     * code for so long; tid and clock are not used then. */
    int64_t watched_ns;
    bool is_native; /* refuses a thread that is neither in native code nor blocked */
    int32_t tid;
    /* In: its CPU clock, as the caller has read it; negative: not read. Out: the last reading. */
    int64_t cpu_ns;
    struct smp_frames frames; /* as smp_frames_walk's, with room for words */
};

/* Words that the JVM writes about a thread. */
struct smp_thread_words {
    int32_t state;    /* of the thread object */
    int32_t os_state; /* of the JVM's OSThread; negative: not known */
};
/* info: as below. False: the words cannot be read now. */
bool smp_proven_walk_words(const struct smp_proven_walk *how, struct smp_walk_info *info,
                           struct smp_thread_words *out);

/* info: of a live thread, held by the caller. */
enum smp_proof smp_proven_walk_thread(const struct smp_proven_walk *how, struct smp_walk_info *info,
                                      struct smp_thread_walk *walk);

#endif
