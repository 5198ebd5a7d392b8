/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_threads.h - which threads the trees of calls (counting/call_reader.h) belong to, by their
 * Java ids; and those that have ended, whose trees are read once more.
 *
 *   ThreadEnd ─► has a state for calls? ─► ended ─take─► retire, read ─► forgotten
 *                                      └► counting is off, or no room: it retires itself
 *
 * Owns     a list of ended threads; static, so that ThreadEnd does not allocate.
 * Threads  on_end: any. The others: the one that reads, one at a time.
 * Errors   past SMP_ENDED_LIMIT ended threads between two reads the trees of more are read under
 *          no thread. lost counts them.
 * Cost     on_end: one look-up, of a thread that was counted a lock. retire: sorts
 *          them. find: a lock and a hash probe; of one that has ended a binary search.
 */
#ifndef SMP_JVM_CALLS_CALL_THREADS_H
#define SMP_JVM_CALLS_CALL_THREADS_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SMP_ENDED_LIMIT = 16384 };

struct smp_call_thread {
    int64_t java_id;
    uint64_t serial; /* smp_thread's; 0: the thread source does not have it */
};

/* May a thread have a state? Then each ThreadEnd matters, also while no sampler is there: a state
 * that is not given back is one less for all later counting. */
bool smp_call_threads_has_any(void);
/* For smp_call_spot_of; NULL: nothing is counted, or not in that thread. Never freed. */
const void *smp_call_threads_state(int64_t java_id);
/* Before the thread source forgets the thread, on that thread. */
void smp_call_threads_on_end(JNIEnv *env, jobject thread);

/* Retires all that have ended: the next read is the last one of their trees. They can be found
 * until forget. */
void smp_call_threads_retire(void);
void smp_call_threads_forget(void);
/* The thread's serial; 0: not known. */
uint64_t smp_call_threads_find(int64_t java_id);
/* Ended threads for which there was no room, since the library was loaded. */
uint64_t smp_call_threads_lost(void);

#endif
