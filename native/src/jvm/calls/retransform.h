/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retransform.h - RetransformClasses for a batch, in which a class may be refused.
 *
 * The JVM refuses a batch as a whole. It is halved then, until the refused classes are alone: the
 * others get their bytes all the same. Refusals come before the JVM stops at a safepoint, so what
 * that costs is the parsing.
 *
 * Threads  any attached one; no lock may be held, as the load hook runs inside.
 * Errors   for each class, its own.
 * Cost     a safepoint for each call that succeeds: 10 to 50 ms, nearly whatever the number of
 *          classes.
 */
#ifndef SMP_JVM_CALLS_RETRANSFORM_H
#define SMP_JVM_CALLS_RETRANSFORM_H

#include <jni.h>
#include <jvmti.h>
#include <stddef.h>

/* classes[which] was refused by itself. */
typedef void smp_on_class_refused(void *self, size_t which, jvmtiError error);

/* The JVM that is about to die refuses all. */
void smp_retransform(jvmtiEnv *jvmti, const jclass *classes, size_t count,
                     smp_on_class_refused *refused, void *self);

/* For the account: static storage, follows "left alone, ". */
const char *smp_retransform_text(jvmtiError error);

#endif
