/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counted_times.h - the time of counted rows, which is that of the sampled stacks that lead to
 * them.
 *
 *   sampled   Thread.run ── Shop.handle:12 ── Proxy.call ── Shop.load:40 ── Socket.read  (2 s)
 *   counted                 Shop.handle ───────────────────── Shop.load                  (2 s)
 *
 * The stack is followed from its root end. Where the row that was reached has a callee of the
 * frame's method, that callee is reached; any other frame changes nothing. The row that is reached
 * in the end gets all the time that the sampled row has itself, with its states and its CPU time.
 * So the two trees of a group cannot disagree. Time outside of all roots is in no counted row.
 *
 * Where the thread itself has said in which counted call it is (SMP_LOCATION_CALL), that row is
 * reached, whatever the stack: compiled code knows its inlined frames at calls, not in between.
 * Time in a probe is the group's, and in no row.
 *
 * A stack does not say whether its calls were counted: a call that began before its probe was there
 * has its time in the row, too, once another call of the method has been counted.
 *
 * Owns     what sampled rows had at the last reset.
 * Threads  the tree's writer.
 * Errors   false without memory: set has changed nothing. After a forget that found no memory all
 *          sets fail, as earlier time would be in the rows again.
 * Cost     set: O(nodes); while it runs 4 bytes a node, and 100 more a counted one. forget: 80
 *          bytes a node.
 */
#ifndef SMP_MODEL_COUNTED_TIMES_H
#define SMP_MODEL_COUNTED_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "model/methods.h"
#include "model/thread_groups.h"
#include "model/tree.h"

/* Zeroed: nothing was forgotten. One interval's. */
struct smp_counted_times {
    struct smp_amounts *before; /* of the sampled rows, at the last reset */
    size_t before_count;
    bool is_lost; /* there was no memory for that */
};

/* What set works on: an open tree with its groups. Each counted node is one that an add has
 * returned. */
struct smp_counted_trees {
    struct smp_quota *quota;
    struct smp_tree *tree;
    struct smp_thread_groups *groups;
    const struct smp_methods *methods;
};

/* The counted rows of this location have so much more wall time of their own, or less. */
typedef void smp_on_counted_time(void *context, uint32_t location, int64_t more_ns);

void smp_counted_times_fini(struct smp_counted_times *times, struct smp_quota *quota);
/* Sets the times of all counted rows by the sampled ones as they are now. on_time may be NULL. */
bool smp_counted_times_set(const struct smp_counted_times *times,
                           const struct smp_counted_trees *trees, smp_on_counted_time *on_time,
                           void *context);
/* The tree was folded: its nodes have these places now. */
void smp_counted_times_renumber(struct smp_counted_times *times, const uint32_t *places);
/* What was sampled until now is in no counted row from the next set on. */
bool smp_counted_times_forget(struct smp_counted_times *times,
                              const struct smp_counted_trees *trees);

#endif
