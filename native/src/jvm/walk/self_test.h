/* SPDX-License-Identifier: Apache-2.0 */
/*
 * self_test.h - walks two known stacks asynchronously, and compares the results.
 *
 * Threads  an attached thread that is in a native method called from Java.
 * Errors   native returns NULL if the stacks are equal, else the reason, in a few words; static.
 *          java returns SMP_OK with that in *reason, or SMP_ETHREAD: the thread could not be
 *          started, which says nothing about this JVM.
 * Cost     a signal to the caller; a thread that computes for a millisecond.
 */
#ifndef SMP_JVM_WALK_SELF_TEST_H
#define SMP_JVM_WALK_SELF_TEST_H

#include <jni.h>

#include "base/status.h"
#include "handler/walk_data.h"

/* Compares the caller's own stack with JVMTI's. target: as of every walk. */
const char *smp_self_test_native(int signal, const struct smp_walk_target *target);
/* Walks a thread that runs Java code. */
SMP_CHECKED enum smp_status smp_self_test_java(int signal, const struct smp_walk_target *target,
                                               JNIEnv *env, const char **reason);

#endif
