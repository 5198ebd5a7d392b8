/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    EXTRA_STACK_BYTES = 64 * 1024,
    PAGE_BYTES = 64 * 1024 /* a multiple of every page size there is */
};

int32_t smp_thread_own_tid(void)
{
    return (int32_t)syscall(SYS_gettid);
}

unsigned smp_thread_own_cpus(void)
{
    cpu_set_t cpus;

    return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? (unsigned)CPU_COUNT(&cpus) : 0;
}

/* Rounds up to whole pages. With glibc the thread's control block and the thread-locals of all
 * libraries are part of the stack, so EXTRA_STACK_BYTES is added for them. */
static size_t full_stack_bytes(size_t wanted)
{
    if (wanted < SMP_THREAD_MIN_STACK_BYTES)
        wanted = SMP_THREAD_MIN_STACK_BYTES;
    return (wanted + EXTRA_STACK_BYTES + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

enum smp_status smp_thread_start(pthread_t *thread, size_t stack_bytes,
                                 void *(*run)(void *argument), void *argument)
{
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);

    if (error != 0)
        return SMP_ETHREAD;
    error = pthread_attr_setstacksize(&attributes, full_stack_bytes(stack_bytes));
    if (error == 0)
        error = pthread_create(thread, &attributes, run, argument);
    (void)pthread_attr_destroy(&attributes);
    return error == 0 ? SMP_OK : SMP_ETHREAD;
}
