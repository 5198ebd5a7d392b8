/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_stacks.h - compares our walks of known stacks with JVMTI's, frame by frame.
 *
 *   the caller's own stack, in a native method called from Java
 *   that of an internal thread that waits in a class loader, which the JVM has called
 *
 * Methods, byte code indices and names are compared, and the thread's state.
 *
 * Threads  one at a time, as prove of check.h.
 * Errors   SMP_OK with *reason NULL: equal; with a reason, a static text: not equal. SMP_ETHREAD,
 *          SMP_ESTATE: it could not be tried.
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
