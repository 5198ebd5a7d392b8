/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.h - what is not counted: how many of a kind, and the first of them by name.
 *
 * Threads  one at a time.
 * Cost     constant; 5 KB for each kind.
 */
#ifndef SMP_COUNTING_LOSSES_H
#define SMP_COUNTING_LOSSES_H

#include <stdint.h>

enum { SMP_LOSSES_NAMED = 20, SMP_LOSS_TEXT_BYTES = 240 };

struct smp_losses {
    uint64_t count;
    uint32_t named;                     /* of these, the first ones */
    int64_t since_ms[SMP_LOSSES_NAMED]; /* wall clock; 0 where the time does not matter */
    char texts[SMP_LOSSES_NAMED][SMP_LOSS_TEXT_BYTES];
};

/* One more. Returns the room for its text, or NULL where enough are named. */
static inline char *smp_losses_add(struct smp_losses *losses, int64_t since_ms)
{
    char *text = NULL;

    losses->count++;
    if (losses->named < SMP_LOSSES_NAMED) {
        losses->since_ms[losses->named] = since_ms;
        text = losses->texts[losses->named++];
    }
    return text;
}

#endif
