/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_word.h - reads the JVM's state of a waiting thread: at a monitor, stopped at a safepoint,
 * in a native method, or in a method that shows what it waits for.
 *
 * For most threads Thread.threadStatus suffices. If it is "runnable", the JVM's state words
 * distinguish native code, the wait for a class initialiser, and a stop at a safepoint.
 *
 * Threads  sampler threads.
 * Errors   SMP_WORD_UNKNOWN.
 * Cost     50 to 100 ns.
 */
#ifndef SMP_JVM_WALK_WAIT_WORD_H
#define SMP_JVM_WALK_WAIT_WORD_H

#include "engine/jvm.h"
#include "jvm/walk/proven_walk.h"

/* how is NULL if threads are not read from outside. */
enum smp_wait_word smp_wait_word_read(const struct smp_proven_walk *how, struct smp_thread *thread);

/* status has JVMTI's bits. words is NULL if unknown. */
enum smp_wait_word smp_wait_word_of(int32_t status, const struct smp_jvm_states *states,
                                    const struct smp_thread_words *words);

#endif
