/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loaded.h - connects the rooms of jvm/: passes their functions to agent.h as hooks.
 *
 * Threads  the thread that loads the library.
 * Cost     a few assignments; no call to the JVM.
 */
#ifndef SMP_JVM_LOADED_H
#define SMP_JVM_LOADED_H

#include <jni.h>

void smp_jvm_loaded(JavaVM *java_vm);

#endif
