/* SPDX-License-Identifier: Apache-2.0 */
/*
 * natives.h - the native methods of NativeBridge as a table, by which the core gives its own to the
 * classes of each copy.
 *
 * abi and join are not in it: the JVM finds them by name in the file that the copy has loaded.
 *
 * Threads  any.
 * Errors   register: SMP_EVM with the Java exception that names the method pending.
 * Cost     register: a look-up for each method. seam: some thousand bytes to hash.
 */
#ifndef SMP_JNI_NATIVES_H
#define SMP_JNI_NATIVES_H

#include <jni.h>
#include <stdint.h>

#include "base/status.h"

/* bridge: the copy's class NativeBridge. */
SMP_CHECKED enum smp_status smp_natives_register(JNIEnv *env, jclass bridge);

/* A hash of what Java and C must agree on besides the version number: native methods, callbacks,
 * options, names of figures, formats. Copies of equal seams can share a core. */
uint64_t smp_natives_seam(void);

#endif
