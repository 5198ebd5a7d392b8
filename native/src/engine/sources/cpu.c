/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/cpu.h"

#include "base/clock.h"
#include "base/random.h"
#include "engine/sources/poll_once.h"
#include "engine/sources/sampled_threads.h"
#include "engine/threads/throttle.h"
#include "engine/threads/timer_wheel.h"

#define NS_PER_MS INT64_C(1000000)
#define MOST_UNREAD_NS INT64_C(50000000) /* longest wait of a sample for a drain, or one interval */
#define UNSAMPLED_NS INT64_C(1000000000) /* more than a timer and the samples in flight can hold */

enum {
    PER_MILLE = 1000,
    WAITING_VISIT_NS = 2000, /* approximate cost of visiting a thread that waits for a timer */
    WAITING_COST_SHARE = 4   /* such visits get a quarter of the overhead limit */
};

struct cpu_thread {
    struct smp_thread_record record; /* must be first */
    void *timer;                     /* NULL: none */
    bool is_waiting;                 /* the thread waits for a timer; counted in waiting */
    bool has_clock;                  /* cpu_ns is valid */
    bool is_ahead;                   /* samples may come for time that is already attributed */
    int64_t cpu_ns;                  /* all CPU time before this is attributed */
    uint64_t judged_drain;           /* the last drain for which its name was read */
    int64_t since_ns;                /* when it began, or stopped, being sampled */
};

struct cpu_source {
    struct smp_quota *quota;
    const struct smp_jvm *jvm;
    struct smp_sampled_threads *threads;
    struct smp_attribution *attribution;
    struct smp_walks walks; /* for poll_once only */
    struct smp_timer_wheel wheel;
    uint64_t random;
    uint64_t tick;         /* the number of the last tick */
    uint64_t refused_tick; /* the last tick at which the system refused a timer */
    uint64_t waiting;      /* the number of threads that wait for a timer */
    uint64_t drain;        /* the number of the last drain; from 1 on */
    struct smp_throttle *throttle;
    const struct smp_options *options;
    int64_t covered_ns;
    int64_t timer_interval_ns; /* of the running timers */
    uint32_t samples;          /* number of samples, each of which is an independent draw */
};

const size_t smp_cpu_record_bytes = sizeof(struct cpu_thread);

static struct cpu_thread *cpu_thread_of(struct smp_thread_record *record)
{
    return (struct cpu_thread *)(void *)record;
}

static struct cpu_thread *cpu_thread_at(const struct cpu_source *source, size_t index)
{
    return cpu_thread_of(source->threads->table.records[index]);
}

static void put_cpu_visit(struct cpu_source *source, struct cpu_thread *thread, uint64_t ticks)
{
    smp_timer_wheel_put(&source->wheel, &thread->record.deadline, source->tick + ticks);
}

/* Returns whether to sample the thread, and reads its name, because a sample belongs to the name
 * of its thread. Reads it once for all samples of a drain, which count as one moment. */
static bool is_to_sample(struct cpu_source *source, struct cpu_thread *thread)
{
    struct smp_sampled_threads *threads = source->threads;
    struct smp_thread_record *record = &thread->record;

    if (threads->default_name_rule && thread->judged_drain != source->drain) {
        thread->judged_drain = source->drain;
        const bool is_chosen = smp_sampled_threads_chooses(threads, record);
        record->is_candidate = is_chosen;
        if (is_chosen)
            smp_sampled_threads_read_name(threads, record);
        /* The name of a thread that has ended cannot be read. Its samples keep the last one. */
        record->is_candidate = record->is_candidate || (is_chosen && thread->timer != NULL);
    }
    return record->is_candidate && record->naming != SMP_NAMING_SKIP;
}

/* --- samples --- */

static void attribute_cpu_time(struct cpu_source *source, const struct smp_tree_target *target,
                               int64_t cpu_ns)
{
    smp_attribution_note(source->attribution, target, cpu_ns,
                         smp_span_before(source->covered_ns, cpu_ns));
    smp_tree_credit(source->attribution->interval->tree, target->node, SMP_MEASURE_CPU, cpu_ns);
}

/* Reads the CPU clock of a thread that may have ended. */
static bool read_last_clock(const struct smp_thread_record *record, int64_t *out)
{
    const int32_t tid = smp_thread_record_tid(record);

    *out = record->thread->ended_cpu_ns;
    return *out != 0 || (tid > 0 && smp_clock_thread_cpu_ns(tid, out));
}

/* Returns how much of a sample's time is not attributed yet. */
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

/* Handles a dropped walk. Its time is usually in the weight of the thread's next sample, and
 * cpu_ns is 0. If no sample will come, cpu_ns has the time. */
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
    const int64_t cpu_ns = take_sampled_ns(thread, (int64_t)weight * source->timer_interval_ns);
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

/* Attributes the CPU time since the last call, for a thread without a timer. */
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

/* Attributes CPU time of a thread whose timer signals do not arrive, because the thread blocks
 * them or another library takes them. */
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
    if (missing_ns <= UNSAMPLED_NS + 2 * smp_options_interval_ns(source->options))
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

/* After a refusal no other thread tries to get a timer in this tick. */
static enum smp_status make_timer(struct cpu_source *source, struct cpu_thread *thread)
{
    const struct smp_cpu_timers *timers = &source->jvm->cpu;
    const int64_t from_cpu_ns = thread->has_clock ? thread->cpu_ns : -1;

    if (source->refused_tick == source->tick)
        return SMP_EQUOTA;
    return timers->start(timers->self, thread->record.thread, source->timer_interval_ns,
                         from_cpu_ns, smp_random_next(&source->random),
                         smp_walks_token_of(&thread->record), &thread->timer);
}

static void start_timer(struct cpu_source *source, struct cpu_thread *thread)
{
    const enum smp_status status = make_timer(source, thread);
    const bool is_refused = status == SMP_EQUOTA || status == SMP_ENOMEM || status == SMP_EVM;

    set_waiting(source, thread, is_refused);
    if (status == SMP_OK) {
        thread->has_clock = false;
        attribute_unsampled(source, thread); /* sets cpu_ns to the clock */
    }
    if (status == SMP_EQUOTA || status == SMP_ENOMEM)
        source->refused_tick = source->tick;
    if (is_refused)
        attribute_clock(source, thread);
}

/* Attributes the last samples of the timer. */
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

    for (size_t i = 0; i < source->threads->table.count; i++)
        stop_timer(source, cpu_thread_at(source, i));
}

/* --- thread events --- */

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

/* The next visit stops its timer and forgets its clock. */
static void on_cpu_thread_left_out(void *context, struct smp_thread_record *record)
{
    const struct cpu_source *source = context;

    cpu_thread_of(record)->since_ns = source->threads->now_ns;
}

static void on_cpu_thread_named(void *context, struct smp_thread_record *record)
{
    if (record->naming == SMP_NAMING_SKIP && record->is_candidate)
        put_cpu_visit(context, cpu_thread_of(record), 0);
}

/* --- ticks --- */

/* Returns the number of ticks between two visits of a thread that waits for a timer. If thousands
 * wait, each tick visits only a part of them, because a visit attributes all CPU time since the
 * last one. */
static uint64_t waiting_gap(const struct cpu_source *source)
{
    const int64_t allowed_ns = smp_options_interval_ns(source->options) /
                               (PER_MILLE * WAITING_COST_SHARE) *
                               source->options->overhead_limit_per_mille;

    return 1 + source->waiting * WAITING_VISIT_NS / (uint64_t)allowed_ns;
}

/* Returns the number of ticks between two drains if nothing else is due. The pool has room for the
 * samples of several ticks, but a sample that waits too long would get a later name of its
 * thread. */
static uint64_t drain_gap(const struct cpu_source *source)
{
    const struct smp_cpu_timers *timers = &source->jvm->cpu;
    const int64_t interval_ns = smp_options_interval_ns(source->options);
    const int64_t apart_ns =
        timers->least_apart_ns > interval_ns ? timers->least_apart_ns : interval_ns;
    const uint64_t fitting = smp_ticks_in(source->options, timers->samples_per_cpu * apart_ns);
    const uint64_t timely = smp_ticks_in(source->options, MOST_UNREAD_NS);

    return fitting < timely ? fitting : timely;
}

/* Returns the first tick, not before `at`, at which samples are drained anyway. */
static uint64_t next_drain(const struct cpu_source *source, uint64_t at)
{
    const uint64_t gap = drain_gap(source);

    return (at + gap - 1) / gap * gap;
}

/* Visits young threads more often: they are likely to end soon, and a visit frees their timers. */
static void schedule_visit(struct cpu_source *source, struct cpu_thread *thread, int64_t now_ns)
{
    const uint64_t most = smp_ticks_in(source->options, smp_options_lookback_ns(source->options));
    uint64_t ticks = 1;

    if (thread->is_waiting)
        ticks = waiting_gap(source);
    else if (thread->timer != NULL || !thread->record.is_candidate)
        ticks = smp_ticks_in(source->options, (now_ns - thread->since_ns) / SMP_IDLE_SHARE);
    ticks = ticks < most ? ticks : most;
    /* Spreads the threads over several ticks. */
    ticks -= smp_random_next(&source->random) % (ticks / 4 + 1);
    if (ticks > drain_gap(source) && !thread->is_waiting)
        ticks = next_drain(source, source->tick + ticks) - source->tick;
    put_cpu_visit(source, thread, ticks);
}

static void visit_cpu_thread(struct cpu_source *source, struct cpu_thread *thread, int64_t now_ns)
{
    if (smp_sampled_threads_remove_ended(source->threads, &thread->record, now_ns))
        return;
    const bool is_sampled = is_to_sample(source, thread);
    smp_sampled_threads_set_sampled(source->threads, &thread->record, is_sampled);
    if (is_sampled && thread->timer == NULL) {
        start_timer(source, thread);
    } else if (is_sampled) {
        attribute_unsampled(source, thread);
    } else {
        stop_timer(source, thread);
        set_waiting(source, thread, false);
        thread->has_clock = false; /* CPU time from now on is not attributed */
    }
    schedule_visit(source, thread, now_ns);
}

/* The overhead limit matters only for a user's name rule, which is called for all threads at each
 * tick. The cost of samples is proportional to the CPU time of the threads. */
static void begin_cpu_tick(struct cpu_source *source, int64_t now_ns)
{
    if (source->threads->default_name_rule)
        smp_throttle_restart(source->throttle);
    else
        smp_throttle_begin(source->throttle, now_ns);
}

static void tick_cpu(void *self, const struct smp_tick *tick)
{
    struct cpu_source *source = self;
    struct smp_deadline *deadline = NULL;
    const int64_t now_ns = tick->now_ns;

    source->tick += tick->skipped + 1;
    begin_cpu_tick(source, now_ns);
    smp_sampled_threads_poll_starts(source->threads, now_ns);
    smp_sampled_threads_name_all(source->threads);
    drain_timers(source);
    smp_timer_wheel_begin(&source->wheel, source->tick);
    while ((deadline = smp_timer_wheel_next(&source->wheel)) != NULL)
        visit_cpu_thread(source, cpu_thread_of(smp_thread_record_of(deadline)), now_ns);
    if (!source->threads->default_name_rule)
        smp_throttle_end(source->throttle);
    source->covered_ns = now_ns;
}

/* CPU time during a pause must not be attributed, even if the thread ends in it. */
static void forget_clocks(struct cpu_source *source)
{
    for (size_t i = 0; i < source->threads->table.count; i++)
        cpu_thread_at(source, i)->has_clock = false;
}

/* The last flush stops all timers, which attributes everything: there is no later sample. */
static void flush_cpu(void *self, enum smp_flush reason)
{
    struct cpu_source *source = self;

    drain_timers(source);
    for (size_t i = 0; i < source->threads->table.count; i++) {
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
    for (size_t i = 0; i < source->threads->table.count; i++)
        put_cpu_visit(source, cpu_thread_at(source, i), 0);
}

/* Stops the timers, which would otherwise send the signal to another library's handler. */
void smp_cpu_signal_lost(void *self)
{
    stop_all_timers(self);
    make_all_visits_due(self);
}

static void mark_cpu(void *self, int64_t now_ns)
{
    struct cpu_source *source = self;

    for (size_t i = 0; i < source->threads->table.count; i++)
        cpu_thread_at(source, i)->since_ns = now_ns;
    source->covered_ns = now_ns;
    smp_throttle_restart(source->throttle);
    make_all_visits_due(source);
}

static uint64_t idle_ticks_of_cpu(const void *self)
{
    const struct cpu_source *source = self;
    const uint64_t most = next_drain(source, source->tick + 1);

    if (!source->threads->default_name_rule)
        return 0;
    const uint64_t first = smp_timer_wheel_first(&source->wheel, source->tick, most);
    return first > source->tick ? first - source->tick - 1 : 0;
}

/* --- options, filter --- */

static void visit_all_again(void *self)
{
    struct cpu_source *source = self;

    for (size_t i = 0; i < source->threads->table.count; i++) {
        struct cpu_thread *thread = cpu_thread_at(source, i);
        if (!thread->record.is_sampled && thread->since_ns < source->covered_ns)
            thread->since_ns = source->covered_ns;
    }
    make_all_visits_due(source);
}

static void set_cpu_options(void *self, const struct smp_options *before)
{
    struct cpu_source *source = self;
    const struct smp_options *now = source->options;
    const bool has_interval_changed =
        now->sampling_frequency_millis != before->sampling_frequency_millis;

    if (has_interval_changed) {
        stop_all_timers(source); /* attributes the last samples with the old interval */
        source->timer_interval_ns = smp_options_interval_ns(now);
    }
    if (has_interval_changed || now->idle_lookback_millis < before->idle_lookback_millis ||
        smp_sampled_threads_would_change(source->threads, before))
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
        .poll_once = poll_running_once,
        .set_options = set_cpu_options,
        .filter_changed = visit_all_again,
        .idle_ticks = idle_ticks_of_cpu,
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
    source->threads = setup->threads;
    source->attribution = setup->attribution;
    source->random = (uint64_t)smp_clock_ns();
    source->throttle = setup->throttle;
    source->options = setup->options;
    source->timer_interval_ns = smp_options_interval_ns(setup->options);
    status =
        smp_walks_init(&source->walks, setup->quota, setup->jvm, setup->threads, setup->options);
    if (status != SMP_OK) {
        smp_free(setup->quota, source);
        return status;
    }
    setup->threads->events = (struct smp_sampled_threads_events){
        .started = on_cpu_thread_started,
        .ended = on_cpu_thread_ended,
        .left_out = on_cpu_thread_left_out,
        .named = on_cpu_thread_named,
        .context = source,
    };
    *out = describe_cpu_source(source);
    return SMP_OK;
}
