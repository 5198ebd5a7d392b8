/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session/interval_end.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/thread.h"

#define NS_PER_MS 1000000LL

bool smp_interval_end_has_room(const struct smp_interval_end *end)
{
    return smp_reporter_has_room(end->reporter) && smp_interval_queue_has_room(end->intervals);
}

void smp_interval_end_count(struct smp_interval_end *end)
{
    struct smp_reporter_stats now;

    smp_reporter_get_stats(end->reporter, &now);
    smp_sampler_count(end->sampler, SMP_COUNTER_FAILED_REPORTS, now.failed - end->counted.failed);
    smp_sampler_count(end->sampler, SMP_COUNTER_CUT_RECORDS, now.cut - end->counted.cut);
    smp_sampler_count(end->sampler, SMP_COUNTER_DROPPED_INTERVALS,
                      now.dropped - end->counted.dropped);
    smp_sampler_count(end->sampler, SMP_COUNTER_COARSE_WINDOWS, now.coarse - end->counted.coarse);
    end->counted = now;
}

void smp_interval_end_merge(struct smp_interval_end *end)
{
    smp_sampler_count(end->sampler, SMP_COUNTER_MERGED_REPORTS, 1);
}

/* --- one interval --- */

/* Returns the CPU time of internal threads since the last interval was finished. */
static int64_t take_own_cpu(struct smp_interval_end *end)
{
    const int64_t cpu_ns =
        smp_clock_own_cpu_ns() + end->counted.own_cpu_ns + smp_sampler_own_cpu_ns(end->sampler);
    const int64_t more_ns = cpu_ns - end->finished_cpu_ns;

    end->finished_cpu_ns = cpu_ns;
    return more_ns > 0 ? more_ns : 0;
}

static void take_pauses(const struct smp_pause_source *pauses, struct smp_profile *profile)
{
    if (pauses->take_longest == NULL)
        return;
    profile->longest_handshake_ns = pauses->take_longest(pauses->self, true);
    profile->longest_handler_ns = pauses->take_longest(pauses->self, false);
}

static void complete_profile(struct smp_interval_end *end, struct smp_profile *profile)
{
    profile->own_cpu_ns = take_own_cpu(end);
    profile->max_groups = (uint32_t)end->options->max_groups;
    take_pauses(&end->pauses, profile);
    profile->period_ns = smp_options_interval_ns(end->options);
    profile->is_cpu_clock = end->options->clock == SMP_CLOCK_CPU;
    profile->cpus = smp_thread_own_cpus();
    if (end->os_threads.quota_milli != NULL)
        profile->cpu_quota_milli = end->os_threads.quota_milli(end->os_threads.self);
    (void)snprintf(profile->main_package, sizeof(profile->main_package), "%s",
                   end->options->main_packages);
}

/* Returns the measures shown at the end of rows. */
static uint32_t shown_columns(const struct smp_options *options)
{
    uint32_t columns = 0;

    if (options->report_cpu_time)
        columns |= SMP_MEASURE_BIT(SMP_MEASURE_CPU);
    if (options->report_states)
        columns |= SMP_STATE_MEASURES;
    return columns;
}

static void offer_report(struct smp_interval_end *end, struct smp_profile *profile,
                         struct smp_report_ticket *ticket)
{
    const struct smp_export_style style = {
        .order = end->options->report_order,
        .zero_time_packages = end->options->report_zero_time_packages,
        .columns = shown_columns(end->options),
        .percent = end->options->report_percent,
        .min_per_mille = (uint32_t)end->options->report_min_per_mille,
        .short_account = end->options->report_account == SMP_ACCOUNT_SHORT,
        .summary = end->options->report_summary,
        .fold_recursion = end->options->fold_recursion,
    };

    smp_reporter_offer(end->reporter, profile, style, ticket);
}

static enum smp_status finish_interval(struct smp_interval_end *end, int64_t now_ns,
                                       struct smp_profile **out)
{
    const enum smp_status status =
        smp_sampler_finish_interval(end->sampler, now_ns, smp_clock_wall_ms(), out);

    if (status == SMP_OK)
        complete_profile(end, *out);
    return status;
}

enum smp_status smp_interval_end_report(struct smp_interval_end *end, int64_t now_ns,
                                        struct smp_report_ticket *ticket)
{
    struct smp_profile *profile = NULL;
    const enum smp_status status = finish_interval(end, now_ns, &profile);

    if (status == SMP_OK)
        offer_report(end, profile, ticket);
    return status;
}

enum smp_status smp_interval_end_append(struct smp_interval_end *end, int64_t now_ns)
{
    struct smp_profile *profile = NULL;
    const enum smp_status status = finish_interval(end, now_ns, &profile);

    if (status != SMP_OK)
        return status;
    (void)smp_interval_queue_append(end->intervals, profile, 0);
    if (smp_interval_queue_is_long(end->intervals))
        smp_reporter_wake(end->reporter);
    return SMP_OK;
}

/* --- if memory is short --- */

void smp_interval_end_periodic(struct smp_interval_end *end, int64_t now_ns)
{
    const size_t refused_before = smp_quota_refusals(end->quota);
    const enum smp_status status = smp_interval_end_report(end, now_ns, NULL);

    if (status == SMP_OK)
        return;
    smp_log_put(end->log, SMP_LOG_WARNING, "a report is merged with the next one: %s",
                smp_status_text(status));
    /* If the memory limit has refused, waiting intervals may use too much. */
    if (smp_quota_refusals(end->quota) != refused_before)
        smp_interval_queue_request_eviction(end->intervals);
    smp_reporter_wake(end->reporter);
    smp_interval_end_merge(end);
}

void smp_interval_end_slot(struct smp_interval_end *end, int64_t now_ns)
{
    const size_t refused_before = smp_quota_refusals(end->quota);

    if (!smp_interval_queue_has_room(end->intervals) ||
        smp_interval_end_append(end, now_ns) == SMP_OK ||
        smp_quota_refusals(end->quota) == refused_before)
        return;
    smp_interval_queue_request_eviction(end->intervals);
    smp_reporter_wake(end->reporter);
}

/* Waits until a report has freed its memory since the last count, or evicts an interval. Returns
 * false if neither is possible. */
static bool find_memory(struct smp_interval_end *end, size_t refused_before)
{
    return smp_reporter_wait_for_release(end->reporter, end->counted.released) ||
           (smp_quota_refusals(end->quota) != refused_before &&
            smp_interval_queue_evict(end->intervals));
}

enum smp_status smp_interval_end_last(struct smp_interval_end *end, int64_t now_ns, int64_t wall_ms)
{
    struct smp_profile *profile = NULL;
    enum smp_status status;
    size_t refused_before;

    do {
        refused_before = smp_quota_refusals(end->quota);
        smp_interval_end_count(end);
        status = smp_sampler_finish_last(end->sampler, now_ns, wall_ms, &profile);
    } while (status != SMP_OK && find_memory(end, refused_before));
    if (status == SMP_OK) {
        complete_profile(end, profile);
        offer_report(end, profile, NULL);
    } else {
        smp_sampler_count(end->sampler, SMP_COUNTER_FAILED_REPORTS, 1);
        smp_log_put(end->log, SMP_LOG_ERROR, "the last report could not be made: %s",
                    smp_status_text(status));
    }
    return status;
}
