/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_start.h - calls a function once the JVM has started, before the program's main method.
 *
 * Owns     a separate JVMTI environment, until the function is called.
 * Threads  the thread that calls Agent_OnLoad. The function runs on the JVM's main thread.
 * Errors   SMP_EUNSUPPORTED: no JVMTI. SMP_EVM, SMP_ENOMEM. The function is then never called.
 * Cost     one environment with one event.
 */
#ifndef SMP_JVM_VM_START_H
#define SMP_JVM_VM_START_H

#include <jni.h>

#include "base/status.h"

/* If the JVM ends before it has started, `started` is never called and nothing frees context. */
SMP_CHECKED enum smp_status
smp_vm_start_await(JavaVM *java_vm, void (*started)(JNIEnv *env, void *context), void *context);

#endif
