/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.h - a stable sort of indices, in the caller's memory.
 *
 * qsort takes no context, and calls malloc, which is charged to no quota.
 *
 * Threads  any.
 * Cost     O(count log count); nearly sorted input O(count).
 */
#ifndef SMP_BASE_SORT_H
#define SMP_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Must a come before b? False for equal ones, which keep their order. */
typedef bool smp_index_before(const void *context, uint32_t a, uint32_t b);

/* scratch has room for count items; its content is irrelevant before and undefined after. */
void smp_sort(uint32_t *items, uint32_t *scratch, size_t count, smp_index_before *before,
              const void *context);

#endif
