/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/holders.h"

#include <string.h>

#include "base/clock.h"
#include "engine/sources/wall_state.h"

enum { FIRST_WAITS = 64, MANY_WAITS = 1024 };

void smp_holders_init(struct smp_wall *wall)
{
    wall->holders = (struct smp_holders){ .capacity = 0 };
    smp_lock_names_init(&wall->holders.locks, wall->quota);
}

static struct smp_interval *interval_of(const struct smp_wall *wall)
{
    return wall->attribution->interval;
}

static bool ensure_state(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    const size_t most = wall->quota->limit_bytes / SMP_LOCKS_LIMIT_SHARE / sizeof(*thread->locks);

    if (thread->locks != NULL)
        return true;
    if (wall->holders.states < most)
        thread->locks = smp_alloc(wall->quota, sizeof(*thread->locks));
    wall->holders.states += thread->locks != NULL;
    return thread->locks != NULL;
}

void smp_holders_forget(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    wall->holders.states -= thread->locks != NULL;
    smp_free(wall->quota, thread->locks);
    thread->locks = NULL;
}

void smp_holders_fini(struct smp_wall *wall)
{
    for (size_t i = 0; i < wall->roster->table.count; i++)
        smp_holders_forget(wall, smp_wall_thread_at(wall, i));
    smp_free(wall->quota, wall->holders.waits);
    smp_lock_names_fini(&wall->holders.locks);
}

/* With a state. NULL: there is no such thread, or no memory for it. */
static struct smp_wall_thread *find_thread(struct smp_wall *wall, uint64_t serial, size_t index)
{
    struct smp_thread_record *record = smp_thread_table_find(&wall->roster->table, serial, index);
    struct smp_wall_thread *thread = record != NULL ? smp_wall_thread_of(record) : NULL;

    return thread != NULL && ensure_state(wall, thread) ? thread : NULL;
}

/* --- who holds it --- */

/* Once a tick. */
static int64_t clock_in_tick(const struct smp_wall *wall, struct smp_wall_thread *thread)
{
    struct smp_holder *holder = &thread->locks->holder;
    const int32_t tid = smp_thread_record_tid(&thread->record);

    if (holder->clock_tick != wall->schedule.tick) {
        holder->clock_tick = wall->schedule.tick;
        if (tid <= 0 || !smp_clock_thread_cpu_ns(tid, &holder->clock_ns))
            holder->clock_ns = -1;
    }
    return holder->clock_ns;
}

/* The thread has the stack that its last poll found. */
static bool has_not_run(const struct smp_wall *wall, struct smp_wall_thread *thread)
{
    return thread->activity.has_leaf && clock_in_tick(wall, thread) >= 0 &&
           clock_in_tick(wall, thread) == thread->activity.cpu_ns;
}

static bool may_owner_differ(struct smp_wall *wall, const struct smp_lock_wait *lock)
{
    struct smp_wall_thread *owner;

    switch ((enum smp_owner_kind)lock->kind) {
    case SMP_OWNER_UNKNOWN:
    case SMP_OWNER_PERMITS:
        return false;
    case SMP_OWNER_THREAD:
        owner = find_thread(wall, lock->owner, lock->owner_index);
        return owner == NULL || lock->owner_cpu_ns < 0 ||
               clock_in_tick(wall, owner) != lock->owner_cpu_ns;
    default:
        return true;
    }
}

static void read_owner_of(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    const struct smp_lock_owners *owners = &wall->walks.jvm->owners;
    struct smp_lock_wait *lock = &thread->locks->wait;
    struct smp_lock_owner found = { .kind = SMP_OWNER_UNKNOWN };
    struct smp_wall_thread *owner = NULL;

    if (owners->read != NULL)
        owners->read(owners->self, thread->record.thread, thread->activity.cpu_ns, &found);
    smp_interval_count(interval_of(wall), SMP_COUNTER_OWNER_READS, 1);
    /* The wait has ended since its poll, most likely: up to then it had the owner that is known. */
    if (found.kind == SMP_OWNER_UNREAD && lock->is_known && lock->kind != SMP_OWNER_UNREAD)
        return;
    lock->is_known = true;
    lock->kind = (uint8_t)found.kind;
    lock->owner = found.serial;
    lock->lock = found.lock[0] != '\0' ? smp_lock_names_find(&wall->holders.locks, found.lock)
                                       : SMP_NO_LOCK_NAME;
    lock->cycle_tick = 0;
    lock->owner_cpu_ns = -1;
    if (found.kind == SMP_OWNER_THREAD)
        owner = find_thread(wall, found.serial, lock->owner_index);
    if (owner != NULL) {
        lock->owner_index = owner->record.index;
        lock->owner_cpu_ns = clock_in_tick(wall, owner);
    } else if (found.kind != SMP_OWNER_NONE) {
        smp_interval_count(interval_of(wall), SMP_COUNTER_OWNERS_UNKNOWN, 1);
    }
}

static bool is_blocked_still(const struct smp_wall *wall, struct smp_wall_thread *thread)
{
    return thread->record.last.state == SMP_STATE_BLOCKED && thread->locks->wait.is_known &&
           has_not_run(wall, thread);
}

/* --- deadlocks --- */

static void count_deadlock(struct smp_wall *wall, struct smp_wall_thread *first)
{
    struct smp_wall_thread *thread = first;

    smp_interval_count(interval_of(wall), SMP_COUNTER_DEADLOCKS, 1);
    for (unsigned i = 0; i < SMP_MAX_LOCK_CHAIN && thread != NULL; i++) {
        thread->locks->wait.is_deadlocked = true;
        thread = find_thread(wall, thread->locks->wait.owner, thread->locks->wait.owner_index);
        if (thread == first)
            break;
    }
}

/* Each owner in it waits for the next one, and has not run since its poll. */
static void judge_cycle(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    struct smp_lock_wait *lock = &thread->locks->wait;

    if (lock->cycle_tick == 0)
        lock->cycle_tick = wall->schedule.tick;
    else if (wall->schedule.tick - lock->cycle_tick >= SMP_DEADLOCK_TICKS && !lock->is_deadlocked)
        count_deadlock(wall, thread);
}

/* --- the end of the chain --- */

static enum smp_holder_row row_of_kind(enum smp_owner_kind kind)
{
    switch (kind) {
    case SMP_OWNER_READERS:
        return SMP_HOLDER_READERS;
    case SMP_OWNER_PERMITS:
        return SMP_HOLDER_PERMITS;
    case SMP_OWNER_UNMOUNTED:
        return SMP_HOLDER_UNMOUNTED;
    default:
        return SMP_HOLDER_UNREAD;
    }
}

/* In a cycle it is the owner of the thread's own lock. */
static struct smp_wall_thread *follow_chain(struct smp_wall *wall, struct smp_wall_thread *thread,
                                            enum smp_holder_row *row)
{
    struct smp_wall_thread *first = NULL;
    struct smp_wall_thread *at = thread;

    for (unsigned i = 0; i < SMP_MAX_LOCK_CHAIN; i++) {
        *row = row_of_kind((enum smp_owner_kind)at->locks->wait.kind);
        if (at->locks->wait.kind != SMP_OWNER_THREAD)
            return NULL;
        at = find_thread(wall, at->locks->wait.owner, at->locks->wait.owner_index);
        first = first != NULL ? first : at;
        if (at == thread) {
            judge_cycle(wall, thread);
            return first;
        }
        if (at == NULL || !is_blocked_still(wall, at) || at->locks->wait.kind == SMP_OWNER_NONE)
            return at;
    }
    return first;
}

/* --- its stack --- */

static const char *group_of_holder(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    if (thread->record.group_name == NULL && wall->roster->default_name_rule)
        smp_thread_names_read(wall->roster->names, &thread->record);
    return thread->record.group_name;
}

static void set_holder_node(struct smp_wall *wall, struct smp_wall_thread *thread,
                            const struct smp_sample *sample)
{
    struct smp_holder *holder = &thread->locks->holder;

    holder->tree = smp_interval_find_holders(interval_of(wall), group_of_holder(wall, thread));
    holder->node =
        sample != NULL
            ? smp_attribution_add_holder(wall->attribution, holder->tree, sample)
            : smp_interval_add_holder_row(interval_of(wall), holder->tree, SMP_HOLDER_UNREAD);
    holder->epoch = wall->attribution->tree_epoch;
}

void smp_holders_looked_at(struct smp_wall *wall, struct smp_thread_record *record,
                           const struct smp_sample *sample)
{
    struct smp_wall_thread *thread = smp_wall_thread_of(record);

    set_holder_node(wall, thread, sample);
    thread->locks->holder.is_found = true;
}

/* A poll of this tick has found it running; a wait that it has found may be over. */
static bool was_found_running(const struct smp_wall *wall, const struct smp_wall_thread *thread)
{
    return thread->record.was_polled && thread->plan.polled_tick == wall->schedule.tick &&
           thread->record.last.epoch == wall->attribution->stack_epoch &&
           thread->record.last.state == SMP_STATE_RUNNING;
}

/* Is it known where the thread is in this tick? */
static bool is_stack_known(const struct smp_wall *wall, struct smp_wall_thread *thread)
{
    const struct smp_holder *holder = &thread->locks->holder;

    return (holder->is_found && holder->look_tick == wall->schedule.tick) ||
           has_not_run(wall, thread) || was_found_running(wall, thread);
}

/* A thread that has run since its last poll is somewhere else by now. */
static void look_at_holder(struct smp_wall *wall, struct smp_wall_thread *thread, bool may_ask)
{
    struct smp_holder *holder = &thread->locks->holder;

    if (holder->look_tick == wall->schedule.tick)
        return;
    holder->look_tick = wall->schedule.tick;
    holder->is_found = false;
    if (!is_stack_known(wall, thread))
        smp_walks_look(&wall->walks, &thread->record, may_ask);
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

/* --- charging --- */

static const char *lock_text(const struct smp_wall *wall, const struct smp_lock_wait *lock)
{
    return lock->lock == SMP_NO_LOCK_NAME ? ""
                                          : smp_lock_names_text(&wall->holders.locks, lock->lock);
}

/* holder NULL: the row. */
static uint32_t find_node(struct smp_wall *wall, const struct smp_wall_thread *thread,
                          struct smp_wall_thread *holder, enum smp_holder_row row)
{
    struct smp_group_tree tree;
    uint32_t node;

    if (holder == NULL) {
        tree = smp_interval_find_holders(interval_of(wall), NULL);
        node = smp_interval_add_holder_row(interval_of(wall), tree, row);
    } else {
        if (!holder->locks->holder.is_found ||
            holder->locks->holder.look_tick != wall->schedule.tick ||
            holder->locks->holder.epoch != wall->attribution->tree_epoch)
            use_last_stack(wall, holder);
        tree = holder->locks->holder.tree;
        node = holder->locks->holder.node;
    }
    if (thread->locks->wait.epoch != wall->attribution->tree_epoch ||
        thread->locks->wait.node != node)
        smp_interval_see_blocked(interval_of(wall), tree, thread->record.thread->serial,
                                 lock_text(wall, &thread->locks->wait));
    return node;
}

/* Time before this poll is the last holder's. */
static void charge_wait(struct smp_wall *wall, struct smp_wall_thread *thread, uint32_t node,
                        int64_t blocked_ns, int64_t found_ns)
{
    struct smp_lock_wait *lock = &thread->locks->wait;
    const bool has_last = lock->epoch == wall->attribution->tree_epoch;

    if (!has_last || lock->node == node)
        found_ns = blocked_ns;
    else
        smp_interval_charge(interval_of(wall), lock->node, blocked_ns - found_ns);
    smp_interval_charge(interval_of(wall), node, found_ns);
    lock->node = node;
    /* A read that failed has found no holder that could get more. */
    lock->epoch =
        lock->is_known && lock->kind == SMP_OWNER_UNREAD ? 0 : wall->attribution->tree_epoch;
}

static void charge_last(struct smp_wall *wall, struct smp_wall_thread *thread, int64_t blocked_ns)
{
    enum smp_holder_row row = SMP_HOLDER_UNREAD;
    struct smp_wall_thread *holder = NULL;

    if (blocked_ns == 0)
        return;
    if (thread->locks == NULL) {
        smp_interval_charge_unknown(interval_of(wall), blocked_ns);
        return;
    }
    if (thread->locks->wait.epoch == wall->attribution->tree_epoch) {
        smp_interval_charge(interval_of(wall), thread->locks->wait.node, blocked_ns);
        return;
    }
    if (thread->locks->wait.is_known)
        holder = follow_chain(wall, thread, &row);
    charge_wait(wall, thread, find_node(wall, thread, holder, row), blocked_ns, blocked_ns);
}

/* The owner has left, and the thread that waits has not got a CPU yet. */
static void charge_handed_over(struct smp_wall *wall, struct smp_wall_thread *thread,
                               const struct smp_blocked_wait *wait)
{
    const int64_t most_ns = wait->found_ns < wait->blocked_ns ? wait->found_ns : wait->blocked_ns;

    if (most_ns > 0)
        (void)smp_interval_change_state(interval_of(wall), wait->node, SMP_STATE_BLOCKED,
                                        SMP_STATE_RUNNABLE, most_ns);
    charge_last(wall, thread, wait->blocked_ns + smp_interval_take_blocked(interval_of(wall)));
}

/* --- public --- */

static bool reserve_wait(struct smp_wall *wall)
{
    struct smp_holders *holders = &wall->holders;
    const size_t capacity = holders->capacity == 0 ? FIRST_WAITS : holders->capacity * 2;
    struct smp_blocked_wait *grown;

    if (holders->count < holders->capacity)
        return true;
    if (capacity > SMP_MAX_SETTLED ||
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

    if (is_new && thread->locks != NULL)
        thread->locks->wait.is_known = thread->locks->wait.is_deadlocked = false;
    if (!is_blocked || !ensure_state(wall, thread) || !reserve_wait(wall)) {
        charge_last(wall, thread, blocked_ns);
        return;
    }
    wall->holders.waits[wall->holders.count++] =
        (struct smp_blocked_wait){ .serial = thread->record.thread->serial,
                                   .index = thread->record.index,
                                   .node = target->node,
                                   .blocked_ns = blocked_ns,
                                   .found_ns = found_ns };
}

void smp_holders_flush(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    charge_last(wall, thread, smp_interval_take_blocked(interval_of(wall)));
}

void smp_holders_charge_rest(struct smp_wall *wall)
{
    smp_interval_charge_unknown(interval_of(wall), smp_interval_take_blocked(interval_of(wall)));
}

static void read_owners(struct smp_wall *wall)
{
    for (size_t i = 0; i < wall->holders.count; i++) {
        const struct smp_blocked_wait *wait = &wall->holders.waits[i];
        struct smp_wall_thread *thread = find_thread(wall, wait->serial, wait->index);
        if (thread != NULL && !wait->is_carried &&
            (!thread->locks->wait.is_known || may_owner_differ(wall, &thread->locks->wait)))
            read_owner_of(wall, thread);
    }
}

static void look_at_holders(struct smp_wall *wall, bool may_ask)
{
    for (size_t i = 0; i < wall->holders.count; i++) {
        struct smp_blocked_wait *wait = &wall->holders.waits[i];
        struct smp_wall_thread *thread = find_thread(wall, wait->serial, wait->index);
        enum smp_holder_row row = SMP_HOLDER_UNREAD;
        struct smp_wall_thread *holder = NULL;
        if (wait->is_carried) {
            holder = find_thread(wall, wait->holder, wait->holder_index);
        } else if (thread != NULL) {
            holder = follow_chain(wall, thread, &row);
            wait->row = (int)row;
            wait->holder = holder != NULL ? holder->record.thread->serial : 0;
            wait->holder_index = holder != NULL ? holder->record.index : 0;
        }
        if (holder != NULL)
            look_at_holder(wall, holder, may_ask);
    }
    if (may_ask)
        smp_walks_collect(&wall->walks, false);
}

/* False: the holder has run since its last poll, and has no CPU to answer: one of the next ticks
 * will know where it is. */
static bool charge_one(struct smp_wall *wall, const struct smp_blocked_wait *wait, bool may_wait)
{
    struct smp_wall_thread *thread = find_thread(wall, wait->serial, wait->index);
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
        holder = find_thread(wall, wait->holder, wait->holder_index);
    if (holder != NULL && may_wait && wait->ticks < SMP_MAX_CARRIED_TICKS &&
        !is_stack_known(wall, holder))
        return false;
    charge_wait(wall, thread, find_node(wall, thread, holder, (enum smp_holder_row)wait->row),
                wait->blocked_ns, wait->found_ns);
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
    holders->count = kept;
}

/* After a tick with many more waits than usual. */
static void shrink_waits(struct smp_wall *wall, size_t used)
{
    struct smp_holders *holders = &wall->holders;

    if (holders->count > 0 || holders->capacity <= MANY_WAITS || used > holders->capacity / 4)
        return;
    smp_free(wall->quota, holders->waits);
    holders->waits = NULL;
    holders->capacity = 0;
}

void smp_holders_settle(struct smp_wall *wall, bool may_ask)
{
    const size_t count = wall->holders.count;

    if (count == 0)
        return;
    smp_holders_charge_rest(wall);
    read_owners(wall);
    look_at_holders(wall, may_ask);
    charge_waits(wall, may_ask);
    shrink_waits(wall, count);
}
