/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/unmounted.h"

#include "base/clock.h"
#include "engine/sources/sampled_threads.h"
#include "engine/sources/walks.h"

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_US 1e3
#define NS_PER_SECOND 1e9
#define RAW_NAME "virtual threads that are not mounted"
/* The serial of all threads of a group, which count as one thread. */
#define SERIAL (UINT64_MAX - 1)

enum {
    LEAST_WALKS = 4, /* minimum for a draw, even if walks are expensive */
    MOST_CHANGE = 2  /* factor by which the number of walks may change from draw to draw */
};

struct unmounted {
    struct smp_quota *quota;
    struct smp_log *log;
    const struct smp_options *options;
    const struct smp_virtual_threads *virtual_threads;
    struct smp_sampled_threads *threads;
    struct smp_attribution *attribution;
    bool is_possible; /* by the clock and by the JVM */
    bool has_opened;
    const char *refusal; /* static; NULL: none */
    uint64_t random;
    int64_t ticked_ns;
    int64_t drawn_ns;     /* draws have attributed the time up to here */
    double saved_walks;   /* number of walks that draws may use */
    double saved_cost_ns; /* CPU time that draws may use; negative: overdrawn */
    double most_walks;    /* walks of one draw that cost about SMP_UNMOUNTED_DRAW_US */
    double owed_ns;       /* time that is still to be attributed; negative: too much was */
    uint64_t population;  /* at the last draw */
    uint64_t found_epoch; /* the interval of found_node */
    uint32_t found_node;
    uint32_t found; /* number of samples so far */
};

/* One draw. */
struct unmounted_draw {
    struct unmounted *source;
    struct smp_span span; /* since the draw before it */
    double span_ns;       /* time of a thread with weight 1 */
    double attributed_ns;
    size_t walks;
};

/* --- results of a draw --- */

static enum smp_outcome outcome_of_drawn(const struct smp_drawn_thread *drawn)
{
    const enum smp_outcome outcome = smp_walks_outcome(drawn->status, drawn->sample);

    return outcome == SMP_OUTCOME_WALKED ? SMP_OUTCOME_UNMOUNTED_WALKED : outcome;
}

/* The samples count like one thread: their total time is known, its distribution is random. */
static void note_drawn(struct unmounted *source, uint32_t node, int64_t wall_ns)
{
    const uint64_t epoch = source->attribution->tree_epoch;

    source->found++;
    if (source->found_epoch == epoch)
        smp_tree_moved(source->attribution->interval->tree, source->found_node, node,
                       smp_error_change(wall_ns, 1), source->found);
    source->found_epoch = epoch;
    source->found_node = node;
}

static void attribute_drawn(struct unmounted *source, const struct smp_drawn_thread *drawn,
                            int64_t wall_ns, struct smp_span span)
{
    struct smp_attribution *attribution = source->attribution;
    const struct smp_group_key key =
        smp_sampled_threads_key_of_mounted(source->threads, &drawn->thread);

    if (key.name == NULL)
        return; /* the user's name rule excludes it */
    const struct smp_group_tree tree =
        smp_interval_find(attribution->interval, key, SERIAL, RAW_NAME);
    const struct smp_found found = { .outcome = outcome_of_drawn(drawn), .sample = drawn->sample };
    struct smp_tree_target target = smp_attribution_found_in(attribution, tree, &found);
    if (target.outcome == SMP_OUTCOME_NO_JAVA_FRAMES)
        target.state = SMP_STATE_RUNNABLE; /* it was started and has never run */
    smp_attribution_note(attribution, &target, wall_ns, span);
    note_drawn(source, target.node, wall_ns);
}

static void on_drawn(void *context, const struct smp_drawn_thread *drawn)
{
    struct unmounted_draw *draw = context;
    const double wall_ns = drawn->weight * draw->span_ns;

    draw->attributed_ns += wall_ns;
    if (drawn->is_mounted) {
        smp_interval_count(draw->source->attribution->interval, SMP_COUNTER_UNMOUNTED_FOUND_MOUNTED,
                           1);
        return;
    }
    draw->walks++;
    attribute_drawn(draw->source, drawn, (int64_t)wall_ns, draw->span);
}

/* --- draws --- */

static double within(double value, double least, double most)
{
    if (value < least)
        return least;
    return value < most ? value : most;
}

/* Returns the fraction of its time that a draw attributes in addition, to even out owed_ns. */
static double steering(const struct unmounted *source)
{
    const double most = SMP_UNMOUNTED_STEER_PERCENT / 100.0;
    const double all_ns = (double)source->population * SMP_UNMOUNTED_STEER_MS * NS_PER_MS;

    return all_ns > 0 ? within(source->owed_ns / all_ns, -most, most) : 0;
}

/* Adapts the number of walks step by step to the wanted cost of a draw. It is not computed from
 * the cost per walk, because the other costs of a draw are unknown: draws that find few threads
 * would seem expensive and would want fewer and fewer. */
static void pay(struct unmounted *source, int64_t cost_ns)
{
    const double change = SMP_UNMOUNTED_DRAW_US * NS_PER_US / (double)(cost_ns > 0 ? cost_ns : 1);

    source->saved_cost_ns -= (double)cost_ns;
    source->most_walks = within(source->most_walks * within(change, 1.0 / MOST_CHANGE, MOST_CHANGE),
                                LEAST_WALKS, SMP_UNMOUNTED_WALKS);
}

static void note_refusal(struct unmounted *source)
{
    source->refusal = source->virtual_threads->refusal(source->virtual_threads->self);
    smp_log_put_once(source->log, SMP_LOG_WARNING,
                     "sampleUnmountedVirtualThreads has no effect: %s", source->refusal);
}

/* Returns false if there was no draw, now or ever in this JVM. */
static bool make_draw(struct unmounted *source, double wanted, struct unmounted_draw *draw)
{
    const int64_t began_ns = smp_clock_own_cpu_ns();
    uint64_t population = 0;
    const enum smp_status status = source->virtual_threads->draw(
        source->virtual_threads->self, wanted, &source->random, &population, on_drawn, draw);

    if (status == SMP_EUNSUPPORTED)
        note_refusal(source);
    if (status != SMP_OK)
        return false;
    source->population = population;
    if (wanted < 1)
        return true;
    pay(source, smp_clock_own_cpu_ns() - began_ns);
    smp_interval_count(source->attribution->interval, SMP_COUNTER_UNMOUNTED_DRAWS, 1);
    smp_interval_count(source->attribution->interval, SMP_COUNTER_UNMOUNTED_POPULATION, population);
    return true;
}

static void draw_time(struct unmounted *source, int64_t now_ns)
{
    const double elapsed_ns = (double)(now_ns - source->drawn_ns);
    const double wanted = within(source->saved_walks, 0, source->most_walks);
    struct unmounted_draw draw = { .source = source,
                                   .span = { .from_ns = source->drawn_ns, .till_ns = now_ns },
                                   .span_ns = elapsed_ns * (1 + steering(source)) };

    if (wanted < 1 || elapsed_ns <= 0 || !make_draw(source, wanted, &draw))
        return;
    source->saved_walks -= (double)draw.walks;
    source->drawn_ns = now_ns;
    source->owed_ns += elapsed_ns * (double)source->population - draw.attributed_ns;
    if (source->population == 0)
        source->owed_ns = 0;
}

/* Starts the time anew at now_ns. */
static void restart(struct unmounted *source, int64_t now_ns)
{
    source->ticked_ns = now_ns;
    source->drawn_ns = now_ns;
    source->owed_ns = 0;
}

/* Off if daemon threads are skipped or only chosen threads are sampled: virtual threads are
 * daemons and cannot be chosen. */
static bool is_on(const struct unmounted *source)
{
    return source->is_possible && source->options->sample_unmounted_virtual_threads &&
           source->refusal == NULL && !source->threads->only &&
           !source->threads->skip_daemon_threads;
}

static void save(struct unmounted *source, int64_t span_ns)
{
    const double most = SMP_UNMOUNTED_WALKS;

    source->saved_walks =
        within(source->saved_walks + most * (double)span_ns / NS_PER_SECOND, -most, most);
    source->saved_cost_ns += (double)span_ns / SMP_UNMOUNTED_COST_SHARE;
    if (source->saved_cost_ns > SMP_UNMOUNTED_DRAW_US * NS_PER_US)
        source->saved_cost_ns = SMP_UNMOUNTED_DRAW_US * NS_PER_US;
}

/* Returns the time until the next draw, which may come up to half a tick early. */
static int64_t rest_ns(const struct unmounted *source)
{
    const int64_t gap_ns = SMP_UNMOUNTED_GAP_MS * NS_PER_MS -
                           smp_options_interval_ns(source->options) / 2 -
                           (source->ticked_ns - source->drawn_ns);
    const int64_t debt_ns = (int64_t)(-source->saved_cost_ns * SMP_UNMOUNTED_COST_SHARE);

    return gap_ns > debt_ns ? gap_ns : debt_ns;
}

static void tick_unmounted(void *self, const struct smp_tick *tick)
{
    struct unmounted *source = self;
    struct unmounted_draw none = { .source = source };
    const int64_t now_ns = tick->now_ns;

    /* Unmounted virtual threads get no time while the process is stopped. */
    source->ticked_ns += tick->stopped_ns;
    source->drawn_ns += tick->stopped_ns;

    if (!is_on(source)) {
        restart(source, now_ns);
        return;
    }
    if (!source->has_opened)
        source->has_opened = make_draw(source, 0, &none); /* shows whether draws are possible */
    save(source, now_ns - source->ticked_ns);
    source->ticked_ns = now_ns;
    if (rest_ns(source) <= 0 || tick->is_last)
        draw_time(source, now_ns);
}

static void poll_unmounted_once(void *self, int64_t now_ns, int64_t span_ns)
{
    struct unmounted *source = self;
    struct unmounted_draw draw = { .source = source,
                                   .span = smp_span_before(now_ns, span_ns),
                                   .span_ns = (double)span_ns };

    if (is_on(source))
        (void)make_draw(source, SMP_UNMOUNTED_WALKS, &draw);
}

static void mark_unmounted(void *self, int64_t now_ns)
{
    restart(self, now_ns);
}

static uint64_t idle_ticks_of_unmounted(const void *self)
{
    const struct unmounted *source = self;
    const int64_t rest = rest_ns(source);

    if (!is_on(source))
        return UINT64_MAX;
    return rest > 0 ? (uint64_t)((rest - 1) / smp_options_interval_ns(source->options)) : 0;
}

/* --- filter, figures --- */

static void change_unmounted_filter(void *self)
{
    struct unmounted *source = self;

    restart(source, source->ticked_ns);
}

static void get_unmounted_live(const void *self, struct smp_source_live *out)
{
    const struct unmounted *source = self;

    out->draws = is_on(source);
    out->virtual_threads = source->population;
    out->refusal = source->options->sample_unmounted_virtual_threads ? source->refusal : NULL;
}

/* --- create, destroy --- */

static void destroy_unmounted(void *self)
{
    smp_free(((struct unmounted *)self)->quota, self);
}

enum smp_status smp_unmounted_source_create(const struct smp_source_setup *setup,
                                            struct smp_source *out)
{
    struct unmounted *source = smp_alloc(setup->quota, sizeof(*source));

    if (source == NULL)
        return SMP_ENOMEM;
    *source = (struct unmounted){
        .quota = setup->quota,
        .log = setup->log,
        .options = setup->options,
        .virtual_threads = &setup->jvm->virtual_threads,
        .threads = setup->threads,
        .attribution = setup->attribution,
        .is_possible =
            setup->jvm->virtual_threads.draw != NULL && setup->options->clock == SMP_CLOCK_WALL,
        .most_walks = SMP_UNMOUNTED_WALKS * SMP_UNMOUNTED_GAP_MS / 1e3,
        .random = (uint64_t)smp_clock_ns(),
    };
    *out = (struct smp_source){
        .mark = mark_unmounted,
        .tick = tick_unmounted,
        .poll_once = poll_unmounted_once,
        .filter_changed = change_unmounted_filter,
        .idle_ticks = idle_ticks_of_unmounted,
        .get_live = get_unmounted_live,
        .destroy = destroy_unmounted,
        .self = source,
    };
    return SMP_OK;
}
