/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook_class.h - defines java.lang.ThreadsSamplerHook, which instrumented methods call, in the
 * JVM's own module java.base, and connects it with the call arenas (counting/call_arena.h).
 *
 * Its native methods are in threadsampler.HookNatives, which belongs to no named module, because
 * the JVM prints a warning for each native method that is registered in java.base.
 *
 * A class of the boot loader is never unloaded and may be called at any time, so this library stays
 * mapped. Another core, of another version of the library, finds the class and uses the memory
 * behind it if both cores have the same layout. Cores take turns: the native methods belong to the
 * core that has opened the arena last. A core takes them only after it has opened the arena;
 * otherwise they could belong to a core that was refused.
 *
 * Owns     a global reference to the class.
 * Threads  one at a time, attached, without a pending exception. Counted threads call on_reflected.
 * Errors   SMP_EUNSUPPORTED with a reason: this JVM lacks something, or has another class of that
 *          name. SMP_ENOMEM. Nothing is counted then.
 * Cost     open: a millisecond, once. The others: a few JNI calls. The functions of struct
 *          smp_call_view walk the calling thread's stack by JVMTI: tens of ns for each frame.
 */
#ifndef SMP_JVM_CALLS_HOOK_CLASS_H
#define SMP_JVM_CALLS_HOOK_CLASS_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

#define SMP_HOOK_NATIVES "threadsampler/HookNatives"
/* As instrumented classes name it. Its methods take an int and return nothing. */
#define SMP_HOOK_CLASS "java/lang/ThreadsSamplerHook"
#define SMP_HOOK_ENTER "enter"
#define SMP_HOOK_EXIT "exit"
#define SMP_HOOK_ENTER_ROOT "enterRoot"
#define SMP_HOOK_EXIT_ROOT "exitRoot"
#define SMP_HOOK_SIGNATURE "(I)V"
/* Takes a Method or Constructor, and the receiver or null. */
#define SMP_HOOK_REFLECTED "reflected"
/* Takes an exception or null, and an int. */
#define SMP_HOOK_CAUGHT "caught"

enum { SMP_HOOK_REASON_BYTES = 160 };

/* A method is called by reflection inside of a root. receiver may be NULL. After false the hook
 * reports the next call again. */
typedef bool smp_on_reflected(JNIEnv *env, jobject called, jobject receiver);

/* To be called each time before calls are counted. reason is written only on failure. */
SMP_CHECKED enum smp_status smp_hook_class_open(JNIEnv *env, smp_on_reflected *on_reflected,
                                                char reason[SMP_HOOK_REASON_BYTES]);
/* To be called each time after open, when this copy has opened the arena: registers its own native
 * methods. reason as above. */
SMP_CHECKED enum smp_status smp_hook_class_take(JNIEnv *env, char reason[SMP_HOOK_REASON_BYTES]);

/* Bytes of the classes in java/java.base and java/boot, made by the build. */
extern const unsigned char smp_hook_class_bytes[];
extern const unsigned int smp_hook_class_size;
extern const unsigned char smp_hook_natives_bytes[];
extern const unsigned int smp_hook_natives_size;

#endif
