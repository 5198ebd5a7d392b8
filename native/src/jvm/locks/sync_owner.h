/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sync_owner.h - finds the thread that holds the java.util.concurrent lock for which another
 * thread is parked, by reading Java fields.
 *
 *   Thread.parkBlocker ─► AbstractOwnableSynchronizer.exclusiveOwnerThread ─► Thread.tid
 *                      └► readers and semaphores: only a number is known
 *
 * Owns     field ids and global references to JDK classes, for ever.
 * Threads  any attached thread but the waiting one, which the caller holds.
 * Errors   SMP_OWNER_UNREAD.
 * Cost     0.1 us, and a JVMTI call for the name of the lock's class.
 */
#ifndef SMP_JVM_LOCKS_SYNC_OWNER_H
#define SMP_JVM_LOCKS_SYNC_OWNER_H

#include <jni.h>

#include "engine/jvm.h"

/* thread is parked, virtual or not. The caller proves that it has not run meanwhile. */
void smp_sync_owner_read(JNIEnv *env, jobject thread, struct smp_lock_owner *out);

#endif
