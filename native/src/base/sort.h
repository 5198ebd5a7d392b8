/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.h - a stable sort of indices, in memory of the caller's.
 *
 * Not qsort: that one takes no context and asks malloc for memory that no quota knows of.
 *
 * Owns     nothing.
 * Threads  any.
 * Errors   none.
 * Cost     O(count log count); nearly sorted input O(count).
 */
#ifndef SMP_BASE_SORT_H
#define SMP_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Must a stand before b? False for equal ones: they stay in the order they had. */
typedef bool smp_index_before(const void *context, uint32_t a, uint32_t b);

/* scratch has room for count items; its content does not matter before or after. */
void smp_sort(uint32_t *items, uint32_t *scratch, size_t count, smp_index_before *before,
              const void *context);

#endif
