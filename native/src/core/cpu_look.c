/* SPDX-License-Identifier: Apache-2.0 */
#include "core/cpu_look.h"

#include "base/clock.h"
#include "core/look.h"

static struct smp_thread_record *record_of(uint64_t token)
{
    return (struct smp_thread_record *)(uintptr_t)token; /* NOLINT(performance-no-int-to-ptr) */
}

/* --- whom --- */

/* Names are read here: a sample belongs to the name its thread has. */
static bool is_wanted(struct smp_looker *looker, struct smp_thread_record *record)
{
    if (looker->default_name_rule) {
        const bool is_chosen = smp_looker_chooses(looker, record);
        record->is_candidate = is_chosen;
        if (is_chosen)
            smp_thread_names_read(looker->names, record);
        /* Of a thread that has ended there is no name to read, but its samples have the one it had.
         */
        record->is_candidate = record->is_candidate || (is_chosen && record->cpu_timer != NULL);
    }
    return record->is_candidate && record->naming != SMP_NAMING_SKIP;
}

/* --- samples --- */

/* One attempt, and its time, all of it CPU time. */
static void credit(struct smp_looker *looker, const struct smp_spot *spot, int64_t cpu_ns)
{
    smp_credit_note(&looker->credit, spot, cpu_ns);
    smp_interval_used_cpu(looker->credit.interval, spot->place, spot->node, cpu_ns);
}

/* The time of what was not walked goes with the next sample of the thread; here it is where there
 * will be none. */
static void on_dropped(struct smp_looker *looker, struct smp_thread_record *record, int64_t cpu_ns)
{
    const bool has_ended = record->thread->ended_ns != 0;
    struct smp_spot spot;

    if (cpu_ns == 0) {
        smp_interval_skip(looker->credit.interval, smp_credit_place(&looker->credit, record),
                          SMP_OUTCOME_DROPPED, 1);
        return;
    }
    spot = smp_credit_pseudo(&looker->credit, record,
                             has_ended ? SMP_OUTCOME_ENDED : SMP_OUTCOME_DROPPED);
    credit(looker, &spot, cpu_ns);
}

static void on_sample(void *context, uint64_t token, enum smp_answer answer,
                      const struct smp_sample *sample, const struct smp_guest *guest,
                      uint64_t weight)
{
    static const struct smp_sample none = { 0 };
    struct smp_looker *looker = context;
    struct smp_thread_record *record = record_of(token);
    const enum smp_outcome outcome = smp_look_outcome(answer, sample);
    const int64_t cpu_ns = (int64_t)weight * looker->interval_ns;
    const char *group_name = NULL;
    struct smp_spot spot;

    if (!is_wanted(looker, record))
        return;
    if (answer == SMP_ANSWER_DROPPED) {
        on_dropped(looker, record, cpu_ns);
        return;
    }
    if (guest != NULL)
        group_name = smp_look_group_of_guest(looker, guest);
    if (guest != NULL && group_name == NULL)
        return;
    spot = smp_credit_found(&looker->credit, record, outcome,
                            sample != NULL && outcome != SMP_OUTCOME_EMPTY ? sample : &none,
                            group_name);
    credit(looker, &spot, cpu_ns);
}

static void drain(struct smp_looker *looker)
{
    const struct smp_cpu_timers *timers = &looker->vm->cpu;

    timers->drain(timers->self,
                  (struct smp_cpu_sampled){ .sampled = on_sample, .context = looker });
}

/* --- timers --- */

/* It has no timer: what it used since this was last asked. */
static void measure(struct smp_looker *looker, struct smp_thread_record *record)
{
    struct smp_idle *idle = &record->idle;
    int64_t cpu_ns = 0;
    struct smp_spot spot;

    if (smp_thread_record_tid(record) <= 0 ||
        !smp_clock_thread_cpu_ns(smp_thread_record_tid(record), &cpu_ns))
        return;
    if (idle->has_clock && cpu_ns > idle->cpu_ns) {
        spot = smp_credit_pseudo(&looker->credit, record, SMP_OUTCOME_NO_TIMER);
        credit(looker, &spot, cpu_ns - idle->cpu_ns);
    }
    idle->has_clock = true;
    idle->cpu_ns = cpu_ns;
}

static void start(struct smp_looker *looker, struct smp_thread_record *record)
{
    const struct smp_cpu_timers *timers = &looker->vm->cpu;
    const int64_t from_cpu_ns = record->idle.has_clock ? record->idle.cpu_ns : -1;
    const enum smp_status status = timers->start(timers->self, record->thread, looker->interval_ns,
                                                 from_cpu_ns, smp_budget_random(&looker->budget),
                                                 (uint64_t)(uintptr_t)record, &record->cpu_timer);

    if (status == SMP_OK)
        record->idle.has_clock = false;
    else if (status == SMP_EQUOTA || status == SMP_ENOMEM || status == SMP_EVM)
        measure(looker, record);
}

static void stop(struct smp_looker *looker, struct smp_thread_record *record,
                 struct smp_cpu_sampled told)
{
    const struct smp_cpu_timers *timers = &looker->vm->cpu;

    if (record->cpu_timer == NULL)
        return;
    timers->stop(timers->self, record->cpu_timer, told);
    record->cpu_timer = NULL;
}

void smp_cpu_look_stop(struct smp_looker *looker, struct smp_thread_record *record)
{
    stop(looker, record, (struct smp_cpu_sampled){ .sampled = on_sample, .context = looker });
}

/* Between mark and pause only: else there is no timer. */
void smp_cpu_look_stop_all(struct smp_looker *looker)
{
    for (size_t i = 0; i < looker->table.count; i++)
        smp_cpu_look_stop(looker, looker->table.records[i]);
}

static void ignore(void *context, uint64_t token, enum smp_answer answer,
                   const struct smp_sample *sample, const struct smp_guest *guest, uint64_t weight)
{
    (void)context;
    (void)token;
    (void)answer;
    (void)sample;
    (void)guest;
    (void)weight;
}

void smp_cpu_look_end_all(struct smp_looker *looker)
{
    for (size_t i = 0; i < looker->table.count; i++)
        stop(looker, looker->table.records[i], (struct smp_cpu_sampled){ .sampled = ignore });
}

/* --- one look --- */

/* A young thread is likely to end soon, and holds a timer as long as that is not seen. */
static void schedule(struct smp_looker *looker, struct smp_thread_record *record)
{
    const uint64_t most = smp_look_ticks_in(looker, looker->lookback_ns);
    uint64_t ticks = 1;

    if (record->cpu_timer != NULL || !record->is_candidate)
        ticks = smp_look_ticks_in(looker,
                                  (looker->look->now_ns - record->credited_ns) / SMP_IDLE_SHARE);
    /* Not all threads at once. */
    ticks = ticks < most ? ticks : most;
    smp_look_put_in(looker, record, ticks - smp_budget_random(&looker->budget) % (ticks / 4 + 1));
}

static void look_at(struct smp_looker *looker, struct smp_thread_record *record)
{
    if (smp_look_remove_ended(looker, record))
        return;
    const bool wanted = is_wanted(looker, record);
    smp_look_count_as_sampled(looker, record, wanted);
    if (wanted && record->cpu_timer == NULL)
        start(looker, record);
    else if (!wanted)
        smp_cpu_look_stop(looker, record);
    if (!wanted)
        record->idle.has_clock = false; /* what it uses now is nobody's */
    schedule(looker, record);
}

void smp_cpu_look_tick(struct smp_looker *looker)
{
    struct smp_due *due = NULL;

    drain(looker);
    smp_wheel_begin(&looker->wheel, looker->tick);
    while ((due = smp_wheel_next(&looker->wheel)) != NULL)
        look_at(looker, smp_thread_record_of(due));
}

void smp_cpu_look_settle(struct smp_looker *looker)
{
    drain(looker);
    for (size_t i = 0; i < looker->table.count; i++) {
        struct smp_thread_record *record = looker->table.records[i];
        if (record->is_counted && record->cpu_timer == NULL && record->idle.has_clock)
            measure(looker, record);
    }
}
