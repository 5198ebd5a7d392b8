/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_states.h - the numbers by which the JVM says what a thread does.
 *
 * They are not the same in all JDKs, so they are read from libjvm, which exports them: up to 27
 * they are 4, 6, 8, 10, and the odd ones between them stand for the way from one to another; from
 * 28 on they are 2, 3, 4, 5.
 */
#ifndef SMP_HOTSPOT_THREAD_STATES_H
#define SMP_HOTSPOT_THREAD_STATES_H

#include <stdbool.h>
#include <stdint.h>

struct smp_jvm_states {
    int32_t in_native;
    int32_t in_vm;
    int32_t in_java;
    int32_t blocked;
};

/* Then its last Java frame is in its anchor. */
static inline bool smp_jvm_is_outside_java(const struct smp_jvm_states *states, int32_t state)
{
    return state == states->in_native || state == states->in_vm || state == states->blocked;
}

/* A thread in one of these states may run, but its anchor and its Java frames stand still until it
 * leaves the state. */
static inline bool smp_jvm_keeps_frames(const struct smp_jvm_states *states, int32_t state)
{
    return state == states->in_native || state == states->blocked;
}

#endif
