/* SPDX-License-Identifier: Apache-2.0 */
/*
 * next_random.h - a linear congruential generator: the same numbers on every machine.
 *
 * Threads  any; each has its own seed.
 */
#ifndef SMP_TEST_SUPPORT_NEXT_RANDOM_H
#define SMP_TEST_SUPPORT_NEXT_RANDOM_H

static inline unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

#endif
