/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_layout.h - where the JVM's thread object holds the thread's state, its last Java frame,
 * and the bounds of its stack.
 *
 * libjvm exports the offsets of its fields and the numbers of the states for debuggers, which is
 * not a supported interface. So they are used only if the calling thread's values are right: it is
 * in a native method called from Java, so its state is "in native", the last Java stack pointer
 * lies above us on this very stack, the last Java pc lies in known code, and the JNIEnv lies in the
 * object. If one of these differs, no offset is used, and our own walk is not the engine. If the
 * stack's bounds differ from the C library's, only the bounds are not used.
 *
 * Threads  any attached one.
 * Errors   a layout of zeros: unknown.
 * Cost     one pass over about three thousand names.
 */
#ifndef SMP_HOTSPOT_THREAD_LAYOUT_H
#define SMP_HOTSPOT_THREAD_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The JVM's numbers for the states of a thread. Up to JDK 27 they are 4, 6, 8 and 10, and the odd
 * numbers between them are transitions; from 28 on they are 2, 3, 4, 5.
 */
struct smp_jvm_states {
    int32_t in_native;
    int32_t in_vm;
    int32_t in_java;
    int32_t blocked;
};

/* Returns whether the thread's last Java frame is in its anchor in this state. */
static inline bool smp_jvm_is_outside_java(const struct smp_jvm_states *states, int32_t state)
{
    return state == states->in_native || state == states->in_vm || state == states->blocked;
}

/* Returns whether a thread in this state may run, while its anchor and its Java frames do not
 * change until it leaves the state. */
static inline bool smp_jvm_keeps_frames(const struct smp_jvm_states *states, int32_t state)
{
    return state == states->in_native || state == states->blocked;
}

/* Offsets in a JavaThread; 0: not known, not used. */
struct smp_jvm_layout {
    struct smp_jvm_states states;
    uint32_t state;
    uint32_t last_sp;
    uint32_t last_pc;
    uint32_t last_fp;
    uint32_t exception_pc; /* the pc at which the current exception was thrown */
    uint32_t stack_base;   /* the stack's highest address: stacks grow down */
    uint32_t stack_size;
    uint32_t os_thread; /* the JVM's OSThread */
    uint32_t os_state;  /* its state, in the OSThread */
};

struct smp_thread_layout {
    struct smp_jvm_layout jvm;
    uintptr_t env_offset; /* of the JNIEnv in the thread object; 0: not known */
};

/*
 * The calling thread is in a native method called from Java. env: its JNIEnv. java_thread: its
 * Thread.eetop. is_java_code: returns whether an address is in Java code, compiled or interpreted.
 */
struct smp_thread_layout smp_thread_layout_find(const void *env, uintptr_t java_thread,
                                                uintptr_t stack_high,
                                                bool (*is_java_code)(uintptr_t pc));

/*
 * Reads the bounds of the stack of this object's thread, with two safe reads. Returns false if they
 * are not known. If the thread has ended meanwhile, the bounds may be anything.
 */
bool smp_thread_layout_stack(const struct smp_jvm_layout *layout, uintptr_t java_thread,
                             uintptr_t *low, uintptr_t *high);

#endif
