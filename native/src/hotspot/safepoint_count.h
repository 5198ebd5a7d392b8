/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safepoint_count.h - how many times the JVM has stopped all threads.
 *
 * The JVM counts stops for its own monitoring tools (jstat), in memory that has one format in all
 * JDKs and is mapped until the process ends. The count grows when a stop begins.
 *
 * Threads  find: any. The count: any, signal handlers included.
 * Errors   NULL, 0: stops are not counted (-XX:-UsePerfData).
 * Cost     find: a pass over libjvm's fields and some hundred counters. The count: one load.
 */
#ifndef SMP_HOTSPOT_SAFEPOINT_COUNT_H
#define SMP_HOTSPOT_SAFEPOINT_COUNT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "hotspot/exports.h"

/* exports: NULL, or a test's. */
const uint64_t *smp_safepoint_count_find(const struct smp_exports *exports);

/* Loads before this call are not moved behind it. */
static inline uint64_t smp_safepoint_count(const uint64_t *counter)
{
    atomic_thread_fence(memory_order_acquire);
    return counter == NULL ? 0 : __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

#endif
