/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_calls.h - the rows of sampled trees that show how often their method was called.
 *
 *   sampled                          counted                shown
 *   Thread.run:840
 *     Handler.handle:12              handle   9 calls       Calls: 9
 *       Stream.forEach:99
 *         Dao.find:7                   find  40 calls       Calls: 40 over 2 paths
 *     Handler.handle:31                                     nothing: a line of the row above
 *       Dao.find:7                                          Calls: 40 over 2 paths
 *
 * A sampled path is followed from the root down, together with the counted tree of the group of the
 * same name. If a frame's method is a child of the counted node reached so far, the frame
 * corresponds to that child, which is reached next. Frames that are not counted, like
 * Stream.forEach, are skipped. A frame with unknown parameters (model/methods.h) may be of any
 * overload, and corresponds to the first.
 *
 * Several frames may correspond to one counted node. Among those right below the same row, mostly
 * lines of one method, the first one shows the calls. If the frames have different callers, it is
 * not known which of them made the calls: each shows the number, and the number of callers that
 * share it ("over 2 paths").
 *
 * Owns     its arrays.
 * Threads  immutable except by claim and choose.
 * Errors   SMP_ENOMEM, SMP_EQUOTA from init: there is nothing to fini.
 * Cost     init: nothing if no calls are counted; else one pass over the nodes, each with the
 *          children of its counted node, and 12 bytes a node. claim, get: a few loads. choose: two
 *          passes over the nodes.
 */
#ifndef SMP_EXPORT_ROW_CALLS_H
#define SMP_EXPORT_ROW_CALLS_H

#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/profile.h"

/* Visible so that look-ups can be inlined. All zero: no row shows calls. */
struct smp_row_calls {
    struct smp_quota *quota;
    uint32_t *counted; /* by node: the counted node that it corresponds to; 0: none */
    uint32_t *paths;   /* by counted node: how many callers its frames have */
    uint32_t
        *claimed; /* by counted node: the row below which it was claimed last, or the chosen row */
};

SMP_CHECKED enum smp_status smp_row_calls_init(struct smp_row_calls *calls, struct smp_quota *quota,
                                               const struct smp_profile *profile);
void smp_row_calls_fini(struct smp_row_calls *calls); /* all zero is fine */

/* Called in printed order for each row, node, directly below a row, above. node loses its counted
 * node if an earlier row below above has it. */
void smp_row_calls_claim(struct smp_row_calls *calls, uint32_t above, uint32_t node);

/* Used instead of claim if all nodes are rows. Among the children of a node, the one with the most
 * wall time keeps the counted node. */
void smp_row_calls_choose(struct smp_row_calls *calls, const struct smp_profile *profile);

/* Returns the counted node whose calls the row shows; 0 if there is none. */
static inline uint32_t smp_row_calls_node(const struct smp_row_calls *calls, uint32_t node)
{
    return calls->counted == NULL ? 0 : calls->counted[node];
}

#endif
