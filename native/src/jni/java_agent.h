/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java_agent.h - the agent's Java class, for a library that the JVM has loaded as an agent: with
 * -agentpath, or because a command line attached. Neither needs the module java.instrument.
 *
 * If the application has the jar on its class path, the system class loader loads the class.
 * Otherwise a new class loader loads it from the jar that the option jar= names, or, without that
 * option, from threads-sampler.jar beside the library.
 *
 * Each file that was loaded as an agent finds its class. Several users may have loaded several
 * files, each with its class loader. The core keeps one class that serves all of them, so all
 * commands reach the same session.
 *
 * Owns     references to the classes, for the life of the JVM: the agent is never unloaded.
 * Threads  any attached one.
 * Errors   one line on standard error. No exception is left pending, and the JVM continues.
 * Cost     the first time: loads some classes. Later: a call of Java.
 */
#ifndef SMP_JNI_JAVA_AGENT_H
#define SMP_JNI_JAVA_AGENT_H

#include <jni.h>
#include <stdbool.h>

#include "base/status.h"

/* Executes the options once the JVM has started. */
void smp_java_agent_start(JavaVM *java_vm, const char *options);
/* Executes the options now. Returns false if there is no agent class. */
bool smp_java_agent_command(JNIEnv *env, const char *options);
/* In the core: agent becomes the class that serves, unless there is one already. *serving is the
 * class that serves, borrowed. SMP_ENOMEM. */
SMP_CHECKED enum smp_status smp_java_agent_serve(JNIEnv *env, jclass agent, jclass *serving);
/* Returns the path of this file as the dynamic linker has it, in static storage; NULL: unknown. */
const char *smp_java_agent_file(void);

#endif
