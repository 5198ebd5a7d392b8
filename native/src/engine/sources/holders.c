/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/holders.h"

#include "engine/sources/deadlocks.h"
#include "engine/sources/lock_chain.h"

enum { FIRST_WAITS = 64, MANY_WAITS = 1024 };

void smp_holders_init(struct smp_wall *wall, struct smp_log *log)
{
    wall->holders = (struct smp_holders){ .log = log };
    smp_lock_names_init(&wall->holders.locks, wall->quota);
}

static struct smp_interval *interval_of(const struct smp_wall *wall)
{
    return wall->attribution->interval;
}

void smp_holders_fini(struct smp_wall *wall)
{
    for (size_t i = 0; i < wall->threads->table.count; i++)
        smp_lock_chain_forget(wall, smp_wall_thread_at(wall, i));
    smp_free(wall->quota, wall->holders.waits);
    smp_lock_names_fini(&wall->holders.locks);
}

/* --- the stack of a holder --- */

/* Returns whether a poll of this tick has found the thread running and is answered. A wait that
 * the poll has found may have ended. */
static bool was_found_running(const struct smp_wall *wall, const struct smp_wall_thread *thread)
{
    return thread->record.was_polled && thread->plan.polled_tick == wall->schedule.tick &&
           !thread->unanswered.takes_all &&
           thread->record.last.epoch == wall->attribution->stack_epoch &&
           thread->record.last.state == SMP_STATE_RUNNING;
}

static bool was_walked(const struct smp_wall *wall, const struct smp_holder *holder)
{
    return holder->is_found && holder->walk_tick == wall->schedule.tick;
}

static bool is_stack_known(const struct smp_wall *wall, struct smp_wall_thread *thread)
{
    return was_walked(wall, &thread->locks->holder) || smp_lock_chain_has_not_run(wall, thread) ||
           was_found_running(wall, thread);
}

/* Walks the thread or requests a walk, once a tick, if its stack is unknown. Sends a signal only
 * if may_ask. Credits nothing: the odds of polls must not depend on threads that wait. */
static void walk_holder(struct smp_wall *wall, struct smp_wall_thread *thread, bool may_ask)
{
    struct smp_holder *holder = &thread->locks->holder;

    if (holder->walk_tick == wall->schedule.tick)
        return;
    holder->walk_tick = wall->schedule.tick;
    holder->is_found = false;
    /* The answer of an unanswered poll will have the stack; another request would drop it. */
    if (!is_stack_known(wall, thread))
        smp_walks_walk_holder(&wall->walks, &thread->record,
                              may_ask && !thread->unanswered.is_requested);
}

static const char *group_of_holder(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    if (thread->record.group_name == NULL && wall->threads->default_name_rule)
        smp_sampled_threads_read_name(wall->threads, &thread->record);
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

void smp_holders_walked(void *context, struct smp_thread_record *record,
                        const struct smp_sample *sample)
{
    struct smp_wall *wall = context;
    struct smp_wall_thread *thread = smp_wall_thread_of(record);

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

/* Returns the node of the known stack, or 0 without memory, and the tree of the group's holders. */
static uint32_t node_of_stack(struct smp_wall *wall, struct smp_wall_thread *thread,
                              struct smp_group_tree *tree)
{
    const struct smp_holder *holder = &thread->locks->holder;

    if (!was_walked(wall, holder) || holder->epoch != wall->attribution->tree_epoch)
        use_last_stack(wall, thread);
    *tree = holder->tree;
    return holder->node;
}

/* --- charging --- */

/* Returns the node of the holder's stack, or of the row if holder is NULL. */
static uint32_t find_node(struct smp_wall *wall, const struct smp_wall_thread *thread,
                          struct smp_wall_thread *holder, enum smp_holder_row row)
{
    struct smp_group_tree tree;
    uint32_t node;

    if (holder == NULL) {
        tree = smp_interval_find_holders(interval_of(wall), NULL);
        node = smp_interval_add_holder_row(interval_of(wall), tree, row);
    } else {
        node = node_of_stack(wall, holder, &tree);
    }
    if (thread->locks->wait.epoch != wall->attribution->tree_epoch ||
        thread->locks->wait.node != node)
        smp_interval_see_blocked(interval_of(wall), tree, thread->record.thread->serial,
                                 smp_lock_chain_class(wall, thread));
    return node;
}

/* waiting is a node of the sampled tree, or 0 if it is unknown. */
static void charge_node(struct smp_wall *wall, const struct smp_wall_thread *thread,
                        uint32_t waiting, uint32_t node, int64_t ns)
{
    smp_interval_charge(interval_of(wall), node, ns);
    smp_interval_note_lock(interval_of(wall), smp_lock_chain_class(wall, thread), waiting, node,
                           ns);
}

/* Charges a wait to node. The time before this poll belongs to the last holder. */
static void charge_wait(struct smp_wall *wall, struct smp_wall_thread *thread, uint32_t node,
                        const struct smp_blocked_wait *wait)
{
    struct smp_lock_wait *lock = &thread->locks->wait;
    int64_t found_ns = wait->blocked_ns;

    if (lock->epoch == wall->attribution->tree_epoch && lock->node != node) {
        found_ns = wait->found_ns;
        charge_node(wall, thread, wait->node, lock->node, wait->blocked_ns - found_ns);
    }
    charge_node(wall, thread, wait->node, node, found_ns);
    lock->node = node;
    /* If the read has failed, there is no holder that later time could belong to. */
    lock->epoch =
        lock->is_known && lock->kind == SMP_OWNER_UNREAD ? 0 : wall->attribution->tree_epoch;
}

static void charge_last(struct smp_wall *wall, struct smp_wall_thread *thread, int64_t blocked_ns)
{
    const struct smp_last_stack *last = &thread->record.last;
    struct smp_lock_chain_end end = { .row = SMP_HOLDER_UNREAD };
    struct smp_blocked_wait wait = { .blocked_ns = blocked_ns, .found_ns = blocked_ns };

    if (blocked_ns == 0)
        return;
    if (thread->locks == NULL) {
        smp_interval_charge_unknown(interval_of(wall), blocked_ns);
        return;
    }
    wait.node = last->epoch == wall->attribution->stack_epoch &&
                        thread->record.tree_epoch == wall->attribution->tree_epoch
                    ? last->node
                    : 0;
    if (thread->locks->wait.epoch == wall->attribution->tree_epoch) {
        charge_node(wall, thread, wait.node, thread->locks->wait.node, blocked_ns);
        return;
    }
    if (thread->locks->wait.is_known)
        end = smp_lock_chain_follow(wall, thread);
    charge_wait(wall, thread, find_node(wall, thread, end.holder, end.row), &wait);
}

/* Called if the owner has released the lock and the waiting thread has no CPU yet. */
static void charge_handed_over(struct smp_wall *wall, struct smp_wall_thread *thread,
                               const struct smp_blocked_wait *wait)
{
    const int64_t most_ns = wait->found_ns < wait->blocked_ns ? wait->found_ns : wait->blocked_ns;

    if (most_ns > 0)
        (void)smp_interval_change_state(interval_of(wall), thread->record.tree, wait->node,
                                        SMP_STATE_BLOCKED, SMP_STATE_RUNNABLE, most_ns,
                                        wall->poll != NULL ? wall->poll->now_ns : wall->covered_ns);
    charge_last(wall, thread, wait->blocked_ns + smp_interval_take_blocked(interval_of(wall)));
}

/* Called when the holder has answered. It had no CPU, so its stack was the same all the time. */
static void charge_carried(struct smp_wall *wall, struct smp_wall_thread *holder)
{
    struct smp_holders *holders = &wall->holders;
    const uint64_t serial = holder->record.thread->serial;
    size_t kept = 0;

    for (size_t i = 0; i < holders->count; i++) {
        const struct smp_blocked_wait wait = holders->waits[i];
        struct smp_wall_thread *thread = NULL;
        if (wait.is_carried && wait.holder == serial && smp_lock_chain_know(wall, holder))
            thread = smp_lock_chain_find(wall, wait.serial, wait.index);
        if (thread == NULL) {
            holders->waits[kept++] = wait;
            continue;
        }
        charge_wait(wall, thread, find_node(wall, thread, holder, SMP_HOLDER_UNREAD), &wait);
        holders->carried--;
    }
    holders->count = kept;
}

/* --- public --- */

static bool reserve_wait(struct smp_wall *wall)
{
    struct smp_holders *holders = &wall->holders;
    const size_t capacity = holders->capacity == 0 ? FIRST_WAITS : holders->capacity * 2;
    struct smp_blocked_wait *grown;

    if (holders->count < holders->capacity)
        return true;
    if (capacity > SMP_MAX_BLOCKED_WAITS ||
        capacity * sizeof(*grown) > wall->quota->limit_bytes / SMP_LOCKS_LIMIT_SHARE)
        return false;
    grown = smp_realloc(wall->quota, holders->waits, capacity * sizeof(*grown));
    if (grown == NULL)
        return false;
    holders->waits = grown;
    holders->capacity = capacity;
    return true;
}

void smp_holders_polled(struct smp_wall *wall, struct smp_wall_thread *thread,
                        const struct smp_tree_target *target, int64_t found_ns, bool is_new)
{
    const int64_t blocked_ns = smp_interval_take_blocked(interval_of(wall));
    const bool is_blocked = target->state == SMP_STATE_BLOCKED;

    if (wall->holders.carried > 0 && smp_outcome_is_sample(target->outcome))
        charge_carried(wall, thread);
    if (is_new && thread->locks != NULL)
        smp_lock_chain_anew(thread, is_blocked);
    if (!is_blocked || !smp_lock_chain_know(wall, thread) || !reserve_wait(wall)) {
        charge_last(wall, thread, blocked_ns);
        return;
    }
    wall->holders.waits[wall->holders.count++] =
        (struct smp_blocked_wait){ .serial = thread->record.thread->serial,
                                   .index = thread->record.index,
                                   .node = target->node,
                                   .blocked_ns = blocked_ns,
                                   .found_ns = found_ns };
    smp_lock_chain_read(wall, thread);
}

void smp_holders_flush(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    charge_last(wall, thread, smp_interval_take_blocked(interval_of(wall)));
}

void smp_holders_charge_rest(struct smp_wall *wall)
{
    smp_interval_charge_unknown(interval_of(wall), smp_interval_take_blocked(interval_of(wall)));
}

/* Returns the thread at the end of the wait's chain, or NULL. */
static struct smp_wall_thread *end_of_chain(struct smp_wall *wall, struct smp_blocked_wait *wait)
{
    struct smp_wall_thread *thread;
    struct smp_lock_chain_end end;

    if (wait->is_carried)
        return smp_lock_chain_find(wall, wait->holder, wait->holder_index);
    thread = smp_lock_chain_find(wall, wait->serial, wait->index);
    if (thread == NULL)
        return NULL;
    end = smp_lock_chain_follow(wall, thread);
    if (end.is_cycle)
        smp_deadlocks_judge(wall, thread);
    wait->row = (int)end.row;
    wait->holder = end.holder != NULL ? end.holder->record.thread->serial : 0;
    wait->holder_index = end.holder != NULL ? end.holder->record.index : 0;
    return end.holder;
}

static void look_at_holders(struct smp_wall *wall, bool may_ask)
{
    for (size_t i = 0; i < wall->holders.count; i++) {
        struct smp_wall_thread *holder = end_of_chain(wall, &wall->holders.waits[i]);
        if (holder != NULL)
            walk_holder(wall, holder, may_ask);
    }
    if (may_ask)
        smp_walks_collect(&wall->walks, SMP_ANSWERS_SOON);
}

/* Returns, for a carried wait, whether the lock has another holder or the wait has ended. */
static bool has_holder_left(struct smp_wall *wall, struct smp_wall_thread *thread,
                            const struct smp_wall_thread *holder)
{
    return thread->record.last.state != SMP_STATE_BLOCKED || !thread->locks->wait.is_known ||
           smp_lock_chain_follow(wall, thread).holder != holder;
}

/*
 * Returns false if the wait must be carried to the next ticks: the holder has run since its last
 * poll and has no CPU to answer. If the holder has released the lock by then, its stack is a
 * different one, and the time goes to the last known holder.
 */
static bool charge_one(struct smp_wall *wall, const struct smp_blocked_wait *wait, bool may_wait)
{
    struct smp_wall_thread *thread = smp_lock_chain_find(wall, wait->serial, wait->index);
    struct smp_wall_thread *holder = NULL;

    if (thread == NULL) {
        smp_interval_charge_unknown(interval_of(wall), wait->blocked_ns);
        return true;
    }
    if (thread->locks->wait.kind == SMP_OWNER_NONE && !wait->is_carried) {
        charge_handed_over(wall, thread, wait);
        return true;
    }
    if (wait->holder != 0)
        holder = smp_lock_chain_find(wall, wait->holder, wait->holder_index);
    if (wait->is_carried && thread->locks->wait.epoch == wall->attribution->tree_epoch &&
        has_holder_left(wall, thread, holder)) {
        charge_last(wall, thread, wait->blocked_ns);
        return true;
    }
    if (holder != NULL && may_wait && wait->ticks < SMP_MAX_CARRIED_TICKS &&
        !is_stack_known(wall, holder))
        return false;
    charge_wait(wall, thread, find_node(wall, thread, holder, (enum smp_holder_row)wait->row),
                wait);
    return true;
}

static void charge_waits(struct smp_wall *wall, bool may_wait)
{
    struct smp_holders *holders = &wall->holders;
    size_t kept = 0;

    for (size_t i = 0; i < holders->count; i++) {
        if (charge_one(wall, &holders->waits[i], may_wait))
            continue;
        holders->waits[kept] = holders->waits[i];
        holders->waits[kept].is_carried = true;
        holders->waits[kept++].ticks++;
    }
    holders->count = holders->carried = kept;
}

/* Frees the array after a tick with many more waits than usual. */
static void shrink_waits(struct smp_wall *wall, size_t used)
{
    struct smp_holders *holders = &wall->holders;

    if (holders->count > 0 || holders->capacity <= MANY_WAITS || used > holders->capacity / 4)
        return;
    smp_free(wall->quota, holders->waits);
    holders->waits = NULL;
    holders->capacity = 0;
}

void smp_holders_charge(struct smp_wall *wall, bool may_wait)
{
    const size_t count = wall->holders.count;

    if (count == 0)
        return;
    smp_holders_charge_rest(wall);
    /* No signals if answers are left for the next tick, which have the stacks of their threads. */
    look_at_holders(wall, may_wait && wall->walks.in_flight == 0);
    charge_waits(wall, may_wait);
    shrink_waits(wall, count);
}
