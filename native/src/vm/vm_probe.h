/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_probe.h - two stacks that are known, walked asynchronously: do they come out right?
 *
 * Owns     nothing.
 * Threads  an attached thread that is in a native method called from Java.
 * Errors   native returns NULL where all is well, else the reason, in a few words; static. java
 * returns SMP_OK with that in *reason, or SMP_ETHREAD: the thread could not be started, which says
 *          nothing about this JVM.
 * Cost     a signal to the caller; a thread that computes for a millisecond.
 */
#ifndef SMP_VM_VM_PROBE_H
#define SMP_VM_VM_PROBE_H

#include <jni.h>

#include "vm/vm_async.h"

/* The caller's own stack, against what JVMTI says. */
const char *smp_vm_probe_native(const struct smp_vm_async *async, JNIEnv *env);
/* That of a thread running Java. */
SMP_CHECKED enum smp_status smp_vm_probe_java(const struct smp_vm_async *async, JNIEnv *env,
                                              const char **reason);

#endif
