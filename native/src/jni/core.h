/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.h - one core in a process, shared by all copies of the Java classes.
 *
 *   copy 1: its file ─ join: no core yet ──────► this file is the core, mapped for good
 *   copy 2: its file ─ join: the core is there ► its NativeBridge gets that one's native methods
 *   the class loader of a copy is collected ─ leave; the last one: the core is as before the first
 *
 * Static data below jni/ is the core's. In the file of a copy that uses another one's core nothing
 * runs but join and leave, and that file is unmapped with its class loader. Only what the JVM calls
 * an agent for (java_agent.h) runs in the file that the JVM has loaded as one, core or not.
 *
 * Owns     this file's reference to the core; in the core: how many there are, ids.h, agent.h.
 * Threads  join: one at a time in the process, under Java's lock. leave: any.
 * Errors   as listed.
 * Cost     join: core_anchor.h's search, and natives.h's look-ups.
 */
#ifndef SMP_JNI_CORE_H
#define SMP_JNI_CORE_H

#include <jni.h>
#include <stdbool.h>

#include "base/status.h"

/*
 * From a native method of the copy's NativeBridge, before any other but abi. by_class_loader: the
 * copy's class loader has loaded this file, and leave undoes it. Else the JVM has loaded the file
 * as an agent, for all class loaders, and does not say when one of them goes: the copy counts for
 * good. SMP_EUNSUPPORTED: the file cannot stay mapped. SMP_EVM: a Java exception is pending.
 */
SMP_CHECKED enum smp_status smp_core_join(JNIEnv *env, jclass bridge, bool by_class_loader);
/* When the JVM unloads the file with its class loader. Undoes that one's join, if there was one;
 * env NULL: global references stay. */
void smp_core_leave(JNIEnv *env);

#endif
