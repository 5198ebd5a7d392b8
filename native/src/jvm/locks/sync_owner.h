/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sync_owner.h - which thread holds the java.util.concurrent lock that another one is parked for:
 * fields of objects, read by JNI.
 *
 *   Thread.parkBlocker ─► AbstractOwnableSynchronizer.exclusiveOwnerThread ─► Thread.tid
 *                      └► a read lock's holders, and permits of a semaphore, are only counted
 *
 * Owns     ids of fields, and global references to the JDK's classes; they are kept.
 * Threads  any attached one; the waiting thread is another one, held by the caller.
 * Errors   UNREAD.
 * Cost     0.1 us, and JVMTI's name of the lock's class.
 */
#ifndef SMP_JVM_LOCKS_SYNC_OWNER_H
#define SMP_JVM_LOCKS_SYNC_OWNER_H

#include <jni.h>

#include "engine/jvm.h"

/* thread: parked, virtual or not. The caller proves that it has not run meanwhile. */
void smp_sync_owner_read(JNIEnv *env, jobject thread, struct smp_lock_owner *out);

#endif
