/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - one look at every thread: whom, how it is credited, and where it is counted. No
 * thread, no waiting, no clock of its own: the session drives it with the time of each tick.
 *
 *   looker: who is due ─► idle, walked, asked ─► credit: locations ─► filter ─► interval's tree
 *
 * A thread is credited with the time since it was last looked at. The first look only sets the
 * start (a thread born since the last tick starts at its birth). A thread that ended is credited up
 * to its end under [thread ended]; a walk that failed under the pseudo-frame of its outcome: no
 * time is lost.
 *
 * Frame rule, f[0] = leaf: k is the smallest index with f[k] monitored; kept are root..f[max(k - 1,
 * 0)]. None monitored: only the root frame. An empty filter keeps everything. A stack deeper than
 * max_depth_frames keeps both ends with "[n..m frames omitted]" between them (powers of two, so
 * that a recursion does not make a row per depth).
 *
 * What is kept for threads that were not due (wall.h) is credited before anything ends that it
 * belongs to: at seal, at pause, and before options or the selection change.
 *
 * Owns     thread records, the open interval (tree, groups, counters), the names table.
 * Threads  the sampler thread only, except create and, before the first tick, all others.
 * Errors   see each function. tick has none: whatever goes wrong is an outcome.
 * Cost     tick: O(threads that are due) plus the walks; no allocation when nothing is new. seal,
 *          pause: O(threads).
 */
#ifndef SMP_ENGINE_SESSION_SAMPLER_H
#define SMP_ENGINE_SESSION_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "engine/jvm.h"
#include "model/options.h"
#include "model/outcome.h"
#include "model/profile.h"

struct smp_sampler;

struct smp_sampler_stats {
    struct smp_tally total_tally;    /* since create */
    struct smp_tally interval_tally; /* since the last seal */
    uint64_t total_counters[SMP_COUNTER_COUNT];
    uint64_t interval_counters[SMP_COUNTER_COUNT];
    uint64_t threads;   /* sampled in the last tick */
    uint64_t nodes;     /* of the open trees */
    uint64_t locations; /* lines known by name */
};

SMP_CHECKED enum smp_status smp_sampler_create(struct smp_quota *quota, struct smp_log *log,
                                               const struct smp_jvm *vm,
                                               const struct smp_options *options,
                                               struct smp_sampler **out);
/* On a thread that is allowed to call vm (it gives back threads and names). */
void smp_sampler_destroy(struct smp_sampler *sampler);

/* Takes what may change while running from options (copied). On failure nothing has changed. */
SMP_CHECKED enum smp_status smp_sampler_set_options(struct smp_sampler *sampler,
                                                    const struct smp_options *options);
/* only: sample the threads of selection and no others; else everybody. Adopts selection (self may
 * be NULL). */
void smp_sampler_select(struct smp_sampler *sampler, struct smp_thread_filter thread_filter,
                        bool only);

/* The next tick credits from now on: after start, and after a pause. A tick with the same now_ns
 * should follow, so that the threads of this moment are known. */
void smp_sampler_mark(struct smp_sampler *sampler, int64_t now_ns, int64_t wall_ms);
/* The next tick polls all threads: the last one before pause or seal_last, because nothing later
 * can prove what idle threads have done. */
void smp_sampler_poll_all(struct smp_sampler *sampler);
/* Time passes without being credited from here on; the interval's elapsed time stops. A last tick
 * with the same now_ns comes before it. */
void smp_sampler_pause(struct smp_sampler *sampler, int64_t now_ns);
/* Between mark and pause, or seal_last. */
bool smp_sampler_is_running(const struct smp_sampler *sampler);
/* Does nothing between pause and mark. */
void smp_sampler_tick(struct smp_sampler *sampler, int64_t now_ns, bool late);
/* After a tick: the least time until the next one, for what ticks cost; 0: whenever it is due. */
int64_t smp_sampler_tick_gap_ns(struct smp_sampler *sampler);
/*
 * After a tick: so many of the next ticks have no thread to poll, unless one is started. watch: a
 * thread's start calls the watch's waker, as jvm.h says; false: there is one already. Ticks may
 * be left out from watch to unwatch, which takes their number. A tick comes before options or
 * selection change, where some were left out.
 */
uint64_t smp_sampler_idle_ticks(const struct smp_sampler *sampler);
bool smp_sampler_watch(struct smp_sampler *sampler, struct smp_start_listener *listen);
void smp_sampler_unwatch(struct smp_sampler *sampler, struct smp_start_listener *listen,
                         uint64_t left_out);
/* One look at every thread, each credited with span_ns whatever the clock says. */
void smp_sampler_tick_once(struct smp_sampler *sampler, int64_t now_ns, int64_t span_ns);
void smp_sampler_count(struct smp_sampler *sampler, enum smp_counter counter, uint64_t more);

/*
 * Ends the interval with the last tick: *out gets it, a new one begins. now_ns and wall_ms are the
 * same moment; the snapshot's CPU time is left to the caller. Names that the interval did not
 * need may be forgotten here. SMP_ENOMEM, SMP_EQUOTA: there was no memory for a new interval; the
 * old one goes on and nothing is lost.
 */
SMP_CHECKED enum smp_status smp_sampler_seal(struct smp_sampler *sampler, int64_t now_ns,
                                             int64_t wall_ms, struct smp_profile **out);
/*
 * As seal, but begins no new interval: when only little memory is left, or none. Nothing but
 * get_stats and destroy may follow. On failure the interval goes on, as above.
 */
SMP_CHECKED enum smp_status smp_sampler_seal_last(struct smp_sampler *sampler, int64_t now_ns,
                                                  int64_t wall_ms, struct smp_profile **out);

/* Has a message been put into the log since this was last asked? */
bool smp_sampler_take_news(struct smp_sampler *sampler);

void smp_sampler_get_stats(const struct smp_sampler *sampler, struct smp_sampler_stats *out);

#endif
