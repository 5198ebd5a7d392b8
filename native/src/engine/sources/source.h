/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - what delivers samples: one struct of functions for each source.
 *
 *   mark ─► tick, tick, poll_all, tick, flush(LAST) ─► stop ─► mark ...
 *             └ flush(INTERVAL) where an interval ends
 *
 * The sampler calls its sources in order and knows none of them: session/sampler.c chooses them,
 * once, in open_sources().
 *
 * Owns     see each source.
 * Threads  the sampler thread only.
 * Errors   whatever goes wrong in a tick becomes an outcome.
 * Cost     see each source.
 */
#ifndef SMP_ENGINE_SOURCES_SOURCE_H
#define SMP_ENGINE_SOURCES_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/log.h"
#include "engine/attribution/attribution.h"
#include "engine/jvm.h"
#include "model/options.h"

struct smp_roster;

/* Why pending time is attributed now. */
enum smp_flush {
    SMP_FLUSH_OPTIONS,  /* options are about to change */
    SMP_FLUSH_FOLD,     /* the tree is about to be folded */
    SMP_FLUSH_FILTER,   /* the thread filter is about to change */
    SMP_FLUSH_INTERVAL, /* the interval ends */
    SMP_FLUSH_LAST      /* sampling stops: also waits for answers that have not come yet */
};

/* What the sources do now, for dump(). Each sets its own figures. */
struct smp_source_live {
    bool polls; /* the figures below are kept */
    uint64_t idle_threads;
    unsigned walks_in_flight;
    int64_t throttle_share; /* of SMP_THROTTLE_WHOLE */
    int64_t throttle_bucket_ns;
    int64_t throttle_debt_ns;
    int64_t throttle_tick_ns;
    int64_t own_cpu_ns; /* of the sampler thread, when the last tick began */
    bool counts_calls;
    size_t counting_bytes;                            /* on top of the session's */
    char counting_refusal[SMP_COUNTER_MESSAGE_BYTES]; /* why not, though it should; "": none */
    bool draws;                                       /* virtual threads */
    uint64_t virtual_threads;
    const char
        *refusal; /* why virtual threads are not drawn though they should be; static; or NULL */
};

/* mark, flush, set_options, filter_changed, destroy: of each source. Others may be NULL. */
struct smp_source {
    /* Time counts from now_ns on. */
    void (*mark)(void *self, int64_t now_ns);
    void (*tick)(void *self, int64_t now_ns);
    /* Before a tick: since the last one the process was stopped for gap_ns. */
    void (*stopped)(void *self, int64_t now_ns, int64_t gap_ns);
    /* The next tick polls all threads, if there is CPU time for all. */
    void (*poll_all)(void *self);
    /* Attributes what is pending up to the last tick. Polls no thread. */
    void (*flush)(void *self, enum smp_flush reason);
    /* The signal for walks is not sent any more (check_signal in jvm.h). */
    void (*signal_lost)(void *self);
    /* Time is not sampled from now on, until mark. */
    void (*stop)(void *self);
    /* Between stop and mark: polls every thread and attributes span_ns to what it finds. */
    void (*poll_once)(void *self, int64_t now_ns, int64_t span_ns);

    /* Counts of the running interval begin at zero. */
    void (*reset_counts)(void *self);

    /* From the next tick on, after a flush. The roster still has the old options. */
    void (*set_options)(void *self, const struct smp_options *options);
    /* The roster has a new thread filter. */
    void (*filter_changed)(void *self);

    /* After a tick: the number of ticks that would poll no thread, unless a thread starts. NULL:
     * any. */
    uint64_t (*idle_ticks)(const void *self);
    /* So many ticks were left out. */
    void (*skip_ticks)(void *self, uint64_t count);
    /* After a tick: the least time until the next one, by the overhead limit; 0: none. */
    int64_t (*tick_gap_ns)(void *self);

    /* The CPU time that the thread has used last, so much of it, does not count against the limit.
     */
    void (*excuse_cpu)(void *self, int64_t used_ns);

    /* CPU time since create of threads that work for the source alone: up to date after a flush, a
     * little behind between two. NULL: it has none. */
    int64_t (*own_cpu_ns)(const void *self);
    /* In constant time. */
    void (*get_live)(const void *self, struct smp_source_live *out);
    /* Why the source does not do what the options want, once; valid until destroy. *property: which
     * of them. NULL: it does. */
    const char *(*take_refusal)(void *self, const char **property);
    /* What the user is to know of the source, once; static. NULL: nothing. */
    const char *(*take_notice)(void *self);
    /* Has it put something into the log since the last call? */
    bool (*take_news)(void *self);

    void (*destroy)(void *self);
    void *self;
};

/* What a source is made of. All but options outlive it. */
struct smp_source_setup {
    struct smp_quota *quota;
    struct smp_log *log; /* NULL: none */
    const struct smp_jvm *jvm;
    struct smp_roster *roster;
    struct smp_attribution *attribution;
    const struct smp_options *options;
};

#endif
