/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_word.h - reads what the JVM says of a thread that waits: at a monitor, stopped, in a native
 * method, or in a method that shows what it waits for.
 *
 * For most threads Thread.threadStatus suffices. If that is "runnable", the JVM's own words
 * distinguish native code, the wait for a class initialiser, and a stop for a safepoint.
 *
 * Threads  sampler threads.
 * Errors   UNKNOWN.
 * Cost     50 to 100 ns.
 */
#ifndef SMP_JVM_WALK_WAIT_WORD_H
#define SMP_JVM_WALK_WAIT_WORD_H

#include "engine/jvm.h"
#include "jvm/walk/proven_walk.h"

/* how: NULL if threads are not read from outside. */
enum smp_wait_word smp_wait_word_read(const struct smp_proven_walk *how, struct smp_thread *thread);

/* status: JVMTI's bits; words NULL: not known. */
enum smp_wait_word smp_wait_word_of(int32_t status, const struct smp_jvm_states *states,
                                    const struct smp_thread_words *words);

#endif
