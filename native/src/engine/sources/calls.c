/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/calls.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "counting/counting_plan.h"
#include "engine/sources/call_credit.h"
#include "engine/sources/call_trees.h"
#include "engine/sources/sampled_threads.h"
#include "model/counting_account.h"

#define NS_PER_MS INT64_C(1000000)

enum {
    PER_MILLE = 1000,
    COST_MEMORY = 8,    /* ticks over which the cost is averaged */
    FIRST_NODES = 4096, /* initial capacity of struct sampled_calls */
    MOST_NODES = 4096   /* nodes that one read checks */
};

_Static_assert((int)SMP_OPTIONS_MESSAGE_BYTES >= (int)SMP_PLAN_MESSAGE_BYTES, "fits");

/* The check of the sampled trees for called methods. */
struct sampled_calls {
    uint64_t epoch;  /* interval of the nodes */
    size_t next;     /* next node to check */
    uint8_t *places; /* enum place of each node */
    size_t capacity;
};

struct calls_source {
    struct smp_quota *quota;        /* the session's */
    struct smp_quota *counting;     /* for all memory of counting */
    struct smp_counting_plan *plan; /* NULL: not started */
    const struct smp_call_counter *counter;
    struct smp_attribution *attribution;
    const struct smp_options *options;
    struct smp_log *log;
    struct smp_call_trees trees;
    struct smp_call_rates rates;
    struct smp_call_credit credit;
    struct smp_removal removal;
    struct sampled_calls sampled;
    bool was_started;   /* a start was tried */
    bool is_on;         /* the counter counts */
    bool was_paused;    /* since the last mark */
    int64_t own_cpu_ns; /* of the counter's thread */
    uint64_t marked_batches;
    char refusal[SMP_COUNTER_MESSAGE_BYTES]; /* why calls are not counted; "" if they are */
    struct {
        int64_t ticked_ns;
        int64_t next_read_ns;
        int64_t judged_ns;
    } pace;
    struct {
        uint64_t batches; /* at batches_ns */
        int64_t batches_ns;
        bool is_over;
    } warm_up;
    struct {
        uint64_t random; /* for drawing the threads that are charged */
        double cost_ns;  /* average CPU time of one position; 0: unknown */
        uint64_t count;  /* at the last tick */
    } places;
};

/* A tick, with the time that it credits to each thread in a probe. */
struct calls_tick {
    struct calls_source *source;
    int64_t gap_ns; /* the time since the last tick, times the weight */
    double share;   /* share of the threads that are checked */
    uint64_t places;
};

static struct smp_counter_figures counter_figures(const struct calls_source *source)
{
    struct smp_counter_figures figures = { 0 };

    source->counter->get_figures(source->counter->self, &figures);
    return figures;
}

/* --- start, stop --- */

static void refuse_counting(struct calls_source *source, const char *why)
{
    (void)snprintf(source->refusal, sizeof(source->refusal), "%s", why);
    smp_log_put_once(source->log, SMP_LOG_WARNING, "%s has no effect: %s",
                     source->options->root_methods[0] != '\0' ? "rootMethods" : "instrumentation",
                     source->refusal);
}

/* Records the effects of the start. */
static void note_start(struct calls_source *source)
{
    const struct smp_counter_figures figures = counter_figures(source);

    source->own_cpu_ns = figures.own_cpu_ns;
    if (figures.has_discarded_code)
        smp_log_put_once(source->log, SMP_LOG_INFO,
                         "the JVM has discarded its compiled code, as JDKs before 23 do once, when "
                         "classes are first changed: until it has compiled it again the program is "
                         "slower; least is lost where init() comes at the program's start");
}

static bool are_times_sampled(const struct calls_source *source)
{
    return source->options->method_timing == SMP_METHOD_TIMING_SAMPLED;
}

static uint32_t find_call_row(void *self, const struct smp_call_spot *spot)
{
    return smp_call_credit_row(&((struct calls_source *)self)->credit, spot);
}

static bool make_plan(struct calls_source *source, char message[SMP_COUNTER_MESSAGE_BYTES])
{
    const struct smp_options *options = source->options;
    struct smp_counting_plan *plan = NULL;
    const enum smp_status status = smp_counting_plan_create(source->counting, options->root_methods,
                                                            options->instrumentation_filter, &plan);

    if (status != SMP_OK) {
        (void)snprintf(message, SMP_COUNTER_MESSAGE_BYTES, "calls cannot be counted: %s",
                       smp_status_text(status));
        return false;
    }
    plan->instrumentation = options->instrumentation;
    plan->timing = options->method_timing;
    plan->max_methods = (uint32_t)options->max_counted_methods;
    plan->max_nodes = (uint32_t)options->max_call_nodes;
    plan->max_depth = (uint32_t)options->max_call_depth;
    source->plan = plan;
    return true;
}

static void start_counter(struct calls_source *source)
{
    const struct smp_call_counter *const counter = source->counter;
    char message[SMP_COUNTER_MESSAGE_BYTES] = "this JVM does not let methods be changed";

    source->was_started = true;
    if (counter->start != NULL && make_plan(source, message))
        source->is_on = counter->start(counter->self, source->plan, message) == SMP_OK;
    if (source->is_on && are_times_sampled(source))
        source->attribution->calls =
            (struct smp_call_rows){ .find = find_call_row, .self = source };
    if (source->is_on) {
        note_start(source);
        source->attribution->interval->counts.begin_ms = smp_clock_wall_ms();
    } else {
        refuse_counting(source, message);
    }
}

static void begin_judging(struct calls_source *source, int64_t now_ns)
{
    const struct smp_counter_figures figures = counter_figures(source);

    smp_removal_init(&source->removal, (uint32_t)source->options->overhead_limit_per_mille,
                     figures.call_cost_ns > 0 ? figures.call_cost_ns : 1,
                     figures.root_cost_ns > 0 ? figures.root_cost_ns : 1);
    smp_call_rates_clear(&source->rates);
    source->pace.judged_ns = now_ns;
}

/* Starts the counter, or resets it after a pause, whose calls do not count. */
static void mark_calls(void *self, int64_t now_ns)
{
    struct calls_source *source = self;

    if (!source->was_started)
        start_counter(source);
    if (!source->is_on)
        return;
    if (source->was_paused) {
        source->counter->reset(source->counter->self);
        smp_call_trees_reset(&source->trees);
    }
    source->was_paused = false;
    source->pace.ticked_ns = now_ns;
    source->warm_up.batches_ns = now_ns;
    source->pace.next_read_ns = now_ns + SMP_CALLS_READ_MS * NS_PER_MS;
    begin_judging(source, now_ns);
}

/* --- reads --- */

static void on_counted(void *context, const struct smp_counted_thread *thread,
                       const struct smp_counted_call *call)
{
    struct calls_source *source = context;

    smp_call_credit_counted(&source->credit, thread, call);
}

static void on_tree_ended(void *context, uint64_t number)
{
    struct calls_source *source = context;
    struct smp_call_tree *tree = smp_call_trees_find(&source->trees, number);

    if (tree != NULL)
        smp_call_credit_pending_of(&source->credit, tree);
    smp_call_trees_remove(&source->trees, number);
}

static void keep_named_roots(struct calls_source *source)
{
    for (size_t i = 0; i < source->rates.count; i++) {
        struct smp_call_rate *const rate = &source->rates.rates[i];

        if (rate->is_root)
            rate->is_kept = source->counter->keeps(source->counter->self, rate->method);
    }
}

/* --- times --- */

/* Time that rows were credited since the last read, by location. */
struct new_times {
    int64_t *of;
    uint32_t count;
};

static void on_counted_time(void *context, uint32_t location, int64_t more_ns)
{
    const struct new_times *times = context;

    if (location < times->count)
        times->of[location] = smp_add_clamped(times->of[location], more_ns);
}

/* Adds the new times to the rates. Methods with the same name share a location and its time. */
static void judge_times(struct calls_source *source, const struct new_times *times)
{
    for (size_t i = 0; i < source->rates.count; i++) {
        struct smp_call_rate *const rate = &source->rates.rates[i];
        const uint32_t location = smp_call_credit_location(&source->credit, rate->method);
        if (location < times->count && times->of[location] > 0)
            rate->self_ns = smp_add_clamped(rate->self_ns, times->of[location]);
    }
}

/* Credits counted rows with the time of the sampled stacks that lead to them. */
static void time_rows(struct calls_source *source)
{
    struct smp_interval *const interval = source->attribution->interval;
    struct new_times times = { .count = smp_methods_location_count(source->attribution->methods) };

    if (!are_times_sampled(source))
        return;
    times.of = smp_alloc(source->counting, times.count * sizeof(*times.of));
    if (times.of == NULL)
        times.count = 0; /* methods are judged as if they took no time */
    smp_interval_time_counted(interval, on_counted_time, &times);
    judge_times(source, &times);
    smp_free(source->counting, times.of);
}

/* --- methods that are called according to samples --- */

/* The meaning of a node for the nodes below it. WAITING: the calls of their nearest counted method
 * have not been followed yet. */
enum place { PLACE_OUTSIDE, PLACE_WAITING, PLACE_FOLLOWED };

static bool reserve_places(struct calls_source *source, size_t count)
{
    struct sampled_calls *const sampled = &source->sampled;
    size_t capacity = sampled->capacity > 0 ? sampled->capacity : FIRST_NODES;
    uint8_t *grown = NULL;

    if (count <= sampled->capacity)
        return true;
    while (capacity < count)
        capacity *= 2;
    grown = smp_realloc(source->counting, sampled->places, capacity);
    if (grown == NULL)
        return false;
    sampled->places = grown;
    sampled->capacity = capacity;
    return true;
}

static enum place place_of_node(const struct calls_source *source, uint32_t location,
                                enum place caller)
{
    const struct smp_call_counter *const counter = source->counter;
    struct smp_location_view view;
    struct smp_sampled_method seen;

    smp_methods_view(source->attribution->methods, location, &view);
    if (view.is_pseudo || view.method_name == NULL)
        return caller;
    seen = counter->sampled(counter->self, view.class_name, view.method_name,
                            caller == PLACE_FOLLOWED);
    if (caller == PLACE_OUTSIDE && !seen.is_root)
        return PLACE_OUTSIDE;
    if (!seen.is_inside)
        return caller;
    return seen.is_followed ? PLACE_FOLLOWED : PLACE_WAITING;
}

/*
 * Searches the sampled trees for methods that are called but not counted. A sample of a method
 * below a root proves that it is called.
 *
 *   root with followed calls ─► frames of the JDK ─► a method without a probe: it is called
 *   root ─► a method that waits for its probe ─► a method without a probe: it may still be found
 *
 * Each call checks the next MOST_NODES nodes, callers first, and starts again after the last node.
 * A node takes about a quarter of a microsecond. Without memory no node is checked.
 */
static void look_at_samples(struct calls_source *source)
{
    const struct smp_attribution *const attribution = source->attribution;
    struct sampled_calls *const sampled = &source->sampled;
    const struct smp_node *const nodes = smp_tree_nodes(attribution->interval->tree);
    size_t end = smp_tree_node_count(attribution->interval->tree);

    if (sampled->epoch != attribution->tree_epoch || sampled->next >= end)
        sampled->next = 0;
    sampled->epoch = attribution->tree_epoch;
    if (end > sampled->next + MOST_NODES)
        end = sampled->next + MOST_NODES;
    if (!reserve_places(source, end))
        return;
    for (size_t n = sampled->next; n < end; n++) {
        /* Node 0 is the parent of all groups. A leaf for a counted call is not a frame. */
        const bool is_frame =
            n > 0 && !smp_node_is_group(&nodes[n]) && !smp_node_is_call(&nodes[n]);
        sampled->places[n] = is_frame ? (uint8_t)place_of_node(source, nodes[n].location,
                                                               sampled->places[nodes[n].parent])
                                      : PLACE_OUTSIDE;
    }
    sampled->next = end;
}

/* --- adaptive removal --- */

static void judge_methods(struct calls_source *source, int64_t now_ns)
{
    int64_t dropped[SMP_REMOVAL_MOST];
    const int64_t elapsed_ns = now_ns - source->pace.judged_ns;
    size_t count;

    if (elapsed_ns < SMP_CALLS_JUDGE_MS * NS_PER_MS)
        return;
    smp_call_rates_spread(&source->rates);
    /* Looks up kept roots only if necessary: each look-up takes the instrumenter's lock. */
    if (smp_removal_is_over(&source->removal, source->rates.rates, source->rates.count, elapsed_ns))
        keep_named_roots(source);
    count = smp_removal_judge(&source->removal, source->rates.rates, source->rates.count,
                              elapsed_ns, dropped);
    if (count > 0)
        source->counter->drop(source->counter->self, dropped, count);
    if (source->counter->judge != NULL)
        source->counter->judge(source->counter->self, source->rates.rates, source->rates.count);
    smp_call_rates_clear(&source->rates);
    source->pace.judged_ns = now_ns;
}

static void read_counter(struct calls_source *source)
{
    const uint64_t batches = counter_figures(source).batches; /* read before the counts */
    const bool is_marked = batches != source->marked_batches;
    const int64_t wall_ms = smp_clock_wall_ms();
    const int64_t began_ns = smp_clock_own_cpu_ns();
    const struct smp_counter_visitor visitor = {
        .counted = on_counted,
        .ended = on_tree_ended,
        .context = source,
    };
    int64_t gap_ns;

    source->credit.pass++;
    source->counter->read(source->counter->self, &visitor);
    smp_call_credit_pending(&source->credit);
    source->marked_batches = batches;
    smp_interval_settle_counted(source->attribution->interval, is_marked, wall_ms);
    look_at_samples(source);
    time_rows(source);
    source->own_cpu_ns = counter_figures(source).own_cpu_ns;
    judge_methods(source, source->pace.ticked_ns);
    gap_ns = (smp_clock_own_cpu_ns() - began_ns) * SMP_CALLS_READ_SHARE;
    if (gap_ns < SMP_CALLS_READ_MS * NS_PER_MS)
        gap_ns = SMP_CALLS_READ_MS * NS_PER_MS;
    source->pace.next_read_ns = source->pace.ticked_ns + gap_ns;
}

void smp_calls_reset(void *self)
{
    struct calls_source *source = self;

    if (!source->is_on)
        return;
    source->counter->reset(source->counter->self);
    smp_call_trees_reset(&source->trees);
    smp_call_rates_clear(&source->rates);
    source->pace.judged_ns = source->pace.ticked_ns;
    memset(source->credit.lost, 0, sizeof(source->credit.lost));
    smp_interval_forget_counted(source->attribution->interval, are_times_sampled(source),
                                smp_clock_wall_ms());
}

static void discard_warm_up(struct calls_source *source)
{
    if (!source->options->discard_warm_up || source->warm_up.is_over)
        return;
    const struct smp_counter_figures figures = counter_figures(source);
    if (figures.batches != source->warm_up.batches || figures.has_work ||
        !figures.is_root_entered) {
        source->warm_up.batches = figures.batches;
        source->warm_up.batches_ns = source->pace.ticked_ns;
        return;
    }
    if (source->pace.ticked_ns - source->warm_up.batches_ns < SMP_CALLS_WARM_UP_MS * NS_PER_MS)
        return;
    source->warm_up.is_over = true;
    smp_calls_reset(source);
}

/* --- ticks --- */

static void on_call_place(void *context, const struct smp_counted_thread *thread,
                          const struct smp_call_place *place)
{
    struct calls_tick *tick = context;
    struct calls_source *source = tick->source;
    struct smp_call_tree *tree = NULL;
    const double drawn =
        (double)smp_random_next(&source->places.random) / (double)(UINT64_C(1) << 53);

    tick->places++;
    if (drawn >= tick->share)
        return;
    tree = smp_call_trees_get(&source->trees, thread);
    if (tree == NULL)
        return;
    smp_call_credit_remember_group(&source->credit, tree);
    if (source->options->method_timing != SMP_METHOD_TIMING_EXACT)
        return; /* samples already show which threads are in a probe */
    if (place->is_in_hook || place->ordinal == 0) {
        tree->hook_ns += tick->gap_ns;
        tree->stamped_ns += place->is_between_stamps ? tick->gap_ns : 0;
    }
}

/* Returns the share of threads to check at this tick. It must not depend on what the tick finds. */
static double share_of_places(const struct calls_source *source, int64_t gap_ns)
{
    const double allowed_ns = (double)gap_ns * (double)source->options->overhead_limit_per_mille /
                              (PER_MILLE * SMP_CALLS_TICK_SHARE);
    const double needed_ns = source->places.cost_ns * (double)source->places.count;
    const double share = needed_ns > allowed_ns ? allowed_ns / needed_ns : 1;

    return share > 1.0 / SMP_CALLS_LEAST_SHARE ? share : 1.0 / SMP_CALLS_LEAST_SHARE;
}

static void charge_probes(struct calls_source *source, int64_t gap_ns)
{
    const double share = share_of_places(source, gap_ns);
    const int64_t began_ns = smp_clock_own_cpu_ns();
    struct calls_tick tick = {
        .source = source,
        .gap_ns = (int64_t)((double)gap_ns / share),
        .share = share,
    };
    double charged;

    source->counter->positions(source->counter->self, on_call_place, &tick);
    source->places.count = tick.places;
    charged = (double)tick.places * share;
    if (charged >= 1)
        source->places.cost_ns +=
            ((double)(smp_clock_own_cpu_ns() - began_ns) / charged - source->places.cost_ns) /
            COST_MEMORY;
}

static void tick_calls(void *self, const struct smp_tick *tick)
{
    struct calls_source *source = self;
    const int64_t now_ns = tick->now_ns;
    const int64_t skipped_ns = (int64_t)tick->skipped * smp_options_interval_ns(source->options);
    const int64_t gap_ns = now_ns - source->pace.ticked_ns - tick->stopped_ns - skipped_ns;

    if (!source->is_on)
        return;
    source->pace.ticked_ns = now_ns;
    if (gap_ns > 0 && source->options->method_timing != SMP_METHOD_TIMING_NONE)
        charge_probes(source, gap_ns);
    discard_warm_up(source);
    if (now_ns >= source->pace.next_read_ns)
        read_counter(source);
}

/* --- the end of an interval --- */

/* Merges the account into the interval's. An addition would count the current state twice if the
 * interval was flushed before. */
static void put_account(struct calls_source *source)
{
    struct smp_counting_account *account = NULL;

    if (smp_counting_account_create(source->quota, &account) != SMP_OK)
        return;
    source->counter->account(source->counter->self, account);
    if (source->options->method_timing != SMP_METHOD_TIMING_SAMPLED)
        smp_counting_account_add(account, SMP_COUNTING_NO_CPU_TIME,
                                 smp_counting_account_figure(account, SMP_COUNTING_INSTRUMENTED));
    for (int i = 0; i < SMP_LOST_COUNT; i++)
        (void)smp_counting_account_add_for(account, SMP_COUNTING_CALLS_WITHOUT_PLACE,
                                           smp_call_loss_text((enum smp_call_loss)i),
                                           source->credit.lost[i]);
    if (smp_profile_counts_add_account(&source->attribution->interval->counts, source->quota,
                                       account) == SMP_OK)
        memset(source->credit.lost, 0, sizeof(source->credit.lost));
    smp_counting_account_destroy(account);
}

static void flush_calls(void *self, enum smp_flush reason)
{
    struct calls_source *source = self;

    source->was_paused = reason == SMP_FLUSH_LAST;
    if (!source->is_on || (reason != SMP_FLUSH_INTERVAL && reason != SMP_FLUSH_LAST))
        return;
    read_counter(source);
    put_account(source);
}

/* --- options, figures --- */

static void set_calls_options(void *self, const struct smp_options *before)
{
    struct calls_source *source = self;

    if (source->options->discard_warm_up && !before->discard_warm_up) {
        source->warm_up.is_over = false;
        source->warm_up.batches_ns = source->pace.ticked_ns;
    }
    if (source->is_on &&
        source->options->overhead_limit_per_mille != before->overhead_limit_per_mille)
        begin_judging(source, source->pace.ticked_ns);
}

static void get_calls_live(const void *self, struct smp_source_live *out)
{
    const struct calls_source *source = self;

    out->counts_calls = source->is_on;
    out->counting_bytes = source->is_on ? smp_quota_used(source->counting) : 0;
    (void)snprintf(out->counting_refusal, sizeof(out->counting_refusal), "%s", source->refusal);
    out->helper_cpu_ns = source->own_cpu_ns;
}

/* --- create, destroy --- */

static void destroy_calls(void *self)
{
    struct calls_source *source = self;

    if (source->is_on) {
        source->attribution->calls = (struct smp_call_rows){ 0 };
        source->counter->stop(source->counter->self);
    }
    smp_call_credit_fini(&source->credit);
    smp_call_rates_fini(&source->rates);
    smp_free(source->counting, source->sampled.places);
    smp_call_trees_fini(&source->trees);
    smp_counting_plan_release(source->plan);
    smp_quota_release(source->counting);
    smp_free(source->quota, source);
}

static enum smp_status prepare_counting(struct calls_source *source)
{
    source->counting =
        smp_quota_create((size_t)source->options->memory_limit_bytes / SMP_CALLS_MEMORY_SHARE);
    if (source->counting == NULL)
        return SMP_ENOMEM;
    source->trees.quota = source->counting;
    source->rates.quota = source->counting;
    source->rates.is_timed = source->options->method_timing != SMP_METHOD_TIMING_NONE;
    return SMP_OK;
}

static struct smp_source describe_calls_source(struct calls_source *source)
{
    return (struct smp_source){
        .mark = mark_calls,
        .tick = tick_calls,
        .flush = flush_calls,
        .set_options = set_calls_options,
        .get_live = get_calls_live,
        .destroy = destroy_calls,
        .self = source,
    };
}

enum smp_status smp_calls_create(const struct smp_source_setup *setup, struct smp_source *out)
{
    struct calls_source *source = NULL;
    enum smp_status status;

    if (!smp_options_count_calls(setup->options))
        return SMP_OK;
    source = smp_alloc(setup->quota, sizeof(*source));
    if (source == NULL)
        return SMP_ENOMEM;
    source->quota = setup->quota;
    source->counter = &setup->jvm->calls;
    source->attribution = setup->attribution;
    source->places.random = (uint64_t)smp_clock_ns();
    source->credit = (struct smp_call_credit){
        .counter = source->counter,
        .threads = setup->threads,
        .attribution = setup->attribution,
        .trees = &source->trees,
        .rates = &source->rates,
        .is_exact = setup->options->method_timing == SMP_METHOD_TIMING_EXACT,
    };
    source->options = setup->options;
    source->log = setup->log;
    status = prepare_counting(source);
    if (status != SMP_OK) {
        destroy_calls(source);
        return status;
    }
    *out = describe_calls_source(source);
    return SMP_OK;
}
