/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - a source of samples: a struct of functions.
 *
 *   mark ─► tick, tick, tick, flush(LAST) ─► (poll_once) ─► mark ...
 *             └ flush(INTERVAL) when an interval ends
 *
 * The sampler calls its sources in order, without knowing what they are. Only session/sampler.c
 * knows them: it creates them in open_sources(), and calls smp_cpu_signal_lost and
 * smp_calls_reset.
 *
 * Owns     see each source.
 * Threads  the sampler thread only.
 * Errors   errors in a tick become outcomes.
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

struct smp_sampled_threads;
struct smp_throttle;

/* The reason of a flush. */
enum smp_flush {
    SMP_FLUSH_OPTIONS,  /* the options will change */
    SMP_FLUSH_FOLD,     /* the tree will be folded */
    SMP_FLUSH_FILTER,   /* the thread filter will change */
    SMP_FLUSH_INTERVAL, /* the interval ends */
    SMP_FLUSH_LAST      /* sampling stops; also waits for outstanding answers */
};

/* The state of the sources for dump(). Each source sets its own members. */
struct smp_source_live {
    bool polls; /* the next two members are valid */
    uint64_t idle_threads;
    unsigned walks_in_flight;
    bool counts_calls;
    size_t counting_bytes;                            /* in addition to the session's memory */
    char counting_refusal[SMP_COUNTER_MESSAGE_BYTES]; /* why calls are not counted, or "" */
    bool draws;                                       /* virtual threads are drawn */
    uint64_t virtual_threads;
    int64_t
        helper_cpu_ns;   /* CPU time of threads that work only for a source; exact after a flush */
    const char *refusal; /* why virtual threads are not drawn as requested, or NULL; static */
};

/* A tick. */
struct smp_tick {
    int64_t now_ns;
    uint64_t skipped;   /* ticks skipped before this one, because no thread was due */
    int64_t stopped_ns; /* time for which the whole process was stopped (session/standstill.h) */
    bool is_last;       /* the last tick: polls all threads if the overhead limit allows it,
                           because no later poll can prove that threads were idle */
};

/* Returns the number of ticks in ns, at least 1. */
static inline uint64_t smp_ticks_in(const struct smp_options *options, int64_t ns)
{
    const int64_t ticks = ns / smp_options_interval_ns(options);

    return ticks > 1 ? (uint64_t)ticks : 1;
}

/* Every source has mark and destroy. The others may be NULL. */
struct smp_source {
    /* Sampling starts or continues after a pause. Time counts from now_ns on. */
    void (*mark)(void *self, int64_t now_ns);
    void (*tick)(void *self, const struct smp_tick *tick);
    /* Attributes pending time up to the last tick. Polls no thread. */
    void (*flush)(void *self, enum smp_flush reason);
    /* Called between flush(LAST) and mark: polls every thread and credits each with span_ns. */
    void (*poll_once)(void *self, int64_t now_ns, int64_t span_ns);

    /* Called after a flush. The options have changed, and were `before` until now. */
    void (*set_options)(void *self, const struct smp_options *before);
    /* Called when there is a new thread filter. */
    void (*filter_changed)(void *self);

    /* After a tick: returns how many ticks would poll no thread if none starts. NULL: any. */
    uint64_t (*idle_ticks)(const void *self);
    /* Sets the source's own members of *out, in constant time. */
    void (*get_live)(const void *self, struct smp_source_live *out);

    void (*destroy)(void *self);
    void *self;
};

/* Arguments of a source, most of them shared with other sources. All outlive it. */
struct smp_source_setup {
    struct smp_quota *quota;
    struct smp_log *log; /* NULL: none */
    const struct smp_jvm *jvm;
    struct smp_sampled_threads *threads;
    struct smp_attribution *attribution;
    struct smp_throttle *throttle;     /* begun and ended by the source that polls */
    const struct smp_options *options; /* always the options in force */
};

#endif
