/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_ids.h - makes the method ids an asynchronous walk did not find.
 *
 * Ids of compiled methods exist, because we listen to their events. Those of methods that are only
 * interpreted are made when JVMTI walks the stack: by one handshake with that thread, in the form
 * that holds up no virtual thread on the JVM at hand.
 *
 * Owns     nothing.
 * Threads  an attached one.
 * Errors   as vm_status.h.
 * Cost     a handshake: microseconds, but as long as a running thread takes to reach its next
 *          safepoint; who calls limits how often.
 */
#ifndef SMP_VM_VM_IDS_H
#define SMP_VM_VM_IDS_H

#include <jni.h>
#include <stddef.h>

#include "base/status.h"
#include "model/sample.h"

/* Up to capacity frames of a thread, leaf first. *count == capacity: it may be deeper. */
SMP_CHECKED enum smp_status smp_vm_ids_walk(JNIEnv *env, jobject thread, struct smp_frame *frames,
                                            size_t capacity, size_t *count);

#endif
