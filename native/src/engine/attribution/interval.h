/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval.h - the time between two reports, as it is collected: tree, groups, counters, covered
 * time.
 *
 *   node 0 ─┬─ [over group limit] ── [over memory limit]      made at create: there is always a
 *           ├─ group 1 ─┬─ [over memory limit]                node to credit with time
 *           │           └─ Thread.run:840 ── ...
 *           └─ group 2 ─ ...
 *
 * Each group's [over memory limit] is made together with the group. Without memory for it, the
 * group is the overflow group. A node without time is not printed.
 *
 * Owns     its tree and groups; holds the names.
 * Threads  the sampler thread only.
 * Errors   create, seal: SMP_ENOMEM, SMP_EQUOTA, the interval is as before. All others succeed.
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
#include "model/root_times.h"
#include "model/second_times.h"
#include "model/thread_groups.h"

/* Shares of the session's memory limit. One open interval, names and stack copies leave a sixth for
 * the reports that are being written, so that a new interval can always begin. */
enum {
    SMP_TREE_LIMIT_SHARE = 3,  /* a third: the tree */
    SMP_GROUPS_LIMIT_SHARE = 8 /* an eighth: the groups and their threads */
};

struct smp_interval;

/* X(code, frame): holders of locks that are not known. */
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

/* The group of holders that are not known. */
#define SMP_UNKNOWN_HOLDERS_NAME "[unknown]"

/* measures: the set of those that its tree holds (model/measure.h). */
SMP_CHECKED enum smp_status smp_interval_create(struct smp_quota *quota,
                                                struct smp_methods *methods, uint32_t measures,
                                                struct smp_interval **out);
void smp_interval_destroy(struct smp_interval *interval);

/* The tree of a group; counts the thread in it once. raw_name may be NULL. */
struct smp_group_tree smp_interval_find(struct smp_interval *interval, struct smp_group_key key,
                                        uint64_t serial, const char *raw_name);

/* The highest serial that it has met; 0: none. */
uint64_t smp_interval_newest_thread(const struct smp_interval *interval);
/* The threads that live, by their serials up to newest (model/thread_groups.h); when the interval
 * ends, too. */
void smp_interval_set_living(struct smp_interval *interval, const uint64_t *serials, size_t count,
                             uint64_t newest);
/* Is it time to call set_living and forget_ended? */
bool smp_interval_is_crowded(const struct smp_interval *interval);
/* Forgets threads that have come and gone, which stay counted. since: the highest serial that
 * earlier intervals may know. */
void smp_interval_forget_ended(struct smp_interval *interval, uint64_t since);

/* The node of a stack. False: no memory. */
bool smp_interval_add(struct smp_interval *interval, struct smp_group_tree tree,
                      const uint32_t *locations, size_t count, uint32_t *node);
/* The node of an outcome without a stack; *outcome becomes OVER_MEMORY_LIMIT without memory. */
uint32_t smp_interval_add_pseudo(struct smp_interval *interval, struct smp_group_tree tree,
                                 enum smp_outcome *outcome);

/* One poll, its one outcome, and its time in a state, during that span of the monotonic clock: the
 * time is longer if it stands for many threads. */
void smp_interval_note(struct smp_interval *interval, struct smp_group_tree tree, uint32_t node,
                       enum smp_outcome outcome, enum smp_thread_state state, int64_t wall_ns,
                       struct smp_span span);
/* So many polls that were not made. */
void smp_interval_skip(struct smp_interval *interval, struct smp_group_tree tree,
                       enum smp_outcome outcome, uint64_t count);
/* A thread was found running here, for about so much CPU time: an estimate that ran_unseen
 * corrects. */
void smp_interval_used_cpu(struct smp_interval *interval, uint32_t node, int64_t cpu_ns);
/*
 * The difference between the CPU clock of a thread of the group and its estimates; may be negative.
 * seal spreads it over the nodes of the group that were found running, in proportion to their CPU
 * time, so that the group's sum is what the clocks say. Without such nodes it goes to the last
 * target.
 */
void smp_interval_ran_unseen(struct smp_interval *interval, struct smp_group_tree tree,
                             int64_t cpu_ns);
/* Time in a state, up to till_ns, without a poll: known from other polls. tree: of the node's
 * group. */
void smp_interval_spent(struct smp_interval *interval, struct smp_group_tree tree, uint32_t node,
                        enum smp_thread_state state, int64_t wall_ns, int64_t till_ns);
/* Running time of a thread that is measured only: it has run at any moment of the interval. */
void smp_interval_measured(struct smp_interval *interval, struct smp_group_tree tree, uint32_t node,
                           int64_t wall_ns, int64_t cpu_ns);
/* Takes back wall time before till_ns that this node has been credited with in this interval, as
 * far as it goes, first of that in this state. Returns how much. */
int64_t smp_interval_take_back(struct smp_interval *interval, struct smp_group_tree tree,
                               uint32_t node, enum smp_thread_state state, int64_t wall_ns,
                               int64_t till_ns);
/* Time before till_ns that the node was credited with in one state was spent in another one.
 * Returns how much of it there was. */
int64_t smp_interval_change_state(struct smp_interval *interval, struct smp_group_tree tree,
                                  uint32_t node, enum smp_thread_state from,
                                  enum smp_thread_state to, int64_t wall_ns, int64_t till_ns);
/*
 * A poll has found a thread at another node than the one before it (smp_error_change); tick: a
 * number of the running one.
 */
void smp_interval_moved(struct smp_interval *interval, uint32_t from, uint32_t to, float change,
                        uint32_t tick);
/* A thread of the group was found running and had not been, or, with change below 0, the other way
 * round. */
void smp_interval_ran(struct smp_interval *interval, struct smp_group_tree tree, float change,
                      uint32_t tick);

/* --- holders of locks --- */

/* The blocked time of sampled trees that has changed since the last call; negative: it was taken
 * back. The caller charges it to holders. */
int64_t smp_interval_take_blocked(struct smp_interval *interval);
/* Charges blocked time to a node of a holders' tree, or takes it back. What the node cannot give
 * back is taken off the next charges, so that all holders together have what all threads were
 * blocked for. Node 0: there was no memory for a tree, which counts. */
void smp_interval_charge(struct smp_interval *interval, uint32_t node, int64_t ns);
/* The same time by the lock's class and the lines of code: where the application waits, and where
 * it holds the lock. lock "": not known. waiting, holding: nodes; 0: not known, and nothing is
 * done. */
void smp_interval_note_lock(struct smp_interval *interval, const char *lock, uint32_t waiting,
                            uint32_t holding, int64_t ns);
/* Charges it to [owner not read]. */
void smp_interval_charge_unknown(struct smp_interval *interval, int64_t ns);
/* The tree of the group's threads as holders; NULL: that of holders that are not known. Its root is
 * 0 without memory: then nothing can be charged to it. */
struct smp_group_tree smp_interval_find_holders(struct smp_interval *interval, const char *group);
/* A thread is blocked by holders of this tree, for a lock of this class; each counts once. lock "":
 * not known. */
void smp_interval_see_blocked(struct smp_interval *interval, struct smp_group_tree tree,
                              uint64_t waiter, const char *lock);
/* The node of a row that stands for holders which are not known. */
uint32_t smp_interval_add_holder_row(struct smp_interval *interval, struct smp_group_tree tree,
                                     enum smp_holder_row row);

/* --- counted trees --- */

/* The leaf below a stack's node of threads that say they are in this counted call; without memory
 * for it the stack's node. */
uint32_t smp_interval_add_call(struct smp_interval *interval, uint32_t node, uint32_t counted);
/* Exact time of a call: its sampled stack alone counts in sums over groups. */
void smp_interval_spent_in_calls(struct smp_interval *interval, uint32_t node, int64_t wall_ns);
/* Counted rows have the time of the sampled stacks that lead to them (model/counted_times.h), from
 * now on and when the interval ends. Without memory they keep what they have, which counts. */
void smp_interval_time_counted(struct smp_interval *interval, smp_on_counted_time *on_time,
                               void *context);

/* Is it one? If not, there is no memory for it, and nothing counted may be credited. */
bool smp_interval_is_counted(const struct smp_interval *interval, struct smp_group_tree tree);
void smp_interval_called(struct smp_interval *interval, uint32_t node, int64_t calls);
/* Time of a counted thread inside of a probe. */
void smp_interval_in_hook(struct smp_interval *interval, struct smp_group_tree tree, int64_t ns);
/* Calls of a root that have ended. Without memory the node's row has its mean only. */
void smp_interval_add_root_time(struct smp_interval *interval, const struct smp_root_time *time);
/* The node has just been made, for a method that may have got its probe within the interval: what
 * its caller had called before is missing. Known from the next settle on. */
void smp_interval_counted_late(struct smp_interval *interval, uint32_t node, int64_t since_ms);
void smp_interval_settle_counted(struct smp_interval *interval);
/* After settle: the read has all calls until then, and methods have got probes by then. */
void smp_interval_mark_counted(struct smp_interval *interval, int64_t wall_ms);
/* Since when the interval counts: its begin, unless counting began later. */
int64_t smp_interval_counted_from(const struct smp_interval *interval);
/* Counting begins now. */
void smp_interval_begin_counting(struct smp_interval *interval, int64_t wall_ms);
/* What counting did in a part of the interval. SMP_ENOMEM: a part of it may be missing. */
SMP_CHECKED enum smp_status smp_interval_add_counting(struct smp_interval *interval,
                                                      const struct smp_counting_account *more);
/* All that was credited to counted trees is zero, in earlier intervals as well, for readers that
 * have not had them. is_timed: counted rows have the time of sampled stacks, from now on.
 * O(nodes and their depth). */
void smp_interval_forget_counted(struct smp_interval *interval, bool is_timed, int64_t wall_ms);

/* The depth of a stack before filter and cut. */
void smp_interval_saw_depth(struct smp_interval *interval, struct smp_group_tree tree,
                            uint64_t depth);
void smp_interval_count(struct smp_interval *interval, enum smp_counter counter, uint64_t more);

/* The moment where the interval begins, by both clocks; only the first counts. */
void smp_interval_begin(struct smp_interval *interval, int64_t now_ns, int64_t wall_ms);
/* span_ns more have been sampled; the interval ends at now_ns, for now. */
void smp_interval_cover(struct smp_interval *interval, int64_t now_ns, int64_t span_ns);

const struct smp_tally *smp_interval_tally(const struct smp_interval *interval);
uint64_t smp_interval_counter(const struct smp_interval *interval, enum smp_counter counter);
size_t smp_interval_nodes(const struct smp_interval *interval);
/* Is it time to fold its tree? */
bool smp_interval_is_full(const struct smp_interval *interval);
/* Folds the smallest subtrees (model/tree_fold.h), and counts that. True: nodes have other numbers
 * now. */
bool smp_interval_fold(struct smp_interval *interval);
/* Valid until a node is added. */
const struct smp_node *smp_interval_tree_nodes(const struct smp_interval *interval);
size_t smp_interval_tree_bytes(const struct smp_interval *interval);
/* Marks in used[0..count) the locations that stand in the tree. */
void smp_interval_mark_used(const struct smp_interval *interval, bool *used, size_t count);

/* Frees what is kept by second, which counts as lost: memory is needed for the end of the interval.
 * False: there is nothing to free. */
bool smp_interval_forget_seconds(struct smp_interval *interval);

/*
 * Ends it: *out gets tree and groups, times and counters; only destroy may follow. wall_ms is the
 * wall clock at now_ns; where that was set back meanwhile, *out begins as it would have shown then.
 * The caller sets *out's own CPU time.
 */
SMP_CHECKED enum smp_status smp_interval_seal(struct smp_interval *interval, int64_t now_ns,
                                              int64_t wall_ms, struct smp_profile **out);

#endif
