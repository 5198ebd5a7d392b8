/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal_mask.h - which signals a thread of this process blocks.
 *
 * Threads  any.
 * Errors   0, no signal: the thread is gone, or the system does not say.
 * Cost     10 to 20 us.
 */
#ifndef SMP_JVM_THREADS_SIGNAL_MASK_H
#define SMP_JVM_THREADS_SIGNAL_MASK_H

#include <stdint.h>

/* The bit of a signal number in a mask. */
static inline uint64_t smp_signal_mask_bit(int number)
{
    return UINT64_C(1) << (number - 1);
}

uint64_t smp_signal_mask_of_tid(int32_t tid);
/* The mask in the 16 digits of /proc/self/task/<tid>/status. */
uint64_t smp_signal_mask_parse(const char *digits);

#endif
