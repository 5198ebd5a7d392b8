/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/call_threads.h"

#include <stdatomic.h>

#include "base/lock.h"
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
    _Atomic uint64_t lost;
} call_threads = { .lock = SMP_LOCK_INIT };

static void keep_ended(const struct smp_call_thread *thread)
{
    bool has_room = false;

    smp_lock_acquire(&call_threads.lock);
    has_room = call_threads.count < SMP_ENDED_LIMIT;
    if (has_room)
        call_threads.ended[call_threads.count++] = *thread;
    smp_lock_release(&call_threads.lock);
    if (!has_room)
        atomic_fetch_add(&call_threads.lost, 1);
}

void smp_call_threads_on_end(JNIEnv *env, jobject thread)
{
    struct smp_call_thread ended = { 0 };

    if (!smp_agent_is_live() || atomic_load(&smp_call_shared_memory()->state_count) == 0)
        return;
    if (smp_threads_id_of(env, thread, &ended.java_id) != SMP_OK ||
        smp_call_state_find(ended.java_id) == NULL)
        return;
    (void)smp_threads_find(ended.java_id, &ended.serial, &ended.os_tid);
    keep_ended(&ended);
}

void smp_call_threads_retire(void)
{
    smp_lock_acquire(&call_threads.lock);
    call_threads.retired_count = call_threads.count;
    for (size_t i = 0; i < call_threads.count; i++)
        call_threads.retired[i] = call_threads.ended[i];
    call_threads.count = 0;
    smp_lock_release(&call_threads.lock);
    for (size_t i = 0; i < call_threads.retired_count; i++)
        smp_call_arena_retire(call_threads.retired[i].java_id);
}

void smp_call_threads_forget(void)
{
    call_threads.retired_count = 0;
}

struct smp_call_thread smp_call_threads_find(int64_t java_id)
{
    struct smp_call_thread found = { .java_id = java_id };

    if (java_id == 0 || smp_threads_find(java_id, &found.serial, &found.os_tid))
        return found;
    for (size_t i = 0; i < call_threads.retired_count; i++) {
        if (call_threads.retired[i].java_id == java_id)
            return call_threads.retired[i];
    }
    /* It has ended during this read. */
    smp_lock_acquire(&call_threads.lock);
    for (size_t i = 0; i < call_threads.count; i++) {
        if (call_threads.ended[i].java_id == java_id)
            found = call_threads.ended[i];
    }
    smp_lock_release(&call_threads.lock);
    return found;
}

uint64_t smp_call_threads_lost(void)
{
    return atomic_load(&call_threads.lost);
}
