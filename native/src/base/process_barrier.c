/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process_barrier.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of linux/membarrier.h, which older headers do not have. */
enum { RUN_PRIVATE = 1 << 3, REGISTER_PRIVATE = 1 << 4 };

static atomic_bool is_refused;

static bool call_membarrier(int command)
{
#ifdef SYS_membarrier
    return !atomic_load(&is_refused) && syscall(SYS_membarrier, command, 0, 0) == 0;
#else
    (void)command;
    return false;
#endif
}

bool smp_process_barrier_prepare(void)
{
    return call_membarrier(REGISTER_PRIVATE);
}

bool smp_process_barrier_run(void)
{
    return call_membarrier(RUN_PRIVATE);
}

void smp_process_barrier_refuse(bool refuse)
{
    atomic_store(&is_refused, refuse);
}
