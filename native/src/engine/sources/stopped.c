/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/stopped.h"

#include "base/clock.h"
#include "engine/sources/wall_thread.h"

static bool has_run(const struct smp_wall_thread *thread, int64_t before_ns, int64_t gap_ns)
{
    const int64_t most_ns = before_ns - thread->pending.from_ns + gap_ns / SMP_STOPPED_SHARE;
    int64_t clock_ns = 0;

    return thread->record.was_polled && thread->activity.has_clock &&
           smp_clock_thread_cpu_ns(smp_thread_record_tid(&thread->record), &clock_ns) &&
           clock_ns - thread->activity.cpu_ns > most_ns;
}

bool smp_stopped_has_run(const struct smp_wall *wall, int64_t now_ns, int64_t gap_ns)
{
    for (size_t i = 0; i < wall->roster->table.count; i++) {
        if (has_run(smp_wall_thread_at(wall, i), now_ns - gap_ns, gap_ns))
            return true;
    }
    return false;
}

/* Whatever is measured from a moment before the gap is measured as if that had been later. */
static void shift(struct smp_wall_thread *thread, int64_t gap_ns)
{
    thread->pending.from_ns += gap_ns;
    thread->activity.read_ns += gap_ns;
    thread->activity.since_ns += gap_ns;
    if (thread->unanswered.since_ns != 0)
        thread->unanswered.since_ns += gap_ns;
    thread->unanswered.until_ns += gap_ns;
}

void smp_stopped_attribute(struct smp_wall *wall, int64_t now_ns, int64_t gap_ns)
{
    for (size_t i = 0; i < wall->roster->table.count;) {
        struct smp_wall_thread *thread = smp_wall_thread_at(wall, i);
        if (smp_roster_remove_ended(wall->roster, &thread->record, now_ns))
            continue;
        if (thread->record.was_polled) {
            const struct smp_tree_target target = smp_attribution_pseudo(
                wall->attribution, &thread->record, SMP_OUTCOME_PROCESS_STOPPED);
            smp_attribution_note(wall->attribution, &target, gap_ns, wall->covered_ns + gap_ns);
            shift(thread, gap_ns);
        }
        i++;
    }
    wall->covered_ns += gap_ns;
}
