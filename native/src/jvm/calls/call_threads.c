/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/call_threads.h"

#include <stdatomic.h>

#include "base/lock.h"
#include "base/lower_bound.h"
#include "base/sort.h"
#include "counting/call_arena.h"
#include "counting/call_shared.h"
#include "jvm/agent/agent.h"
#include "jvm/threads/threads.h"

static struct {
    struct smp_lock lock; /* guards ended[0..count) and count */
    size_t count;
    struct smp_call_thread ended[SMP_ENDED_LIMIT];
    /* The reader's: */
    size_t retired_count;
    struct smp_call_thread retired[SMP_ENDED_LIMIT];
    uint32_t by_id[SMP_ENDED_LIMIT]; /* indices of retired, by rising ids */
    uint32_t scratch[SMP_ENDED_LIMIT];
    _Atomic uint64_t lost;
} call_threads = { .lock = SMP_LOCK_INIT };

/* False: there is no room. */
static bool keep_ended(const struct smp_call_thread *thread)
{
    bool has_room = false;

    smp_lock_acquire(&call_threads.lock);
    has_room = call_threads.count < SMP_ENDED_LIMIT;
    if (has_room)
        call_threads.ended[call_threads.count++] = *thread;
    smp_lock_release(&call_threads.lock);
    if (!has_room)
        atomic_fetch_add(&call_threads.lost, 1);
    return has_room;
}

bool smp_call_threads_has_any(void)
{
    return atomic_load(&smp_call_shared_memory()->state_count) > 0;
}

const void *smp_call_threads_state(int64_t java_id)
{
    return java_id == 0 || smp_call_generation() == 0 ? NULL : smp_call_state_find(java_id);
}

void smp_call_threads_on_end(JNIEnv *env, jobject thread)
{
    struct smp_call_thread ended = { 0 };

    if (!smp_agent_is_live() || !smp_call_threads_has_any())
        return;
    if (smp_threads_id_of(env, thread, &ended.java_id) != SMP_OK ||
        smp_call_state_find(ended.java_id) == NULL)
        return;
    (void)smp_threads_find(ended.java_id, &ended.serial);
    /* No thread reads while counting is off, and it may be off for long. */
    if (smp_call_generation() == 0 || !keep_ended(&ended))
        smp_call_arena_retire(ended.java_id);
}

static bool has_lower_id(const void *threads, uint32_t a, uint32_t b)
{
    const struct smp_call_thread *const all = threads;

    return all[a].java_id < all[b].java_id;
}

/* A read looks each of them up. */
static void sort_retired(void)
{
    for (uint32_t i = 0; i < call_threads.retired_count; i++)
        call_threads.by_id[i] = i;
    smp_sort(call_threads.by_id, call_threads.scratch, call_threads.retired_count, has_lower_id,
             call_threads.retired);
}

static uint64_t retired_id_at(const void *by_id, size_t index)
{
    return (uint64_t)call_threads.retired[((const uint32_t *)by_id)[index]].java_id;
}

/* NULL: it is none of them. */
static const struct smp_call_thread *find_retired(int64_t java_id)
{
    const size_t at = smp_lower_bound(call_threads.by_id, call_threads.retired_count, retired_id_at,
                                      (uint64_t)java_id);
    const struct smp_call_thread *const found =
        at < call_threads.retired_count ? &call_threads.retired[call_threads.by_id[at]] : NULL;

    return found != NULL && found->java_id == java_id ? found : NULL;
}

void smp_call_threads_retire(void)
{
    smp_lock_acquire(&call_threads.lock);
    call_threads.retired_count = call_threads.count;
    for (size_t i = 0; i < call_threads.count; i++)
        call_threads.retired[i] = call_threads.ended[i];
    call_threads.count = 0;
    smp_lock_release(&call_threads.lock);
    sort_retired();
    for (size_t i = 0; i < call_threads.retired_count; i++)
        smp_call_arena_retire(call_threads.retired[i].java_id);
}

void smp_call_threads_forget(void)
{
    call_threads.retired_count = 0;
}

uint64_t smp_call_threads_find(int64_t java_id)
{
    uint64_t serial = 0;

    if (java_id == 0 || smp_threads_find(java_id, &serial))
        return serial;
    const struct smp_call_thread *const retired = find_retired(java_id);
    if (retired != NULL)
        return retired->serial;
    /* It has ended during this read. */
    smp_lock_acquire(&call_threads.lock);
    for (size_t i = 0; i < call_threads.count; i++) {
        if (call_threads.ended[i].java_id == java_id)
            serial = call_threads.ended[i].serial;
    }
    smp_lock_release(&call_threads.lock);
    return serial;
}

uint64_t smp_call_threads_lost(void)
{
    return atomic_load(&call_threads.lost);
}
