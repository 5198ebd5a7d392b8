/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflected_calls.h - which method a counted program calls by reflection: no byte code names it.
 *
 *   Method.invoke, Constructor.newInstance, inside of a root ─► hook: reflected
 *     ─ seen before (in Java) ─► nothing
 *     └► name ─► call graph
 *
 * The method called is that of the receiver's class if it is neither static nor private, else that
 * of the class that declares it. A receiver of a hidden class has no name by which it is known: the
 * declaring class counts then.
 *
 * The fields of Method and Constructor are read: FromReflectedMethod would run the initialiser of
 * the declaring class, and have its exceptions, in place of the program.
 *
 * Owns     a global reference to Method, for ever.
 * Threads  open: one at a time. name: any attached one, with no exception pending, after open.
 * Errors   open: false: this JDK has other fields. name: false: no memory, or the JVM refuses: the
 *          call is to be named again.
 * Cost     name: some microseconds, and one for each parameter.
 */
#ifndef SMP_JVM_CALLS_REFLECTED_CALLS_H
#define SMP_JVM_CALLS_REFLECTED_CALLS_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>

#include "counting/class_summary.h"

/* May be called again. */
bool smp_reflected_calls_open(JNIEnv *env);

/* class_name as in a class file, signature as `name.descriptor`; borrowed for the call. */
typedef void smp_on_reflected_call(void *self, struct smp_slice class_name,
                                   struct smp_slice signature);
/* called: a Method or Constructor; receiver may be NULL. */
bool smp_reflected_calls_name(jvmtiEnv *jvmti, JNIEnv *env, jobject called, jobject receiver,
                              smp_on_reflected_call *on_call, void *self);

#endif
