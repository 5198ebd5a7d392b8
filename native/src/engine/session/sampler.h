/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - all that a tick does: drives the sources, owns the interval and the names. No thread,
 * no waiting, no clock of its own: the ticker calls it with the time of each tick.
 *
 *   sources: thread, stack, time ─► attribution: locations ─► filter ─► interval's tree
 *
 * A poll attributes the time since the thread's last poll. The first one only sets the start (for a
 * thread that started since the last tick: its start). A thread that ended gets its last time under
 * [thread ended], a walk that failed under the pseudo-frame of its outcome: no time is lost.
 *
 * Frame rule: see stack_path.h. A stack deeper than max_depth_frames keeps both ends, with
 * "[n..m frames omitted]" between them.
 *
 * Pending time (of threads that were not due) is flushed before the end of what it belongs to: at
 * seal, at pause, and before options or the thread filter change.
 *
 * Owns     the roster, the sources, the open interval (tree, groups, counters), the names.
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
#include "engine/session/prepared_options.h"
#include "engine/sources/source.h"
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

/* What it does now, for dump(). */
struct smp_sampler_live {
    bool is_running;
    uint64_t threads;              /* known */
    uint64_t sampled;              /* of these */
    size_t tree_bytes;             /* of the open interval */
    size_t name_bytes;             /* of methods */
    size_t stack_bytes;            /* of the threads' last stacks */
    struct smp_source_live source; /* of all of them */
};

/* Copies options. */
SMP_CHECKED enum smp_status smp_sampler_create(struct smp_quota *quota, struct smp_log *log,
                                               const struct smp_jvm *vm,
                                               const struct smp_options *options,
                                               struct smp_sampler **out);
/* On a thread that is allowed to call vm: it gives back threads and names. */
void smp_sampler_destroy(struct smp_sampler *sampler);

/* Adopts the options; fixed ones must be those of create. */
void smp_sampler_set_options(struct smp_sampler *sampler, struct smp_prepared_options *options);
/* The options in force, valid until the next ones. */
const struct smp_options *smp_sampler_options(const struct smp_sampler *sampler);
/* Adopts the filter; its functions may be NULL. only: samples its threads and no others. */
void smp_sampler_set_filter(struct smp_sampler *sampler, struct smp_thread_filter thread_filter,
                            bool only);

/* Time counts from now on: after start, and after a pause. A tick with the same now_ns should
 * follow, so that the threads of this moment are known. */
void smp_sampler_mark(struct smp_sampler *sampler, int64_t now_ns, int64_t wall_ms);
/* The next tick polls all threads. Before the last one: no later poll can prove what idle threads
 * have done. */
void smp_sampler_poll_all(struct smp_sampler *sampler);
/* No time is sampled until mark; the interval's elapsed time stops. A tick comes just before it. */
void smp_sampler_pause(struct smp_sampler *sampler);
/* Between pause and mark: gives back the threads that have ended, which no tick sees. Each is an
 * object of the JVM, with all that it refers to. */
void smp_sampler_forget_ended(struct smp_sampler *sampler, int64_t now_ns);
/* Between mark and pause, or seal_last. */
bool smp_sampler_is_running(const struct smp_sampler *sampler);
/* Before a tick: since the last one the process was stopped for gap_ns, and that time belongs to no
 * stack. 0: it was not. */
void smp_sampler_leave_out_stop(struct smp_sampler *sampler, int64_t now_ns, int64_t gap_ns);
/* Does nothing between pause and mark. */
void smp_sampler_tick(struct smp_sampler *sampler, int64_t now_ns, bool late);
/* After a tick: the least time until the next one, by the overhead limit; 0: none. */
int64_t smp_sampler_tick_gap_ns(struct smp_sampler *sampler);
/* The CPU time that the calling thread has used last does not count against that limit. */
void smp_sampler_excuse_cpu(struct smp_sampler *sampler, int64_t used_ns);
/*
 * After a tick: so many of the next ticks have no thread to poll, unless one starts. watch: a
 * thread's start calls the listener's event (jvm.h); false: one has started already. Ticks may be
 * left out between watch and unwatch, which takes their number. Where some were, a tick comes
 * before options or filter change.
 */
uint64_t smp_sampler_idle_ticks(const struct smp_sampler *sampler);
bool smp_sampler_watch(struct smp_sampler *sampler, struct smp_start_listener *listener);
void smp_sampler_unwatch(struct smp_sampler *sampler, struct smp_start_listener *listener,
                         uint64_t left_out);
/* Between pause and mark: polls every thread, each counts span_ns, whatever the clock says. */
void smp_sampler_tick_once(struct smp_sampler *sampler, int64_t now_ns, int64_t span_ns);
/* Counted calls of the running interval, and their times, begin at zero. */
void smp_sampler_reset_counts(struct smp_sampler *sampler);
void smp_sampler_count(struct smp_sampler *sampler, enum smp_counter counter, uint64_t more);

/*
 * Ends the interval with the last tick, and begins a new one. now_ns and wall_ms are the same
 * moment; the caller sets the profile's own CPU time. Names that the interval did not need may be
 * forgotten. SMP_ENOMEM, SMP_EQUOTA: no memory for a new interval; the old one goes on and nothing
 * is lost.
 */
SMP_CHECKED enum smp_status smp_sampler_seal(struct smp_sampler *sampler, int64_t now_ns,
                                             int64_t wall_ms, struct smp_profile **out);
/*
 * As seal, but begins no new interval, for which there may be no memory. Only get_stats and destroy
 * may follow. On failure the interval goes on, as above.
 */
SMP_CHECKED enum smp_status smp_sampler_seal_last(struct smp_sampler *sampler, int64_t now_ns,
                                                  int64_t wall_ms, struct smp_profile **out);

/* CPU time since create of threads that work for sources alone; the caller's is not in it. */
int64_t smp_sampler_own_cpu_ns(const struct smp_sampler *sampler);
/* Has a message been put into the log since the last call? */
bool smp_sampler_take_news(struct smp_sampler *sampler);

void smp_sampler_get_stats(const struct smp_sampler *sampler, struct smp_sampler_stats *out);
/* In constant time. */
void smp_sampler_get_live(const struct smp_sampler *sampler, struct smp_sampler_live *out);

#endif
