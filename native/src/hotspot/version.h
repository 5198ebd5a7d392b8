/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.h - which release of the Java platform this JVM implements.
 *
 * Threads  any attached one.
 * Errors   0: unknown.
 * Cost     one JVMTI call.
 */
#ifndef SMP_HOTSPOT_VERSION_H
#define SMP_HOTSPOT_VERSION_H

#include <jvmti.h>
#include <stdbool.h>

enum {
    /* From here on a frame of compiled code may hold its own size (value classes, JEP 401). */
    SMP_JVM_FRAMES_SAY_SIZE = 28
};

/* Of java.vm.specification.version: "17", "28". 0: the text is no version. */
int smp_jvm_version_parse(const char *text);
int smp_jvm_version(jvmtiEnv *jvmti);
/* May there be value classes? Up to 28 only where the JVM runs with its preview features. */
bool smp_jvm_version_has_value_classes(int version, JNIEnv *env);

#endif
