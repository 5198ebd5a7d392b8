/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instructions.h - the instruction at a byte code index, as text, from the JVM's own copy of the
 * class: hidden and redefined classes included.
 *
 *   182 java/lang/String length ()I     a call: opcode, and what the constant pool names
 *   186                                 any other instruction, invokedynamic among them
 *   native                              the method has no byte codes
 *   unknown                             the class is gone, or the index is not in the method
 *
 * Owns     an environment of its own, with capabilities that the product does not have.
 * Threads  any attached one.
 * Cost     two copies made by the JVM, of the method and of its class's constant pool.
 */
#ifndef SMP_TEST_BENCH_OBSERVED_INSTRUCTIONS_H
#define SMP_TEST_BENCH_OBSERVED_INSTRUCTIONS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* To be called once, first. Returns false if this JVM does not show byte codes. */
bool instructions_open(JNIEnv *env);
jvmtiEnv *instructions_jvmti(void);
/* Writes at most size bytes including the final NUL; longer texts are cut. */
void instructions_describe(jclass declaring, jmethodID method, int64_t bci, char *out, size_t size);

#endif
