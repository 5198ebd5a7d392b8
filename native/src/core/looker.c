/* SPDX-License-Identifier: Apache-2.0 */
#include "core/looker.h"

#include "base/clock.h"
#include "core/cpu_look.h"
#include "core/look.h"

#define NS_PER_MS INT64_C(1000000)

/* --- whom --- */

bool smp_looker_chooses(struct smp_looker *looker, struct smp_thread_record *record)
{
    const struct smp_selection *selection = &looker->selection;

    if (record->thread->is_hidden)
        return false;
    if (record->chosen_epoch != looker->chosen_epoch) {
        record->chosen_epoch = looker->chosen_epoch;
        record->is_chosen =
            selection->contains != NULL && selection->contains(selection->self, record->thread);
    }
    if (looker->only || record->is_chosen)
        return record->is_chosen;
    return !(looker->skip_daemon_threads && record->thread->is_daemon);
}

static bool on_born(void *context, struct smp_thread *thread)
{
    struct smp_looker *looker = context;
    const bool is_new = thread->born_ns > looker->marked_ns;
    struct smp_thread_record *record =
        smp_thread_table_add(&looker->table, thread, is_new ? thread->born_ns : looker->marked_ns);

    if (record == NULL)
        return false;
    record->idle.has_clock = is_new; /* at 0 */
    smp_look_put_in(looker, record, 0);
    return true;
}

static void poll_threads(struct smp_looker *looker)
{
    const struct smp_thread_source *source = &looker->vm->threads;
    uint64_t unseen = 0;

    /* A source that cannot tell now is asked again at the next tick. */
    (void)source->poll(source->self, &looker->cursor, &unseen, on_born, looker);
    if (!looker->is_first_poll)
        smp_interval_count(looker->credit.interval, SMP_COUNTER_UNSEEN_THREADS, unseen);
    looker->is_first_poll = false;
}

/* --- passes --- */

static void everybody_is_due(struct smp_looker *looker)
{
    for (size_t i = 0; i < looker->table.count; i++) {
        if (!looker->table.records[i]->is_throttled)
            looker->table.records[i]->polled_tick = looker->tick; /* none has been skipped */
        looker->table.records[i]->is_throttled = true;            /* this poll is not skipped */
        smp_look_put_in(looker, looker->table.records[i], 0);
    }
}

/* With a user's rule all are asked for at once, and whoever ended must not be. */
static void name_all(struct smp_looker *looker)
{
    struct smp_thread_table *table = &looker->table;

    for (size_t i = 0; i < table->count;) {
        struct smp_thread_record *record = table->records[i];
        if (smp_look_remove_ended(looker, record))
            continue;
        record->is_candidate = smp_looker_chooses(looker, record);
        if (!record->is_candidate)
            smp_look_leave_out(looker, record);
        i++;
    }
    smp_interval_count(looker->credit.interval, SMP_COUNTER_NAME_RULE_FAILURES,
                       smp_thread_names_ask(looker->names));
    for (size_t i = 0; i < table->count; i++) {
        struct smp_thread_record *record = table->records[i];
        smp_look_credit_left(looker, record);
        if (record->naming != SMP_NAMING_SKIP || !record->is_candidate)
            continue;
        smp_look_credit_kept(looker, record);
        smp_look_leave_out(looker, record);
        smp_look_put_in(looker, record, 0);
    }
}

static void look_at_all(struct smp_looker *looker)
{
    for (size_t i = 0; i < looker->table.count;) {
        if (smp_look_at(looker, looker->table.records[i]))
            i++;
    }
    smp_look_collect(looker);
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
static void look_at_born(struct smp_looker *looker, size_t from)
{
    while (from < looker->table.count) {
        struct smp_thread_record *record = looker->table.records[from];
        smp_wheel_remove(&looker->wheel, &record->due); /* once is enough */
        if (smp_look_at(looker, record))
            from++;
    }
}

/* To be woken up once more costs the threads that run more than their walks do: where ticks are
 * close together the answers to one are taken at the next. Not the first ones, which somebody may
 * wait for, and not where CPU time is short: there the next tick may be put off. */
static bool may_leave_answers(const struct smp_looker *looker)
{
    return looker->interval_ns <= SMP_CLOSE_TICKS_MS * NS_PER_MS &&
           looker->covered_ns > looker->marked_ns && looker->budget.share == SMP_BUDGET_WHOLE;
}

/* That were left at the last tick, whose they are. */
static void take_answers(struct smp_looker *looker, bool is_settling)
{
    struct smp_look look = {
        .now_ns = looker->covered_ns,
        .span_ns = -1,
        .is_settling = is_settling,
    };

    if (looker->in_flight == 0)
        return;
    look.begun_ns = smp_clock_ns();
    looker->look = &look;
    smp_look_collect(looker);
    looker->look = NULL;
}

static void look_at_due(struct smp_looker *looker)
{
    struct smp_wheel *wheel = &looker->wheel;

    smp_wheel_begin(wheel, looker->tick);
    for (struct smp_due *due = smp_wheel_next(wheel); due != NULL; due = smp_wheel_next(wheel)) {
        if (wheel->resume != NULL)
            fetch_early(smp_thread_record_of(wheel->resume));
        struct smp_thread_record *record = smp_thread_record_of(due);
        if (smp_look_pass_over(looker, record))
            continue;
        /* Whoever is left waits in line, in the order in which they fell due. */
        if (record->was_looked_at && smp_budget_is_spent(&looker->budget)) {
            smp_wheel_put(wheel, due, due->at);
            break;
        }
        (void)smp_look_at(looker, record);
    }
    if (!may_leave_answers(looker))
        smp_look_collect(looker);
}

/* Ticks that were left out since the last one share the time with this one. */
static void begin_tick(struct smp_looker *looker, int64_t now_ns)
{
    looker->tick++;
    looker->tick_ns = (now_ns - looker->covered_ns) / (int64_t)(looker->tick - looker->made_tick);
    looker->made_tick = looker->tick;
    looker->polls = 0;
    looker->idle_polls = 0;
}

/*
 * How rarely idle threads have to be polled so that it costs no more than it may. They are polled
 * at the same ticks, so what a tick costs is paid once for all of them, and not by them where
 * threads that run are polled at each tick anyway.
 */
static void learn_cost(struct smp_looker *looker)
{
    enum { FEW = 2, SLOWNESS = 8, LEAST_NS = 200, MOST_NS = 20000 };
    const struct smp_budget *budget = &looker->budget;
    const bool has_busy = looker->threads > looker->idle_threads;
    const int64_t tick_ns = budget->tick_ns > 0 ? budget->tick_ns : SMP_IDLE_TICK_NS;

    if (looker->polls >= FEW && looker->polls == looker->idle_polls) {
        int64_t poll_ns = (budget->end_cpu_ns - budget->cpu_ns) / looker->polls;
        poll_ns = poll_ns < LEAST_NS ? LEAST_NS : poll_ns > MOST_NS ? MOST_NS : poll_ns;
        looker->idle_poll_ns += (poll_ns - looker->idle_poll_ns) / SLOWNESS;
    }
    const double cost_ns = (double)looker->idle_threads * (double)looker->idle_poll_ns +
                           (has_busy ? 0 : (double)tick_ns);
    looker->idle_ticks = cost_ns * SMP_IDLE_COST_SHARE / (double)looker->interval_ns;
}

void smp_looker_tick(struct smp_looker *looker, int64_t now_ns)
{
    struct smp_look look = { .now_ns = now_ns, .span_ns = -1 };
    const size_t known = looker->table.count;

    smp_budget_begin(&looker->budget, now_ns);
    take_answers(looker, false);
    look.begun_ns = smp_clock_ns();
    looker->look = &look;
    begin_tick(looker, now_ns);
    poll_threads(looker);
    if (!looker->default_name_rule)
        name_all(looker);
    if (looker->is_cpu) {
        smp_cpu_look_tick(looker);
    } else {
        look_at_born(looker, known);
        look_at_due(looker);
    }
    smp_budget_end(&looker->budget);
    learn_cost(looker);
    looker->covered_ns = now_ns;
    looker->look = NULL;
}

int64_t smp_looker_tick_gap_ns(struct smp_looker *looker)
{
    return looker->is_cpu ? 0 : smp_budget_tick_gap_ns(&looker->budget);
}

uint64_t smp_looker_idle_ticks(const struct smp_looker *looker)
{
    const uint64_t most = smp_look_ticks_in(looker, SMP_MOST_REST_MS * NS_PER_MS);

    /* A user's rule is asked at each tick, and a timer may have expired at any. Where CPU time is
     * short it is the limit that says when ticks are made. */
    if (looker->is_cpu || !looker->default_name_rule || looker->budget.share < SMP_BUDGET_WHOLE ||
        looker->in_flight > 0)
        return 0;
    const uint64_t first = smp_wheel_first(&looker->wheel, looker->tick, looker->tick + most);
    return first > looker->tick ? first - looker->tick - 1 : 0;
}

bool smp_looker_watch(struct smp_looker *looker, struct smp_birth_watch *watch)
{
    const struct smp_thread_source *source = &looker->vm->threads;

    return source->watch(source->self, looker->cursor, watch);
}

void smp_looker_unwatch(struct smp_looker *looker, struct smp_birth_watch *watch, uint64_t left_out)
{
    const struct smp_thread_source *source = &looker->vm->threads;

    source->unwatch(source->self, watch);
    looker->tick += left_out;
}

void smp_looker_tick_once(struct smp_looker *looker, int64_t now_ns, int64_t span_ns)
{
    struct smp_look look = { .now_ns = now_ns, .span_ns = span_ns, .begun_ns = smp_clock_ns() };

    looker->look = &look;
    begin_tick(looker, now_ns);
    poll_threads(looker);
    if (!looker->default_name_rule)
        name_all(looker);
    look_at_all(looker);
    looker->covered_ns = now_ns;
    looker->look = NULL;
}

/* So that who has been renamed is in the right group in the whole of the next interval. */
static void read_names(struct smp_looker *looker)
{
    for (size_t i = 0; i < looker->table.count; i++) {
        if (looker->table.records[i]->was_looked_at)
            smp_thread_names_read(looker->names, looker->table.records[i]);
    }
}

void smp_looker_poll_all(struct smp_looker *looker)
{
    take_answers(looker, false); /* they are of polls with odds of their own */
    if (looker->budget.share == SMP_BUDGET_WHOLE)
        everybody_is_due(looker);
}

/* What is credited is older than a change of a name since the last tick: they are read after it. */
void smp_looker_settle(struct smp_looker *looker, bool is_last)
{
    struct smp_look look = { .now_ns = looker->covered_ns, .span_ns = -1 };

    if (looker->is_cpu) {
        smp_cpu_look_settle(looker);
        return;
    }
    take_answers(looker, is_last);
    looker->look = &look;
    for (size_t i = 0; i < looker->table.count;) {
        struct smp_thread_record *record = looker->table.records[i];
        if (!smp_look_remove_ended(looker, record)) {
            smp_look_credit_kept(looker, record);
            i++;
        }
    }
    if (looker->default_name_rule)
        read_names(looker);
    looker->look = NULL;
}

void smp_looker_mark(struct smp_looker *looker, int64_t now_ns)
{
    for (size_t i = 0; i < looker->table.count; i++)
        smp_look_begin(looker->table.records[i], now_ns);
    looker->is_first_poll = true;
    looker->marked_ns = now_ns;
    looker->covered_ns = now_ns;
    looker->made_tick = looker->tick;
    smp_budget_restart(&looker->budget);
    everybody_is_due(looker);
}

void smp_looker_forget_stacks(struct smp_looker *looker)
{
    for (size_t i = 0; i < looker->table.count; i++) {
        looker->table.records[i]->idle.has_leaf = false;
        looker->table.records[i]->has_target = false;
        smp_last_stack_fini(&looker->table.records[i]->last, &looker->credit.budget);
    }
}

/* --- options, selection --- */

/* Without a user's rule the default one is the only one. */
static bool uses_default_rule(const struct smp_looker *looker, const struct smp_options *options)
{
    return options->default_name_rule || looker->vm->namer.group_names == NULL;
}

static void set_times(struct smp_looker *looker, const struct smp_options *options)
{
    const int64_t interval_ns = options->sampling_frequency_millis * NS_PER_MS;

    looker->lookback_ns = options->idle_lookback_millis * NS_PER_MS;
    if (interval_ns == looker->interval_ns)
        return;
    smp_cpu_look_stop_all(looker);
    looker->interval_ns = interval_ns;
}

/* Whoever was not sampled until now owns the time up to the last tick. */
static void choose_anew(struct smp_looker *looker)
{
    for (size_t i = 0; i < looker->table.count; i++) {
        struct smp_thread_record *record = looker->table.records[i];
        if (!record->was_looked_at && !record->is_counted &&
            record->credited_ns < looker->covered_ns)
            record->credited_ns = looker->covered_ns;
    }
    everybody_is_due(looker);
}

/* Is somebody due sooner than under the options that held when he was put in line? Where not,
 * thousands of threads need not be looked at all at once. */
static bool is_anybody_due_sooner(const struct smp_looker *looker,
                                  const struct smp_options *options)
{
    return looker->skip_daemon_threads != options->skip_daemon_threads ||
           looker->default_name_rule != uses_default_rule(looker, options) ||
           looker->interval_ns != options->sampling_frequency_millis * NS_PER_MS ||
           looker->lookback_ns > options->idle_lookback_millis * NS_PER_MS ||
           looker->budget.limit_per_mille < options->overhead_limit_per_mille;
}

void smp_looker_set_options(struct smp_looker *looker, const struct smp_options *options)
{
    const bool default_rule = uses_default_rule(looker, options);
    const bool is_sooner = is_anybody_due_sooner(looker, options);

    set_times(looker, options);
    smp_budget_set_limit(&looker->budget, options->overhead_limit_per_mille);
    looker->skip_daemon_threads = options->skip_daemon_threads;
    if (default_rule != looker->default_name_rule) {
        looker->default_name_rule = default_rule;
        smp_thread_names_set_rule(looker->names, default_rule);
    }
    if (is_sooner)
        choose_anew(looker);
}

static void drop_selection(struct smp_looker *looker)
{
    if (looker->selection.destroy != NULL)
        looker->selection.destroy(looker->selection.self);
    looker->selection = (struct smp_selection){ 0 };
}

void smp_looker_select(struct smp_looker *looker, struct smp_selection selection, bool only)
{
    drop_selection(looker);
    looker->selection = selection;
    looker->only = only;
    looker->chosen_epoch++;
    choose_anew(looker);
}

/* --- life --- */

static enum smp_status create_buffers(struct smp_looker *looker, size_t depth)
{
    looker->sample.frames = smp_alloc(looker->quota, depth * sizeof(*looker->sample.frames));
    looker->sample.capacity = depth;
    looker->credit.path.locations = smp_alloc(
        looker->quota, (depth + SMP_STACK_PATH_EXTRA) * sizeof(*looker->credit.path.locations));
    if (looker->sample.frames == NULL || looker->credit.path.locations == NULL)
        return SMP_ENOMEM;
    return SMP_OK;
}

enum smp_status smp_looker_init(struct smp_looker *looker, struct smp_quota *quota,
                                const struct smp_vm *vm, const struct smp_options *options,
                                size_t max_stack_bytes)
{
    enum smp_status status;

    looker->quota = quota;
    looker->vm = vm;
    looker->is_async = vm->async.request != NULL && options->engine != SMP_ENGINE_JVMTI;
    looker->is_cpu = options->clock == SMP_CLOCK_CPU;
    if (looker->is_cpu && vm->cpu.start == NULL)
        return SMP_EUNSUPPORTED;
    looker->salt = (uint64_t)smp_clock_ns();
    looker->idle_poll_ns = SMP_IDLE_POLL_NS;
    looker->chosen_epoch = 1;
    looker->credit.place_epoch = 1;
    looker->credit.stack_epoch = 1;
    looker->credit.names = &vm->names;
    looker->credit.budget = (struct smp_last_stack_budget){
        .quota = quota,
        .max_bytes = max_stack_bytes,
    };
    looker->skip_daemon_threads = options->skip_daemon_threads;
    looker->default_name_rule = uses_default_rule(looker, options);
    smp_thread_table_init(&looker->table, quota, &looker->credit.budget, &vm->threads, &vm->namer);
    smp_budget_init(&looker->budget, options->overhead_limit_per_mille, (uint64_t)smp_clock_ns());
    set_times(looker, options);
    status = create_buffers(looker, (size_t)options->max_depth_frames);
    if (status != SMP_OK)
        return status;
    return smp_thread_names_create(quota, &looker->table, looker->default_name_rule,
                                   smp_look_leaving, looker, &looker->names);
}

void smp_looker_fini(struct smp_looker *looker)
{
    if (looker->quota == NULL)
        return;
    smp_cpu_look_end_all(looker);
    smp_thread_table_fini(&looker->table);
    drop_selection(looker);
    smp_thread_names_destroy(looker->names);
    smp_free(looker->quota, looker->sample.frames);
    smp_free(looker->quota, looker->credit.path.locations);
}
