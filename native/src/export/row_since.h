/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_since.h - since when the rows of counted trees are counted, if not for the whole interval,
 * and how many calls they lack.
 *
 *   handle   990 calls
 *     find   660 calls, counted since 12:03:07    its probe came then; handle had had 330 calls by
 *       tax  660 calls, counted since 12:03:07    then: at most 330 calls are missing in each
 *
 * A row is counted once all methods of its path have their probes, so its time is the latest of
 * theirs. The number of missing calls is computed from the caller's row: the calls that the caller
 * had had by then (model/profile_counts.h), plus those the caller itself lacks, times the calls per
 * caller's call since then, rounded up. It is an upper bound unless the caller made more calls
 * before than since. It is not known for an outermost root, nor below a row for which it is not
 * known.
 *
 * Owns     its array.
 * Threads  immutable after init.
 * Errors   SMP_ENOMEM, SMP_EQUOTA from init: there is nothing to fini.
 * Cost     init: nothing if no calls are counted; else two passes over the nodes, and 24 bytes for
 *          each.
 */
#ifndef SMP_EXPORT_ROW_SINCE_H
#define SMP_EXPORT_ROW_SINCE_H

#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/profile.h"

struct smp_since {
    int64_t wall_ms; /* 0: counted for the whole interval, or not in a counted tree */
    int64_t missing; /* an upper bound of missing calls; below 0: not known */
};

/* All zero: all rows are counted for the whole interval. */
struct smp_row_since {
    struct smp_quota *quota;
    struct smp_since *rows; /* by node */
};

SMP_CHECKED enum smp_status smp_row_since_init(struct smp_row_since *since, struct smp_quota *quota,
                                               const struct smp_profile *profile);
void smp_row_since_fini(struct smp_row_since *since); /* all zero is fine */

static inline struct smp_since smp_row_since_get(const struct smp_row_since *since, uint32_t node)
{
    const struct smp_since none = { 0 };

    return since->rows == NULL ? none : since->rows[node];
}

/* "12:03:07", in the time zone of the process. */
enum { SMP_SINCE_BYTES = 16 };
void smp_since_time(int64_t wall_ms, char out[SMP_SINCE_BYTES]);

#endif
