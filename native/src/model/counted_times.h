/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counted_times.h - computes the time of counted rows from the sampled stacks that lead to them.
 *
 *   sampled   Thread.run ── Shop.handle:12 ── Proxy.call ── Shop.load:40 ── Socket.read  (2 s)
 *   counted                 Shop.handle ───────────────────── Shop.load                  (2 s)
 *
 * The stack is followed from its root end. If the counted row reached so far has a callee with the
 * frame's method, that callee is reached; other frames change nothing. The row reached at the end
 * gets all the time that the sampled row has itself, with its states and its CPU time. So the two
 * trees of a group cannot disagree. Time outside of all roots is in no counted row.
 *
 * If the thread itself has recorded its counted call (SMP_LOCATION_CALL), the time goes to the row
 * of that call, whatever the stack: compiled code knows its inlined frames only at calls. Time in a
 * probe is added to the group, and to no row.
 *
 * A stack does not show whether its calls were counted. So the row also has the time of calls that
 * began before the probe, once another call of the method has been counted.
 *
 * Owns     a copy of the sampled rows' amounts at the last reset.
 * Threads  the tree's writer.
 * Errors   false without memory: set has changed nothing. If forget finds no memory, all later sets
 *          fail, because rows would show earlier time again.
 * Cost     set: O(nodes), and meanwhile 4 bytes a node and 100 more a counted one. forget: 80 bytes
 *          a node.
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

/* The state of one interval. Zeroed: nothing was forgotten. */
struct smp_counted_times {
    struct smp_amounts *before; /* of the sampled rows, at the last reset */
    size_t before_count;
    bool is_lost; /* the last reset found no memory for before */
};

/* The input of set: an open tree with its groups. Each counted node was returned by an add. */
struct smp_counted_trees {
    struct smp_quota *quota;
    struct smp_tree *tree;
    struct smp_thread_groups *groups;
    const struct smp_methods *methods;
};

/* Reports by how much the own wall time of a location's counted rows has changed. */
typedef void smp_on_counted_time(void *context, uint32_t location, int64_t more_ns);

void smp_counted_times_fini(struct smp_counted_times *times, struct smp_quota *quota);
/* Computes the times of all counted rows from the sampled rows as they are now. on_time may be
 * NULL. */
bool smp_counted_times_set(const struct smp_counted_times *times,
                           const struct smp_counted_trees *trees, smp_on_counted_time *on_time,
                           void *context);
/* Called after a fold of the tree with the new places of its nodes. */
void smp_counted_times_renumber(struct smp_counted_times *times, const uint32_t *places);
/* From the next set on, counted rows exclude all time sampled until now. */
bool smp_counted_times_forget(struct smp_counted_times *times,
                              const struct smp_counted_trees *trees);

#endif
