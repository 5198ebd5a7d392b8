/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_state.h - finds the state of a thread from its frames, and from what the JVM reports.
 *
 *   runs, says its clock ────────────────────────────────────────► RUNNING
 *   waits ─┬ the JVM: at a monitor ──────────────────────────────► BLOCKED
 *          ├ the JVM: stopped for a safepoint ───────────────────► RUNNABLE
 *          └ else by its innermost frames ─► BLOCKED, IO, IDLE, WAITING
 *                                 WAITING without a frame of the application ─► IDLE
 *
 * The verdict on the frames is found once for each new stack (model/wait_rules.h judges methods),
 * and kept with the last stack. If the JVM says nothing, a thread whose innermost method is Java
 * code of no known kind waits at a monitor.
 *
 * Threads  the writer of the names table.
 * Cost     find: a few loads for each frame.
 */
#ifndef SMP_ENGINE_ATTRIBUTION_WAIT_STATE_H
#define SMP_ENGINE_ATTRIBUTION_WAIT_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/jvm.h"
#include "model/measure.h"
#include "model/methods.h"
#include "model/sample.h"

enum smp_wait_leaf {
    SMP_LEAF_KNOWN,  /* a method that the rules know, or there are no frames */
    SMP_LEAF_NATIVE, /* a native method that the rules do not know */
    SMP_LEAF_JAVA    /* another method, which does not wait by itself */
};

/* The state of a thread if it waits, derived from its frames. */
struct smp_wait_verdict {
    enum smp_thread_state state;
    enum smp_wait_leaf leaf;
};

/* locations: of all frames, leaf first, with the pseudo-location of omitted ones. */
struct smp_wait_verdict smp_wait_verdict_find(const struct smp_methods *methods,
                                              const struct smp_sample *sample,
                                              const uint32_t *locations, size_t count);

enum smp_thread_state smp_wait_state(struct smp_wait_verdict verdict, enum smp_wait_word word);

#endif
