/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook_class.h - defines java.lang.ThreadsSamplerHook, which instrumented methods call, into the
 * JVM's own module java.base, and connects it with the call arenas (counting/call_arena.h).
 *
 * Its native methods are those of threadsampler.HookNatives, which belongs to no named module: the
 * JVM warns, on its standard output, of each native method that is registered in java.base.
 *
 * A class of the boot loader is never unloaded, and may be called at any time from then on: so this
 * library stays mapped. Another core, of another version of the library, finds the class there: it
 * takes over the memory behind it, where both cores have the same layout. They take turns: the
 * native methods are those of the core that has opened the arena last. A core takes them when it
 * has done so, and not before: else they could be those of a core that was refused.
 *
 * Owns     a global reference to the class.
 * Threads  one at a time; an attached one, with no exception pending. on_reflected is called by
 *          counted threads.
 * Errors   SMP_EUNSUPPORTED: this JVM lacks something, or the
 *          class that is there is another one, with a reason. SMP_ENOMEM. Nothing is counted
 *          then.
 * Cost     open: a millisecond, once. The others: a few JNI calls.
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
/* This one takes a Method or Constructor, and the receiver or null. */
#define SMP_HOOK_REFLECTED "reflected"
/* This one an exception or null, and an int. */
#define SMP_HOOK_CAUGHT "caught"

enum { SMP_HOOK_REASON_BYTES = 160 };

/* A method is called by reflection inside of a root. receiver may be NULL. False: it is to be said
 * again when it is called again. */
typedef bool smp_on_reflected(JNIEnv *env, jobject called, jobject receiver);

/* Each time before calls are counted. reason is written on failure only. */
SMP_CHECKED enum smp_status smp_hook_class_open(JNIEnv *env, smp_on_reflected *on_reflected,
                                                char reason[SMP_HOOK_REASON_BYTES]);
/* Each time after open, when this copy has opened the arena: the hooks' native methods are its own
 * from now on. reason as above. */
SMP_CHECKED enum smp_status smp_hook_class_take(JNIEnv *env, char reason[SMP_HOOK_REASON_BYTES]);

/* Their bytes, of the sources in java/java.base and java/boot, made by the build. */
extern const unsigned char smp_hook_class_bytes[];
extern const unsigned int smp_hook_class_size;
extern const unsigned char smp_hook_natives_bytes[];
extern const unsigned int smp_hook_natives_size;

#endif
