/* SPDX-License-Identifier: Apache-2.0 */
/*
 * natives.h - the table of NativeBridge's native methods, which the core registers for the classes
 * of each copy.
 *
 * The table lacks abi and join, which the JVM finds by name in the file that the copy has loaded.
 *
 * Threads  any.
 * Errors   register: SMP_EVM with a pending Java exception that names the method.
 * Cost     register: a look-up for each method. seam: hashes some thousand bytes.
 */
#ifndef SMP_JNI_NATIVES_H
#define SMP_JNI_NATIVES_H

#include <jni.h>
#include <stdint.h>

#include "base/status.h"

/* bridge: the copy's class NativeBridge. */
SMP_CHECKED enum smp_status smp_natives_register(JNIEnv *env, jclass bridge);

/* Returns a hash of all that Java and C must agree on besides the version number: native methods,
 * callbacks, options, names of figures, formats. Copies with equal seams can share a core. */
uint64_t smp_natives_seam(void);

#endif
