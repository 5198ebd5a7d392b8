/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_probe.h - two stacks that are known, walked asynchronously: do they come out right?
 *
 * Owns     nothing.
 * Threads  an attached thread that is in a native method called from Java.
 * Errors   NULL: all is well. Else the reason, in a few words; static.
 * Cost     a signal to the caller; a thread that sorts for some milliseconds.
 */
#ifndef SMP_VM_VM_PROBE_H
#define SMP_VM_VM_PROBE_H

#include <jni.h>

#include "vm/vm_async.h"

/* The caller's own stack, against what JVMTI says. */
const char *smp_vm_probe_native(const struct smp_vm_async *async, JNIEnv *env);
/* That of a thread running Java. */
const char *smp_vm_probe_java(const struct smp_vm_async *async, JNIEnv *env);

#endif
