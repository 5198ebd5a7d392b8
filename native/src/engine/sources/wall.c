/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/wall.h"

#include "base/clock.h"
#include "engine/sources/cpu.h"
#include "engine/sources/wall_poll.h"

#define NS_PER_MS INT64_C(1000000)

/* --- whom --- */

bool smp_wall_chooses(struct smp_wall *wall, struct smp_thread_record *record)
{
    const struct smp_thread_filter *thread_filter = &wall->thread_filter;

    if (record->thread->is_hidden)
        return false;
    if (record->chosen_epoch != wall->chosen_epoch) {
        record->chosen_epoch = wall->chosen_epoch;
        record->is_chosen = thread_filter->contains != NULL &&
                            thread_filter->contains(thread_filter->self, record->thread);
    }
    if (wall->only || record->is_chosen)
        return record->is_chosen;
    return !(wall->skip_daemon_threads && record->thread->is_daemon);
}

static bool on_started(void *context, struct smp_thread *thread)
{
    struct smp_wall *wall = context;
    const bool is_new = thread->started_ns > wall->marked_ns;
    struct smp_thread_record *record =
        smp_thread_table_add(&wall->table, thread, is_new ? thread->started_ns : wall->marked_ns);

    if (record == NULL)
        return false;
    record->idle.has_clock = is_new; /* at 0 */
    smp_poll_put_in(wall, record, 0);
    return true;
}

static void poll_threads(struct smp_wall *wall)
{
    const struct smp_thread_source *source = &wall->vm->threads;
    uint64_t unseen = 0;

    /* A source that cannot tell now is asked again at the next tick. */
    (void)source->poll(source->self, &wall->cursor, &unseen, on_started, wall);
    if (!wall->is_first_poll)
        smp_interval_count(wall->attribution.interval, SMP_COUNTER_UNSEEN_THREADS, unseen);
    wall->is_first_poll = false;
}

/* --- passes --- */

static void everybody_is_due(struct smp_wall *wall)
{
    for (size_t i = 0; i < wall->table.count; i++) {
        if (!wall->table.records[i]->is_throttled)
            wall->table.records[i]->polled_tick = wall->tick; /* none has been skipped */
        wall->table.records[i]->is_throttled = true;          /* this poll is not skipped */
        smp_poll_put_in(wall, wall->table.records[i], 0);
    }
}

/* With a user's rule all are asked for at once, and whoever ended must not be. */
static void name_all(struct smp_wall *wall)
{
    struct smp_thread_table *table = &wall->table;

    for (size_t i = 0; i < table->count;) {
        struct smp_thread_record *record = table->records[i];
        if (smp_poll_remove_ended(wall, record))
            continue;
        record->is_candidate = smp_wall_chooses(wall, record);
        if (!record->is_candidate)
            smp_poll_leave_out(wall, record);
        i++;
    }
    smp_interval_count(wall->attribution.interval, SMP_COUNTER_NAME_MANIPULATOR_FAILURES,
                       smp_thread_names_ask(wall->names));
    for (size_t i = 0; i < table->count; i++) {
        struct smp_thread_record *record = table->records[i];
        smp_poll_credit_left(wall, record);
        if (record->naming != SMP_NAMING_SKIP || !record->is_candidate)
            continue;
        smp_poll_credit_kept(wall, record);
        smp_poll_leave_out(wall, record);
        smp_poll_put_in(wall, record, 0);
    }
}

static void look_at_all(struct smp_wall *wall)
{
    for (size_t i = 0; i < wall->table.count;) {
        if (smp_poll_at(wall, wall->table.records[i]))
            i++;
    }
    smp_poll_collect(wall);
}

/* The next record, while this one is looked at: idle threads are in no cache. */
static void fetch_early(const struct smp_thread_record *record)
{
    __builtin_prefetch(record->thread);
    __builtin_prefetch(&record->idle);
    __builtin_prefetch(&record->last);
    if (record->due.next != NULL)
        __builtin_prefetch(record->due.next);
}

/* Each thread that lives for a tick is seen, whatever that costs: what it costs is paid by looks at
 * others. They are the last of the table, from this place on. */
static void poll_started(struct smp_wall *wall, size_t from)
{
    while (from < wall->table.count) {
        struct smp_thread_record *record = wall->table.records[from];
        smp_timer_wheel_remove(&wall->wheel, &record->due); /* once is enough */
        if (smp_poll_at(wall, record))
            from++;
    }
}

/* To be woken up once more costs the threads that run more than their walks do: where ticks are
 * close together the answers to one are taken at the next. Not the first ones, which somebody may
 * wait for, and not where CPU time is short: there the next tick may be put off. */
static bool may_leave_answers(const struct smp_wall *wall)
{
    return wall->interval_ns <= SMP_CLOSE_TICKS_MS * NS_PER_MS &&
           wall->covered_ns > wall->marked_ns && wall->throttle.share == SMP_THROTTLE_WHOLE;
}

/* That were left at the last tick, whose they are. */
static void take_answers(struct smp_wall *wall, bool is_settling)
{
    struct smp_poll poll = {
        .now_ns = wall->covered_ns,
        .span_ns = -1,
        .is_settling = is_settling,
    };

    if (wall->in_flight == 0)
        return;
    poll.begun_ns = smp_clock_ns();
    wall->poll = &poll;
    smp_poll_collect(wall);
    wall->poll = NULL;
}

static void look_at_due(struct smp_wall *wall)
{
    struct smp_timer_wheel *wheel = &wall->wheel;

    smp_timer_wheel_begin(wheel, wall->tick);
    for (struct smp_deadline *due = smp_timer_wheel_next(wheel); due != NULL;
         due = smp_timer_wheel_next(wheel)) {
        if (wheel->resume != NULL)
            fetch_early(smp_thread_record_of(wheel->resume));
        struct smp_thread_record *record = smp_thread_record_of(due);
        if (smp_poll_pass_over(wall, record))
            continue;
        /* Whoever is left waits in line, in the order in which they fell due. */
        if (record->was_looked_at && smp_throttle_is_spent(&wall->throttle)) {
            smp_timer_wheel_put(wheel, due, due->at);
            break;
        }
        (void)smp_poll_at(wall, record);
    }
    if (!may_leave_answers(wall))
        smp_poll_collect(wall);
}

/* Ticks that were left out since the last one share the time with this one. */
static void begin_tick(struct smp_wall *wall, int64_t now_ns)
{
    wall->tick++;
    wall->tick_ns = (now_ns - wall->covered_ns) / (int64_t)(wall->tick - wall->made_tick);
    wall->made_tick = wall->tick;
    wall->polls = 0;
    wall->idle_polls = 0;
}

/*
 * How rarely idle threads have to be polled so that it costs no more than it may. They are polled
 * at the same ticks, so what a tick costs is paid once for all of them, and not by them where
 * threads that run are polled at each tick anyway.
 */
static void learn_cost(struct smp_wall *wall)
{
    enum { FEW = 2, SLOWNESS = 8, LEAST_NS = 200, MOST_NS = 20000 };
    const struct smp_throttle *throttle = &wall->throttle;
    const bool has_busy = wall->threads > wall->idle_threads;
    const int64_t tick_ns = throttle->tick_ns > 0 ? throttle->tick_ns : SMP_IDLE_TICK_NS;

    if (wall->polls >= FEW && wall->polls == wall->idle_polls) {
        int64_t poll_ns = (throttle->end_cpu_ns - throttle->cpu_ns) / wall->polls;
        poll_ns = poll_ns < LEAST_NS ? LEAST_NS : poll_ns > MOST_NS ? MOST_NS : poll_ns;
        wall->idle_poll_ns += (poll_ns - wall->idle_poll_ns) / SLOWNESS;
    }
    const double cost_ns =
        (double)wall->idle_threads * (double)wall->idle_poll_ns + (has_busy ? 0 : (double)tick_ns);
    wall->idle_ticks = cost_ns * SMP_IDLE_COST_SHARE / (double)wall->interval_ns;
}

void smp_wall_tick(struct smp_wall *wall, int64_t now_ns)
{
    struct smp_poll poll = { .now_ns = now_ns, .span_ns = -1 };
    const size_t known = wall->table.count;

    smp_throttle_begin(&wall->throttle, now_ns);
    take_answers(wall, false);
    poll.begun_ns = smp_clock_ns();
    wall->poll = &poll;
    begin_tick(wall, now_ns);
    poll_threads(wall);
    if (!wall->default_name_rule)
        name_all(wall);
    if (wall->is_cpu) {
        smp_cpu_source_tick(wall);
    } else {
        poll_started(wall, known);
        look_at_due(wall);
    }
    smp_throttle_end(&wall->throttle);
    learn_cost(wall);
    wall->covered_ns = now_ns;
    wall->poll = NULL;
}

int64_t smp_wall_tick_gap_ns(struct smp_wall *wall)
{
    return wall->is_cpu ? 0 : smp_throttle_tick_gap_ns(&wall->throttle);
}

uint64_t smp_wall_idle_ticks(const struct smp_wall *wall)
{
    const uint64_t most = smp_poll_ticks_in(wall, SMP_MOST_REST_MS * NS_PER_MS);

    /* A user's rule is asked at each tick, and a timer may have expired at any. Where CPU time is
     * short it is the limit that says when ticks are made. */
    if (wall->is_cpu || !wall->default_name_rule || wall->throttle.share < SMP_THROTTLE_WHOLE ||
        wall->in_flight > 0)
        return 0;
    const uint64_t first = smp_timer_wheel_first(&wall->wheel, wall->tick, wall->tick + most);
    return first > wall->tick ? first - wall->tick - 1 : 0;
}

bool smp_wall_watch(struct smp_wall *wall, struct smp_start_listener *listen)
{
    const struct smp_thread_source *source = &wall->vm->threads;

    return source->listen(source->self, wall->cursor, listen);
}

void smp_wall_unwatch(struct smp_wall *wall, struct smp_start_listener *listen, uint64_t left_out)
{
    const struct smp_thread_source *source = &wall->vm->threads;

    source->unlisten(source->self, listen);
    wall->tick += left_out;
}

void smp_wall_tick_once(struct smp_wall *wall, int64_t now_ns, int64_t span_ns)
{
    struct smp_poll poll = { .now_ns = now_ns, .span_ns = span_ns, .begun_ns = smp_clock_ns() };

    wall->poll = &poll;
    begin_tick(wall, now_ns);
    poll_threads(wall);
    if (!wall->default_name_rule)
        name_all(wall);
    look_at_all(wall);
    wall->covered_ns = now_ns;
    wall->poll = NULL;
}

/* So that who has been renamed is in the right group in the whole of the next interval. */
static void read_names(struct smp_wall *wall)
{
    for (size_t i = 0; i < wall->table.count; i++) {
        if (wall->table.records[i]->was_looked_at)
            smp_thread_names_read(wall->names, wall->table.records[i]);
    }
}

void smp_wall_poll_all(struct smp_wall *wall)
{
    take_answers(wall, false); /* they are of polls with odds of their own */
    if (wall->throttle.share == SMP_THROTTLE_WHOLE)
        everybody_is_due(wall);
}

/* What is credited is older than a change of a name since the last tick: they are read after it. */
void smp_wall_finish(struct smp_wall *wall, bool is_last)
{
    struct smp_poll poll = { .now_ns = wall->covered_ns, .span_ns = -1 };

    if (wall->is_cpu) {
        smp_cpu_source_finish(wall);
        return;
    }
    take_answers(wall, is_last);
    wall->poll = &poll;
    for (size_t i = 0; i < wall->table.count;) {
        struct smp_thread_record *record = wall->table.records[i];
        if (!smp_poll_remove_ended(wall, record)) {
            smp_poll_credit_kept(wall, record);
            i++;
        }
    }
    if (wall->default_name_rule)
        read_names(wall);
    wall->poll = NULL;
}

void smp_wall_mark(struct smp_wall *wall, int64_t now_ns)
{
    for (size_t i = 0; i < wall->table.count; i++)
        smp_poll_begin(wall->table.records[i], now_ns);
    wall->is_first_poll = true;
    wall->marked_ns = now_ns;
    wall->covered_ns = now_ns;
    wall->made_tick = wall->tick;
    smp_throttle_restart(&wall->throttle);
    everybody_is_due(wall);
}

void smp_wall_forget_stacks(struct smp_wall *wall)
{
    for (size_t i = 0; i < wall->table.count; i++) {
        wall->table.records[i]->idle.has_leaf = false;
        wall->table.records[i]->has_target = false;
        smp_last_stack_fini(&wall->table.records[i]->last, &wall->attribution.budget);
    }
}

/* --- options, selection --- */

/* Without a user's rule the default one is the only one. */
static bool uses_default_rule(const struct smp_wall *wall, const struct smp_options *options)
{
    return options->default_name_rule || wall->vm->name_callback.group_names == NULL;
}

static void set_times(struct smp_wall *wall, const struct smp_options *options)
{
    const int64_t interval_ns = options->sampling_frequency_millis * NS_PER_MS;

    wall->lookback_ns = options->idle_lookback_millis * NS_PER_MS;
    if (interval_ns == wall->interval_ns)
        return;
    smp_cpu_source_stop_all(wall);
    wall->interval_ns = interval_ns;
}

/* Whoever was not sampled until now owns the time up to the last tick. */
static void choose_anew(struct smp_wall *wall)
{
    for (size_t i = 0; i < wall->table.count; i++) {
        struct smp_thread_record *record = wall->table.records[i];
        if (!record->was_looked_at && !record->is_counted && record->credited_ns < wall->covered_ns)
            record->credited_ns = wall->covered_ns;
    }
    everybody_is_due(wall);
}

/* Is somebody due sooner than under the options that held when he was put in line? Where not,
 * thousands of threads need not be looked at all at once. */
static bool is_anybody_due_sooner(const struct smp_wall *wall, const struct smp_options *options)
{
    return wall->skip_daemon_threads != options->skip_daemon_threads ||
           wall->default_name_rule != uses_default_rule(wall, options) ||
           wall->interval_ns != options->sampling_frequency_millis * NS_PER_MS ||
           wall->lookback_ns > options->idle_lookback_millis * NS_PER_MS ||
           wall->throttle.limit_per_mille < options->overhead_limit_per_mille;
}

void smp_wall_set_options(struct smp_wall *wall, const struct smp_options *options)
{
    const bool default_rule = uses_default_rule(wall, options);
    const bool is_sooner = is_anybody_due_sooner(wall, options);

    set_times(wall, options);
    smp_throttle_set_limit(&wall->throttle, options->overhead_limit_per_mille);
    wall->skip_daemon_threads = options->skip_daemon_threads;
    if (default_rule != wall->default_name_rule) {
        wall->default_name_rule = default_rule;
        smp_thread_names_set_rule(wall->names, default_rule);
    }
    if (is_sooner)
        choose_anew(wall);
}

static void drop_thread_filter(struct smp_wall *wall)
{
    if (wall->thread_filter.destroy != NULL)
        wall->thread_filter.destroy(wall->thread_filter.self);
    wall->thread_filter = (struct smp_thread_filter){ 0 };
}

void smp_wall_select(struct smp_wall *wall, struct smp_thread_filter thread_filter, bool only)
{
    drop_thread_filter(wall);
    wall->thread_filter = thread_filter;
    wall->only = only;
    wall->chosen_epoch++;
    choose_anew(wall);
}

/* --- life --- */

static enum smp_status create_buffers(struct smp_wall *wall, size_t depth)
{
    wall->sample.frames = smp_alloc(wall->quota, depth * sizeof(*wall->sample.frames));
    wall->sample.capacity = depth;
    wall->attribution.path.locations = smp_alloc(
        wall->quota, (depth + SMP_STACK_PATH_EXTRA) * sizeof(*wall->attribution.path.locations));
    if (wall->sample.frames == NULL || wall->attribution.path.locations == NULL)
        return SMP_ENOMEM;
    return SMP_OK;
}

enum smp_status smp_wall_init(struct smp_wall *wall, struct smp_quota *quota,
                              const struct smp_jvm *vm, const struct smp_options *options,
                              size_t max_stack_bytes)
{
    enum smp_status status;

    wall->quota = quota;
    wall->vm = vm;
    wall->is_async = vm->async.request != NULL && options->engine != SMP_ENGINE_JVMTI;
    wall->is_cpu = options->clock == SMP_CLOCK_CPU;
    if (wall->is_cpu && vm->cpu.start == NULL)
        return SMP_EUNSUPPORTED;
    wall->salt = (uint64_t)smp_clock_ns();
    wall->idle_poll_ns = SMP_IDLE_POLL_NS;
    wall->chosen_epoch = 1;
    wall->attribution.key_epoch = 1;
    wall->attribution.stack_epoch = 1;
    wall->attribution.names = &vm->names;
    wall->attribution.budget = (struct smp_last_stack_budget){
        .quota = quota,
        .max_bytes = max_stack_bytes,
    };
    wall->skip_daemon_threads = options->skip_daemon_threads;
    wall->default_name_rule = uses_default_rule(wall, options);
    smp_thread_table_init(&wall->table, quota, &wall->attribution.budget, &vm->threads,
                          &vm->name_callback);
    smp_throttle_init(&wall->throttle, options->overhead_limit_per_mille, (uint64_t)smp_clock_ns());
    set_times(wall, options);
    status = create_buffers(wall, (size_t)options->max_depth_frames);
    if (status != SMP_OK)
        return status;
    return smp_thread_names_create(quota, &wall->table, wall->default_name_rule, smp_poll_leaving,
                                   wall, &wall->names);
}

void smp_wall_fini(struct smp_wall *wall)
{
    if (wall->quota == NULL)
        return;
    smp_cpu_source_end_all(wall);
    smp_thread_table_fini(&wall->table);
    drop_thread_filter(wall);
    smp_thread_names_destroy(wall->names);
    smp_free(wall->quota, wall->sample.frames);
    smp_free(wall->quota, wall->attribution.path.locations);
}
