/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bridge.h - how a native method of NativeBridge is defined: it converts, makes one call, and
 * throws at most once.
 *
 *   JNIEXPORT void BRIDGE(pause)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong session)
 *
 * javac -h writes the header of all of them, so a changed Java signature does not compile.
 */
#ifndef SMP_JNI_BRIDGE_H
#define SMP_JNI_BRIDGE_H

#include "com_incapsula_sampler_internal_engine_NativeBridge.h"

#include <stdint.h>

#include "jni/java_session.h"

#define BRIDGE(name) JNICALL Java_com_incapsula_sampler_internal_engine_NativeBridge_##name

/* Returns the session that a Java object holds as a long. */
static inline struct smp_java_session *smp_bridge_java_session(jlong handle)
{
    return (struct smp_java_session *)(intptr_t)handle;
}

static inline struct smp_session *smp_bridge_session(jlong handle)
{
    return smp_java_session_core(smp_bridge_java_session(handle));
}

#endif
