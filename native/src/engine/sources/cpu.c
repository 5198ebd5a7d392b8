/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/cpu.h"

#include "base/clock.h"
#include "engine/sources/wall_poll.h"

static struct smp_thread_record *record_of(uint64_t token)
{
    return (struct smp_thread_record *)(uintptr_t)token; /* NOLINT(performance-no-int-to-ptr) */
}

/* --- whom --- */

/* Names are read here: a sample belongs to the name its thread has. */
static bool is_wanted(struct smp_wall *wall, struct smp_thread_record *record)
{
    if (wall->default_name_rule) {
        const bool is_chosen = smp_wall_chooses(wall, record);
        record->is_candidate = is_chosen;
        if (is_chosen)
            smp_thread_names_read(wall->names, record);
        /* Of a thread that has ended there is no name to read, but its samples have the one it had.
         */
        record->is_candidate = record->is_candidate || (is_chosen && record->cpu_timer != NULL);
    }
    return record->is_candidate && record->naming != SMP_NAMING_SKIP;
}

/* --- samples --- */

/* One attempt, and its time, all of it CPU time. */
static void attribution(struct smp_wall *wall, const struct smp_tree_target *target, int64_t cpu_ns)
{
    smp_attribution_note(&wall->attribution, target, cpu_ns);
    smp_interval_used_cpu(wall->attribution.interval, target->key, target->node, cpu_ns);
}

/* The time of what was not walked goes with the next sample of the thread; here it is where there
 * will be none. */
static void on_dropped(struct smp_wall *wall, struct smp_thread_record *record, int64_t cpu_ns)
{
    const bool has_ended = record->thread->ended_ns != 0;
    struct smp_tree_target target;

    if (cpu_ns == 0) {
        smp_interval_skip(wall->attribution.interval,
                          smp_attribution_place(&wall->attribution, record),
                          SMP_OUTCOME_WALK_BUFFER_FULL, 1);
        return;
    }
    target =
        smp_attribution_pseudo(&wall->attribution, record,
                               has_ended ? SMP_OUTCOME_THREAD_ENDED : SMP_OUTCOME_WALK_BUFFER_FULL);
    attribution(wall, &target, cpu_ns);
}

static void on_sample(void *context, uint64_t token, enum smp_answer answer,
                      const struct smp_sample *sample, const struct smp_mounted_thread *mounted,
                      uint64_t weight)
{
    static const struct smp_sample none = { 0 };
    struct smp_wall *wall = context;
    struct smp_thread_record *record = record_of(token);
    const enum smp_outcome outcome = smp_poll_outcome(answer, sample);
    const int64_t cpu_ns = (int64_t)weight * wall->interval_ns;
    const char *group_name = NULL;
    struct smp_tree_target target;

    if (!is_wanted(wall, record))
        return;
    if (answer == SMP_ANSWER_DROPPED) {
        on_dropped(wall, record, cpu_ns);
        return;
    }
    if (mounted != NULL)
        group_name = smp_poll_group_of_mounted(wall, mounted);
    if (mounted != NULL && group_name == NULL)
        return;
    target = smp_attribution_found(
        &wall->attribution, record, outcome,
        sample != NULL && outcome != SMP_OUTCOME_NO_JAVA_FRAMES ? sample : &none, group_name);
    attribution(wall, &target, cpu_ns);
}

static void drain(struct smp_wall *wall)
{
    const struct smp_cpu_timers *timers = &wall->vm->cpu;

    timers->drain(timers->self, (struct smp_cpu_sampled){ .sampled = on_sample, .context = wall });
}

/* --- timers --- */

/* It has no timer: what it used since this was last asked. */
static void measure(struct smp_wall *wall, struct smp_thread_record *record)
{
    struct smp_activity *idle = &record->idle;
    int64_t cpu_ns = 0;
    struct smp_tree_target target;

    if (smp_thread_record_tid(record) <= 0 ||
        !smp_clock_thread_cpu_ns(smp_thread_record_tid(record), &cpu_ns))
        return;
    if (idle->has_clock && cpu_ns > idle->cpu_ns) {
        target = smp_attribution_pseudo(&wall->attribution, record, SMP_OUTCOME_NO_CPU_TIMER);
        attribution(wall, &target, cpu_ns - idle->cpu_ns);
    }
    idle->has_clock = true;
    idle->cpu_ns = cpu_ns;
}

static void start(struct smp_wall *wall, struct smp_thread_record *record)
{
    const struct smp_cpu_timers *timers = &wall->vm->cpu;
    const int64_t from_cpu_ns = record->idle.has_clock ? record->idle.cpu_ns : -1;
    const enum smp_status status = timers->start(timers->self, record->thread, wall->interval_ns,
                                                 from_cpu_ns, smp_throttle_random(&wall->throttle),
                                                 (uint64_t)(uintptr_t)record, &record->cpu_timer);

    if (status == SMP_OK)
        record->idle.has_clock = false;
    else if (status == SMP_EQUOTA || status == SMP_ENOMEM || status == SMP_EVM)
        measure(wall, record);
}

static void stop(struct smp_wall *wall, struct smp_thread_record *record,
                 struct smp_cpu_sampled told)
{
    const struct smp_cpu_timers *timers = &wall->vm->cpu;

    if (record->cpu_timer == NULL)
        return;
    timers->stop(timers->self, record->cpu_timer, told);
    record->cpu_timer = NULL;
}

void smp_cpu_source_stop(struct smp_wall *wall, struct smp_thread_record *record)
{
    stop(wall, record, (struct smp_cpu_sampled){ .sampled = on_sample, .context = wall });
}

/* Between mark and pause only: else there is no timer. */
void smp_cpu_source_stop_all(struct smp_wall *wall)
{
    for (size_t i = 0; i < wall->table.count; i++)
        smp_cpu_source_stop(wall, wall->table.records[i]);
}

static void ignore(void *context, uint64_t token, enum smp_answer answer,
                   const struct smp_sample *sample, const struct smp_mounted_thread *mounted,
                   uint64_t weight)
{
    (void)context;
    (void)token;
    (void)answer;
    (void)sample;
    (void)mounted;
    (void)weight;
}

void smp_cpu_source_end_all(struct smp_wall *wall)
{
    for (size_t i = 0; i < wall->table.count; i++)
        stop(wall, wall->table.records[i], (struct smp_cpu_sampled){ .sampled = ignore });
}

/* --- one look --- */

/* A young thread is likely to end soon, and holds a timer as long as that is not seen. */
static void schedule(struct smp_wall *wall, struct smp_thread_record *record)
{
    const uint64_t most = smp_poll_ticks_in(wall, wall->lookback_ns);
    uint64_t ticks = 1;

    if (record->cpu_timer != NULL || !record->is_candidate)
        ticks =
            smp_poll_ticks_in(wall, (wall->poll->now_ns - record->credited_ns) / SMP_IDLE_SHARE);
    /* Not all threads at once. */
    ticks = ticks < most ? ticks : most;
    smp_poll_put_in(wall, record, ticks - smp_throttle_random(&wall->throttle) % (ticks / 4 + 1));
}

static void look_at(struct smp_wall *wall, struct smp_thread_record *record)
{
    if (smp_poll_remove_ended(wall, record))
        return;
    const bool wanted = is_wanted(wall, record);
    smp_poll_count_as_sampled(wall, record, wanted);
    if (wanted && record->cpu_timer == NULL)
        start(wall, record);
    else if (!wanted)
        smp_cpu_source_stop(wall, record);
    if (!wanted)
        record->idle.has_clock = false; /* what it uses now is nobody's */
    schedule(wall, record);
}

void smp_cpu_source_tick(struct smp_wall *wall)
{
    struct smp_deadline *due = NULL;

    drain(wall);
    smp_timer_wheel_begin(&wall->wheel, wall->tick);
    while ((due = smp_timer_wheel_next(&wall->wheel)) != NULL)
        look_at(wall, smp_thread_record_of(due));
}

void smp_cpu_source_finish(struct smp_wall *wall)
{
    drain(wall);
    for (size_t i = 0; i < wall->table.count; i++) {
        struct smp_thread_record *record = wall->table.records[i];
        if (record->is_counted && record->cpu_timer == NULL && record->idle.has_clock)
            measure(wall, record);
    }
}
