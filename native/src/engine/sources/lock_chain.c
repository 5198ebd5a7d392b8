/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/lock_chain.h"

#include "base/clock.h"

/* --- states --- */

bool smp_lock_chain_know(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    const size_t most = wall->quota->limit_bytes / SMP_LOCKS_LIMIT_SHARE / sizeof(*thread->locks);

    if (thread->locks != NULL)
        return true;
    if (wall->holders.states < most)
        thread->locks = smp_alloc(wall->quota, sizeof(*thread->locks));
    wall->holders.states += thread->locks != NULL;
    return thread->locks != NULL;
}

void smp_lock_chain_forget(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    wall->holders.states -= thread->locks != NULL;
    smp_free(wall->quota, thread->locks);
    thread->locks = NULL;
}

struct smp_wall_thread *smp_lock_chain_find(struct smp_wall *wall, uint64_t serial, size_t index)
{
    struct smp_thread_record *record = smp_thread_table_find(&wall->threads->table, serial, index);
    struct smp_wall_thread *thread = record != NULL ? smp_wall_thread_of(record) : NULL;

    return thread != NULL && smp_lock_chain_know(wall, thread) ? thread : NULL;
}

/* Keeps the record's index, which changes when others are removed, so that the next search is
 * O(1). */
struct smp_wall_thread *smp_lock_chain_owner(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    struct smp_lock_wait *lock = &thread->locks->wait;
    struct smp_wall_thread *owner = smp_lock_chain_find(wall, lock->owner, lock->owner_index);

    if (owner != NULL)
        lock->owner_index = owner->record.index;
    return owner;
}

/* --- clocks --- */

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

bool smp_lock_chain_has_not_run(const struct smp_wall *wall, struct smp_wall_thread *thread)
{
    return thread->activity.has_leaf && clock_in_tick(wall, thread) >= 0 &&
           clock_in_tick(wall, thread) == thread->activity.cpu_ns;
}

/* --- the owner --- */

static bool may_owner_differ(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    const struct smp_lock_wait *lock = &thread->locks->wait;
    struct smp_wall_thread *owner;

    switch ((enum smp_owner_kind)lock->kind) {
    case SMP_OWNER_UNKNOWN:
    case SMP_OWNER_PERMITS:
        return false;
    case SMP_OWNER_THREAD:
        owner = smp_lock_chain_owner(wall, thread);
        return owner == NULL || lock->owner_cpu_ns < 0 ||
               clock_in_tick(wall, owner) != lock->owner_cpu_ns;
    default:
        return true;
    }
}

static void ask_at(const struct smp_wall *wall, const struct smp_wall_thread *thread,
                   int64_t cpu_ns, struct smp_lock_owner *out)
{
    const struct smp_lock_owners *owners = &wall->walks.jvm->owners;

    *out = (struct smp_lock_owner){ .kind = SMP_OWNER_UNKNOWN };
    if (owners->read != NULL)
        owners->read(owners->self, thread->record.thread, cpu_ns, out);
    smp_interval_count(wall->attribution->interval, SMP_COUNTER_OWNER_READS, 1);
}

void smp_lock_chain_ask(const struct smp_wall *wall, const struct smp_wall_thread *thread,
                        struct smp_lock_owner *out)
{
    ask_at(wall, thread, thread->activity.cpu_ns, out);
}

void smp_lock_chain_anew(struct smp_wall_thread *thread, bool is_blocked)
{
    thread->locks->wait.is_known = false;
    if (!is_blocked)
        thread->locks->wait.is_deadlocked = false;
}

static bool is_same_owner(const struct smp_lock_wait *lock, const struct smp_lock_owner *found)
{
    return lock->kind == (uint8_t)found->kind && lock->owner == found->serial;
}

static void read_owner_of(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    struct smp_lock_wait *lock = &thread->locks->wait;
    struct smp_wall_thread *owner = NULL;
    struct smp_lock_owner found;

    smp_lock_chain_ask(wall, thread, &found);
    /* The wait has probably ended since its poll; until then it had the known owner. */
    if (found.kind == SMP_OWNER_UNREAD && lock->is_known && lock->kind != SMP_OWNER_UNREAD)
        return;
    lock->is_known = true;
    lock->is_deadlocked = lock->is_deadlocked && is_same_owner(lock, &found);
    lock->kind = (uint8_t)found.kind;
    lock->owner = found.serial;
    lock->lock = found.lock[0] != '\0' ? smp_lock_names_find(&wall->holders.locks, found.lock)
                                       : SMP_NO_LOCK_NAME;
    lock->cycle_tick = 0;
    lock->owner_cpu_ns = -1;
    if (found.kind == SMP_OWNER_THREAD)
        owner = smp_lock_chain_owner(wall, thread);
    if (owner != NULL)
        lock->owner_cpu_ns = clock_in_tick(wall, owner);
    else if (found.kind != SMP_OWNER_NONE)
        smp_interval_count(wall->attribution->interval, SMP_COUNTER_OWNERS_UNKNOWN, 1);
}

void smp_lock_chain_read(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    if (!thread->locks->wait.is_known || may_owner_differ(wall, thread))
        read_owner_of(wall, thread);
}

const char *smp_lock_chain_class(const struct smp_wall *wall, const struct smp_wall_thread *thread)
{
    const uint32_t lock = thread->locks->wait.lock;

    return lock == SMP_NO_LOCK_NAME ? "" : smp_lock_names_text(&wall->holders.locks, lock);
}

/* --- the end of the chain --- */

/* The owner of the lock for which a thread waits, as known in this tick. */
struct waits_for {
    enum smp_owner_kind kind;
    struct smp_wall_thread *owner; /* if the kind is THREAD; NULL: unknown */
};

static struct waits_for as_last_read(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    struct waits_for waits = { .kind = (enum smp_owner_kind)thread->locks->wait.kind };

    if (waits.kind == SMP_OWNER_THREAD)
        waits.owner = smp_lock_chain_owner(wall, thread);
    return waits;
}

/* Returns whether a thread that was blocked at its last poll and has run since is blocked again.
 * Asks the JVM, because the thread's next poll may be far away. */
static bool is_blocked_again(struct smp_wall *wall, struct smp_wall_thread *thread,
                             struct waits_for *out)
{
    struct smp_lock_owner found;

    ask_at(wall, thread, clock_in_tick(wall, thread), &found);
    if (found.kind != SMP_OWNER_THREAD)
        return false;
    out->kind = SMP_OWNER_THREAD;
    out->owner = smp_lock_chain_find(wall, found.serial, thread->locks->wait.owner_index);
    return true;
}

static bool waits_for_lock(struct smp_wall *wall, struct smp_wall_thread *thread,
                           struct waits_for *out)
{
    if (thread->record.last.state != SMP_STATE_BLOCKED || !thread->locks->wait.is_known)
        return false;
    if (!smp_lock_chain_has_not_run(wall, thread))
        return is_blocked_again(wall, thread, out);
    *out = as_last_read(wall, thread);
    return out->kind != SMP_OWNER_NONE;
}

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

struct smp_lock_chain_end smp_lock_chain_follow(struct smp_wall *wall,
                                                struct smp_wall_thread *thread)
{
    struct smp_lock_chain_end end = { .row = SMP_HOLDER_UNREAD };
    struct waits_for waits = as_last_read(wall, thread);
    struct smp_wall_thread *const first = waits.owner;

    for (unsigned i = 0; i < SMP_MAX_LOCK_CHAIN && !end.is_cycle; i++) {
        struct smp_wall_thread *const at = waits.owner;
        if (waits.kind != SMP_OWNER_THREAD) {
            end.row = row_of_kind(waits.kind);
            return end;
        }
        end.is_cycle = at == thread;
        if (at == NULL || (!end.is_cycle && !waits_for_lock(wall, at, &waits))) {
            end.holder = at;
            return end;
        }
    }
    end.holder = first;
    return end;
}
