/* SPDX-License-Identifier: Apache-2.0 */
#include "base/backoff.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void smp_backoff(unsigned round)
{
    const struct timespec pause = { .tv_nsec = SMP_BACKOFF_SLEEP_NS };

    if (round < SMP_BACKOFF_YIELDS)
        (void)syscall(SYS_sched_yield);
    else
        (void)syscall(SYS_nanosleep, &pause, NULL);
}
