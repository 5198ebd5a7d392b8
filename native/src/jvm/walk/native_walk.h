/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_walk.h - walks a thread in native code, or one that waits in the JVM, from the sampler
 * thread. A signal would interrupt system calls of the application: poll, select, epoll_wait and
 * nanosleep return EINTR even with SA_RESTART.
 *
 *   state, anchor ─► walk ─► words, anchor, state, repeatedly: unchanged ─► its stack
 *   └ it runs Java code ─► a signal
 *
 * The thread's Java frames do not change until it returns to Java, although its CPU clock moves.
 * They are proven by watching the thread (proven_walk.h) for as long as a signal takes to arrive.
 * This time matters: a thread found in Java code is walked that much later and may be in a native
 * call by then. If a thread found in a native call did not have to stay in it as long, short
 * native calls would be counted too often.
 *
 * A runnable thread without a CPU does not move until it gets one, so a signal would find it at
 * the same place. It is not watched, because its unmoved CPU clock is proof enough.
 *
 * On JDK 26 and later smp_frames_confirm would save each later walk a check of interpreted methods
 * (2.3 us). It cannot be called here, because ids have already replaced the methods in the frames.
 *
 * Threads  the sampler thread that owns the slot.
 * Errors   see smp_native_walk.
 * Cost     a walk, and SMP_NATIVE_WATCHED_NS or the reading of a CPU clock. If the thread runs
 *          Java code: some loads.
 */
#ifndef SMP_JVM_WALK_NATIVE_WALK_H
#define SMP_JVM_WALK_NATIVE_WALK_H

#include "base/status.h"
#include "handler/signal.h"
#include "jvm/threads/registry.h"

enum {
    SMP_NATIVE_WATCHED_NS = 4000,
    SMP_NATIVE_TRIES = 3 /* tries, if the thread leaves native code each time */
};

/*
 * Walks the thread of info into slot, whose target, frames and capacity are filled in. cpu_ns is
 * the thread's CPU clock if it does not move, or negative. words has room for SMP_PROVEN_WORDS.
 * SMP_ESTATE: the thread runs Java code or cannot be walked from here; the caller sends a signal.
 * SMP_EUNSUPPORTED: it is in native code, and its stack cannot be walked.
 */
SMP_CHECKED enum smp_status smp_native_walk(struct smp_walk_info *info, int32_t tid, int64_t cpu_ns,
                                            struct smp_frames_words *words,
                                            struct smp_signal_slot *slot);

#endif
