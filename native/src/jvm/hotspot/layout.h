/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - where in the JVM's own thread object it notes the thread's state and its last Java
 * frame.
 *
 * libjvm exports the offsets of its fields for debuggers (gHotSpotVMStructs). They are no supported
 * interface, so they are believed only where what they point at is what it must be: seen from a
 * native method called from Java, the state is "in native", the last Java stack pointer lies above
 * us on this very stack, the last Java pc lies in known code, and the JNIEnv lies in the object.
 * Where anything is otherwise, nothing is used: walks of threads inside the JVM then fail more
 * often.
 *
 * Owns     nothing.
 * Threads  any attached one.
 * Errors   none: a layout of zeros is none.
 * Cost     one pass over about three thousand names.
 */
#ifndef SMP_JVM_HOTSPOT_LAYOUT_H
#define SMP_JVM_HOTSPOT_LAYOUT_H

#include <jni.h>
#include <stdint.h>

#include "jvm/walk/handler/stack_walk.h"

struct smp_layout {
    struct smp_jvm_layout jvm;
    uintptr_t env_offset; /* of the JNIEnv in the thread object; 0: not known */
};

/* On a thread that is in a native method called from Java; java_thread: its Thread.eetop. */
struct smp_layout smp_layout_find(const JNIEnv *env, uintptr_t java_thread, uintptr_t stack_high);

#endif
