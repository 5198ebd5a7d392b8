/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/holder_stack.h"

#include "engine/sources/lock_chain.h"

/* True if a poll of this tick has found the thread running and does not wait for its answer. (If
 * the poll had found a wait, that might be over.) */
static bool was_found_running(const struct smp_wall *wall, const struct smp_wall_thread *thread)
{
    return thread->record.was_polled && thread->plan.polled_tick == wall->schedule.tick &&
           !thread->unanswered.takes_all &&
           thread->record.last.epoch == wall->attribution->stack_epoch &&
           thread->record.last.state == SMP_STATE_RUNNING;
}

static bool was_looked_at(const struct smp_wall *wall, const struct smp_holder *holder)
{
    return holder->is_found && holder->look_tick == wall->schedule.tick;
}

bool smp_holder_stack_is_known(const struct smp_wall *wall, struct smp_wall_thread *thread)
{
    return was_looked_at(wall, &thread->locks->holder) ||
           smp_lock_chain_has_not_run(wall, thread) || was_found_running(wall, thread);
}

void smp_holder_stack_look(struct smp_wall *wall, struct smp_wall_thread *thread, bool may_ask)
{
    struct smp_holder *holder = &thread->locks->holder;

    if (holder->look_tick == wall->schedule.tick)
        return;
    holder->look_tick = wall->schedule.tick;
    holder->is_found = false;
    /* If the thread owes the answer of a poll, that answer has the stack; another request would
     * drop it. */
    if (!smp_holder_stack_is_known(wall, thread))
        smp_walks_look(&wall->walks, &thread->record, may_ask && !thread->unanswered.is_requested);
}

static const char *group_of_holder(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    if (thread->record.group_name == NULL && wall->threads->default_name_rule)
        smp_thread_names_read(wall->threads->names, &thread->record);
    return thread->record.group_name;
}

static void set_holder_node(struct smp_wall *wall, struct smp_wall_thread *thread,
                            const struct smp_sample *sample)
{
    struct smp_interval *interval = wall->attribution->interval;
    struct smp_holder *holder = &thread->locks->holder;

    holder->tree = smp_interval_find_holders(interval, group_of_holder(wall, thread));
    holder->node = sample != NULL
                       ? smp_attribution_add_holder(wall->attribution, holder->tree, sample)
                       : smp_interval_add_holder_row(interval, holder->tree, SMP_HOLDER_UNREAD);
    holder->epoch = wall->attribution->tree_epoch;
}

void smp_holder_stack_found(struct smp_wall *wall, struct smp_wall_thread *thread,
                            const struct smp_sample *sample)
{
    set_holder_node(wall, thread, sample);
    thread->locks->holder.is_found = true;
}

static void use_last_stack(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    struct smp_holder *holder = &thread->locks->holder;
    const struct smp_last_stack *last = &thread->record.last;
    struct smp_sample sample;

    if (holder->epoch == wall->attribution->tree_epoch && !holder->is_found &&
        holder->version == last->version && last->has_frames)
        return;
    set_holder_node(wall, thread, smp_last_stack_get(last, &sample) ? &sample : NULL);
    holder->version = last->version;
    holder->is_found = false;
}

uint32_t smp_holder_stack_node(struct smp_wall *wall, struct smp_wall_thread *thread,
                               struct smp_group_tree *tree)
{
    const struct smp_holder *holder = &thread->locks->holder;

    if (!was_looked_at(wall, holder) || holder->epoch != wall->attribution->tree_epoch)
        use_last_stack(wall, thread);
    *tree = holder->tree;
    return holder->node;
}
