/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupted.h - the start of the last walk in a handler: its pc and the machine code around it.
 *
 * A program with one running thread has one walk at a time, so the last walk belongs to the next
 * stack.
 */
#ifndef SMP_TEST_BENCH_OBSERVED_INTERRUPTED_H
#define SMP_TEST_BENCH_OBSERVED_INTERRUPTED_H

#include <stdint.h>
#include <ucontext.h>

enum { INTERRUPTED_BYTES = 32 /* half of them before the pc */ };

struct interrupted {
    uint64_t pc; /* 0: outside the JVM's own code */
    uint8_t code[INTERRUPTED_BYTES];
};

/* Called in the handler. */
void interrupted_keep(const ucontext_t *context);
/* Called on the sampler thread, once per walk; later calls return pc 0. */
struct interrupted interrupted_take(void);

#endif
