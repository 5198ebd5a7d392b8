/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_stacks.h - compares our walks of known stacks with JVMTI's, frame by frame.
 *
 *   the caller's own stack, in a native method called from Java
 *   the stack of an internal thread that waits in a class loader called by the JVM
 *
 * Compares methods, byte code indices and names, and the thread's state.
 *
 * Threads  one at a time, as prove of check.h.
 * Errors   SMP_OK: *reason is NULL if all are equal, or else a static text. SMP_ETHREAD,
 *          SMP_ESTATE: the check could not be made.
 * Cost     some handshakes and one thread; some milliseconds.
 */
#ifndef SMP_JVM_CHECK_CHECK_STACKS_H
#define SMP_JVM_CHECK_CHECK_STACKS_H

#include <jni.h>
#include <jvmti.h>
#include <stdint.h>

#include "base/status.h"
#include "hotspot/layout.h"

/* The caller of prove, which is in a native method called from Java. */
struct smp_check_caller {
    jvmtiEnv *jvmti;
    JNIEnv *env;
    uintptr_t java_thread; /* its Thread.eetop */
    uintptr_t stack_high;
};

SMP_CHECKED enum smp_status smp_check_stacks(const struct smp_layout *layout,
                                             const struct smp_check_caller *caller,
                                             const char **reason);

#endif
