/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/stopped.h"

#include "engine/sources/wall_thread.h"

/* A moment before the gap counts as one after it. The stop may have come in the middle of a tick,
 * and threads that this tick read later were read after the gap. */
static void shift_moment(int64_t *moment_ns, int64_t now_ns, int64_t gap_ns)
{
    if (*moment_ns + gap_ns <= now_ns)
        *moment_ns += gap_ns;
}

static void shift(struct smp_wall_thread *thread, int64_t now_ns, int64_t gap_ns)
{
    shift_moment(&thread->pending.from_ns, now_ns, gap_ns);
    shift_moment(&thread->activity.read_ns, now_ns, gap_ns);
    shift_moment(&thread->activity.since_ns, now_ns, gap_ns);
    if (thread->unanswered.since_ns != 0)
        shift_moment(&thread->unanswered.since_ns, now_ns, gap_ns);
    shift_moment(&thread->unanswered.until_ns, now_ns, gap_ns);
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
            shift(thread, now_ns, gap_ns);
        }
        i++;
    }
    wall->covered_ns += gap_ns;
}
