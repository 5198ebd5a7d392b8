/* SPDX-License-Identifier: Apache-2.0 */
/*
 * self_test.h - walks two known stacks asynchronously, and compares the results.
 *
 * Threads  an attached thread in a native method called from Java.
 * Errors   native returns NULL if the stacks are equal, or a short static reason. java returns
 *          SMP_OK with the same in *reason, or SMP_ETHREAD without its thread.
 * Cost     native: a signal to the caller. java: a thread that computes for a millisecond.
 */
#ifndef SMP_JVM_WALK_SELF_TEST_H
#define SMP_JVM_WALK_SELF_TEST_H

#include <jni.h>

#include "base/status.h"
#include "handler/walk_data.h"

/* Compares the caller's own stack with JVMTI's. target is as for any walk. */
const char *smp_self_test_native(int signal, const struct smp_walk_target *target);
/* Walks a thread that runs Java code. */
SMP_CHECKED enum smp_status smp_self_test_java(int signal, const struct smp_walk_target *target,
                                               JNIEnv *env, const char **reason);

#endif
