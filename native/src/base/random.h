/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.h - random numbers, so that sampling cannot lock onto a periodic program. Not for secrets.
 *
 * Owns     no state: the caller has it, seeded with any number.
 * Threads  one at a time per state.
 * Cost     a few instructions.
 */
#ifndef SMP_BASE_RANDOM_H
#define SMP_BASE_RANDOM_H

#include <stdint.h>

/* Returns the next number, below 2^53: xorshift64 without its low bits, which are the worst. */
static inline uint64_t smp_random_next(uint64_t *state)
{
    uint64_t x = *state != 0 ? *state : 1; /* xorshift never leaves 0 */

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    return x >> 11;
}

/* Returns a number uniform in 0.5 to 1.5 times the mean, which is not negative. A series of such
 * gaps has no period. */
static inline int64_t smp_random_around(uint64_t *state, int64_t mean)
{
    return mean - mean / 2 + (int64_t)(smp_random_next(state) % (uint64_t)(mean / 2 * 2 + 1));
}

/* Mixes a number: different values give different results, and each bit of the result depends on
 * all bits of value. */
static inline uint64_t smp_random_of(uint64_t value)
{
    uint64_t x = value + UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

#endif
