/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process_barrier.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/syscall_filter.h"

/* As in linux/membarrier.h, which older systems lack. */
enum { RUN_PRIVATE = 1 << 3, REGISTER_PRIVATE = 1 << 4 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool is_tried;
static bool is_forbidden; /* by a filter; constant once is_tried is set */
static atomic_bool is_refused;

static bool call_membarrier(int command)
{
#ifdef SYS_membarrier
    return syscall(SYS_membarrier, command, 0, 0) == 0;
#else
    (void)command;
    return false;
#endif
}

/* May also run in a child process that shares our memory. */
static bool call_both(void)
{
    return call_membarrier(REGISTER_PRIVATE) && call_membarrier(RUN_PRIVATE);
}

/* A filter may kill the process that makes the call, so a child tries it first. */
static bool is_permitted(void)
{
    (void)pthread_mutex_lock(&mutex);
    if (!is_tried)
        is_forbidden = !smp_syscall_filter_permits(call_both);
    is_tried = true;
    (void)pthread_mutex_unlock(&mutex);
    return !is_forbidden && !atomic_load(&is_refused);
}

bool smp_process_barrier_prepare(void)
{
    return is_permitted() && call_membarrier(REGISTER_PRIVATE);
}

bool smp_process_barrier_run(void)
{
    return is_permitted() && call_membarrier(RUN_PRIVATE);
}

void smp_process_barrier_refuse(bool refuse)
{
    atomic_store(&is_refused, refuse);
}
