/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap_end.h - completes AsyncGetCallTrace's stack of a virtual thread that has parked: it goes on
 * from the frames on the carrier's stack to the carrier's own, and leaves out those in the heap.
 *
 *   leaf ... oldest one on the stack │ enterSpecial, carrier's frames
 *                                    └─ the barrier's address on the stack ─► the heap (frames.h)
 *
 * Threads  the interrupted thread: no lock, no allocation, no call into the JVM.
 * Errors   where the heap is not read the stack stays as it is.
 * Cost     a search of the words of the frames on the stack, and the walk of those in the heap.
 */
#ifndef SMP_HANDLER_HEAP_END_H
#define SMP_HANDLER_HEAP_END_H

#include "handler/one_walk.h"

enum { SMP_HEAP_END_WORDS = 4096 /* searched for the barrier */ };

/* The answer is that of AsyncGetCallTrace, whole. */
void smp_heap_end_add(struct smp_walk *walk);

#endif
