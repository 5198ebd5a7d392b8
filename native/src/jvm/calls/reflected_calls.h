/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflected_calls.h - names the methods that a program calls by reflection, unlike its byte code.
 *
 *   Method.invoke, Constructor.newInstance, inside of a root ─► hook: reflected
 *     ─ seen before (in Java) ─► nothing
 *     └► name ─► call graph
 *
 *   a root is found ─► the bytes of Method and Constructor change: they report their calls
 *
 * The reported class is the receiver's if the method is neither static nor private, or else the
 * declaring class. The declaring class is also reported if the receiver's class is hidden, because
 * hidden classes have no usable name.
 *
 * Reads the fields of Method and Constructor directly, because FromReflectedMethod would run the
 * initialiser of the declaring class too early and receive its exceptions.
 *
 * Owns     a global reference to Method, for ever.
 * Threads  open: one at a time. name: any attached thread without a pending exception, after open.
 *          follow: any. account: the caller holds the lock of counted.
 * Errors   open returns false if this JDK has other fields. name returns false without memory or
 *          after a JVMTI error; the hook then reports the next call again.
 * Cost     name: some microseconds, and one for each parameter.
 */
#ifndef SMP_JVM_CALLS_REFLECTED_CALLS_H
#define SMP_JVM_CALLS_REFLECTED_CALLS_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>

#include "base/slice.h"
#include "model/counting_account.h"

struct smp_counted_classes;

/* May be called again. */
bool smp_reflected_calls_open(JNIEnv *env);

/* class_name is as in a class file, signature `name.descriptor`. Valid during the call. */
typedef void smp_on_reflected_call(void *self, struct smp_slice class_name,
                                   struct smp_slice signature);
/* called is a Method or Constructor. receiver may be NULL. */
bool smp_reflected_calls_name(jvmtiEnv *jvmti, JNIEnv *env, jobject called, jobject receiver,
                              smp_on_reflected_call *on_call, void *self);

/* Makes Method and Constructor pending once there is a root, except with TOTAL instrumentation. */
void smp_reflected_calls_follow(struct smp_counted_classes *counted);
/* Adds Method and Constructor to the account if they do not report their calls. */
void smp_reflected_calls_account(const struct smp_counted_classes *counted,
                                 struct smp_counting_account *out);

#endif
