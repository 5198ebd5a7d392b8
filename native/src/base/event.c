/* SPDX-License-Identifier: Apache-2.0 */
#include "base/event.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SECOND INT64_C(1000000000)

_Static_assert(sizeof(struct smp_event) == sizeof(uint32_t), "the kernel looks at 32 bits");

uint32_t smp_event_calls(struct smp_event *event)
{
    return atomic_load_explicit(&event->calls, memory_order_acquire);
}

void smp_event_sleep(struct smp_event *event, uint32_t seen, int64_t most_ns)
{
    const struct timespec most = {
        .tv_sec = (time_t)(most_ns / NS_PER_SECOND),
        .tv_nsec = (long)(most_ns % NS_PER_SECOND),
    };

    if (most_ns > 0)
        (void)syscall(SYS_futex, &event->calls, FUTEX_WAIT_PRIVATE, seen, &most, NULL, 0);
}

void smp_event_call(struct smp_event *event)
{
    atomic_fetch_add_explicit(&event->calls, 1, memory_order_release);
    (void)syscall(SYS_futex, &event->calls, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
