/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/deadlocks.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "engine/sources/lock_chain.h"
#include "model/escape.h"

struct cycle {
    struct smp_wall_thread *threads[SMP_MAX_LOCK_CHAIN]; /* each waits for a lock of the next one */
    size_t count;
};

static bool list_cycle(struct smp_wall *wall, struct smp_wall_thread *first, struct cycle *cycle)
{
    struct smp_wall_thread *at = first;

    cycle->count = 0;
    while (at != NULL && cycle->count < SMP_MAX_LOCK_CHAIN) {
        cycle->threads[cycle->count++] = at;
        at = smp_lock_chain_owner(wall, at);
        if (at == first)
            return true;
    }
    return false;
}

static struct smp_wall_thread *owner_in(const struct cycle *cycle, size_t i)
{
    return cycle->threads[(i + 1) % cycle->count];
}

/* --- the proof --- */

/* Returns whether the owner is the same. A wait with a timeout is no deadlock: it ends by
 * itself. */
static bool is_owned_as_known(const struct smp_wall *wall, const struct cycle *cycle, size_t i)
{
    struct smp_lock_owner found;

    smp_lock_chain_ask(wall, cycle->threads[i], &found);
    return found.kind == SMP_OWNER_THREAD && !found.is_timed &&
           found.serial == owner_in(cycle, i)->record.thread->serial;
}

/* Returns whether the thread has not run. One that wants a CPU fails: its wait may have timed
 * out. */
static bool stands_still(const struct smp_wall *wall, const struct smp_wall_thread *thread)
{
    const struct smp_os_thread_source *os_threads = &wall->walks.jvm->os_threads;
    const int32_t tid = smp_thread_record_tid(&thread->record);
    int64_t cpu_ns = 0;

    return tid > 0 && smp_clock_thread_cpu_ns(tid, &cpu_ns) && cpu_ns == thread->activity.cpu_ns &&
           (os_threads->is_runnable == NULL || !os_threads->is_runnable(os_threads->self, tid));
}

static bool is_proven(const struct smp_wall *wall, const struct cycle *cycle)
{
    for (size_t i = 0; i < cycle->count; i++) {
        if (!is_owned_as_known(wall, cycle, i))
            return false;
    }
    for (size_t i = 0; i < cycle->count; i++) {
        if (!stands_still(wall, cycle->threads[i]))
            return false;
    }
    return true;
}

/* --- the record --- */

static void put_thread_name(const struct smp_wall_thread *thread, struct smp_bytes *out)
{
    smp_escape_put(out, thread->record.raw_name != NULL ? thread->record.raw_name : "[unnamed]");
}

static void put_cycle(const struct cycle *cycle, struct smp_bytes *out)
{
    smp_bytes_printf(out, "Deadlock: %zu threads [", cycle->count);
    for (size_t i = 0; i < cycle->count; i++) {
        if (i > 0)
            smp_bytes_puts(out, ", ");
        put_thread_name(cycle->threads[i], out);
    }
    smp_bytes_puts(out, "]");
}

static void put_frames(const struct smp_wall *wall, const struct smp_wall_thread *thread,
                       struct smp_bytes *out)
{
    struct smp_methods *const methods = wall->attribution->methods;
    struct smp_sample sample = { 0 };
    size_t count;

    if (!smp_last_stack_get(&thread->record.last, &sample))
        return;
    count =
        sample.leaf_count < SMP_MAX_DEADLOCK_FRAMES ? sample.leaf_count : SMP_MAX_DEADLOCK_FRAMES;
    for (size_t i = 0; i < count; i++) {
        smp_bytes_puts(out, "    at ");
        smp_methods_frame_text(
            methods, smp_methods_locate(methods, wall->attribution->names, &sample.frames[i]), out);
        smp_bytes_puts(out, "\n");
    }
    if (sample.count + sample.omitted > count)
        smp_bytes_printf(out, "    ... %zu more\n", sample.count + sample.omitted - count);
}

static void put_wait(const struct smp_wall *wall, const struct cycle *cycle, size_t i,
                     struct smp_bytes *out)
{
    const char *lock = smp_lock_chain_class(wall, cycle->threads[i]);

    put_thread_name(cycle->threads[i], out);
    smp_bytes_puts(out, " waits for ");
    smp_escape_put(out, lock[0] != '\0' ? lock : "a lock of an unknown class");
    smp_bytes_puts(out, ", held by ");
    put_thread_name(owner_in(cycle, i), out);
    smp_bytes_puts(out, "\n");
    put_frames(wall, cycle->threads[i], out);
}

static void describe_cycle(struct smp_wall *wall, const struct cycle *cycle)
{
    struct smp_bytes title;
    struct smp_bytes rows;

    smp_bytes_init(&title, wall->quota, SMP_MAX_DEADLOCK_BYTES);
    smp_bytes_init(&rows, wall->quota, SMP_MAX_DEADLOCK_BYTES);
    put_cycle(cycle, &title);
    for (size_t i = 0; i < cycle->count; i++)
        put_wait(wall, cycle, i, &rows);
    if (title.status == SMP_OK && rows.status == SMP_OK &&
        smp_log_put_record(wall->holders.log, &title, &rows))
        return;
    smp_log_put(wall->holders.log, SMP_LOG_WARNING,
                "a deadlock of %zu threads could not be printed: %s", cycle->count,
                rows.status != SMP_OK ? smp_status_text(rows.status)
                                      : "other deadlocks wait for the outputer");
    smp_bytes_fini(&rows);
    smp_bytes_fini(&title);
}

/* --- public --- */

static void report_deadlock(struct smp_wall *wall, const struct cycle *cycle)
{
    smp_interval_count(wall->attribution->interval, SMP_COUNTER_DEADLOCKS, 1);
    for (size_t i = 0; i < cycle->count; i++)
        cycle->threads[i]->locks->wait.is_deadlocked = true;
    describe_cycle(wall, cycle);
}

void smp_deadlocks_judge(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    struct smp_lock_wait *lock = &thread->locks->wait;
    struct cycle cycle;

    if (lock->is_deadlocked)
        return;
    if (lock->cycle_tick == 0) {
        lock->cycle_tick = wall->schedule.tick;
    } else if (wall->schedule.tick - lock->cycle_tick >= SMP_DEADLOCK_TICKS) {
        lock->cycle_tick = 0;
        if (list_cycle(wall, thread, &cycle) && is_proven(wall, &cycle))
            report_deadlock(wall, &cycle);
    }
}
