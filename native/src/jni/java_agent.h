/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java_agent.h - the agent's Java class, for a library that the JVM has loaded as an agent: with
 * -agentpath, or because a command line attached. Neither needs the module java.instrument.
 *
 * The class is that of the system class loader if the application has the jar on its class path.
 * Else a class loader of its own is made for the jar that the option jar= names; without it, for
 * threads-sampler.jar beside the library.
 *
 * Each file that was loaded as an agent has such a class. Several users may have loaded several
 * files, with a class loader each. The core keeps one class, which serves all of them, so that all
 * commands reach the same session.
 *
 * Owns     references to the classes, for the life of the JVM: the agent is never unloaded.
 * Threads  any attached one.
 * Errors   one line on standard error; never a pending exception, and the JVM goes on.
 * Cost     the first time some classes are loaded, then a call of Java.
 */
#ifndef SMP_JNI_JAVA_AGENT_H
#define SMP_JNI_JAVA_AGENT_H

#include <jni.h>
#include <stdbool.h>

#include "base/status.h"

/* Carries the options out once the JVM has started. */
void smp_java_agent_start(JavaVM *java_vm, const char *options);
/* Carries the options out now. False: there is no agent to do it. */
bool smp_java_agent_command(JNIEnv *env, const char *options);
/* In the core. The class that serves is this one, unless there is one already; *serving borrows
 * the reference. SMP_ENOMEM. */
SMP_CHECKED enum smp_status smp_java_agent_serve(JNIEnv *env, jclass agent, jclass *serving);
/* This file, as the dynamic linker has loaded it; static. NULL: it does not know it. */
const char *smp_java_agent_file(void);

#endif
