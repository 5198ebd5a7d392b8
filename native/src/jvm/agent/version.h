/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.h - which release of the Java platform this JVM implements.
 *
 * Threads  any attached one.
 * Errors   a version of 0 means unknown.
 * Cost     one JVMTI call.
 */
#ifndef SMP_JVM_AGENT_VERSION_H
#define SMP_JVM_AGENT_VERSION_H

#include <jvmti.h>
#include <stdbool.h>

enum { SMP_JVM_VALUE_CLASSES = 28 }; /* the first release that may have value classes (JEP 401) */

/* text is a java.vm.specification.version such as "17". Returns 0 if it is not a version. */
int smp_jvm_version_parse(const char *text);
int smp_jvm_version(jvmtiEnv *jvmti);
/* Returns whether this JVM can have value classes: release 28 only with preview features. */
bool smp_jvm_version_has_value_classes(int version, JNIEnv *env);

#endif
