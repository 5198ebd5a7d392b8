/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holder_stack.h - where a thread is that holds a lock: the node of its stack in the tree of its
 * group's holders.
 *
 *   has not run since its last poll ─► the stack that this poll found
 *   has run                         ─► a look: from outside, or by a signal
 *
 * A look credits nothing: the odds of a thread's polls must not depend on who waits for it.
 *
 * Threads  the sampler thread only.
 * Errors   without a stack the node is that of [owner not read] in the group of the holder.
 * Cost     a walk, or a signal, at most once a tick for an owner that runs.
 */
#ifndef SMP_ENGINE_SOURCES_HOLDER_STACK_H
#define SMP_ENGINE_SOURCES_HOLDER_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sources/wall_state.h"

/* Is it known where the thread is in this tick? */
bool smp_holder_stack_is_known(const struct smp_wall *wall, struct smp_wall_thread *thread);
/* Once a tick, where that is not known: a walk, or a request for one. may_ask: by a signal, too. */
void smp_holder_stack_look(struct smp_wall *wall, struct smp_wall_thread *thread, bool may_ask);
/* The stack that a look has found. */
void smp_holder_stack_found(struct smp_wall *wall, struct smp_wall_thread *thread,
                            const struct smp_sample *sample);
/* The node of the stack that is known; 0: no memory. *tree is that of its group's holders. */
uint32_t smp_holder_stack_node(struct smp_wall *wall, struct smp_wall_thread *thread,
                               struct smp_group_tree *tree);

#endif
