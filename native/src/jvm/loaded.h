/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loaded.h - puts the rooms of jvm/ together: which of their functions agent.h calls, and when.
 *
 * Threads  the one that loads the library.
 * Cost     a few assignments; no call to the JVM.
 */
#ifndef SMP_JVM_LOADED_H
#define SMP_JVM_LOADED_H

#include <jni.h>

void smp_jvm_loaded(JavaVM *java_vm);

#endif
