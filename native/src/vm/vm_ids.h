/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_ids.h - makes the method ids an asynchronous walk did not find.
 *
 * Ids of compiled methods exist, because we listen to their events. Those of methods that are only
 * interpreted are made when JVMTI walks the stack, by one handshake with the thread. From JDK 21 on
 * that may hold up all virtual threads until a running thread reaches its next safepoint (measured
 * on 25, for GetStackTrace and for a list of one thread alike), so where virtual threads are in
 * use, the ids of all methods of the classes loaded are made instead, without stopping anybody.
 *
 * Owns     nothing.
 * Threads  an attached one.
 * Errors   as vm_status.h.
 * Cost     walk: microseconds, but as long as a running thread takes to reach its next safepoint.
 *          make_all: about 3 us and 800 bytes of the JVM's for each class. Who calls limits both.
 */
#ifndef SMP_VM_VM_IDS_H
#define SMP_VM_VM_IDS_H

#include <jni.h>
#include <stddef.h>

#include "base/status.h"
#include "model/sample.h"

/* Up to capacity frames of a thread, leaf first. *count == capacity: it may be deeper. */
SMP_CHECKED enum smp_status smp_vm_ids_walk(jobject thread, struct smp_frame *frames,
                                            size_t capacity, size_t *count);
SMP_CHECKED enum smp_status smp_vm_ids_make_all(JNIEnv *env);

#endif
