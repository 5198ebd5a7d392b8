/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session/sampler.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/attribution/attribution.h"
#include "engine/sources/calls.h"
#include "engine/sources/cpu.h"
#include "engine/sources/jvm_threads.h"
#include "engine/sources/sampled_threads.h"
#include "engine/sources/unmounted.h"
#include "engine/sources/wall.h"
#include "engine/threads/throttle.h"
#include "model/methods.h"
#include "model/tree_fold.h"

/* Shares of the memory limit; interval.h has the shares of an interval. */
enum {
    NAMES_LIMIT_SHARE = 4,   /* names of methods get a quarter */
    NAMES_COMPACT_SHARE = 2, /* above half of it, an interval's end drops unused names */
    STACKS_LIMIT_SHARE = 8   /* copies of last stacks get an eighth */
};

enum { CALLS = 3, MOST_SOURCES };

#define SIGNAL_CHECK_NS INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

struct smp_sampler {
    struct smp_quota *quota;
    struct smp_log *log;
    struct smp_jvm vm;
    struct smp_options options;            /* the options in force, to which sources point */
    struct smp_prepared_options *prepared; /* owns the texts of the options */
    struct smp_methods *methods;
    struct smp_methods_stats methods_seen; /* already counted figures of methods */
    struct smp_interval *interval;         /* NULL after finish_last */
    struct smp_attribution attribution;
    struct smp_sampled_threads threads;
    struct smp_throttle throttle;
    struct smp_source sources[MOST_SOURCES];
    size_t source_count;
    struct smp_tick next;  /* arguments of the next tick */
    bool is_running;       /* between mark and pause */
    int64_t covered_ns;    /* time of the last tick */
    uint64_t known_serial; /* the highest serial of a thread that existed before the interval */
    bool warned_of_memory; /* in this interval */
    bool has_told_of_folding;
    int64_t signal_checked_ns;
    char signal_taker[SMP_SIGNAL_TAKER_BYTES]; /* in this interval; "": none */
    struct smp_tally closed_tally;             /* sum of all finished intervals */
    uint64_t closed_counters[SMP_COUNTER_COUNT];
};

/* --- prepared options --- */

enum smp_status smp_prepared_options_create(struct smp_quota *quota,
                                            const struct smp_options *options,
                                            struct smp_prepared_options **out)
{
    struct smp_prepared_options *prepared = smp_alloc(quota, sizeof(*prepared));
    enum smp_status status = SMP_ENOMEM;

    if (prepared == NULL)
        return status;
    prepared->options.quota = quota;
    status = smp_options_copy(quota, options, &prepared->options);
    if (status == SMP_OK)
        status = smp_filter_create_monitored(quota, options->monitored_packages, &prepared->filter);
    if (status == SMP_OK)
        status = smp_wait_rules_create(quota, options->io_methods, options->idle_methods,
                                       options->main_packages, &prepared->rules);
    if (status == SMP_OK)
        *out = prepared;
    else
        smp_prepared_options_destroy(prepared);
    return status;
}

void smp_prepared_options_destroy(struct smp_prepared_options *prepared)
{
    struct smp_quota *quota;

    if (prepared == NULL)
        return;
    quota = prepared->options.quota;
    if (prepared->filter != NULL)
        smp_filter_destroy(prepared->filter);
    smp_wait_rules_destroy(prepared->rules);
    smp_options_fini(&prepared->options);
    smp_free(quota, prepared);
}

/* --- create, destroy --- */

static void set_methods(struct smp_sampler *sampler, struct smp_methods *methods)
{
    sampler->methods = methods;
    sampler->attribution.methods = methods;
    smp_methods_get_stats(methods, &sampler->methods_seen);
}

static void set_interval(struct smp_sampler *sampler, struct smp_interval *interval)
{
    sampler->interval = interval;
    sampler->attribution.interval = interval;
}

static enum smp_status init_attribution(struct smp_sampler *sampler,
                                        const struct smp_options *options)
{
    struct smp_quota *quota = sampler->quota;
    struct smp_attribution *attribution = &sampler->attribution;
    const size_t depth = (size_t)options->max_depth_frames + SMP_STACK_PATH_EXTRA;

    attribution->tree_epoch = 1;
    attribution->stack_epoch = 1;
    attribution->names = &sampler->vm.names;
    attribution->budget = (struct smp_memory_budget){
        .quota = quota,
        .max_bytes = quota->limit_bytes / STACKS_LIMIT_SHARE,
    };
    attribution->path.locations = smp_alloc(quota, depth * sizeof(*attribution->path.locations));
    return attribution->path.locations != NULL ? SMP_OK : SMP_ENOMEM;
}

typedef enum smp_status create_source(const struct smp_source_setup *setup, struct smp_source *out);

/* A source that these options disable is not created. */
static enum smp_status add_source(struct smp_sampler *sampler, const struct smp_source_setup *setup,
                                  create_source *create)
{
    struct smp_source *const source = &sampler->sources[sampler->source_count];
    const enum smp_status status = create(setup, source);

    sampler->source_count += status == SMP_OK && source->destroy != NULL;
    return status;
}

/* Chooses and creates the sources. The source of calls comes last, because the source that polls
 * adds new threads first. */
static enum smp_status open_sources(struct smp_sampler *sampler)
{
    const struct smp_options *options = &sampler->options;
    static const struct {
        const size_t *record_bytes;
        create_source *create;
    } clocks[] = {
        [SMP_CLOCK_WALL] = { &smp_wall_record_bytes, smp_wall_create },
        [SMP_CLOCK_CPU] = { &smp_cpu_record_bytes, smp_cpu_create },
    };
    const struct smp_source_setup setup = {
        .quota = sampler->quota,
        .log = sampler->log,
        .jvm = &sampler->vm,
        .threads = &sampler->threads,
        .attribution = &sampler->attribution,
        .throttle = &sampler->throttle,
        .options = options,
    };
    enum smp_status status = smp_sampled_threads_init(&sampler->threads, sampler->quota,
                                                      &sampler->vm, &sampler->attribution, options,
                                                      *clocks[options->clock].record_bytes);

    if (status == SMP_OK)
        status = add_source(sampler, &setup, clocks[options->clock].create);
    if (status == SMP_OK)
        status = add_source(sampler, &setup, smp_jvm_threads_create);
    if (status == SMP_OK)
        status = add_source(sampler, &setup, smp_unmounted_source_create);
    if (status == SMP_OK)
        status = add_source(sampler, &setup, smp_calls_create); /* if created, at index CALLS */
    return status;
}

/* Returns the measures of nodes. There is a calls column only if calls are counted. Clock CPU has
 * no states, because CPU timers find only running threads. */
static uint32_t measures_of(const struct smp_options *options)
{
    const uint32_t states = options->clock == SMP_CLOCK_WALL ? SMP_STATE_MEASURES : 0;
    const uint32_t errors = options->error_bars ? SMP_WITH_ERRORS : 0;

    return states | errors |
           (smp_options_count_calls(options) ? SMP_TABLE_MEASURES : SMP_SAMPLED_MEASURES);
}

static enum smp_status create_sampler_parts(struct smp_sampler *sampler,
                                            const struct smp_options *options)
{
    struct smp_quota *quota = sampler->quota;
    struct smp_methods *methods = NULL;
    struct smp_interval *interval = NULL;
    enum smp_status status = smp_prepared_options_create(quota, options, &sampler->prepared);

    if (status != SMP_OK)
        return status;
    sampler->options = sampler->prepared->options;
    smp_throttle_init(&sampler->throttle, options->overhead_limit_per_mille,
                      smp_options_interval_ns(options), (uint64_t)smp_clock_ns());
    status = smp_methods_create(quota, quota->limit_bytes / NAMES_LIMIT_SHARE,
                                sampler->prepared->filter, &methods);
    if (status != SMP_OK)
        return status;
    smp_methods_set_wait_rules(methods, sampler->prepared->rules);
    set_methods(sampler, methods);
    status = init_attribution(sampler, options);
    if (status != SMP_OK)
        return status;
    status = open_sources(sampler);
    if (status != SMP_OK)
        return status;
    status = smp_interval_create(quota, methods, measures_of(options), &interval);
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
    status = create_sampler_parts(sampler, options);
    if (status != SMP_OK)
        goto done;
    *out = sampler;
    sampler = NULL;
done:
    smp_sampler_destroy(sampler);
    return status;
}

static void close_sources(struct smp_sampler *sampler)
{
    for (size_t i = 0; i < sampler->source_count; i++) {
        const struct smp_source *source = &sampler->sources[i];
        source->destroy(source->self);
    }
    smp_sampled_threads_fini(&sampler->threads);
}

void smp_sampler_destroy(struct smp_sampler *sampler)
{
    if (sampler == NULL)
        return;
    close_sources(sampler);
    smp_free(sampler->quota, sampler->attribution.path.locations);
    smp_interval_destroy(sampler->interval);
    if (sampler->methods != NULL)
        smp_methods_release(sampler->methods);
    smp_prepared_options_destroy(sampler->prepared);
    smp_free(sampler->quota, sampler);
}

/* --- messages --- */

static void warn_of_memory(struct smp_sampler *sampler)
{
    if (!sampler->attribution.ran_out || sampler->warned_of_memory)
        return;
    sampler->warned_of_memory = true;
    smp_log_put(sampler->log, SMP_LOG_WARNING,
                "memory limit of %zu bytes reached: new stacks are reported as %s",
                sampler->quota->limit_bytes, smp_outcome_frame(SMP_OUTCOME_OVER_MEMORY_LIMIT));
}

static void check_signal(struct smp_sampler *sampler, int64_t now_ns)
{
    const struct smp_async_walker *async = &sampler->vm.async;
    bool is_lost = false;

    if (async->check_signal == NULL || now_ns - sampler->signal_checked_ns < SIGNAL_CHECK_NS)
        return;
    sampler->signal_checked_ns = now_ns;
    const char *taker = async->check_signal(async->self, &is_lost);
    if (taker == NULL)
        return;
    (void)snprintf(sampler->signal_taker, sizeof(sampler->signal_taker), "%s", taker);
    smp_log_put_once(sampler->log, SMP_LOG_WARNING,
                     "another handler was installed for the sampler's signal: %s", taker);
    if (is_lost && sampler->options.clock == SMP_CLOCK_CPU)
        smp_cpu_signal_lost(sampler->sources[0].self);
}

static void count_unnamed_methods(struct smp_sampler *sampler)
{
    struct smp_methods_stats stats;

    smp_methods_get_stats(sampler->methods, &stats);
    smp_interval_count(sampler->interval, SMP_COUNTER_UNLOADED_METHODS,
                       stats.unloaded - sampler->methods_seen.unloaded);
    smp_interval_count(sampler->interval, SMP_COUNTER_UNNAMED_METHODS,
                       stats.unresolved - sampler->methods_seen.unresolved);
    sampler->methods_seen = stats;
}

/* Counts and reports the events of the polls since the last call. */
static void count_and_warn(struct smp_sampler *sampler)
{
    count_unnamed_methods(sampler);
    warn_of_memory(sampler);
}

/* --- time --- */

/* Attributes pending time. */
static void flush_sources(struct smp_sampler *sampler, enum smp_flush reason)
{
    if (!sampler->is_running)
        return;
    for (size_t i = 0; i < sampler->source_count; i++) {
        const struct smp_source *source = &sampler->sources[i];
        if (source->flush != NULL)
            source->flush(source->self, reason);
    }
    count_and_warn(sampler);
}

void smp_sampler_poll_all(struct smp_sampler *sampler)
{
    sampler->next.is_last = sampler->is_running;
}

bool smp_sampler_is_running(const struct smp_sampler *sampler)
{
    return sampler->is_running;
}

void smp_sampler_mark(struct smp_sampler *sampler, int64_t now_ns, int64_t wall_ms)
{
    smp_sampled_threads_mark(&sampler->threads, now_ns);
    for (size_t i = 0; i < sampler->source_count; i++)
        sampler->sources[i].mark(sampler->sources[i].self, now_ns);
    sampler->is_running = true;
    sampler->next = (struct smp_tick){ 0 };
    sampler->covered_ns = now_ns;
    smp_interval_begin(sampler->interval, now_ns, wall_ms);
}

void smp_sampler_pause(struct smp_sampler *sampler)
{
    flush_sources(sampler, SMP_FLUSH_LAST);
    sampler->is_running = false;
}

void smp_sampler_forget_ended(struct smp_sampler *sampler, int64_t now_ns)
{
    assert(!sampler->is_running);
    smp_sampled_threads_remove_all_ended(&sampler->threads, now_ns);
}

static void set_living(struct smp_sampler *sampler)
{
    const struct smp_thread_table *table = &sampler->threads.table;

    smp_thread_groups_set_living(sampler->interval->groups, table->serials, table->count,
                                 sampler->threads.cursor);
}

/* Returns the highest known serial. A counted call may belong to a thread that no poll has found
 * yet. */
static uint64_t newest_known(const struct smp_sampler *sampler)
{
    const uint64_t met = smp_thread_groups_newest(sampler->interval->groups);
    const uint64_t newest = met > sampler->threads.cursor ? met : sampler->threads.cursor;

    return newest > sampler->known_serial ? newest : sampler->known_serial;
}

/* Discards ended threads if there are many: short-lived ones would fill the memory of a long
 * interval. */
static void forget_ended_threads(struct smp_sampler *sampler)
{
    if (!smp_thread_groups_is_crowded(sampler->interval->groups))
        return;
    set_living(sampler);
    smp_thread_groups_forget_ended(sampler->interval->groups, sampler->known_serial);
}

/* Folds a full tree. All references to nodes become invalid, as at the beginning of an interval. */
static void fold_if_full(struct smp_sampler *sampler)
{
    if (!smp_tree_is_full(sampler->interval->tree))
        return;
    flush_sources(sampler, SMP_FLUSH_FOLD);
    if (!smp_interval_fold(sampler->interval))
        return;
    sampler->attribution.tree_epoch++;
    if (sampler->has_told_of_folding)
        return;
    sampler->has_told_of_folding = true;
    smp_log_put(sampler->log, SMP_LOG_INFO,
                "memory limit of %zu bytes: the smallest rows are reported as %s",
                sampler->quota->limit_bytes, SMP_FOLDED_NAME);
}

void smp_sampler_leave_out_stop(struct smp_sampler *sampler, int64_t gap_ns)
{
    if (gap_ns == 0 || !sampler->is_running)
        return;
    sampler->next.stopped_ns += gap_ns;
    smp_interval_count(sampler->interval, SMP_COUNTER_STOPPED_MILLIS,
                       (uint64_t)(gap_ns / NS_PER_MS));
}

void smp_sampler_tick(struct smp_sampler *sampler, int64_t now_ns, bool late)
{
    struct smp_tick tick = sampler->next;

    if (!sampler->is_running)
        return;
    tick.now_ns = now_ns;
    sampler->next = (struct smp_tick){ 0 };
    smp_interval_count(sampler->interval, SMP_COUNTER_TICKS, 1);
    check_signal(sampler, now_ns);
    for (size_t i = 0; i < sampler->source_count; i++) {
        const struct smp_source *source = &sampler->sources[i];
        if (source->tick != NULL)
            source->tick(source->self, &tick);
    }
    fold_if_full(sampler);
    forget_ended_threads(sampler);
    count_and_warn(sampler);
    if (late)
        smp_interval_count(sampler->interval, SMP_COUNTER_LATE_TICKS, 1);
    smp_interval_cover(sampler->interval, now_ns, now_ns - sampler->covered_ns);
    sampler->covered_ns = now_ns;
}

int64_t smp_sampler_tick_gap_ns(struct smp_sampler *sampler)
{
    return smp_throttle_tick_gap_ns(&sampler->throttle);
}

void smp_sampler_excuse_cpu(struct smp_sampler *sampler, int64_t used_ns)
{
    smp_throttle_excuse(&sampler->throttle, used_ns);
}

uint64_t smp_sampler_idle_ticks(const struct smp_sampler *sampler)
{
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i < sampler->source_count; i++) {
        const struct smp_source *source = &sampler->sources[i];
        const uint64_t ticks =
            source->idle_ticks != NULL ? source->idle_ticks(source->self) : UINT64_MAX;
        least = ticks < least ? ticks : least;
    }
    return least > sampler->next.skipped ? least - sampler->next.skipped : 0;
}

bool smp_sampler_watch(struct smp_sampler *sampler, struct smp_start_listener *listener)
{
    const struct smp_thread_source *threads = &sampler->vm.threads;

    return threads->listen(threads->self, sampler->threads.cursor, listener);
}

void smp_sampler_unwatch(struct smp_sampler *sampler, struct smp_start_listener *listener,
                         uint64_t left_out)
{
    const struct smp_thread_source *threads = &sampler->vm.threads;

    threads->unlisten(threads->self, listener);
    sampler->next.skipped += left_out;
    smp_interval_count(sampler->interval, SMP_COUNTER_IDLE_TICKS, left_out);
}

void smp_sampler_tick_once(struct smp_sampler *sampler, int64_t now_ns, int64_t span_ns)
{
    smp_interval_count(sampler->interval, SMP_COUNTER_TICKS, 1);
    for (size_t i = 0; i < sampler->source_count; i++) {
        const struct smp_source *source = &sampler->sources[i];
        if (source->poll_once != NULL)
            source->poll_once(source->self, now_ns, span_ns);
    }
    fold_if_full(sampler);
    count_and_warn(sampler);
    smp_interval_cover(sampler->interval, now_ns, span_ns);
    sampler->covered_ns = now_ns;
}

void smp_sampler_count(struct smp_sampler *sampler, enum smp_counter counter, uint64_t more)
{
    smp_interval_count(sampler->interval, counter, more);
}

void smp_sampler_reset_counts(struct smp_sampler *sampler)
{
    if (sampler->source_count > CALLS)
        smp_calls_reset(sampler->sources[CALLS].self);
}

/* --- options, filter --- */

/* Replaces the wait rules. Keeps the old ones, already matched with methods, if the lists are
 * equal. */
static void change_wait_rules(struct smp_sampler *sampler, struct smp_prepared_options *options)
{
    const struct smp_options *before = &sampler->prepared->options;

    if (strcmp(options->options.io_methods, before->io_methods) == 0 &&
        strcmp(options->options.idle_methods, before->idle_methods) == 0) {
        struct smp_wait_rules *rules = options->rules;
        options->rules = sampler->prepared->rules;
        sampler->prepared->rules = rules;
    } else {
        smp_methods_set_wait_rules(sampler->methods, options->rules);
        sampler->attribution.stack_epoch++;
    }
}

/* Replaces the filter. Keeps the old one, already matched with methods, if the packages are
 * equal. */
static void change_filter(struct smp_sampler *sampler, struct smp_prepared_options *options)
{
    struct smp_prepared_options *before = sampler->prepared;
    struct smp_filter *filter = options->filter;

    if (strcmp(options->options.monitored_packages, before->options.monitored_packages) == 0) {
        options->filter = before->filter;
        before->filter = filter;
    } else {
        smp_methods_set_filter(sampler->methods, filter);
        sampler->attribution.stack_epoch++;
    }
}

void smp_sampler_set_options(struct smp_sampler *sampler, struct smp_prepared_options *options)
{
    flush_sources(sampler, SMP_FLUSH_OPTIONS); /* pending time belongs to the old options */
    change_wait_rules(sampler, options);
    change_filter(sampler, options);
    sampler->options = options->options;
    for (size_t i = 0; i < sampler->source_count; i++) {
        const struct smp_source *source = &sampler->sources[i];
        if (source->set_options != NULL)
            source->set_options(source->self, &sampler->prepared->options);
    }
    smp_sampled_threads_use_options(&sampler->threads);
    smp_throttle_set(&sampler->throttle, options->options.overhead_limit_per_mille,
                     smp_options_interval_ns(&options->options));
    smp_prepared_options_destroy(sampler->prepared);
    sampler->prepared = options;
}

const struct smp_options *smp_sampler_options(const struct smp_sampler *sampler)
{
    return &sampler->options;
}

void smp_sampler_set_filter(struct smp_sampler *sampler, struct smp_thread_filter thread_filter,
                            bool only)
{
    flush_sources(sampler, SMP_FLUSH_FILTER);
    smp_sampled_threads_set_filter(&sampler->threads, thread_filter, only);
    for (size_t i = 0; i < sampler->source_count; i++) {
        const struct smp_source *source = &sampler->sources[i];
        if (source->filter_changed != NULL)
            source->filter_changed(source->self);
    }
}

/* --- the end of an interval --- */

/* Copies the names of last stacks, which idle threads keep for any time. */
static void take_over_last_stacks(const struct smp_sampler *sampler, struct smp_methods *compacted)
{
    const struct smp_thread_table *table = &sampler->threads.table;

    for (size_t i = 0; i < table->count; i++) {
        struct smp_sample sample = { 0 };
        (void)smp_last_stack_get(&table->records[i]->last, &sample);
        for (size_t k = 0; k < sample.count; k++)
            smp_methods_take_over(compacted, sampler->methods, &sample.frames[k]);
    }
}

/* Returns the names for the next interval: the same table, or, if it is full, a copy of the names
 * in use. Without memory for a copy returns the full table. */
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
        if (smp_methods_compact(sampler->methods, used, count, sampler->prepared->filter,
                                &compacted) != SMP_OK)
            compacted = NULL;
    }
    if (compacted != NULL)
        take_over_last_stacks(sampler, compacted);
    smp_free(sampler->quota, used);
    return compacted != NULL ? compacted : smp_methods_hold(sampler->methods);
}

/* Called when the interval has become this profile: adds its figures to the total. */
static void close_interval(struct smp_sampler *sampler, struct smp_profile *profile)
{
    memcpy(profile->signal_taker, sampler->signal_taker, sizeof(profile->signal_taker));
    smp_tally_add(&sampler->closed_tally, &sampler->interval->tally);
    for (int i = 0; i < SMP_COUNTER_COUNT; i++)
        sampler->closed_counters[i] += sampler->interval->counters[i];
    smp_interval_destroy(sampler->interval);
    set_interval(sampler, NULL);
    sampler->attribution.tree_epoch++; /* also invalidates nodes of last stacks */
    sampler->attribution.ran_out = false;
    sampler->warned_of_memory = false;
    sampler->signal_taker[0] = '\0';
}

/* Creates the next interval. If memory is short, gives up the times by second of the last one. */
static enum smp_status create_next(struct smp_sampler *sampler, struct smp_methods *methods,
                                   struct smp_interval **next)
{
    const uint32_t measures = measures_of(&sampler->options);
    enum smp_status status = smp_interval_create(sampler->quota, methods, measures, next);

    if (status != SMP_OK && smp_interval_forget_seconds(sampler->interval))
        status = smp_interval_create(sampler->quota, methods, measures, next);
    return status;
}

enum smp_status smp_sampler_finish_interval(struct smp_sampler *sampler, int64_t now_ns,
                                            int64_t wall_ms, struct smp_profile **out)
{
    struct smp_methods *methods = NULL;
    struct smp_interval *next = NULL;
    uint64_t known_serial;
    enum smp_status status;

    flush_sources(sampler, SMP_FLUSH_INTERVAL);
    known_serial = newest_known(sampler);
    methods = next_methods(sampler);
    status = create_next(sampler, methods, &next);
    if (status != SMP_OK)
        goto done;
    set_living(sampler);
    status = smp_interval_finish(sampler->interval, now_ns, wall_ms, out);
    if (status != SMP_OK)
        goto done;
    close_interval(sampler, *out);
    sampler->known_serial = known_serial;
    if (sampler->is_running)
        smp_interval_begin(next, sampler->covered_ns, (*out)->till_wall_ms);
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

enum smp_status smp_sampler_finish_last(struct smp_sampler *sampler, int64_t now_ns,
                                        int64_t wall_ms, struct smp_profile **out)
{
    enum smp_status status;

    flush_sources(sampler, SMP_FLUSH_LAST);
    sampler->is_running = false;
    /* Last stacks are not needed any more; in a full session this frees memory for the profile. */
    smp_sampled_threads_forget_stacks(&sampler->threads);
    status = smp_interval_finish(sampler->interval, now_ns, wall_ms, out);
    if (status == SMP_OK)
        close_interval(sampler, *out);
    return status;
}

int64_t smp_sampler_own_cpu_ns(const struct smp_sampler *sampler)
{
    struct smp_sampler_figures figures;

    smp_sampler_get_figures(sampler, &figures);
    return figures.source.helper_cpu_ns;
}

static void get_interval_figures(const struct smp_interval *interval,
                                 struct smp_sampler_figures *out)
{
    out->interval_tally = interval->tally;
    smp_tally_add(&out->total_tally, &interval->tally);
    for (int i = 0; i < SMP_COUNTER_COUNT; i++) {
        out->interval_counters[i] = interval->counters[i];
        out->total_counters[i] += interval->counters[i];
    }
    out->nodes = smp_tree_node_count(interval->tree);
    out->tree_bytes = smp_tree_bytes(interval->tree);
}

void smp_sampler_get_figures(const struct smp_sampler *sampler, struct smp_sampler_figures *out)
{
    *out = (struct smp_sampler_figures){
        .total_tally = sampler->closed_tally,
        .is_running = sampler->is_running,
        .known_threads = sampler->threads.table.count,
        .sampled_threads = sampler->threads.sampled,
        .locations = sampler->methods_seen.locations,
        .name_bytes = sampler->methods_seen.bytes,
        .stack_bytes = sampler->attribution.budget.used_bytes,
        .throttle = sampler->throttle,
    };
    memcpy(out->total_counters, sampler->closed_counters, sizeof(out->total_counters));
    if (sampler->interval != NULL)
        get_interval_figures(sampler->interval, out);
    for (size_t i = 0; i < sampler->source_count; i++) {
        if (sampler->sources[i].get_live != NULL)
            sampler->sources[i].get_live(sampler->sources[i].self, &out->source);
    }
}
