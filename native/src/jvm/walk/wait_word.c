/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/wait_word.h"

#include <jvmti.h>
#include <stddef.h>

#include "jvm/agent/agent.h"
#include "jvm/threads/threads.h"

/* OSThread::ThreadState, unchanged from JDK 17 to 28. */
enum {
    OS_RUNNABLE = 2,
    OS_MONITOR_WAIT = 3,
    OS_CONDVAR_WAIT = 4, /* also parked or sleeping */
    OS_OBJECT_WAIT = 5
};

/* For a thread whose JVM state is blocked although its Thread object says runnable. */
static enum smp_wait_word word_of_blocked(int32_t os_state)
{
    switch (os_state) {
    case OS_MONITOR_WAIT:
    case OS_OBJECT_WAIT: /* waits for a class initialiser on another thread */
        return SMP_WORD_AT_MONITOR;
    case OS_CONDVAR_WAIT: /* a service thread of the JVM */
        return SMP_WORD_WAITS;
    case OS_RUNNABLE:
        return SMP_WORD_STOPPED;
    default:
        return SMP_WORD_UNKNOWN;
    }
}

enum smp_wait_word smp_wait_word_of(int32_t status, const struct smp_jvm_states *states,
                                    const struct smp_thread_words *words)
{
    if ((status & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) != 0)
        return SMP_WORD_AT_MONITOR;
    if ((status & JVMTI_THREAD_STATE_WAITING) != 0)
        return SMP_WORD_WAITS;
    if (words == NULL)
        return (status & JVMTI_THREAD_STATE_RUNNABLE) != 0 ? SMP_WORD_RUNNABLE : SMP_WORD_UNKNOWN;
    if (words->state == states->blocked)
        return word_of_blocked(words->os_state);
    if (words->state == states->in_native)
        return SMP_WORD_IN_NATIVE;
    if (words->state == states->in_java || words->state == states->in_vm)
        return SMP_WORD_RUNS;
    return SMP_WORD_RUNNABLE; /* in a transition */
}

enum smp_wait_word smp_wait_word_read(const struct smp_proven_walk *how, struct smp_thread *thread)
{
    JNIEnv *env = smp_agent_is_live() ? smp_agent_env() : NULL;
    struct smp_thread_words words;
    const bool is_carrier = smp_threads_walk_info(thread)->is_carrier;
    int32_t status = 0;
    bool has_words;

    /* The status of a carrier does not describe its virtual thread. */
    if (env != NULL && !is_carrier)
        status = smp_threads_status(env, smp_threads_ref(thread));
    if ((status & (JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER | JVMTI_THREAD_STATE_WAITING)) != 0)
        return smp_wait_word_of(status, NULL, NULL);
    has_words = how != NULL && smp_proven_walk_words(how, smp_threads_walk_info(thread), &words);
    return smp_wait_word_of(status, how != NULL ? &how->layout.states : NULL,
                            has_words ? &words : NULL);
}
