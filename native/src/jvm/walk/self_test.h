/* SPDX-License-Identifier: Apache-2.0 */
/*
 * self_test.h - two stacks that are known, walked asynchronously: do they come out right?
 *
 * Owns     nothing.
 * Threads  an attached thread that is in a native method called from Java.
 * Errors   native returns NULL where all is well, else the reason, in a few words; static. java
 * returns SMP_OK with that in *reason, or SMP_ETHREAD: the thread could not be started, which says
 *          nothing about this JVM.
 * Cost     a signal to the caller; a thread that computes for a millisecond.
 */
#ifndef SMP_JVM_WALK_SELF_TEST_H
#define SMP_JVM_WALK_SELF_TEST_H

#include <jni.h>

#include "jvm/walk/async.h"

/* The caller's own stack, against what JVMTI says. */
const char *smp_self_test_native(const struct smp_async *async, JNIEnv *env);
/* That of a thread running Java. */
SMP_CHECKED enum smp_status smp_self_test_java(const struct smp_async *async, JNIEnv *env,
                                               const char **reason);

#endif
