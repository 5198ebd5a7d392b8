/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_path.h - from a walked stack to its path in the tree: which frames are kept.
 *
 *   f[0] = leaf, k = the smallest index with f[k] monitored
 *   kept: root .. f[max(k - 1, 0)]; none monitored: only the root frame
 *
 * A stack that was cut has "[n..m frames omitted]" between its two ends (powers of two, so that a
 * recursion does not make a row for each depth); where its root is not known it has
 * "[frames omitted]" there. It counts as a frame that is not monitored: where only the root end is
 * monitored, it is the leaf, because the method called there is among the omitted ones. Frames of
 * the library's own classes at the leaf's end, and those of the JDK in which they wait, are removed
 * first: a thread that calls close() is seen at the line of the call. A stack of only such frames
 * is its root frame.
 *
 * Threads  the one writer of the names table.
 * Errors   over_limit: a frame has no name for lack of memory.
 * Cost     one look-up per frame.
 */
#ifndef SMP_ENGINE_ATTRIBUTION_STACK_PATH_H
#define SMP_ENGINE_ATTRIBUTION_STACK_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/methods.h"
#include "model/sample.h"

enum { SMP_STACK_PATH_EXTRA = 1 }; /* locations of a path beyond the sample's frames */

struct smp_stack_path {
    uint32_t *locations; /* the caller's: sample->capacity + SMP_STACK_PATH_EXTRA */
    size_t first;        /* the path is locations[first..count), leaf first */
    size_t count;
    bool over_limit;
};

/* sample->count > 0. Fills all members, and what path->locations points to. */
void smp_stack_path_find(struct smp_stack_path *path, struct smp_methods *methods,
                         const struct smp_name_source *names, const struct smp_sample *sample);

#endif
