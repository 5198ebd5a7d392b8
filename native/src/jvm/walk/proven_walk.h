/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proven_walk.h - reads the stack of another thread and proves that it did not change meanwhile.
 * The thread gets no signal and is not stopped.
 *
 *     CPU clock (the caller has read it)
 *   enter the gates
 *     state, anchor ─► walk ─► its words once more ─► anchor, state ─► CPU clock
 *   leave the gates      state, anchor, words and clock unchanged? ─► proven
 *
 *   watched: without the clock; words, anchor and state are read repeatedly for some time
 *
 * The thread object of a thread in native code, or blocked in the JVM, has the stack pointer of
 * its last Java frame: the anchor. If the CPU clock has not moved, the thread has not run, and the
 * words that were read are its stack. The clock alone is not enough, because a kernel that
 * subtracts the time of interrupts may hide a short run. Equal readings alone are not enough,
 * because two stacks may alternate. Both together are the proof. It suffices to read the words
 * again instead of walking again, because equal words give equal frames. Method ids are read
 * during the walk, while their methods are in use and cannot be unloaded.
 *
 * A thread that runs native code cannot change its Java frames until it returns to Java. It is
 * watched, because it might return, run Java code and make the same call again. To remain
 * unnoticed it would have to do this between the same two reads in a dozen or more rounds.
 *
 * If the thread runs meanwhile, the words may have any value. Pointers among them are followed
 * only inside the thread's stack or with safe reads, and the result is discarded.
 *
 * Threads  any thread but the walked one.
 * Errors   see smp_proof.
 * Cost     a walk and one reading of a CPU clock (0.2 to 0.4 us), or two if the caller has none. A
 *          watched thread: watched_ns.
 */
#ifndef SMP_JVM_WALK_PROVEN_WALK_H
#define SMP_JVM_WALK_PROVEN_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "hotspot/frames.h"
#include "hotspot/thread_layout.h"
#include "jvm/threads/registry.h"

enum {
    SMP_PROVEN_WORDS = 64 * 1024 /* half of 1 MB, the usual size of a Java stack */
};

enum smp_proof {
    SMP_PROOF_PROVEN,     /* the stack is right; count 0: no Java frames */
    SMP_PROOF_NO_CLOCK,   /* the tid is unknown, or the thread has ended */
    SMP_PROOF_ENDED,      /* the thread or the JVM is ending */
    SMP_PROOF_UNSURE,     /* the thread may have ended before it was registered (gate.h) */
    SMP_PROOF_NO_STACK,   /* the bounds of its stack are unknown */
    SMP_PROOF_IN_JAVA,    /* it runs Java code, or is in a transition */
    SMP_PROOF_UNWALKABLE, /* a frame could not be walked */
    SMP_PROOF_HAS_RUN,    /* it ran between the first and the last reading */
    SMP_PROOF_LATE,       /* the thread ended and did not wait for the walk any longer */
    SMP_PROOF_COUNT
};

/* The way to walk in this JVM. */
struct smp_proven_walk {
    struct smp_jvm_layout layout;
    void (*walk)(void *self, struct smp_frames_start start, uintptr_t stack_high,
                 struct smp_frames *out);
    void (*confirm)(void *self, const struct smp_frames *frames); /* after a proof; NULL: none */
    void *self;
};

/* A walk of one thread. */
struct smp_thread_walk {
    /* If 0, the thread's CPU clock must not move. Otherwise the thread may run but must stay in
     * native code for this time, and tid and cpu_ns are not used. */
    int64_t watched_ns;
    bool is_native; /* fails if the thread is neither in native code nor blocked */
    int32_t tid;
    /* In: the CPU clock that the caller has read, or negative. Out: the last reading. */
    int64_t cpu_ns;
    struct smp_frames frames; /* as in smp_frames_walk, with room for words */
};

/* State words of a thread. */
struct smp_thread_words {
    int32_t state;    /* of the thread object */
    int32_t os_state; /* of the JVM's OSThread; negative: unknown */
};
/* info as below. Returns false if the words cannot be read now. */
bool smp_proven_walk_words(const struct smp_proven_walk *how, struct smp_walk_info *info,
                           struct smp_thread_words *out);

/* info belongs to a thread that the caller holds. */
enum smp_proof smp_proven_walk_thread(const struct smp_proven_walk *how, struct smp_walk_info *info,
                                      struct smp_thread_walk *walk);

#endif
