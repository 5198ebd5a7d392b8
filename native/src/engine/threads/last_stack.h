/* SPDX-License-Identifier: Apache-2.0 */
/*
 * last_stack.h - a thread's stack at its last walk, and the node its time went to.
 *
 * Most threads have the stack that they had a tick ago. One memcmp proves it, and the time goes to
 * the same node, without a look-up of names and without a walk down the tree.
 *
 * Owns     a copy of the raw frames.
 * Threads  one at a time.
 * Errors   without memory for a copy, the next poll looks the stack up again.
 * Cost     matches: one memcmp; keep: one memcpy, and one allocation when the stack is deeper than
 *          any before.
 */
#ifndef SMP_ENGINE_THREADS_LAST_STACK_H
#define SMP_ENGINE_THREADS_LAST_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory_budget.h"
#include "model/outcome.h"
#include "model/sample.h"

enum { SMP_LAST_STACK_STEP = 32 }; /* frames allocated at a time */

/* Zeroed: no stack is remembered. */
struct smp_last_stack {
    uint64_t epoch;      /* node is valid while this equals the caller's epoch; 0: never */
    uint32_t stack_node; /* the node of the stack itself */
    uint32_t node;       /* the node that its time went to: stack_node or a node below it */
    uint32_t version;    /* rises with each stack that is copied */
    enum smp_outcome outcome;
    bool has_frames; /* frames[0..count) is a complete copy */
    /* Set by the caller: the verdict on the frames, the JVM's report, and the resulting state. */
    uint8_t verdict_state;
    uint8_t verdict_leaf;
    uint8_t word;
    uint8_t state;
    struct smp_frame *frames;
    size_t capacity;
    size_t count;
    size_t leaf_count;
    size_t omitted;
};

void smp_last_stack_fini(struct smp_last_stack *last, struct smp_memory_budget *budget);
/* epoch > 0 */
bool smp_last_stack_matches(const struct smp_last_stack *last, uint64_t epoch,
                            const struct smp_sample *sample);
/* The node is valid for this epoch even if there is no memory for the copy. */
void smp_last_stack_keep(struct smp_last_stack *last, struct smp_memory_budget *budget,
                         uint64_t epoch, const struct smp_sample *sample, uint32_t node,
                         enum smp_outcome outcome);
/* Makes the node invalid but keeps the frames. */
void smp_last_stack_forget(struct smp_last_stack *last);
/* Sets *out to the copy, which the record still owns. Returns false without a copy. */
bool smp_last_stack_get(const struct smp_last_stack *last, struct smp_sample *out);
/* Sets another node for the same stack. */
void smp_last_stack_move(struct smp_last_stack *last, uint64_t epoch, uint32_t node,
                         enum smp_outcome outcome);

#endif
