/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"

#include <string.h>

enum { FIRST_RUN = 8 }; /* insertion is faster than merging for runs up to this length */

struct sorter {
    smp_index_before *before;
    const void *context;
};

static void insertion_sort(const struct sorter *sorter, uint32_t *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const uint32_t item = items[i];
        size_t at = i;
        for (; at > 0 && sorter->before(sorter->context, item, items[at - 1]); at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* Merges the sorted from[0..middle) and from[middle..count) into to[0..count). */
static void merge_runs(const struct sorter *sorter, const uint32_t *from, size_t middle,
                       size_t count, uint32_t *to)
{
    size_t left = 0;
    size_t right = middle;

    if (middle == count || !sorter->before(sorter->context, from[middle], from[middle - 1])) {
        memcpy(to, from, count * sizeof(*to));
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const bool take_right =
            left == middle ||
            (right < count && sorter->before(sorter->context, from[right], from[left]));
        to[i] = take_right ? from[right++] : from[left++];
    }
}

static size_t smaller_index(size_t a, size_t b)
{
    return a < b ? a : b;
}

void smp_sort(uint32_t *items, uint32_t *scratch, size_t count, smp_index_before *before,
              const void *context)
{
    const struct sorter sorter = { .before = before, .context = context };
    uint32_t *from = items;
    uint32_t *to = scratch;

    for (size_t at = 0; at < count; at += FIRST_RUN)
        insertion_sort(&sorter, items + at, smaller_index(FIRST_RUN, count - at));
    for (size_t run = FIRST_RUN; run < count; run *= 2) {
        for (size_t at = 0; at < count; at += 2 * run) {
            const size_t both = smaller_index(2 * run, count - at);
            merge_runs(&sorter, from + at, smaller_index(run, both), both, to + at);
        }
        uint32_t *const merged = to;
        to = from;
        from = merged;
    }
    if (from != items)
        memcpy(items, from, count * sizeof(*items));
}
