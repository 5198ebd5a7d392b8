/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_start.h - calls a function once the JVM has started, before the program's main method.
 *
 * Owns     a JVMTI environment of its own until then.
 * Threads  the one that calls Agent_OnLoad; the function runs on the JVM's main thread.
 * Errors   SMP_EUNSUPPORTED: this JVM offers no JVMTI. SMP_EVM, SMP_ENOMEM. Nothing is called then.
 * Cost     one environment with one event.
 */
#ifndef SMP_JVM_VM_START_H
#define SMP_JVM_VM_START_H

#include <jni.h>

#include "base/status.h"

/* Not called if the JVM ends before: context then stays as it is. */
SMP_CHECKED enum smp_status
smp_vm_start_await(JavaVM *java_vm, void (*started)(JNIEnv *env, void *context), void *context);

#endif
