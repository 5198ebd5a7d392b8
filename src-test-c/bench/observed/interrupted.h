/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupted.h - where the last walk in a handler began: its pc, and the machine code around it.
 *
 * A program with one running thread has one walk at a time, so the last one is that of the stack
 * that comes next.
 */
#ifndef SMP_TEST_BENCH_OBSERVED_INTERRUPTED_H
#define SMP_TEST_BENCH_OBSERVED_INTERRUPTED_H

#include <stdint.h>
#include <ucontext.h>

enum { INTERRUPTED_BYTES = 32 /* half of them before the pc */ };

struct interrupted {
    uint64_t pc; /* 0: not in the JVM's own code */
    uint8_t code[INTERRUPTED_BYTES];
};

/* In the handler. */
void interrupted_keep(const ucontext_t *context);
/* On the sampler thread; once for each walk, then pc is 0. */
struct interrupted interrupted_take(void);

#endif
