/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval.h - the time between two reports while it is collected: tree, groups, counters, covered
 * time.
 *
 *   node 0 ─┬─ [over group limit] ── [over memory limit]      made at create: there is always a
 *           ├─ group 1 ─┬─ [over memory limit]                node to credit with time
 *           │           └─ Thread.run:840 ── ...
 *           └─ group 2 ─ ...
 *
 * The [over memory limit] node of a group is made together with the group. Without memory for both,
 * the overflow group is used instead. A node without time is not printed.
 *
 * Owns     its tree and groups; holds the names.
 * Threads  the sampler thread only.
 * Errors   create, finish: SMP_ENOMEM, SMP_EQUOTA, and the interval is unchanged. All others
 *          succeed.
 * Cost     find: a look-up by name; note: a few additions.
 */
#ifndef SMP_ENGINE_ATTRIBUTION_INTERVAL_H
#define SMP_ENGINE_ATTRIBUTION_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/counted_times.h"
#include "model/counting_account.h"
#include "model/group_key.h"
#include "model/methods.h"
#include "model/outcome.h"
#include "model/profile.h"
#include "model/profile_counts.h"
#include "model/second_times.h"
#include "model/thread_groups.h"

/* Shares of the session's memory limit. One open interval, names and stack copies leave a sixth for
 * the reports that are being written, so that a new interval can always begin. */
enum {
    SMP_TREE_LIMIT_SHARE = 3,  /* a third: the tree */
    SMP_GROUPS_LIMIT_SHARE = 8 /* an eighth: the groups and their threads */
};

/* X(code, frame): rows for holders of locks that are not known. */
#define SMP_HOLDER_ROW_MAP(X)                \
    X(UNREAD, "[owner not read]")            \
    X(READERS, "[readers of the lock]")      \
    X(PERMITS, "[permits of the semaphore]") \
    X(UNMOUNTED, "[a virtual thread that is not mounted]")

enum smp_holder_row {
#define X(code, frame) SMP_HOLDER_##code,
    SMP_HOLDER_ROW_MAP(X)
#undef X
        SMP_HOLDER_ROWS
};

/* The name of the group of unknown holders. */
#define SMP_UNKNOWN_HOLDERS_NAME "[unknown]"

/* Its owners may read all members, and change tree, groups and counts by their own functions. */
struct smp_interval {
    struct smp_quota *quota;
    struct smp_tree *tree;
    struct smp_thread_groups *groups;
    struct smp_profile_counts counts;
    struct smp_counted_times counted_times;
    bool times_counted; /* counted rows get their times from sampled ones */
    struct smp_methods *methods;
    uint32_t locations[SMP_OUTCOME_COUNT]; /* of the outcomes' pseudo-frames */
    uint32_t holder_rows[SMP_HOLDER_ROWS];
    struct smp_lock_times *lock_times;
    struct smp_second_times *seconds; /* NULL: times by second are not kept */
    int64_t blocked_ns;               /* of sampled trees, not yet charged to a holder */
    int64_t holder_correction_ns;     /* blocked time that was to be taken back from holders, but
                                       * was not found there */
    struct smp_tally tally;           /* the sum over all groups, at any time */
    uint64_t counters[SMP_COUNTER_COUNT];
    bool has_begun;       /* the next two members are set */
    int64_t from_ns;      /* monotonic */
    int64_t from_wall_ms; /* at from_ns */
    bool is_covered;      /* till_ns is set */
    int64_t till_ns;      /* monotonic */
    int64_t elapsed_ns;
};

/* measures: the set of measures that its tree holds (model/measure.h). */
SMP_CHECKED enum smp_status smp_interval_create(struct smp_quota *quota,
                                                struct smp_methods *methods, uint32_t measures,
                                                struct smp_interval **out);
void smp_interval_destroy(struct smp_interval *interval);

/* Returns the tree of a group, and counts the thread in it once. raw_name may be NULL. */
struct smp_group_tree smp_interval_find(struct smp_interval *interval, struct smp_group_key key,
                                        uint64_t serial, const char *raw_name);

/* Finds or adds the node of a stack. Returns false without memory. */
bool smp_interval_add(struct smp_interval *interval, struct smp_group_tree tree,
                      const uint32_t *locations, size_t count, uint32_t *node);
/* Returns the node of an outcome without a stack. Without memory *outcome becomes
 * OVER_MEMORY_LIMIT. */
uint32_t smp_interval_add_pseudo(struct smp_interval *interval, struct smp_group_tree tree,
                                 enum smp_outcome *outcome);

/* Counts one poll with its outcome, and credits its time in a state during this span of the
 * monotonic clock. The time is longer than the span if the poll stands for many threads. */
void smp_interval_note(struct smp_interval *interval, struct smp_group_tree tree, uint32_t node,
                       enum smp_outcome outcome, enum smp_thread_state state, int64_t wall_ns,
                       struct smp_span span);
/* Counts polls that were not made. */
void smp_interval_skip(struct smp_interval *interval, struct smp_group_tree tree,
                       enum smp_outcome outcome, uint64_t count);
/*
 * Adds the difference between the CPU clock of a thread of the group and its estimates; may be
 * negative. finish spreads it over the nodes of the group that were found running, in proportion to
 * their CPU time, so that the group's sum equals the clocks. Without such nodes it goes to the last
 * target.
 */
void smp_interval_ran_unseen(struct smp_interval *interval, struct smp_group_tree tree,
                             int64_t cpu_ns);
/* Credits time in a state, up to till_ns, that is known without a poll. tree: of the node's
 * group. */
void smp_interval_spent(struct smp_interval *interval, struct smp_group_tree tree, uint32_t node,
                        enum smp_thread_state state, int64_t wall_ns, int64_t till_ns);
/* Credits running time of a thread that is only measured: it may have run at any time in the
 * interval. */
void smp_interval_measured(struct smp_interval *interval, struct smp_group_tree tree, uint32_t node,
                           int64_t wall_ns, int64_t cpu_ns);
/* Subtracts wall time before till_ns with which this node was credited in this interval: first time
 * in this state, then in any state. Returns how much was subtracted. */
int64_t smp_interval_take_back(struct smp_interval *interval, struct smp_group_tree tree,
                               uint32_t node, enum smp_thread_state state, int64_t wall_ns,
                               int64_t till_ns);
/* Moves time of the node before till_ns from one state to another. Returns how much was moved. */
int64_t smp_interval_change_state(struct smp_interval *interval, struct smp_group_tree tree,
                                  uint32_t node, enum smp_thread_state from,
                                  enum smp_thread_state to, int64_t wall_ns, int64_t till_ns);
/* A poll has found a thread of the group running, and the poll before had not. With change below 0,
 * the reverse. */
void smp_interval_ran(struct smp_interval *interval, struct smp_group_tree tree, float change,
                      uint32_t tick);

/* --- holders of locks --- */

/* Returns by how much the blocked time of sampled trees has changed since the last call; negative
 * if time was subtracted. The caller charges it to holders. */
int64_t smp_interval_take_blocked(struct smp_interval *interval);
/* Charges blocked time to a node of a tree of holders; a negative time is subtracted. If the node
 * has less, the next charges are reduced by the difference, so that the sum over all holders equals
 * the blocked time of all threads. Node 0: there was no memory for the tree, which is counted. */
void smp_interval_charge(struct smp_interval *interval, uint32_t node, int64_t ns);
/* Adds the same time to the table of locks: by the lock's class, the application's line that waits,
 * and the one that holds the lock. lock "": not known. waiting, holding: nodes; if one of them is 0
 * (not known), nothing is added. */
void smp_interval_note_lock(struct smp_interval *interval, const char *lock, uint32_t waiting,
                            uint32_t holding, int64_t ns);
/* Charges the time to [owner not read]. */
void smp_interval_charge_unknown(struct smp_interval *interval, int64_t ns);
/* Returns the tree of the group's threads as holders; group NULL: the tree of unknown holders.
 * Without memory its root is 0, and nothing can be charged to it. */
struct smp_group_tree smp_interval_find_holders(struct smp_interval *interval, const char *group);
/* Counts a thread that is blocked by holders of this tree, and the class of the lock, each once.
 * lock "": not known. */
void smp_interval_see_blocked(struct smp_interval *interval, struct smp_group_tree tree,
                              uint64_t waiter, const char *lock);
/* Returns the node of a row that stands for unknown holders. */
uint32_t smp_interval_add_holder_row(struct smp_interval *interval, struct smp_group_tree tree,
                                     enum smp_holder_row row);

/* --- counted trees --- */

/* Returns the leaf below a stack's node for threads that are in this counted call; without memory
 * the stack's node. */
uint32_t smp_interval_add_call(struct smp_interval *interval, uint32_t node, uint32_t counted);
/* From now on, and when the interval ends, counted rows get the time of the sampled stacks that
 * lead to them (model/counted_times.h). Without memory they keep their times, and the loss is
 * counted. */
void smp_interval_time_counted(struct smp_interval *interval, smp_on_counted_time *on_time,
                               void *context);

/* Adds time for which a counted thread was inside of a probe. */
void smp_interval_in_hook(struct smp_interval *interval, struct smp_group_tree tree, int64_t ns);
/* Adds calls of a root that have ended. Without memory the node's row shows only its mean. */
void smp_interval_add_root_time(struct smp_interval *interval, const struct smp_root_time *time);
/* The node has just been made, for a method that may have got its probe within the interval:
 * earlier calls by its caller are missing. Their number is known after the next settle_counted. */
void smp_interval_counted_late(struct smp_interval *interval, uint32_t node, int64_t since_ms);
/* Call it after each read of the counter. is_marked: methods have got probes since the last read,
 * and none waits for one now; all calls up to wall_ms have been read. */
void smp_interval_settle_counted(struct smp_interval *interval, bool is_marked, int64_t wall_ms);
/* Returns since when the interval counts calls: since its begin, unless counting began later. */
int64_t smp_interval_counted_from(const struct smp_interval *interval);
/* Sets everything that was credited to counted trees to zero, also in earlier intervals that
 * readers have not had yet. is_timed: counted rows get the time of sampled stacks from now on.
 * O(nodes and their depth). */
void smp_interval_forget_counted(struct smp_interval *interval, bool is_timed, int64_t wall_ms);

/* Notes the depth of a stack before it is filtered and cut. */
void smp_interval_saw_depth(struct smp_interval *interval, struct smp_group_tree tree,
                            uint64_t depth);

static inline void smp_interval_count(struct smp_interval *interval, enum smp_counter counter,
                                      uint64_t more)
{
    interval->counters[counter] += more;
}

/* Sets the moment at which the interval begins, by both clocks. Later calls do nothing. */
void smp_interval_begin(struct smp_interval *interval, int64_t now_ns, int64_t wall_ms);
/* Another span_ns have been sampled. The interval ends at now_ns, unless this is called again. */
void smp_interval_cover(struct smp_interval *interval, int64_t now_ns, int64_t span_ns);

/* Folds the smallest subtrees (model/tree_fold.h), and counts that. Returns whether node numbers
 * have changed. */
bool smp_interval_fold(struct smp_interval *interval);
/* Sets used[i] for each location i < count that is in the tree. */
void smp_interval_mark_used(const struct smp_interval *interval, bool *used, size_t count);

/* Frees the times by second, which then count as lost, if the end of the interval needs their
 * memory. Returns false if there are none. */
bool smp_interval_forget_seconds(struct smp_interval *interval);

/*
 * Ends the interval: *out gets tree and groups, times and counters; only destroy may follow.
 * wall_ms is the wall clock at now_ns; if it was set back meanwhile, *out begins as the new clock
 * would have shown. The caller sets the own CPU time of *out.
 */
SMP_CHECKED enum smp_status smp_interval_finish(struct smp_interval *interval, int64_t now_ns,
                                                int64_t wall_ms, struct smp_profile **out);

#endif
