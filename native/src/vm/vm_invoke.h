/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_invoke.h - the name of the method that a byte code calls.
 *
 * Owns     nothing.
 * Threads  any attached one, and those of the JVM's events.
 * Errors   false: it calls nothing, or the JVM does not tell.
 * Cost     a copy of the byte codes, and of the class's constant pool where they call something.
 */
#ifndef SMP_VM_VM_INVOKE_H
#define SMP_VM_VM_INVOKE_H

#include <jvmti.h>
#include <stdbool.h>

enum { SMP_INVOKE_NAME_BYTES = 32 }; /* longer names are cut */

bool smp_vm_invoke_name(jvmtiEnv *jvmti, jmethodID method, jint bci,
                        char out[SMP_INVOKE_NAME_BYTES]);

#endif
