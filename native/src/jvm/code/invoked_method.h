/* SPDX-License-Identifier: Apache-2.0 */
/*
 * invoked_method.h - the name of the method that a byte code calls.
 *
 * Threads  any attached one, and those of the JVM's events.
 * Errors   false: it calls nothing, or the JVM gives no byte codes.
 * Cost     a copy of the byte codes, and of the class's constant pool where they call something.
 */
#ifndef SMP_JVM_CODE_INVOKED_METHOD_H
#define SMP_JVM_CODE_INVOKED_METHOD_H

#include <jvmti.h>
#include <stdbool.h>

enum { SMP_INVOKED_METHOD_NAME_BYTES = 32 }; /* longer names are cut */

bool smp_invoked_method_name(jvmtiEnv *jvmti, jmethodID method, jint bci,
                             char out[SMP_INVOKED_METHOD_NAME_BYTES]);

#endif
