/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_calls.h - which rows of sampled trees show how often their method was called.
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
 * same name. A frame goes one step down in the counted tree where its method is a child of the
 * place reached there, and stands for that counted node; frames that are not counted, like
 * Stream.forEach, are passed over. A frame whose parameters are not known (model/methods.h) may be
 * of any overload: it stands for the first.
 *
 * Several frames may stand for one counted node. Of those right below the same row, lines of one
 * method mostly, the first one shows its calls. Where the frames have different callers, nothing
 * says whose calls they were: each of the callers' rows shows the number, and over how many callers
 * it goes ("over 2 paths").
 *
 * Owns     its arrays.
 * Threads  immutable but for claim and choose.
 * Errors   SMP_ENOMEM, SMP_EQUOTA from init: there is nothing to fini.
 * Cost     init: nothing where no calls are counted; else one pass over the nodes, each with the
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
    uint32_t *counted; /* by node: the counted node that it stands for; 0: none */
    uint32_t *paths;   /* by counted node: how many callers the frames that stand for it have */
    uint32_t
        *claimed; /* by counted node: the row below which it was claimed last; the chosen row */
};

SMP_CHECKED enum smp_status smp_row_calls_init(struct smp_row_calls *calls, struct smp_quota *quota,
                                               const struct smp_profile *profile);
void smp_row_calls_fini(struct smp_row_calls *calls); /* all zero is fine */

/* node is the next row below above, all of them in printed order, one above after the other: takes
 * its counted node away where another one below above has it. */
void smp_row_calls_claim(struct smp_row_calls *calls, uint32_t above, uint32_t node);

/* Instead of claim, where all nodes are rows: of those right below the same node the one with most
 * wall time keeps the counted node. */
void smp_row_calls_choose(struct smp_row_calls *calls, const struct smp_profile *profile);

/* The counted node whose calls the row shows; 0: none. */
static inline uint32_t smp_row_calls_node(const struct smp_row_calls *calls, uint32_t node)
{
    return calls->counted == NULL ? 0 : calls->counted[node];
}

#endif
