/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onload.h - makes the library ready, once, before any other native method is called.
 *
 * The JVM does it by calling JNI_OnLoad, but not for a library that it has loaded as an agent
 * (-agentpath): there the first native method that Java calls does it.
 *
 * Threads  one at a time: Java loads the library under a lock.
 * Errors   SMP_EVM, with the Java exception that says what is missing pending.
 * Cost     the first time some look-ups of classes and methods, then a load.
 */
#ifndef SMP_JNI_ONLOAD_H
#define SMP_JNI_ONLOAD_H

#include <jni.h>

#include "base/status.h"

/* Called from a method of the library's own classes: FindClass uses their class loader. */
SMP_CHECKED enum smp_status smp_onload_ensure(JNIEnv *env);

#endif
