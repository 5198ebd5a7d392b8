/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_walk.h - walks a thread that runs native code or waits in the JVM, on the sampler thread.
 * A signal would interrupt a system call of the application: poll, select, epoll_wait and nanosleep
 * then return EINTR, whatever the flags of the handler.
 *
 *   state, anchor ─► walk ─► words, anchor, state: the same, again and again ─► its stack
 *   └ it runs Java ─► a signal
 *
 * The thread's Java frames do not change until it returns to Java, although its CPU clock moves. So
 * they are proven by watching the thread (proven_walk.h), for as long as a signal takes to arrive.
 * A thread that was found in Java code answers that much later, and may have begun a native call by
 * then. A thread that was found in a native call must therefore stay in it for as long, or short
 * native calls would count too much.
 *
 * A thread that wants a CPU and has none does not move until it gets one, and a signal would find
 * it where it is. It is not watched: its CPU clock, which does not move, is the proof.
 *
 * From JDK 26 on smp_frames_confirm would spare later walks a check of interpreted methods (2.3 us
 * each walk). It cannot be called here: by the time of the proof, ids have replaced the methods in
 * the frames.
 *
 * Threads  the sampler thread that has taken the slot.
 * Errors   see smp_native_walk.
 * Cost     a walk, and SMP_NATIVE_WATCHED_NS, or a reading of a CPU clock where that stands; of a
 *          thread that runs Java code some loads.
 */
#ifndef SMP_JVM_WALK_NATIVE_WALK_H
#define SMP_JVM_WALK_NATIVE_WALK_H

#include "base/status.h"
#include "handler/signal.h"
#include "jvm/threads/registry.h"

enum {
    SMP_NATIVE_WATCHED_NS = 4000,
    SMP_NATIVE_TRIES = 3 /* at a thread that leaves native code each time: its calls are short */
};

/*
 * tid, cpu_ns: its CPU clock, where that stands; negative: it may move. slot: its target, frames
 * and capacity are filled in; gets the answer. info: of its thread. words: room for
 * SMP_PROVEN_WORDS. SMP_ESTATE: the thread runs Java code, or this way is not open: send a signal.
 * SMP_EUNSUPPORTED: it is in native code, and its stack is not understood.
 */
SMP_CHECKED enum smp_status smp_native_walk(struct smp_walk_info *info, int32_t tid, int64_t cpu_ns,
                                            struct smp_frames_words *words,
                                            struct smp_signal_slot *slot);

#endif
