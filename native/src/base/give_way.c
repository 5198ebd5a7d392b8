/* SPDX-License-Identifier: Apache-2.0 */
#include "base/give_way.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void smp_give_way(unsigned round)
{
    const struct timespec pause = { .tv_nsec = SMP_GIVE_WAY_SLEEP_NS };

    if (round < SMP_GIVE_WAY_YIELDS)
        (void)syscall(SYS_sched_yield);
    else
        (void)syscall(SYS_nanosleep, &pause, NULL);
}
