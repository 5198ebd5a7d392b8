/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.h - which release of the Java platform this JVM implements, and what depends on it.
 *
 * Threads  any attached one.
 * Errors   0: unknown.
 * Cost     one JVMTI call.
 */
#ifndef SMP_JVM_HOTSPOT_VERSION_H
#define SMP_JVM_HOTSPOT_VERSION_H

#include <jvmti.h>
#include <stdbool.h>

enum {
    /* From here on a frame of compiled code may hold its own size (value classes, JEP 401), which
     * AsyncGetCallTrace reads and follows. With registers other than the thread's own it reads any
     * word instead, which has crashed the JVM. */
    SMP_JVM_FRAMES_SAY_SIZE = 28
};

/* Of java.vm.specification.version: "17", "28". 0: the text is no version. */
int smp_jvm_version_parse(const char *text);
int smp_jvm_version(jvmtiEnv *jvmti);
/* Is AsyncGetCallTrace safe with registers that we made up? False if the version is unknown. */
bool smp_jvm_version_takes_made_up_registers(int version);

#endif
