/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_bound.h - binary search in rows that are sorted by key.
 *
 * Threads  any, including signal handlers if key_at may be called there.
 * Cost     O(log count) calls of key_at, which the compiler inlines.
 */
#ifndef SMP_BASE_LOWER_BOUND_H
#define SMP_BASE_LOWER_BOUND_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t smp_key_at(const void *rows, size_t index);

/* Returns the first row whose key is not below this one; count: there is none. */
static inline size_t smp_lower_bound(const void *rows, size_t count, smp_key_at *key_at,
                                     uint64_t key)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (key_at(rows, middle) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
