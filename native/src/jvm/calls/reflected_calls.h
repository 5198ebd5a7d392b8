/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflected_calls.h - names the methods that a counted program calls by reflection, as byte code
 * does not.
 *
 *   Method.invoke, Constructor.newInstance, inside of a root ─► hook: reflected
 *     ─ seen before (in Java) ─► nothing
 *     └► name ─► call graph
 *
 *   a root is found ─► the bytes of Method and Constructor change: they report what they call
 *
 * The class of the receiver counts if the method is neither static nor private, else the declaring
 * class. If the receiver's class is hidden, it has no usable name, and the declaring class counts.
 *
 * The fields of Method and Constructor are read directly: FromReflectedMethod would run the
 * initialiser of the declaring class too early, and get its exceptions.
 *
 * Owns     a global reference to Method, for ever.
 * Threads  open: one at a time. name: any attached thread without a pending exception, after open.
 *          follow: any. account: with the lock of counted.
 * Errors   open: false: this JDK has other fields. name: false: no memory, or the JVM refuses; the
 *          hook reports the call again next time.
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

/* class_name as in a class file, signature as `name.descriptor`; borrowed for the call. */
typedef void smp_on_reflected_call(void *self, struct smp_slice class_name,
                                   struct smp_slice signature);
/* called: a Method or Constructor; receiver may be NULL. */
bool smp_reflected_calls_name(jvmtiEnv *jvmti, JNIEnv *env, jobject called, jobject receiver,
                              smp_on_reflected_call *on_call, void *self);

/* Once there is a root, makes the classes of reflection pending; not with TOTAL. */
void smp_reflected_calls_follow(struct smp_counted_classes *counted);
/* Adds the classes of reflection that do not report their calls. */
void smp_reflected_calls_account(const struct smp_counted_classes *counted,
                                 struct smp_counting_account *out);

#endif
