/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - everything that a tick does: drives the sources, owns the interval and the names. It
 * has no thread, no clock, and does not wait: the ticker calls it with the time of each tick.
 *
 *   sources: thread, stack, time ─► attribution: locations ─► filter ─► interval's tree
 *
 * A poll attributes the time since the thread's last poll. The first poll only sets the start; if
 * the thread has started since the last tick, time begins at its start. The last time of a thread
 * that has ended goes to [thread ended], and the time of a failed walk to the pseudo-frame of its
 * outcome, so no time is lost.
 *
 * Frame rule: see stack_path.h. A stack deeper than max_depth_frames keeps both ends, with
 * "[n..m frames omitted]" between them.
 *
 * Pending time, of threads that were not due, is flushed at the end of an interval, at a pause, and
 * before options or the thread filter change.
 *
 * Owns     the sampled threads, the sources, the open interval (tree, groups, counters), the names.
 * Threads  the sampler thread only, except create and, before the first tick, all others.
 * Errors   see each function. tick has none: anything that goes wrong is an outcome.
 * Cost     tick: O(threads that are due) plus the walks; no allocation if nothing is new. End of an
 *          interval, pause: O(threads).
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
#include "engine/sources/source.h"
#include "engine/threads/throttle.h"
#include "model/filter.h"
#include "model/options.h"
#include "model/outcome.h"
#include "model/profile.h"
#include "model/wait_rules.h"

struct smp_sampler;

/* The figures now, for statistics and dump(). */
struct smp_sampler_figures {
    struct smp_tally total_tally;    /* since create */
    struct smp_tally interval_tally; /* since the last interval ended */
    uint64_t total_counters[SMP_COUNTER_COUNT];
    uint64_t interval_counters[SMP_COUNTER_COUNT];
    bool is_running;
    uint64_t known_threads;
    uint64_t sampled_threads; /* of these, in the last tick */
    uint64_t nodes;           /* of the open trees */
    uint64_t locations;       /* lines known by name */
    size_t tree_bytes;        /* of the open interval */
    size_t name_bytes;        /* of methods */
    size_t stack_bytes;       /* of the threads' last stacks */
    struct smp_throttle throttle;
    struct smp_source_live source; /* of all sources */
};

/* Options with everything that a sampler needs for them. The thread that sets options does all that
 * can fail, so that the sampler thread only swaps a pointer. */
struct smp_prepared_options {
    struct smp_options options;
    struct smp_filter *filter; /* of options.monitored_packages */
    struct smp_wait_rules *rules;
};

/* Copies options. SMP_ENOMEM, SMP_EQUOTA; SMP_EINVAL as in filter.h. */
SMP_CHECKED enum smp_status smp_prepared_options_create(struct smp_quota *quota,
                                                        const struct smp_options *options,
                                                        struct smp_prepared_options **out);
/* NULL is fine. */
void smp_prepared_options_destroy(struct smp_prepared_options *prepared);

/* Copies options. */
SMP_CHECKED enum smp_status smp_sampler_create(struct smp_quota *quota, struct smp_log *log,
                                               const struct smp_jvm *vm,
                                               const struct smp_options *options,
                                               struct smp_sampler **out);
/* Call it on a thread that may call vm: it returns threads and names to the JVM. */
void smp_sampler_destroy(struct smp_sampler *sampler);

/* Adopts the options. Fixed ones must be those of create. */
void smp_sampler_set_options(struct smp_sampler *sampler, struct smp_prepared_options *options);
/* The options in force. The pointer stays the same, the content changes with set_options. */
const struct smp_options *smp_sampler_options(const struct smp_sampler *sampler);
/* Adopts the filter; its functions may be NULL. only: samples its threads and no others. */
void smp_sampler_set_filter(struct smp_sampler *sampler, struct smp_thread_filter thread_filter,
                            bool only);

/* Time counts from now on: after start, and after a pause. A tick with the same now_ns should
 * follow, so that the threads of this moment are known. */
void smp_sampler_mark(struct smp_sampler *sampler, int64_t now_ns, int64_t wall_ms);
/* The next tick polls all threads. Call it before the last tick: no later poll can prove what idle
 * threads have done. */
void smp_sampler_poll_all(struct smp_sampler *sampler);
/* No time is sampled until mark, and the interval's elapsed time stops. Call it right after a
 * tick. */
void smp_sampler_pause(struct smp_sampler *sampler);
/* Between pause and mark, when no ticks come: drops the threads that have ended. Each of them keeps
 * a Java object alive, with all that it refers to. */
void smp_sampler_forget_ended(struct smp_sampler *sampler, int64_t now_ns);
/* True between mark and pause or finish_last. */
bool smp_sampler_is_running(const struct smp_sampler *sampler);
/* Call it before a tick if the process was stopped for gap_ns since the last one: that time belongs
 * to no stack. 0: it was not. */
void smp_sampler_leave_out_stop(struct smp_sampler *sampler, int64_t gap_ns);
/* Does nothing between pause and mark. */
void smp_sampler_tick(struct smp_sampler *sampler, int64_t now_ns, bool late);
/* After a tick: the least time until the next one, because of the overhead limit; 0: none. */
int64_t smp_sampler_tick_gap_ns(struct smp_sampler *sampler);
/* The last used_ns of CPU time of the calling thread do not count against that limit. */
void smp_sampler_excuse_cpu(struct smp_sampler *sampler, int64_t used_ns);
/*
 * Call these after a tick. idle_ticks: the number of next ticks that would poll no thread, unless a
 * thread starts. watch: a thread start calls the listener's event (jvm.h); false: a thread has
 * started already. Between watch and unwatch ticks may be left out; unwatch takes their number. If
 * there were any, a tick must come before options or filter change.
 */
uint64_t smp_sampler_idle_ticks(const struct smp_sampler *sampler);
bool smp_sampler_watch(struct smp_sampler *sampler, struct smp_start_listener *listener);
void smp_sampler_unwatch(struct smp_sampler *sampler, struct smp_start_listener *listener,
                         uint64_t left_out);
/* Between pause and mark: polls every thread, and credits each with span_ns, whatever the clock
 * says. */
void smp_sampler_tick_once(struct smp_sampler *sampler, int64_t now_ns, int64_t span_ns);
/* Counted calls of the running interval, and their times, begin at zero. */
void smp_sampler_reset_counts(struct smp_sampler *sampler);
void smp_sampler_count(struct smp_sampler *sampler, enum smp_counter counter, uint64_t more);

/*
 * Ends the interval with the last tick, and begins a new one. now_ns and wall_ms are the same
 * moment; the caller sets the profile's own CPU time. May drop names that the interval did not
 * need. SMP_ENOMEM, SMP_EQUOTA: no memory for a new interval; the old one goes on and nothing is
 * lost.
 */
SMP_CHECKED enum smp_status smp_sampler_finish_interval(struct smp_sampler *sampler, int64_t now_ns,
                                                        int64_t wall_ms, struct smp_profile **out);
/*
 * Ends the interval without beginning a new one, for which there may be no memory. Only get_stats
 * and destroy may follow. On failure the interval goes on, as above.
 */
SMP_CHECKED enum smp_status smp_sampler_finish_last(struct smp_sampler *sampler, int64_t now_ns,
                                                    int64_t wall_ms, struct smp_profile **out);

/* CPU time since create of threads that work only for a source, without the calling thread. */
int64_t smp_sampler_own_cpu_ns(const struct smp_sampler *sampler);

/* In constant time. */
void smp_sampler_get_figures(const struct smp_sampler *sampler, struct smp_sampler_figures *out);

#endif
