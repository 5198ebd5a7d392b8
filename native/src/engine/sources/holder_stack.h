/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holder_stack.h - the stack of a thread that holds a lock: its node in the tree of its group's
 * holders.
 *
 *   the thread has not run since its last poll ─► the stack that this poll found
 *   the thread has run                         ─► a look: from outside, or by a signal
 *
 * A look credits nothing, because the odds of a thread's polls must not depend on who waits for it.
 *
 * Threads  the sampler thread only.
 * Errors   without a stack the node is that of [owner not read] in the group of the holder.
 * Cost     for an owner that runs: at most one walk or signal a tick.
 */
#ifndef SMP_ENGINE_SOURCES_HOLDER_STACK_H
#define SMP_ENGINE_SOURCES_HOLDER_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sources/wall_state.h"

/* True if the thread's stack in this tick is known. */
bool smp_holder_stack_is_known(const struct smp_wall *wall, struct smp_wall_thread *thread);
/* If it is not known, walks the thread or requests a walk, once a tick. may_ask: a signal is
 * allowed. */
void smp_holder_stack_look(struct smp_wall *wall, struct smp_wall_thread *thread, bool may_ask);
/* Call it with the stack that a look has found. */
void smp_holder_stack_found(struct smp_wall *wall, struct smp_wall_thread *thread,
                            const struct smp_sample *sample);
/* Returns the node of the known stack; 0: no memory. *tree is the tree of its group's holders. */
uint32_t smp_holder_stack_node(struct smp_wall *wall, struct smp_wall_thread *thread,
                               struct smp_group_tree *tree);

#endif
