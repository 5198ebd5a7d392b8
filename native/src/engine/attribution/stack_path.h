/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_path.h - from a walked stack to its path in the tree: which frames are kept.
 *
 *   f[0] = leaf, k = the smallest index with f[k] monitored
 *   kept: root .. f[max(k - 1, 0)]; none monitored: only the root frame
 *
 * A stack that was cut has "[n..m frames omitted]" between its two ends; n and m are powers of two,
 * so that a recursion does not make a row for each depth. If its root is not known, it has "[frames
 * omitted]" there. This pseudo-frame counts as not monitored: if only the root end is monitored, it
 * becomes the leaf, because the method that was called there is among the omitted ones. Frames of
 * the library's own classes at the leaf's end, and the JDK's frames in which they wait, are removed
 * first, so that a thread in close() is at the line of the call. A stack of only such frames keeps
 * its root frame.
 *
 * Threads  the one writer of the names table.
 * Errors   over_limit: there was no memory for the name of a frame.
 * Cost     one look-up per frame.
 */
#ifndef SMP_ENGINE_ATTRIBUTION_STACK_PATH_H
#define SMP_ENGINE_ATTRIBUTION_STACK_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/methods.h"
#include "model/sample.h"

enum { SMP_STACK_PATH_EXTRA = 1 }; /* a path may have one location for omitted frames */

struct smp_stack_path {
    uint32_t *locations; /* the caller's; has sample->capacity + SMP_STACK_PATH_EXTRA elements */
    size_t first;        /* the path is locations[first..count), leaf first */
    size_t count;
    bool over_limit;
};

/* sample->count > 0. Fills all members, and path->locations. */
void smp_stack_path_find(struct smp_stack_path *path, struct smp_methods *methods,
                         const struct smp_name_source *names, const struct smp_sample *sample);

#endif
