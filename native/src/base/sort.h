/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.h - a stable sort of indices in the caller's memory, and binary search in sorted rows.
 *
 * qsort takes no context, and calls malloc, which is charged to no quota.
 *
 * Threads  any; smp_lower_bound also in signal handlers, if key_at may be called there.
 * Cost     sort: O(count log count); nearly sorted input O(count). Search: O(log count) calls of
 *          key_at, which the compiler inlines.
 */
#ifndef SMP_BASE_SORT_H
#define SMP_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether a must come before b; false for equal ones, which keep their order. */
typedef bool smp_index_before(const void *context, uint32_t a, uint32_t b);

/* scratch has room for count items; its content is irrelevant before and undefined after. */
void smp_sort(uint32_t *items, uint32_t *scratch, size_t count, smp_index_before *before,
              const void *context);

typedef uint64_t smp_key_at(const void *rows, size_t index);

/* Returns the first row whose key is not below this one, or count if there is none. */
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
