/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.h - which release of the Java platform this JVM implements.
 *
 * Threads  any attached one.
 * Errors   0: unknown.
 * Cost     one JVMTI call.
 */
#ifndef SMP_JVM_AGENT_VERSION_H
#define SMP_JVM_AGENT_VERSION_H

#include <jvmti.h>
#include <stdbool.h>

enum { SMP_JVM_VALUE_CLASSES = 28 }; /* the first release that may have them (JEP 401) */

/* text: a java.vm.specification.version, "17" or "28". 0: the text is no version. */
int smp_jvm_version_parse(const char *text);
int smp_jvm_version(jvmtiEnv *jvmti);
/* May there be value classes? Up to 28 only if the JVM runs with its preview features. */
bool smp_jvm_version_has_value_classes(int version, JNIEnv *env);

#endif
