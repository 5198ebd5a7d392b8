/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/cpu.h"

#include "base/clock.h"
#include "base/random.h"
#include "engine/sources/poll_once.h"
#include "engine/sources/roster.h"
#include "engine/threads/throttle.h"
#include "engine/threads/timer_wheel.h"

#define NS_PER_MS INT64_C(1000000)
#define MOST_UNREAD_NS INT64_C(50000000) /* a sample waits for so long, or one interval */
#define UNSAMPLED_NS INT64_C(1000000000) /* more than a timer and the samples under way can hold */

enum {
    PER_MILLE = 1000,
    WAITING_VISIT_NS = 2000, /* what a visit of a thread that waits for a timer costs, about */
    WAITING_COST_SHARE = 4   /* of the overhead limit, for all such visits: a quarter */
};

struct cpu_thread {
    struct smp_thread_record record; /* first */
    void *timer;                     /* NULL: none */
    bool is_waiting;                 /* for a timer; counted in waiting */
    bool has_clock;                  /* cpu_ns is known */
    bool is_ahead;                   /* samples of attributed time may still come */
    int64_t cpu_ns;                  /* its CPU clock: all before is attributed */
    uint64_t judged_drain;           /* the last one for which its name was read */
    int64_t since_ns;                /* sampled since, or not sampled */
};

struct cpu_source {
    struct smp_quota *quota;
    const struct smp_jvm *jvm;
    struct smp_roster *roster;
    struct smp_attribution *attribution;
    struct smp_walks walks; /* for poll_once only */
    struct smp_timer_wheel wheel;
    uint64_t random;
    uint64_t tick;         /* the number of the last one */
    uint64_t refused_tick; /* the last one at which there was no timer for a thread */
    uint64_t waiting;      /* threads for which there was none */
    uint64_t drain;        /* the number of the last one; from 1 on */
    struct smp_throttle throttle;
    int64_t covered_ns;
    int64_t interval_ns;
    int64_t lookback_ns;
    uint32_t samples; /* each comes at a time of its own */
};

const size_t smp_cpu_record_bytes = sizeof(struct cpu_thread);

static struct cpu_thread *cpu_thread_of(struct smp_thread_record *record)
{
    return (struct cpu_thread *)(void *)record;
}

static struct cpu_thread *cpu_thread_at(const struct cpu_source *source, size_t index)
{
    return cpu_thread_of(source->roster->table.records[index]);
}

static void put_cpu_visit(struct cpu_source *source, struct cpu_thread *thread, uint64_t ticks)
{
    smp_timer_wheel_put(&source->wheel, &thread->record.deadline, source->tick + ticks);
}

/* Reads the name, too: a sample belongs to the name that its thread has. Once for all samples of a
 * drain, which are of one moment as far as names are known. */
static bool is_to_sample(struct cpu_source *source, struct cpu_thread *thread)
{
    struct smp_roster *roster = source->roster;
    struct smp_thread_record *record = &thread->record;

    if (roster->default_name_rule && thread->judged_drain != source->drain) {
        thread->judged_drain = source->drain;
        const bool is_chosen = smp_roster_chooses(roster, record);
        record->is_candidate = is_chosen;
        if (is_chosen)
            smp_thread_names_read(roster->names, record);
        /* A thread that has ended has no name to read. Its samples keep the one it had. */
        record->is_candidate = record->is_candidate || (is_chosen && thread->timer != NULL);
    }
    return record->is_candidate && record->naming != SMP_NAMING_SKIP;
}

/* --- samples --- */

static void attribute_cpu_time(struct cpu_source *source, const struct smp_tree_target *target,
                               int64_t cpu_ns)
{
    smp_attribution_note(source->attribution, target, cpu_ns, source->covered_ns);
    smp_interval_used_cpu(source->attribution->interval, target->node, cpu_ns);
}

/* The CPU clock of a thread that may have ended. */
static bool read_last_clock(const struct smp_thread_record *record, int64_t *out)
{
    const int32_t tid = smp_thread_record_tid(record);

    *out = record->thread->ended_cpu_ns;
    return *out != 0 || (tid > 0 && smp_clock_thread_cpu_ns(tid, out));
}

/* How much of a sample's time is not attributed yet. */
static int64_t take_sampled_ns(struct cpu_thread *thread, int64_t ns)
{
    int64_t used_ns = 0;

    if (!thread->has_clock)
        return ns;
    if (thread->is_ahead && read_last_clock(&thread->record, &used_ns)) {
        const int64_t left_ns = used_ns - thread->cpu_ns;
        ns = left_ns < ns ? left_ns : ns;
        ns = ns > 0 ? ns : 0;
    }
    thread->cpu_ns += ns;
    return ns;
}

/* A walk that was dropped has no time: the thread's next sample carries it. cpu_ns is not 0 where
 * no sample will come. */
static void on_dropped(struct cpu_source *source, struct smp_thread_record *record, int64_t cpu_ns)
{
    const bool has_ended = record->thread->ended_ns != 0;
    struct smp_tree_target target;

    if (cpu_ns == 0) {
        smp_interval_skip(source->attribution->interval,
                          smp_attribution_tree(source->attribution, record),
                          SMP_OUTCOME_WALK_BUFFER_FULL, 1);
        return;
    }
    target =
        smp_attribution_pseudo(source->attribution, record,
                               has_ended ? SMP_OUTCOME_THREAD_ENDED : SMP_OUTCOME_WALK_BUFFER_FULL);
    attribute_cpu_time(source, &target, cpu_ns);
}

static void on_cpu_sample(void *context, uint64_t token, enum smp_answer answer,
                          const struct smp_sample *sample, const struct smp_mounted_thread *mounted,
                          uint64_t weight)
{
    struct cpu_source *source = context;
    struct smp_thread_record *record = smp_walks_record_of(token);
    struct cpu_thread *thread = cpu_thread_of(record);
    struct smp_found found;

    if (!is_to_sample(source, thread))
        return;
    const int64_t cpu_ns = take_sampled_ns(thread, (int64_t)weight * source->interval_ns);
    if (answer == SMP_ANSWER_DROPPED) {
        on_dropped(source, record, cpu_ns);
    } else if (smp_walks_find(&source->walks, answer, sample, mounted, &found)) {
        const struct smp_tree_target target =
            smp_attribution_found(source->attribution, record, &found);
        attribute_cpu_time(source, &target, cpu_ns);
        smp_attribution_moved(source->attribution, record, &target, true,
                              &(struct smp_poll_weight){ .weight_ns = cpu_ns,
                                                         .probability = 1,
                                                         .tick = ++source->samples });
    }
}

static void drain_timers(struct cpu_source *source)
{
    const struct smp_cpu_timers *timers = &source->jvm->cpu;
    const struct smp_cpu_sampled sampled = { .sampled = on_cpu_sample, .context = source };

    source->drain++;
    timers->drain(timers->self, sampled);
}

/* --- timers --- */

/* For a thread without a timer: what its clock says that it used since the last call. */
static void attribute_clock(struct cpu_source *source, struct cpu_thread *thread)
{
    int64_t cpu_ns = 0;

    if (!read_last_clock(&thread->record, &cpu_ns))
        return;
    if (thread->has_clock && cpu_ns > thread->cpu_ns) {
        const struct smp_tree_target target =
            smp_attribution_pseudo(source->attribution, &thread->record, SMP_OUTCOME_NO_CPU_TIMER);
        attribute_cpu_time(source, &target, cpu_ns - thread->cpu_ns);
    }
    thread->has_clock = true;
    thread->cpu_ns = cpu_ns;
}

static void attribute_without_timer(struct cpu_source *source, struct cpu_thread *thread)
{
    if (thread->record.is_sampled && thread->timer == NULL && thread->has_clock)
        attribute_clock(source, thread);
}

/* For a thread with a timer: its signals do not arrive if the thread blocks them, or if another
 * library takes them. */
static void attribute_unsampled(struct cpu_source *source, struct cpu_thread *thread)
{
    const int32_t tid = smp_thread_record_tid(&thread->record);
    int64_t used_ns = 0;

    if (thread->timer == NULL || tid <= 0 || !smp_clock_thread_cpu_ns(tid, &used_ns))
        return;
    if (!thread->has_clock) {
        thread->has_clock = true;
        thread->is_ahead = false;
        thread->cpu_ns = used_ns;
    }
    const int64_t missing_ns = used_ns - thread->cpu_ns;
    if (missing_ns <= UNSAMPLED_NS + 2 * source->interval_ns)
        return;
    const struct smp_tree_target target =
        smp_attribution_pseudo(source->attribution, &thread->record, SMP_OUTCOME_SIGNAL_UNANSWERED);
    attribute_cpu_time(source, &target, missing_ns);
    thread->cpu_ns = used_ns;
    thread->is_ahead = true;
}

static void set_waiting(struct cpu_source *source, struct cpu_thread *thread, bool is_waiting)
{
    if (thread->is_waiting == is_waiting)
        return;
    thread->is_waiting = is_waiting;
    source->waiting += is_waiting ? 1 : (uint64_t)-1;
}

/* Where there is none for one thread, there is none for the others at this tick. */
static enum smp_status make_timer(struct cpu_source *source, struct cpu_thread *thread)
{
    const struct smp_cpu_timers *timers = &source->jvm->cpu;
    const int64_t from_cpu_ns = thread->has_clock ? thread->cpu_ns : -1;

    if (source->refused_tick == source->tick)
        return SMP_EQUOTA;
    return timers->start(timers->self, thread->record.thread, source->interval_ns, from_cpu_ns,
                         smp_random_next(&source->random), smp_walks_token_of(&thread->record),
                         &thread->timer);
}

static void start_timer(struct cpu_source *source, struct cpu_thread *thread)
{
    const enum smp_status status = make_timer(source, thread);
    const bool is_refused = status == SMP_EQUOTA || status == SMP_ENOMEM || status == SMP_EVM;

    set_waiting(source, thread, is_refused);
    if (status == SMP_OK) {
        thread->has_clock = false;
        attribute_unsampled(source, thread); /* from now on */
    }
    if (status == SMP_EQUOTA || status == SMP_ENOMEM)
        source->refused_tick = source->tick;
    if (is_refused)
        attribute_clock(source, thread);
}

/* Attributes what the timer has left. */
static void stop_timer(struct cpu_source *source, struct cpu_thread *thread)
{
    const struct smp_cpu_timers *timers = &source->jvm->cpu;
    const struct smp_cpu_sampled sampled = { .sampled = on_cpu_sample, .context = source };

    if (thread->timer == NULL)
        return;
    timers->stop(timers->self, thread->timer, sampled);
    thread->timer = NULL;
}

static void stop_all_timers(void *self)
{
    struct cpu_source *source = self;

    for (size_t i = 0; i < source->roster->table.count; i++)
        stop_timer(source, cpu_thread_at(source, i));
}

/* --- the roster's events --- */

static void on_cpu_thread_started(void *context, struct smp_thread_record *record, int64_t from_ns,
                                  bool is_new)
{
    struct cpu_thread *thread = cpu_thread_of(record);

    thread->since_ns = from_ns;
    thread->has_clock = is_new;
    thread->cpu_ns = record->thread->started_cpu_ns;
    put_cpu_visit(context, thread, 0);
}

static void on_cpu_thread_ended(void *context, struct smp_thread_record *record,
                                SMP_UNUSED int64_t ended_ns)
{
    struct cpu_source *source = context;

    attribute_without_timer(source, cpu_thread_of(record));
    stop_timer(source, cpu_thread_of(record));
    set_waiting(source, cpu_thread_of(record), false);
    smp_timer_wheel_remove(&source->wheel, &record->deadline);
}

/* A visit at this tick, or a later one, stops its timer and forgets its clock. */
static void on_cpu_thread_left_out(void *context, struct smp_thread_record *record)
{
    const struct cpu_source *source = context;

    cpu_thread_of(record)->since_ns = source->roster->now_ns;
}

static void on_cpu_thread_named(void *context, struct smp_thread_record *record)
{
    if (record->naming == SMP_NAMING_SKIP && record->is_candidate)
        put_cpu_visit(context, cpu_thread_of(record), 0);
}

/* --- ticks --- */

static uint64_t cpu_ticks_in(const struct cpu_source *source, int64_t ns)
{
    const int64_t ticks = ns / source->interval_ns;

    return ticks > 1 ? (uint64_t)ticks : 1;
}

/* Where thousands wait, each tick has a part of them: a visit attributes all that the thread has
 * used since the last one. */
static uint64_t waiting_gap(const struct cpu_source *source)
{
    const int64_t allowed_ns =
        source->interval_ns / (PER_MILLE * WAITING_COST_SHARE) * source->throttle.limit_per_mille;

    return 1 + source->waiting * WAITING_VISIT_NS / (uint64_t)allowed_ns;
}

/* Ticks from one drain to the next, while nothing else is due: several ticks' samples fit into the
 * pool, and a sample that waits too long would get a later name of its thread. */
static uint64_t drain_gap(const struct cpu_source *source)
{
    const struct smp_cpu_timers *timers = &source->jvm->cpu;
    const int64_t apart_ns =
        timers->least_apart_ns > source->interval_ns ? timers->least_apart_ns : source->interval_ns;
    const uint64_t fitting = cpu_ticks_in(source, timers->samples_per_cpu * apart_ns);
    const uint64_t timely = cpu_ticks_in(source, MOST_UNREAD_NS);

    return fitting < timely ? fitting : timely;
}

/* The first tick from at on at which samples are drained anyway. */
static uint64_t next_drain(const struct cpu_source *source, uint64_t at)
{
    const uint64_t gap = drain_gap(source);

    return (at + gap - 1) / gap * gap;
}

/* A young thread is likely to end soon, and holds its timer until a visit finds that it has
 * ended. */
static void schedule_visit(struct cpu_source *source, struct cpu_thread *thread, int64_t now_ns)
{
    const uint64_t most = cpu_ticks_in(source, source->lookback_ns);
    uint64_t ticks = 1;

    if (thread->is_waiting)
        ticks = waiting_gap(source);
    else if (thread->timer != NULL || !thread->record.is_candidate)
        ticks = cpu_ticks_in(source, (now_ns - thread->since_ns) / SMP_IDLE_SHARE);
    ticks = ticks < most ? ticks : most;
    /* Not all threads at the same tick. */
    ticks -= smp_random_next(&source->random) % (ticks / 4 + 1);
    if (ticks > drain_gap(source) && !thread->is_waiting)
        ticks = next_drain(source, source->tick + ticks) - source->tick;
    put_cpu_visit(source, thread, ticks);
}

static void visit_cpu_thread(struct cpu_source *source, struct cpu_thread *thread, int64_t now_ns)
{
    if (smp_roster_remove_ended(source->roster, &thread->record, now_ns))
        return;
    const bool is_sampled = is_to_sample(source, thread);
    smp_roster_set_sampled(source->roster, &thread->record, is_sampled);
    if (is_sampled && thread->timer == NULL) {
        start_timer(source, thread);
    } else if (is_sampled) {
        attribute_unsampled(source, thread);
    } else {
        stop_timer(source, thread);
        set_waiting(source, thread, false);
        thread->has_clock = false; /* what it uses from now on is not attributed */
    }
    schedule_visit(source, thread, now_ns);
}

static void tick_cpu(void *self, int64_t now_ns)
{
    struct cpu_source *source = self;
    struct smp_deadline *deadline = NULL;

    source->tick++;
    if (!source->roster->default_name_rule)
        smp_throttle_begin(&source->throttle, now_ns);
    smp_roster_poll_starts(source->roster, now_ns);
    smp_roster_name_all(source->roster);
    drain_timers(source);
    smp_timer_wheel_begin(&source->wheel, source->tick);
    while ((deadline = smp_timer_wheel_next(&source->wheel)) != NULL)
        visit_cpu_thread(source, cpu_thread_of(smp_thread_record_of(deadline)), now_ns);
    if (!source->roster->default_name_rule)
        smp_throttle_end(&source->throttle);
    source->covered_ns = now_ns;
}

/* A pause may follow, in which a thread may end: what it uses until then is not sampled. */
static void forget_clocks(struct cpu_source *source)
{
    for (size_t i = 0; i < source->roster->table.count; i++)
        cpu_thread_at(source, i)->has_clock = false;
}

/* Timers that are stopped report what they have left: no sample will come to carry it. */
static void flush_cpu(void *self, enum smp_flush reason)
{
    struct cpu_source *source = self;

    drain_timers(source);
    for (size_t i = 0; i < source->roster->table.count; i++) {
        struct cpu_thread *thread = cpu_thread_at(source, i);
        attribute_without_timer(source, thread);
        if (thread->record.is_sampled)
            attribute_unsampled(source, thread);
    }
    if (reason == SMP_FLUSH_LAST) {
        stop_all_timers(source);
        forget_clocks(source);
    }
}

static void poll_running_once(void *self, int64_t now_ns, int64_t span_ns)
{
    smp_poll_once(&((struct cpu_source *)self)->walks, now_ns, span_ns, true);
}

static void make_all_visits_due(struct cpu_source *source)
{
    for (size_t i = 0; i < source->roster->table.count; i++)
        put_cpu_visit(source, cpu_thread_at(source, i), 0);
}

/* Timers would send the signal to another library's handler. */
static void on_cpu_signal_lost(void *self)
{
    stop_all_timers(self);
    make_all_visits_due(self);
}

static void mark_cpu(void *self, int64_t now_ns)
{
    struct cpu_source *source = self;

    for (size_t i = 0; i < source->roster->table.count; i++)
        cpu_thread_at(source, i)->since_ns = now_ns;
    source->covered_ns = now_ns;
    smp_throttle_restart(&source->throttle);
    make_all_visits_due(source);
}

static uint64_t idle_ticks_of_cpu(const void *self)
{
    const struct cpu_source *source = self;
    const uint64_t most = next_drain(source, source->tick + 1);

    if (!source->roster->default_name_rule)
        return 0;
    const uint64_t first = smp_timer_wheel_first(&source->wheel, source->tick, most);
    return first > source->tick ? first - source->tick - 1 : 0;
}

static void skip_cpu_ticks(void *self, uint64_t count)
{
    ((struct cpu_source *)self)->tick += count;
}

/* A user's rule is called for every thread at each tick, however many there are. What samples cost
 * follows from the CPU time that the threads use. */
static int64_t tick_gap_of_cpu(void *self)
{
    struct cpu_source *source = self;

    return source->roster->default_name_rule ? 0 : smp_throttle_tick_gap_ns(&source->throttle);
}

static void excuse_cpu_source(void *self, int64_t used_ns)
{
    smp_throttle_excuse(&((struct cpu_source *)self)->throttle, used_ns);
}

/* --- options, filter --- */

static void visit_all_again(void *self)
{
    struct cpu_source *source = self;

    for (size_t i = 0; i < source->roster->table.count; i++) {
        struct cpu_thread *thread = cpu_thread_at(source, i);
        if (!thread->record.is_sampled && thread->since_ns < source->covered_ns)
            thread->since_ns = source->covered_ns;
    }
    make_all_visits_due(source);
}

static void set_cpu_options(void *self, const struct smp_options *options)
{
    struct cpu_source *source = self;
    const int64_t interval_ns = options->sampling_frequency_millis * NS_PER_MS;
    const int64_t lookback_ns = options->idle_lookback_millis * NS_PER_MS;
    const bool is_sooner = interval_ns != source->interval_ns ||
                           lookback_ns < source->lookback_ns ||
                           smp_roster_would_change(source->roster, options);

    smp_throttle_set(&source->throttle, options->overhead_limit_per_mille, interval_ns);
    source->lookback_ns = lookback_ns;
    if (interval_ns != source->interval_ns)
        stop_all_timers(source);
    source->interval_ns = interval_ns;
    source->walks.interval_ns = interval_ns;
    if (is_sooner)
        visit_all_again(source);
}

/* --- create, destroy --- */

static void destroy_cpu(void *self)
{
    struct cpu_source *source = self;

    stop_all_timers(source);
    smp_walks_fini(&source->walks);
    smp_free(source->quota, source);
}

static struct smp_source describe_cpu_source(struct cpu_source *source)
{
    return (struct smp_source){
        .mark = mark_cpu,
        .tick = tick_cpu,
        .flush = flush_cpu,
        .signal_lost = on_cpu_signal_lost,
        .poll_once = poll_running_once,
        .set_options = set_cpu_options,
        .filter_changed = visit_all_again,
        .idle_ticks = idle_ticks_of_cpu,
        .skip_ticks = skip_cpu_ticks,
        .tick_gap_ns = tick_gap_of_cpu,
        .excuse_cpu = excuse_cpu_source,
        .destroy = destroy_cpu,
        .self = source,
    };
}

enum smp_status smp_cpu_create(const struct smp_source_setup *setup, struct smp_source *out)
{
    struct cpu_source *source = NULL;
    enum smp_status status;

    if (setup->jvm->cpu.start == NULL)
        return SMP_EUNSUPPORTED;
    source = smp_alloc(setup->quota, sizeof(*source));
    if (source == NULL)
        return SMP_ENOMEM;
    source->quota = setup->quota;
    source->jvm = setup->jvm;
    source->roster = setup->roster;
    source->attribution = setup->attribution;
    source->random = (uint64_t)smp_clock_ns();
    source->interval_ns = setup->options->sampling_frequency_millis * NS_PER_MS;
    source->lookback_ns = setup->options->idle_lookback_millis * NS_PER_MS;
    smp_throttle_init(&source->throttle, setup->options->overhead_limit_per_mille,
                      source->interval_ns, source->random);
    status =
        smp_walks_init(&source->walks, setup->quota, setup->jvm, setup->roster, setup->options);
    if (status != SMP_OK) {
        smp_free(setup->quota, source);
        return status;
    }
    setup->roster->events = (struct smp_roster_events){
        .started = on_cpu_thread_started,
        .ended = on_cpu_thread_ended,
        .left_out = on_cpu_thread_left_out,
        .named = on_cpu_thread_named,
        .context = source,
    };
    *out = describe_cpu_source(source);
    return SMP_OK;
}
