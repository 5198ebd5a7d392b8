/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_renewal.h - trees of calls begin anew, so that what they know of unloaded classes goes.
 *
 *   begin ─► a tree that no thread counts in ──────────────► retired, read once more, freed
 *        └─► one of a thread inside of a root ─ the end of the outermost root ─► likewise
 *   each  ─► the ids that trees still have: all others of unloaded classes may be used again
 *
 *   thread   position = top;  generation as mine? ─no─► position = NULL, and once more
 *   begin    a new generation;  position NULL? ─yes─► takes the tree
 *
 * Both sides store before they load, as at close (call_arena.h), so at least one sees the other. No
 * call is lost: a tree that was given back is read before it is freed.
 *
 * Threads  the reader's, while the arena is open; not while it is closed.
 * Errors   where a thread has no memory for its new tree its roots are counted as lost.
 * Cost     begin: a pass over the states, and over the trees in pools. each: one over all nodes.
 */
#ifndef SMP_COUNTING_CALL_RENEWAL_H
#define SMP_COUNTING_CALL_RENEWAL_H

#include <stdint.h>

void smp_call_renewal_begin(void);
/* Of each node, maybe several times: the id that its probe has pushed. Threads may add nodes
 * meanwhile, which are of classes that are loaded. */
void smp_call_renewal_each(void (*found)(void *self, int32_t id), void *self);

#endif
