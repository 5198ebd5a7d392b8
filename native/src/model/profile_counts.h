/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_counts.h - the figures of counted calls that a profile has beside its trees. An interval
 * and a merge gather them for the profile they make.
 *
 *   root_times     node ──► {calls, total, min, max}   how long finished calls took
 *   caller_calls   node ──► calls of the node's caller by the time the node's method got its probe
 *
 * With exact timing all counted nodes have a root time, otherwise only roots. A node without one
 * has only a mean, from the tree's time and calls.
 *
 * A row whose method got its probe within the interval lacks the calls that its caller's earlier
 * calls made:
 *
 *   handle   calls 990
 *     find   since its probe came; handle had had up to 330 calls by then
 *
 *   mark ──► remembers all calls, at a read that follows some probes
 *   add_late ──► did the probe come before the mark? the caller's calls there; otherwise unsettled
 *   settle ──► unsettled rows get their callers' calls at the end of the same read
 *
 * Owns     its rows, in the order in which they were added.
 * Threads  one writer; any number of readers once they are part of a profile.
 * Errors   add: SMP_ENOMEM; SMP_EQUOTA beyond the maximum of rows. Nothing has changed then: the
 *          node has only a mean, or it is unknown how many calls its row lacks.
 * Cost     find and add: O(1). A root time takes 40 bytes, a caller's calls 16, and both 4 for each
 *          node up to the last one with a row.
 */
#ifndef SMP_MODEL_PROFILE_COUNTS_H
#define SMP_MODEL_PROFILE_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/counting_account.h"
#include "model/tree.h"

enum { SMP_MAX_ROOT_TIMES = 1 << 20, SMP_MAX_CALLER_CALLS = 65536 };

/* --- times of finished calls --- */

struct smp_root_time {
    uint32_t node;
    int64_t calls; /* finished calls; never 0 in the table */
    int64_t total_ns;
    int64_t min_ns;
    int64_t max_ns;
};

struct smp_root_times;

SMP_CHECKED enum smp_status smp_root_times_create(struct smp_quota *quota,
                                                  struct smp_root_times **out);
void smp_root_times_destroy(struct smp_root_times *times); /* NULL is fine */
/* Adds calls of time->node. Does nothing if calls == 0. Sums stop at INT64_MAX. */
SMP_CHECKED enum smp_status smp_root_times_add(struct smp_root_times *times,
                                               const struct smp_root_time *time);
/* Called after a fold of the tree: times of removed nodes are dropped. */
void smp_root_times_renumber(struct smp_root_times *times, const uint32_t *places);
/* Returns NULL if no call of the node has ended. times may be NULL. Borrowed until the next add. */
const struct smp_root_time *smp_root_times_find(const struct smp_root_times *times, uint32_t node);
size_t smp_root_times_count(const struct smp_root_times *times); /* NULL: 0 */
const struct smp_root_time *smp_root_times_at(const struct smp_root_times *times, size_t index);

/* --- calls of callers --- */

struct smp_caller_call {
    uint32_t node;
    int64_t calls; /* of the row's caller; below 0: not settled yet */
};

struct smp_caller_calls;

SMP_CHECKED enum smp_status smp_caller_calls_create(struct smp_quota *quota,
                                                    struct smp_caller_calls **out);
void smp_caller_calls_destroy(struct smp_caller_calls *calls); /* NULL is fine */
/* Adds to the calls of a row, or appends a row; a new row with calls below 0 must be settled. */
SMP_CHECKED enum smp_status smp_caller_calls_add(struct smp_caller_calls *calls,
                                                 const struct smp_caller_call *call);
/* Marks this time of the wall clock: all probes set until then work, and the tree has all calls
 * until then. Without memory the previous mark stays. A mark lasts until drop_mark or destroy. */
void smp_caller_calls_mark(struct smp_caller_calls *calls, const struct smp_tree *tree,
                           int64_t wall_ms);
void smp_caller_calls_drop_mark(struct smp_caller_calls *calls); /* NULL is fine */
/* As add, for a new row whose method got its probe at since_ms. */
SMP_CHECKED enum smp_status smp_caller_calls_add_late(struct smp_caller_calls *calls, uint32_t node,
                                                      uint32_t caller, int64_t since_ms);
/* Sets each unsettled row to the calls that its caller has now. calls may be NULL. */
void smp_caller_calls_settle(struct smp_caller_calls *calls, const struct smp_tree *tree);
/* Called after a fold of the tree: rows of removed nodes are removed, and the mark is dropped. */
void smp_caller_calls_renumber(struct smp_caller_calls *calls, const uint32_t *places);
/* Returns 0 if the number is not known. calls may be NULL, also below. */
int64_t smp_caller_calls_find(const struct smp_caller_calls *calls, uint32_t node);
size_t smp_caller_calls_count(const struct smp_caller_calls *calls);
const struct smp_caller_call *smp_caller_calls_at(const struct smp_caller_calls *calls,
                                                  size_t index);

/* --- all of them --- */

/* Each part is created with its first entry. All zero: no calls were counted. */
struct smp_profile_counts {
    struct smp_root_times *root_times;     /* of nodes of counted trees; NULL: none */
    struct smp_counting_account *account;  /* NULL unless calls are counted */
    struct smp_caller_calls *caller_calls; /* NULL: none */
    /* Wall clock: when counting began, or was reset, within the interval; 0: at its start. */
    int64_t begin_ms;
    bool is_anew; /* a reset: counts of earlier intervals are void */
};

void smp_profile_counts_fini(struct smp_profile_counts *counts);
/* Called after a fold of the tree (tree_fold.h). */
void smp_profile_counts_renumber(struct smp_profile_counts *counts, const uint32_t *places);
SMP_CHECKED enum smp_status smp_profile_counts_add_root_time(struct smp_profile_counts *counts,
                                                             struct smp_quota *quota,
                                                             const struct smp_root_time *time);
SMP_CHECKED enum smp_status smp_profile_counts_add_caller(struct smp_profile_counts *counts,
                                                          struct smp_quota *quota,
                                                          const struct smp_caller_call *call);
SMP_CHECKED enum smp_status smp_profile_counts_add_account(struct smp_profile_counts *counts,
                                                           struct smp_quota *quota,
                                                           const struct smp_counting_account *more);

#endif
