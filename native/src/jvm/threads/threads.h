/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.h - which Java threads live, and what they are called.
 *
 * Births and ends are told by JVMTI events; threads that are older are found by one scan, which
 * follows the enabling of the events, so none falls between the two. The JVM's service threads and
 * the library's own are not registered at all.
 *
 *   ThreadStart ┐
 *   scan        ┴► hidden? ─no─► vm_registry ─poll─► a session
 *
 * A service thread is one with a service thread's name in the JVM's own thread groups: a user's
 * thread called "Finalizer" is nobody special.
 *
 * Owns     the registry, a global reference for each registered thread and for the own group.
 * Threads  events on any thread, the source on sampler threads; no lock is held across a call to
 *          the JVM.
 * Errors   a thread for which there is no memory counts as unseen.
 * Cost     birth: GetThreadInfo, one global reference, one hash probe. name unchanged: one field
 *          read and one comparison of identities.
 */
#ifndef SMP_JVM_THREADS_THREADS_H
#define SMP_JVM_THREADS_THREADS_H

#include <jni.h>
#include <jvmti.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/jvm.h"
#include "jvm/threads/registry.h"

/* Called by agent.c, in this order: open, events on, scan, ..., events off, close. */
SMP_CHECKED enum smp_status smp_threads_open(JNIEnv *env);
SMP_CHECKED enum smp_status smp_threads_scan(JNIEnv *env);
void smp_threads_close(JNIEnv *env);
void JNICALL smp_threads_on_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);
void JNICALL smp_threads_on_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);

/* All sessions share one registry; each reads it with its own cursor. */
struct smp_thread_source smp_threads_source(void);

/* Borrowed while the thread is held. */
jthread smp_threads_ref(const struct smp_thread *thread);
/* Thread.threadId(): never reused. */
int64_t smp_threads_java_id(const struct smp_thread *thread);
/* Of any Thread object, started or not; on an attached thread. SMP_EUNSUPPORTED: its class has no
 * such field. */
SMP_CHECKED enum smp_status smp_threads_id_of(JNIEnv *env, jobject thread, int64_t *out);

/* Shared by all sessions; lasts while the thread is held. */
struct smp_walk_info *smp_threads_walk_info(struct smp_thread *thread);
/* Of any Thread object: the address of the JVM's thread object; 0: it has none, or cannot be asked.
 */
uintptr_t smp_threads_address(JNIEnv *env, jobject thread);

/* The JVM said that this thread lives no more: its end event was missed, or is about to come. */
void smp_threads_gone(struct smp_thread *thread);

/* The calling native thread is one of ours; before it attaches, after it detached. */
SMP_CHECKED enum smp_status smp_threads_enter(void);
void smp_threads_leave(void);
/* The calling Java thread is one of ours from now on. SMP_EQUOTA: too many. SMP_EUNSUPPORTED. */
SMP_CHECKED enum smp_status smp_threads_hide(JNIEnv *env, jobject thread);
/*
 * Threads born into this group from now on are ours from their first moment, also those that
 * somebody else's code makes for us. SMP_EQUOTA: there is another such group already.
 */
SMP_CHECKED enum smp_status smp_threads_hide_group(JNIEnv *env, jobject group);
/* Forgets that group: the library's class loader is gone. */
void smp_threads_unloaded(JNIEnv *env);

#endif
