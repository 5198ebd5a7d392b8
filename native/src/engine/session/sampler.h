/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - the work of a tick: drives the sources, owns the interval and the names. Has no
 * thread and no clock, and never waits; the ticker calls it with the time of each tick.
 *
 *   sources: thread, stack, time ─► attribution: locations ─► filter ─► interval's tree
 *
 * A poll attributes the time since the thread's last poll. The first poll only sets the start; for
 * a thread that has started since the last tick, time begins at its start. No time is lost: the
 * last time of an ended thread goes to [thread ended], and the time of a failed walk to the
 * pseudo-frame of its outcome.
 *
 * Frame rule: see stack_path.h. A stack deeper than max_depth_frames keeps both ends, with
 * "[n..m frames omitted]" between them.
 *
 * The pending time of threads that are not due is flushed at the end of an interval, at a pause,
 * and before options or the thread filter change.
 *
 * Owns     the sampled threads, the sources, the open interval (tree, groups, counters), the names.
 * Threads  the sampler thread only, except create and, before the first tick, all others.
 * Errors   see each function. Errors in a tick become outcomes.
 * Cost     tick: O(due threads) and the walks; no allocation if nothing is new. End of an
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

/* Current figures, for statistics and dump(). */
struct smp_sampler_figures {
    struct smp_tally total_tally;    /* since create */
    struct smp_tally interval_tally; /* since the last interval ended */
    uint64_t total_counters[SMP_COUNTER_COUNT];
    uint64_t interval_counters[SMP_COUNTER_COUNT];
    bool is_running;
    uint64_t known_threads;
    uint64_t sampled_threads; /* number of known threads sampled in the last tick */
    uint64_t nodes;           /* nodes of the open trees */
    uint64_t locations;       /* lines known by name */
    size_t tree_bytes;        /* memory of the open interval */
    size_t name_bytes;        /* of methods */
    size_t stack_bytes;       /* of the threads' last stacks */
    struct smp_throttle throttle;
    struct smp_source_live source; /* figures of all sources */
};

/* Options with everything that a sampler derives from them. The thread that sets options does the
 * work that can fail, so that the sampler thread only swaps a pointer. */
struct smp_prepared_options {
    struct smp_options options;
    struct smp_filter *filter; /* of options.monitored_packages */
    struct smp_wait_rules *rules;
};

/* Copies options. SMP_ENOMEM, SMP_EQUOTA; SMP_EINVAL: see filter.h. */
SMP_CHECKED enum smp_status smp_prepared_options_create(struct smp_quota *quota,
                                                        const struct smp_options *options,
                                                        struct smp_prepared_options **out);
/* prepared may be NULL. */
void smp_prepared_options_destroy(struct smp_prepared_options *prepared);

/* Copies options. */
SMP_CHECKED enum smp_status smp_sampler_create(struct smp_quota *quota, struct smp_log *log,
                                               const struct smp_jvm *vm,
                                               const struct smp_options *options,
                                               struct smp_sampler **out);
/* Called on a thread that may call vm, because it returns threads and names to the JVM. */
void smp_sampler_destroy(struct smp_sampler *sampler);

/* Takes ownership of the options. Fixed options must be the same as in create. */
void smp_sampler_set_options(struct smp_sampler *sampler, struct smp_prepared_options *options);
/* Returns the options in force. The pointer never changes; set_options changes the content. */
const struct smp_options *smp_sampler_options(const struct smp_sampler *sampler);
/* Takes ownership of the filter, whose functions may be NULL. only: samples no other threads. */
void smp_sampler_set_filter(struct smp_sampler *sampler, struct smp_thread_filter thread_filter,
                            bool only);

/* Starts the time, after start or a pause. A tick with the same now_ns should follow. */
void smp_sampler_mark(struct smp_sampler *sampler, int64_t now_ns, int64_t wall_ms);
/* Makes the next tick poll all threads. Called before the last tick, because no later poll can
 * prove that threads were idle. */
void smp_sampler_poll_all(struct smp_sampler *sampler);
/* Stops the time until mark. Called right after a tick. */
void smp_sampler_pause(struct smp_sampler *sampler);
/* Drops ended threads between pause and mark, when there are no ticks. Each of them would keep a
 * Java object alive, with all that it refers to. */
void smp_sampler_forget_ended(struct smp_sampler *sampler, int64_t now_ns);
/* Returns true between mark and pause or finish_last. */
bool smp_sampler_is_running(const struct smp_sampler *sampler);
/* Called before a tick if the process was stopped for gap_ns since the last one, so that this time
 * is not attributed to a stack. 0: it was not stopped. */
void smp_sampler_leave_out_stop(struct smp_sampler *sampler, int64_t gap_ns);
/* Does nothing between pause and mark. */
void smp_sampler_tick(struct smp_sampler *sampler, int64_t now_ns, bool late);
/* After a tick: returns the minimum time until the next one because of the overhead limit, or 0. */
int64_t smp_sampler_tick_gap_ns(struct smp_sampler *sampler);
/* Exempts the calling thread's last used_ns of CPU time from that limit. */
void smp_sampler_excuse_cpu(struct smp_sampler *sampler, int64_t used_ns);
/*
 * Called after a tick. idle_ticks returns how many of the next ticks would poll no thread if none
 * starts. After watch, a thread start calls the listener's event (jvm.h); it returns false if a
 * thread has already started. Between watch and unwatch ticks may be skipped; unwatch gets their
 * number. If there were any, a tick must come before options or filter change.
 */
uint64_t smp_sampler_idle_ticks(const struct smp_sampler *sampler);
bool smp_sampler_watch(struct smp_sampler *sampler, struct smp_start_listener *listener);
void smp_sampler_unwatch(struct smp_sampler *sampler, struct smp_start_listener *listener,
                         uint64_t left_out);
/* Called between pause and mark: polls every thread and credits each with span_ns. */
void smp_sampler_tick_once(struct smp_sampler *sampler, int64_t now_ns, int64_t span_ns);
/* Resets the counted calls of the running interval and their times. */
void smp_sampler_reset_counts(struct smp_sampler *sampler);
void smp_sampler_count(struct smp_sampler *sampler, enum smp_counter counter, uint64_t more);

/*
 * Ends the interval with the last tick and begins a new one. now_ns and wall_ms are the same
 * moment. The caller sets the profile's own_cpu_ns. May drop names that the interval did not use.
 * SMP_ENOMEM, SMP_EQUOTA: no memory for a new interval; the old one continues, and nothing is
 * lost.
 */
SMP_CHECKED enum smp_status smp_sampler_finish_interval(struct smp_sampler *sampler, int64_t now_ns,
                                                        int64_t wall_ms, struct smp_profile **out);
/*
 * Ends the interval without a new one, for which there may be no memory. Only get_figures and
 * destroy may follow. On failure the interval continues, as above.
 */
SMP_CHECKED enum smp_status smp_sampler_finish_last(struct smp_sampler *sampler, int64_t now_ns,
                                                    int64_t wall_ms, struct smp_profile **out);

/* Returns the CPU time of threads that work only for a source, without the calling thread. */
int64_t smp_sampler_own_cpu_ns(const struct smp_sampler *sampler);

/* Takes constant time. */
void smp_sampler_get_figures(const struct smp_sampler *sampler, struct smp_sampler_figures *out);

#endif
