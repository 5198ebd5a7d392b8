/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_path.h - from a walked stack to the path it takes in the tree: which frames are kept.
 *
 * f[0] = leaf, k = the smallest index with f[k] monitored: kept are root..f[max(k - 1, 0)]; none
 * monitored: only the root frame. A stack that was cut has "[n..m frames omitted]" between its two
 * ends, a frame that is not monitored: where only the root end is, the time piles up on it, because
 * the library method that was called from there is among what was left out. Frames of the library's
 * own classes at the leaf's end are left out first: the thread that calls close() is seen at the
 * line that calls it. A stack of nothing else is its root frame.
 *
 * Owns     nothing.
 * Threads  the one writer of the names table.
 * Errors   none; over_limit says that a frame could not be named for lack of memory.
 * Cost     one look-up per frame.
 */
#ifndef SMP_ENGINE_ATTRIBUTION_STACK_PATH_H
#define SMP_ENGINE_ATTRIBUTION_STACK_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/methods.h"
#include "model/sample.h"

enum { SMP_STACK_PATH_EXTRA = 1 }; /* locations a path may have more than the sample has frames */

struct smp_stack_path {
    uint32_t *locations; /* the caller's storage, with room for capacity + SMP_STACK_PATH_EXTRA */
    size_t first;        /* the path is locations[first..count), leaf first */
    size_t count;
    bool over_limit;
};

/* sample->count > 0. Fills all but path->locations, and what that points to. */
void smp_stack_path_find(struct smp_stack_path *path, struct smp_methods *methods,
                         const struct smp_name_source *names, const struct smp_sample *sample);

#endif
