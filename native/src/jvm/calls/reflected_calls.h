/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflected_calls.h - which methods a counted program calls by reflection: no byte code names them.
 *
 *   Method.invoke, Constructor.newInstance, inside of a root ─► hook: reflected
 *     ─ seen before (in Java) ─► nothing
 *     └► note: the name of what is called, into a buffer ─► each (the library's thread) ─► call
 *     graph
 *
 * What is called is the method of the receiver's class, where the method is neither static nor
 * private, else that of the class that declares it. A receiver of a hidden class has no name by
 * which it is known: the declaring class counts then.
 *
 * The fields of Method and Constructor are read: FromReflectedMethod would run the initialiser of
 * the declaring class, and have its exceptions, in place of the program.
 *
 * Owns     a global reference to Method, for ever; two buffers: one is filled while the other is
 *          read.
 * Threads  open, clear, each: one at a time. note: any attached one, with no exception pending,
 *          between open and the end; it waits for no other thread but for the copy of a name.
 * Errors   open: false: this JDK has other fields. note: false: there is no room now, no memory, or
 *          the JVM refuses: the call is to be noted again.
 * Cost     note: some microseconds, and one for each parameter. The memory of a buffer is used from
 *          the first call on.
 */
#ifndef SMP_JVM_CALLS_REFLECTED_CALLS_H
#define SMP_JVM_CALLS_REFLECTED_CALLS_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

#include "counting/class_summary.h"

/* Names have 65,535 bytes at most, a descriptor likewise, so an empty buffer has room for any. */
enum { SMP_REFLECTED_BUFFER_BYTES = 256 * 1024 };

/* May be called again. */
bool smp_reflected_calls_open(JNIEnv *env);
/* Forgets what was noted. */
void smp_reflected_calls_clear(void);

/* called: a Method or Constructor; receiver may be NULL. */
bool smp_reflected_calls_note(jvmtiEnv *jvmti, JNIEnv *env, jobject called, jobject receiver);

/* class_name as in a class file, signature as `name.descriptor`; borrowed for the call. */
typedef void smp_on_reflected_call(void *self, struct smp_slice class_name,
                                   struct smp_slice signature);
/* What was noted since the last time. Returns how many that were. */
size_t smp_reflected_calls_each(smp_on_reflected_call *on_call, void *self);

#endif
