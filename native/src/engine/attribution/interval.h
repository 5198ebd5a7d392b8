/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval.h - what is being collected for the next report: tree, groups, counters, covered time.
 *
 *   node 0 ─┬─ [over group limit] ── [over memory limit]      made at create: there is always a
 *           ├─ group 1 ─┬─ [over memory limit]                place to credit time to
 *           │           └─ Thread.run:840 ── ...
 *           └─ group 2 ─ ...
 *
 * Each group's [over memory limit] is made together with the group, while there is room for it; a
 * group there is no such room for is the overflow group. A node without time is not printed.
 *
 * Owns     its tree and groups; holds the names.
 * Threads  the sampler thread only.
 * Errors   create, seal: SMP_ENOMEM, SMP_EQUOTA, the interval is as before. All others always have
 *          an answer.
 * Cost     find: a look-up by name; note: a few additions.
 */
#ifndef SMP_ENGINE_ATTRIBUTION_INTERVAL_H
#define SMP_ENGINE_ATTRIBUTION_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/group_key.h"
#include "model/methods.h"
#include "model/outcome.h"
#include "model/profile.h"
#include "model/thread_groups.h"

/* Shares of the session's memory limit: one open interval, names and stack copies leave a sixth for
 * the reports that are being written, so that a new interval can always be begun. */
enum {
    SMP_TREE_LIMIT_SHARE = 3,  /* a third: the tree */
    SMP_GROUPS_LIMIT_SHARE = 8 /* an eighth: the groups, and who was in them */
};

struct smp_interval;

SMP_CHECKED enum smp_status smp_interval_create(struct smp_quota *quota,
                                                struct smp_methods *methods,
                                                struct smp_interval **out);
void smp_interval_destroy(struct smp_interval *interval);

/* The key of a group by name; counts the thread in it once. raw_name may be NULL. */
struct smp_group_key smp_interval_find(struct smp_interval *interval, const char *group_name,
                                       uint64_t serial, const char *raw_name);

/* Where the time of a stack goes. False: there was no room for it. */
bool smp_interval_add(struct smp_interval *interval, struct smp_group_key key,
                      const uint32_t *locations, size_t count, uint32_t *node);
/* The node of an outcome without a stack; *outcome becomes OVER_LIMIT where there was no room. */
uint32_t smp_interval_add_pseudo(struct smp_interval *interval, struct smp_group_key key,
                                 enum smp_outcome *outcome);

/* One attempt, its one outcome and its time. */
void smp_interval_note(struct smp_interval *interval, struct smp_group_key key, uint32_t node,
                       enum smp_outcome outcome, int64_t wall_ns);
/* So many attempts that were not made. */
void smp_interval_skip(struct smp_interval *interval, struct smp_group_key key,
                       enum smp_outcome outcome, uint64_t count);
/* A thread was found running here: about so much CPU time, for ran_unseen to correct. */
void smp_interval_used_cpu(struct smp_interval *interval, struct smp_group_key key, uint32_t node,
                           int64_t cpu_ns);
/*
 * What the clock of a thread of the group says beyond what it was credited with, or less than that
 * where it is negative. It is spread at seal over what was seen running in the group, in proportion
 * to the CPU time there, so that the group's sum is what the clocks say; where nothing was, it goes
 * to the node that was credited last.
 */
void smp_interval_ran_unseen(struct smp_interval *interval, struct smp_group_key key,
                             int64_t cpu_ns);
/* Time that is no attempt's: of a thread that is not sampled but measured, or known without a poll.
 */
void smp_interval_measured(struct smp_interval *interval, uint32_t node, int64_t wall_ns,
                           int64_t cpu_ns);
/* Takes back wall time that the node itself was credited with in this interval, as far as there is
 * any. Returns how much. */
int64_t smp_interval_take_back(struct smp_interval *interval, uint32_t node, int64_t wall_ns);
/* Before any filter or cut. */
void smp_interval_saw_depth(struct smp_interval *interval, struct smp_group_key key,
                            uint64_t depth);
void smp_interval_count(struct smp_interval *interval, enum smp_counter counter, uint64_t more);

/* The wall clock where the interval begins; only the first counts. */
void smp_interval_begin(struct smp_interval *interval, int64_t wall_ms);
/* span_ns more have been credited; now_ns is where the interval ends, for now. */
void smp_interval_cover(struct smp_interval *interval, int64_t now_ns, int64_t span_ns);

const struct smp_tally *smp_interval_tally(const struct smp_interval *interval);
uint64_t smp_interval_counter(const struct smp_interval *interval, enum smp_counter counter);
size_t smp_interval_nodes(const struct smp_interval *interval);
/* Marks in used[0..count) the locations that stand in the tree. */
void smp_interval_mark_used(const struct smp_interval *interval, bool *used, size_t count);

/*
 * Ends it: *out gets tree and groups, times and counters; only destroy may follow. wall_ms is the
 * wall clock at now_ns. *out's CPU time is left to the caller.
 */
SMP_CHECKED enum smp_status smp_interval_seal(struct smp_interval *interval, int64_t now_ns,
                                              int64_t wall_ms, struct smp_profile **out);

#endif
