/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.h - which release of the Java platform this JVM implements, and what depends on it.
 *
 * Owns     nothing.
 * Threads  any attached one.
 * Errors   0: the JVM does not say.
 * Cost     one JVMTI call.
 */
#ifndef SMP_JVM_HOTSPOT_VERSION_H
#define SMP_JVM_HOTSPOT_VERSION_H

#include <jvmti.h>
#include <stdbool.h>

enum {
    /* From here on a frame of compiled code may say its own size (value classes, JEP 401):
     * AsyncGetCallTrace follows what lies there, and with registers that are not the thread's own
     * that is any word. It has crashed the JVM. */
    SMP_JVM_FRAMES_SAY_SIZE = 28
};

/* Of java.vm.specification.version: "17", "28". 0: it is none. */
int smp_jvm_version_parse(const char *text);
int smp_jvm_version(jvmtiEnv *jvmti);
/* May AsyncGetCallTrace be given registers that we have made up? Not where the version is unknown.
 */
bool smp_jvm_version_takes_made_up_registers(int version);

#endif
