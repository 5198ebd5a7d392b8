/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session/sampler.h"

#include <string.h>

#include "engine/attribution/interval.h"
#include "engine/sources/cpu.h"
#include "engine/sources/jvm_threads.h"
#include "engine/sources/wall.h"
#include "model/filter.h"
#include "model/methods.h"

/* Shares of the memory limit; those of an interval are in interval.h. */
enum {
    NAMES_LIMIT_SHARE = 4,   /* a quarter: names of methods */
    NAMES_COMPACT_SHARE = 2, /* half of that: seal keeps only the names that the report needs */
    STACKS_LIMIT_SHARE = 8   /* an eighth: copies of last stacks */
};

struct smp_sampler {
    struct smp_quota *quota;
    struct smp_log *log;
    struct smp_jvm vm;
    char *packages; /* the text filter was made from */
    struct smp_filter *filter;
    struct smp_methods *methods;
    struct smp_methods_stats methods_seen; /* what of methods' figures has been counted */
    struct smp_interval *interval;         /* NULL after seal_last */
    struct smp_wall wall;
    bool reports_jvm_threads;
    bool is_running;       /* between mark and pause */
    int64_t covered_ns;    /* up to here the interval's time has been told */
    bool warned_of_memory; /* in this interval */
    bool has_news;
    struct smp_tally closed_tally; /* of all sealed intervals */
    uint64_t closed_counters[SMP_COUNTER_COUNT];
};

/* --- create, destroy --- */

static void set_methods(struct smp_sampler *sampler, struct smp_methods *methods)
{
    sampler->methods = methods;
    sampler->wall.attribution.methods = methods;
    smp_methods_get_stats(methods, &sampler->methods_seen);
}

static void set_interval(struct smp_sampler *sampler, struct smp_interval *interval)
{
    sampler->interval = interval;
    sampler->wall.attribution.interval = interval;
}

static enum smp_status create_parts(struct smp_sampler *sampler, const struct smp_options *options)
{
    struct smp_quota *quota = sampler->quota;
    const char *packages = options->monitored_packages;
    struct smp_methods *methods = NULL;
    struct smp_interval *interval = NULL;
    enum smp_status status = SMP_ENOMEM;

    sampler->packages = smp_strndup(quota, packages, strlen(packages));
    if (sampler->packages == NULL)
        return status;
    status = smp_filter_create(quota, packages, &sampler->filter);
    if (status != SMP_OK)
        return status;
    status = smp_methods_create(quota, quota->limit_bytes / NAMES_LIMIT_SHARE, sampler->filter,
                                &methods);
    if (status != SMP_OK)
        return status;
    set_methods(sampler, methods);
    status = smp_wall_init(&sampler->wall, quota, &sampler->vm, options,
                           quota->limit_bytes / STACKS_LIMIT_SHARE);
    if (status != SMP_OK)
        return status;
    status = smp_interval_create(quota, methods, &interval);
    if (status == SMP_OK)
        set_interval(sampler, interval);
    return status;
}

enum smp_status smp_sampler_create(struct smp_quota *quota, struct smp_log *log,
                                   const struct smp_jvm *vm, const struct smp_options *options,
                                   struct smp_sampler **out)
{
    struct smp_sampler *sampler = smp_alloc(quota, sizeof(*sampler));
    enum smp_status status = SMP_ENOMEM;

    if (sampler == NULL)
        goto done;
    sampler->quota = quota;
    sampler->log = log;
    sampler->vm = *vm;
    sampler->reports_jvm_threads = options->report_jvm_threads;
    status = create_parts(sampler, options);
    if (status != SMP_OK)
        goto done;
    *out = sampler;
    sampler = NULL;
done:
    smp_sampler_destroy(sampler);
    return status;
}

void smp_sampler_destroy(struct smp_sampler *sampler)
{
    if (sampler == NULL)
        return;
    smp_wall_fini(&sampler->wall);
    smp_interval_destroy(sampler->interval);
    if (sampler->methods != NULL)
        smp_methods_release(sampler->methods);
    if (sampler->filter != NULL)
        smp_filter_destroy(sampler->filter);
    smp_free(sampler->quota, sampler->packages);
    smp_free(sampler->quota, sampler);
}

/* --- messages --- */

static void warn_of_memory(struct smp_sampler *sampler)
{
    if (!sampler->wall.attribution.ran_out || sampler->warned_of_memory)
        return;
    sampler->warned_of_memory = true;
    sampler->has_news = true;
    smp_log_put(sampler->log, SMP_LOG_WARNING,
                "memory limit of %zu bytes reached: new stacks are reported as %s",
                sampler->quota->limit_bytes, smp_outcome_frame(SMP_OUTCOME_OVER_MEMORY_LIMIT));
}

bool smp_sampler_take_news(struct smp_sampler *sampler)
{
    const bool news = sampler->has_news;

    sampler->has_news = false;
    return news;
}

static void count_unnamed(struct smp_sampler *sampler)
{
    struct smp_methods_stats stats;

    smp_methods_get_stats(sampler->methods, &stats);
    smp_interval_count(sampler->interval, SMP_COUNTER_UNLOADED_METHODS,
                       stats.unloaded - sampler->methods_seen.unloaded);
    smp_interval_count(sampler->interval, SMP_COUNTER_UNNAMED_METHODS,
                       stats.unresolved - sampler->methods_seen.unresolved);
    sampler->methods_seen = stats;
}

/* What the looks since the last call have come across. */
static void tell_of_looks(struct smp_sampler *sampler)
{
    count_unnamed(sampler);
    warn_of_memory(sampler);
}

/* --- time --- */

/* Of the JVM's threads: what they used since the last call; NULL: it is nobody's. Who has chosen
 * threads has not chosen these. */
static void measure_jvm(struct smp_sampler *sampler, struct smp_interval *interval)
{
    if (sampler->reports_jvm_threads && !sampler->wall.only)
        smp_jvm_threads_measure(&sampler->vm.os_threads, &sampler->wall.table, sampler->methods,
                                interval);
}

/* Credits what is kept for threads that were not due. */
static void settle(struct smp_sampler *sampler, bool is_last)
{
    if (!sampler->is_running)
        return;
    smp_wall_finish(&sampler->wall, is_last);
    tell_of_looks(sampler);
}

void smp_sampler_poll_all(struct smp_sampler *sampler)
{
    if (sampler->is_running)
        smp_wall_poll_all(&sampler->wall);
}

void smp_sampler_mark(struct smp_sampler *sampler, int64_t now_ns, int64_t wall_ms)
{
    smp_wall_mark(&sampler->wall, now_ns);
    measure_jvm(sampler, NULL);
    sampler->is_running = true;
    sampler->covered_ns = now_ns;
    smp_interval_begin(sampler->interval, wall_ms);
}

void smp_sampler_pause(struct smp_sampler *sampler, int64_t now_ns)
{
    (void)now_ns; /* the tick before it has told */
    settle(sampler, true);
    if (sampler->is_running)
        measure_jvm(sampler, sampler->interval);
    smp_cpu_source_stop_all(&sampler->wall);
    sampler->is_running = false;
}

void smp_sampler_tick(struct smp_sampler *sampler, int64_t now_ns, bool late)
{
    if (!sampler->is_running)
        return;
    smp_interval_count(sampler->interval, SMP_COUNTER_TICKS, 1);
    smp_wall_tick(&sampler->wall, now_ns);
    tell_of_looks(sampler);
    if (late)
        smp_interval_count(sampler->interval, SMP_COUNTER_LATE_TICKS, 1);
    smp_interval_cover(sampler->interval, now_ns, now_ns - sampler->covered_ns);
    sampler->covered_ns = now_ns;
}

int64_t smp_sampler_tick_gap_ns(struct smp_sampler *sampler)
{
    return smp_wall_tick_gap_ns(&sampler->wall);
}

uint64_t smp_sampler_idle_ticks(const struct smp_sampler *sampler)
{
    return smp_wall_idle_ticks(&sampler->wall);
}

bool smp_sampler_watch(struct smp_sampler *sampler, struct smp_start_listener *listen)
{
    return smp_wall_watch(&sampler->wall, listen);
}

void smp_sampler_unwatch(struct smp_sampler *sampler, struct smp_start_listener *listen,
                         uint64_t left_out)
{
    smp_wall_unwatch(&sampler->wall, listen, left_out);
    smp_interval_count(sampler->interval, SMP_COUNTER_IDLE_TICKS, left_out);
}

void smp_sampler_tick_once(struct smp_sampler *sampler, int64_t now_ns, int64_t span_ns)
{
    settle(sampler, false);
    smp_interval_count(sampler->interval, SMP_COUNTER_TICKS, 1);
    sampler->wall.is_first_poll = !sampler->is_running;
    smp_wall_tick_once(&sampler->wall, now_ns, span_ns);
    tell_of_looks(sampler);
    smp_interval_cover(sampler->interval, now_ns, span_ns);
    sampler->covered_ns = now_ns;
}

void smp_sampler_count(struct smp_sampler *sampler, enum smp_counter counter, uint64_t more)
{
    smp_interval_count(sampler->interval, counter, more);
}

/* --- options, selection --- */

static enum smp_status set_packages(struct smp_sampler *sampler, const char *packages)
{
    enum smp_status status = SMP_ENOMEM;
    struct smp_filter *filter = NULL;
    char *copy = NULL;

    if (strcmp(packages, sampler->packages) == 0)
        return SMP_OK;
    copy = smp_strndup(sampler->quota, packages, strlen(packages));
    if (copy == NULL)
        goto done;
    status = smp_filter_create(sampler->quota, packages, &filter);
    if (status != SMP_OK)
        goto done;
    smp_methods_set_filter(sampler->methods, filter);
    sampler->wall.attribution.stack_epoch++;
    smp_filter_destroy(sampler->filter);
    sampler->filter = filter;
    smp_free(sampler->quota, sampler->packages);
    sampler->packages = copy;
    copy = NULL;
done:
    smp_free(sampler->quota, copy);
    return status;
}

enum smp_status smp_sampler_set_options(struct smp_sampler *sampler,
                                        const struct smp_options *options)
{
    enum smp_status status;

    settle(sampler, false); /* it belongs to the old ones */
    status = set_packages(sampler, options->monitored_packages);
    if (status != SMP_OK)
        return status;
    smp_wall_set_options(&sampler->wall, options);
    if (sampler->reports_jvm_threads != options->report_jvm_threads) {
        sampler->reports_jvm_threads = options->report_jvm_threads;
        measure_jvm(sampler, NULL);
    }
    return SMP_OK;
}

void smp_sampler_select(struct smp_sampler *sampler, struct smp_thread_filter thread_filter,
                        bool only)
{
    settle(sampler, false);
    if (sampler->is_running)
        measure_jvm(sampler, sampler->interval);
    smp_wall_select(&sampler->wall, thread_filter, only);
    measure_jvm(sampler, NULL);
}

/* --- the end of an interval --- */

/* What the next interval starts with: the same names, or of a full table those still in use. NULL
 * never: where there is no memory to clear up with, the full table stays. */
static struct smp_methods *next_methods(const struct smp_sampler *sampler)
{
    const size_t most = sampler->quota->limit_bytes / NAMES_LIMIT_SHARE;
    const size_t count = smp_methods_location_count(sampler->methods);
    struct smp_methods *compacted = NULL;
    bool *used = NULL;

    if (sampler->methods_seen.bytes > most / NAMES_COMPACT_SHARE)
        used = smp_alloc(sampler->quota, count * sizeof(*used));
    if (used != NULL) {
        smp_interval_mark_used(sampler->interval, used, count);
        if (smp_methods_compact(sampler->methods, used, count, sampler->filter, &compacted) !=
            SMP_OK)
            compacted = NULL;
    }
    smp_free(sampler->quota, used);
    return compacted != NULL ? compacted : smp_methods_hold(sampler->methods);
}

/* The interval is sealed: its figures go to the closed ones. */
static void close_interval(struct smp_sampler *sampler)
{
    smp_tally_add(&sampler->closed_tally, smp_interval_tally(sampler->interval));
    for (int i = 0; i < SMP_COUNTER_COUNT; i++)
        sampler->closed_counters[i] += smp_interval_counter(sampler->interval, (enum smp_counter)i);
    smp_interval_destroy(sampler->interval);
    set_interval(sampler, NULL);
    sampler->wall.attribution.key_epoch++; /* who finds a new place forgets its last stack, too */
    sampler->wall.attribution.ran_out = false;
    sampler->warned_of_memory = false;
}

/* All that belongs to it and has not been credited yet. */
static void finish_interval(struct smp_sampler *sampler, bool is_last)
{
    if (!sampler->is_running)
        return;
    settle(sampler, is_last);
    measure_jvm(sampler, sampler->interval);
}

enum smp_status smp_sampler_seal(struct smp_sampler *sampler, int64_t now_ns, int64_t wall_ms,
                                 struct smp_profile **out)
{
    struct smp_methods *methods = NULL;
    struct smp_interval *next = NULL;
    enum smp_status status;

    finish_interval(sampler, false);
    methods = next_methods(sampler);
    status = smp_interval_create(sampler->quota, methods, &next);
    if (status != SMP_OK)
        goto done;
    status = smp_interval_seal(sampler->interval, now_ns, wall_ms, out);
    if (status != SMP_OK)
        goto done;
    close_interval(sampler);
    if (sampler->is_running)
        smp_interval_begin(next, (*out)->till_wall_ms);
    set_interval(sampler, next);
    next = NULL;
    if (methods != sampler->methods) {
        smp_methods_release(sampler->methods);
        set_methods(sampler, smp_methods_hold(methods));
    }
done:
    smp_interval_destroy(next);
    smp_methods_release(methods);
    return status;
}

enum smp_status smp_sampler_seal_last(struct smp_sampler *sampler, int64_t now_ns, int64_t wall_ms,
                                      struct smp_profile **out)
{
    enum smp_status status;

    finish_interval(sampler, true);
    sampler->is_running = false;
    /* They are of no more use, and a full session has room for the snapshot without them. */
    smp_wall_forget_stacks(&sampler->wall);
    status = smp_interval_seal(sampler->interval, now_ns, wall_ms, out);
    if (status == SMP_OK)
        close_interval(sampler);
    return status;
}

void smp_sampler_get_stats(const struct smp_sampler *sampler, struct smp_sampler_stats *out)
{
    const struct smp_interval *interval = sampler->interval;

    *out = (struct smp_sampler_stats){
        .total_tally = sampler->closed_tally,
        .threads = sampler->wall.threads,
        .locations = sampler->methods_seen.locations,
    };
    memcpy(out->total_counters, sampler->closed_counters, sizeof(out->total_counters));
    if (interval == NULL)
        return;
    out->interval_tally = *smp_interval_tally(interval);
    smp_tally_add(&out->total_tally, &out->interval_tally);
    for (int i = 0; i < SMP_COUNTER_COUNT; i++) {
        out->interval_counters[i] = smp_interval_counter(interval, (enum smp_counter)i);
        out->total_counters[i] += out->interval_counters[i];
    }
    out->nodes = smp_interval_nodes(interval);
}
