/* SPDX-License-Identifier: Apache-2.0 */
/*
 * throw.h - the one place that makes Java exceptions.
 *
 *   EINVAL                             IllegalArgumentException
 *   ENOMEM EQUOTA ETHREAD              OutOfMemoryError
 *   EUNSUPPORTED                       UnsupportedOperationException
 *   EIO                                none: the failure is the outputer's own
 *   all others                         IllegalStateException
 *
 * Never over a pending exception: the first failure counts.
 *
 * Threads  any attached one.
 * Errors   if no exception can be made, the JVM has thrown one of its own.
 * Cost     one exception.
 */
#ifndef SMP_JNI_THROW_H
#define SMP_JNI_THROW_H

#include <jni.h>

#include "base/status.h"

/* Nothing for SMP_OK. */
void smp_throw(JNIEnv *env, enum smp_status status);
/* message NULL or "": the status's own text. */
void smp_throw_message(JNIEnv *env, enum smp_status status, const char *message);

#endif
