/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session/dump.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "engine/session/interval_queue.h"
#include "engine/threads/throttle.h"
#include "model/escape.h"

#define NS_PER_MS 1000000
#define NS_PER_US 1000

static const char *const STATES[SMP_STATE_COUNT] = {
    [SMP_NEW] = "new",           [SMP_STARTING] = "starting", [SMP_RUNNING] = "running",
    [SMP_STOPPING] = "stopping", [SMP_STOPPED] = "stopped",
};

static void put_session(const struct smp_statistics *statistics, const char *engine, int64_t now_ns,
                        struct smp_bytes *out)
{
    const struct smp_ticker_figures *const ticker = &statistics->ticker;

    smp_bytes_puts(out, "engine: ");
    smp_escape_put(out, engine);
    smp_bytes_printf(out, "\nstate: %s, %s\n", STATES[statistics->state],
                     ticker->sampler.is_running ? "sampling" : "not sampling");
    if (ticker->ticked_ns != 0)
        smp_bytes_printf(out, "last tick: %" PRId64 " ms ago\n",
                         (now_ns - ticker->ticked_ns) / NS_PER_MS);
    smp_bytes_printf(out, "sampled time: %" PRId64 " ms\n", ticker->elapsed_ns / NS_PER_MS);
    smp_bytes_printf(out, "own CPU: %" PRId64 " us\n", statistics->own_cpu_ns / NS_PER_US);
}

static void put_threads(const struct smp_sampler_figures *live, struct smp_bytes *out)
{
    const uint64_t idle = live->source.idle_threads;

    smp_bytes_printf(out, "threads: %" PRIu64 "\n", live->known_threads);
    smp_bytes_printf(out, "threads not sampled: %" PRIu64 "\n",
                     live->known_threads - live->sampled_threads);
    smp_bytes_printf(out, "threads sampled: %" PRIu64 "\n", live->sampled_threads);
    if (live->source.polls) {
        smp_bytes_printf(out, "threads sampled, idle: %" PRIu64 "\n", idle);
        smp_bytes_printf(out, "threads sampled, polled at each tick: %" PRIu64 "\n",
                         live->sampled_threads - idle);
        smp_bytes_printf(out, "walks requested and not answered: %u\n",
                         live->source.walks_in_flight);
    }
    if (live->source.draws)
        smp_bytes_printf(out, "virtual threads: %" PRIu64 "\n", live->source.virtual_threads);
    if (live->source.counts_calls)
        smp_bytes_printf(out, "calls are counted, in %zu bytes more\n",
                         live->source.counting_bytes);
}

static void put_queues(const struct smp_statistics *statistics, struct smp_bytes *out)
{
    smp_bytes_printf(out, "reports waiting for output: %zu of %d\n",
                     (size_t)statistics->reports_queued, SMP_MAX_QUEUED_SNAPSHOTS);
    smp_bytes_printf(out, "reports written: %" PRIu64 "\n", statistics->reports_written);
    smp_bytes_printf(out, "intervals waiting for readers: %zu of %d\n",
                     statistics->intervals.waiting, SMP_MAX_WAITING);
    smp_bytes_printf(out, "readers: %zu of %d\n", statistics->intervals.readers, SMP_MAX_READERS);
}

static void put_memory(const struct smp_statistics *statistics, struct smp_bytes *out)
{
    const struct smp_sampler_figures *const live = &statistics->ticker.sampler;
    const size_t used = (size_t)statistics->memory_used_bytes;
    const size_t known = live->tree_bytes + live->name_bytes + live->stack_bytes;

    smp_bytes_printf(out, "memory: %zu of %" PRIu64 " bytes, at most %" PRIu64 " so far\n", used,
                     statistics->memory_limit_bytes, statistics->memory_peak_bytes);
    smp_bytes_printf(out, "memory, call trees of the open interval: %zu bytes\n", live->tree_bytes);
    smp_bytes_printf(out, "memory, names of methods: %zu bytes\n", live->name_bytes);
    smp_bytes_printf(out, "memory, last stacks of threads: %zu bytes\n", live->stack_bytes);
    smp_bytes_printf(out, "memory, threads, groups, queues and all else: %zu bytes\n",
                     used > known ? used - known : 0);
    smp_bytes_printf(out, "memory requests refused by the limit: %zu\n",
                     statistics->refused_allocations);
}

static void put_throttle(const struct smp_sampler_figures *live, struct smp_bytes *out)
{
    const struct smp_throttle *const throttle = &live->throttle;

    if (!live->source.polls)
        return;
    smp_bytes_printf(out, "throttle, polls made: %" PRId64 " of 1000 that are due\n",
                     throttle->share * 1000 / SMP_THROTTLE_WHOLE);
    smp_bytes_printf(out, "throttle, CPU time to spend: %" PRId64 " us\n",
                     throttle->bucket_ns / NS_PER_US);
    smp_bytes_printf(out, "throttle, CPU time owed for ends of intervals: %" PRId64 " us\n",
                     throttle->deferred_ns / NS_PER_US);
    smp_bytes_printf(out, "throttle, CPU time of a tick without polls: %" PRId64 " us\n",
                     throttle->tick_ns / NS_PER_US);
}

static void put_option_number(const struct smp_option *option, int64_t value, struct smp_bytes *out)
{
    const char *const scale = strstr(option->name, "PerMille");

    /* Users know the property in percent; its steps are tenths. */
    if (scale != NULL)
        smp_bytes_printf(out, "option %.*sPercent: %" PRId64 ".%" PRId64 "\n",
                         (int)(scale - option->name), option->name, value / 10, value % 10);
    else
        smp_bytes_printf(out, "option %s: %" PRId64 "\n", option->name, value);
}

static void put_options(const struct smp_ticker_figures *live, struct smp_bytes *out)
{
    for (size_t i = 0; i < SMP_OPTION_INTEGER_COUNT; i++) {
        const struct smp_option *const option = smp_option_at(i);
        const int64_t value = smp_options_integer(&live->options, i);

        if (option->is_derived)
            continue;
        if (option->type == SMP_OPTION_NUMBER)
            put_option_number(option, value, out);
        else if (option->type == SMP_OPTION_FLAG)
            smp_bytes_printf(out, "option %s: %s\n", option->name, value != 0 ? "true" : "false");
        else
            smp_bytes_printf(out, "option %s: %s\n", option->name, option->choices[value]);
    }
    for (size_t i = 0; i < SMP_OPTION_TEXT_COUNT; i++) {
        const struct smp_option *const option = smp_option_at(SMP_OPTION_INTEGER_COUNT + i);

        if (option->is_derived)
            continue;
        smp_bytes_printf(out, "option %s: ", option->name);
        smp_escape_put(out, live->texts[i]);
        smp_bytes_puts(out, "\n");
    }
}

static void put_stats_count(struct smp_bytes *out, const char *kind, const char *code,
                            uint64_t total, uint64_t interval)
{
    if (total > 0)
        smp_bytes_printf(out, "%s %s: %" PRIu64 ", in this interval %" PRIu64 "\n", kind, code,
                         total, interval);
}

static void put_counts(const struct smp_sampler_figures *stats, struct smp_bytes *out)
{
    put_stats_count(out, "polls", "of all threads", stats->total_tally.polls,
                    stats->interval_tally.polls);
    for (int i = 0; i < SMP_OUTCOME_COUNT; i++)
        put_stats_count(out, "outcome", smp_outcome_code((enum smp_outcome)i),
                        stats->total_tally.outcomes[i], stats->interval_tally.outcomes[i]);
    for (int i = 0; i < SMP_COUNTER_COUNT; i++)
        put_stats_count(out, "counter", smp_counter_code((enum smp_counter)i),
                        stats->total_counters[i], stats->interval_counters[i]);
    smp_bytes_printf(out, "nodes of the call trees: %" PRIu64 "\n", stats->nodes);
    smp_bytes_printf(out, "lines of code known by name: %" PRIu64 "\n", stats->locations);
}

void smp_dump_write(const struct smp_statistics *statistics, const char *engine, int64_t now_ns,
                    struct smp_bytes *out)
{
    const struct smp_sampler_figures *const sampler = &statistics->ticker.sampler;

    smp_bytes_puts(out, "threads-sampler, live state\n");
    put_session(statistics, engine, now_ns, out);
    put_threads(sampler, out);
    put_queues(statistics, out);
    put_memory(statistics, out);
    put_throttle(sampler, out);
    put_options(&statistics->ticker, out);
    put_counts(sampler, out);
}

void smp_dump_session(struct smp_session *session, const char *engine, struct smp_bytes *out)
{
    struct smp_statistics statistics;

    smp_session_get_statistics(session, &statistics);
    smp_dump_write(&statistics, engine, smp_clock_ns(), out);
}
