/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.h - numbers without a period a program could fall in step with. Not for secrets.
 *
 * Owns     no state; it is the caller's, seeded with anything.
 * Threads  one at a time for each state.
 * Cost     a few instructions.
 */
#ifndef SMP_BASE_RANDOM_H
#define SMP_BASE_RANDOM_H

#include <stdint.h>

/* The next number: xorshift64, its low and worst bits left out; below 2^53. */
static inline uint64_t smp_random_next(uint64_t *state)
{
    uint64_t x = *state != 0 ? *state : 1; /* xorshift never leaves 0 */

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    return x >> 11;
}

/* Uniform in 0.5 to 1.5 times the mean, which is not negative: gaps of such lengths, one after the
 * other, keep step with nothing. */
static inline int64_t smp_random_around(uint64_t *state, int64_t mean)
{
    return mean - mean / 2 + (int64_t)(smp_random_next(state) % (uint64_t)(mean / 2 * 2 + 1));
}

/* A number that belongs to this one, and to no other: all its bits depend on all of value's. */
static inline uint64_t smp_random_of(uint64_t value)
{
    uint64_t x = value + UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

#endif
