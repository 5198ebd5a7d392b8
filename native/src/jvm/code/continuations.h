/* SPDX-License-Identifier: Apache-2.0 */
/*
 * continuations.h - reads how the JDK's classes Continuation and StackChunk are laid out
 * (Unsafe.objectFieldOffset), and which of their methods a thread parks in, for hotspot/chunks.h.
 *
 * Threads  any attached one.
 * Errors   false, with the reason.
 * Cost     some calls of JNI, and passes over libjvm's lists of fields and types.
 */
#ifndef SMP_JVM_CODE_CONTINUATIONS_H
#define SMP_JVM_CODE_CONTINUATIONS_H

#include <jni.h>
#include <stdbool.h>

#include "hotspot/chunks.h"

bool smp_continuations_find(const struct smp_layout *layout, JNIEnv *env, struct smp_chunks *out,
                            char reason[SMP_CHUNKS_REASON_BYTES]);

#endif
