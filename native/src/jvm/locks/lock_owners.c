/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/locks/lock_owners.h"

#include <jvmti.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "hotspot/safepoint_count.h"
#include "jvm/agent/agent.h"
#include "jvm/locks/monitor_owner.h"
#include "jvm/locks/sync_owner.h"
#include "jvm/threads/threads.h"

enum sight { UNSEEN, RIGHT, WRONG };

static struct {
    pthread_mutex_t mutex; /* guards the search for the layout */
    _Atomic int sight;     /* enum sight; once it is not UNSEEN, monitors is constant */
    struct smp_monitor_reader monitors;
} state = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static bool find_layout(JNIEnv *env)
{
    jvmtiEnv *jvmti = smp_agent_jvmti();
    jthread current = NULL;
    int64_t id = 0;

    if ((*jvmti)->GetCurrentThread(jvmti, &current) != JVMTI_ERROR_NONE || current == NULL)
        return false;
    const uintptr_t java_thread = smp_threads_address(env, current);
    const bool is_right = smp_threads_id_of(env, current, &id) == SMP_OK &&
                          smp_monitor_layout_find(NULL, java_thread, id, &state.monitors.layout);
    (*env)->DeleteLocalRef(env, current);
    state.monitors.safepoints = smp_safepoint_count_find(NULL);
    return is_right;
}

static bool reads_monitors(JNIEnv *env)
{
    int sight = atomic_load_explicit(&state.sight, memory_order_acquire);

    if (sight != UNSEEN)
        return sight == RIGHT;
    pthread_mutex_lock(&state.mutex);
    sight = atomic_load_explicit(&state.sight, memory_order_relaxed);
    if (sight == UNSEEN) {
        sight = find_layout(env) ? RIGHT : WRONG;
        atomic_store_explicit(&state.sight, sight, memory_order_release);
    }
    pthread_mutex_unlock(&state.mutex);
    return sight == RIGHT;
}

bool smp_jvm_lock_owners_reads_monitors(void)
{
    JNIEnv *env = smp_agent_is_live() ? smp_agent_env() : NULL;

    return env != NULL && reads_monitors(env);
}

/* Reads the owner of a parked thread's lock. The result counts only if the CPU clock shows that
 * the thread has not run meanwhile. */
static void read_parked(JNIEnv *env, struct smp_thread *waiter, int64_t cpu_ns,
                        struct smp_lock_owner *out)
{
    int64_t after_ns = 0;

    *out = (struct smp_lock_owner){ .kind = SMP_OWNER_UNREAD };
    if (cpu_ns < 0 && !smp_clock_thread_cpu_ns(waiter->os_tid, &cpu_ns))
        return;
    smp_sync_owner_read(env, smp_threads_ref(waiter), out);
    if (!smp_clock_thread_cpu_ns(waiter->os_tid, &after_ns) || after_ns != cpu_ns ||
        (out->kind == SMP_OWNER_THREAD && out->serial == waiter->serial))
        *out = (struct smp_lock_owner){ .kind = SMP_OWNER_UNREAD };
}

static void read_owner(SMP_UNUSED void *self, struct smp_thread *waiter, int64_t cpu_ns,
                       struct smp_lock_owner *out)
{
    JNIEnv *env = smp_agent_is_live() ? smp_agent_env() : NULL;

    *out = (struct smp_lock_owner){ .kind = SMP_OWNER_UNKNOWN };
    if (env == NULL)
        return;
    const int32_t status = smp_threads_status(env, smp_threads_ref(waiter));
    if ((status & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) != 0) {
        if (reads_monitors(env))
            smp_monitor_owner_read(&state.monitors, waiter, cpu_ns, out);
    } else if ((status & JVMTI_THREAD_STATE_PARKED) != 0) {
        read_parked(env, waiter, cpu_ns, out);
        out->is_timed = (status & JVMTI_THREAD_STATE_WAITING_WITH_TIMEOUT) != 0;
    }
}

struct smp_lock_owners smp_jvm_lock_owners(void)
{
    return (struct smp_lock_owners){ .read = read_owner };
}
