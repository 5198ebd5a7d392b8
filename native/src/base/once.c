/* SPDX-License-Identifier: Apache-2.0 */
#include "base/once.h"

/* Waits while another thread opens or closes. The caller holds the lock. */
static void wait_while_busy(struct smp_once *once)
{
    while (once->phase == SMP_ONCE_BUSY)
        smp_lock_wait(&once->lock);
}

bool smp_once_open(struct smp_once *once)
{
    smp_lock_acquire(&once->lock);
    wait_while_busy(once);
    const bool first = once->phase == SMP_ONCE_CLOSED;
    if (first)
        once->phase = SMP_ONCE_BUSY;
    else
        once->users++;
    smp_lock_release(&once->lock);
    return first;
}

bool smp_once_close(struct smp_once *once)
{
    smp_lock_acquire(&once->lock);
    wait_while_busy(once);
    const bool last = once->phase == SMP_ONCE_OPEN && --once->users == 0;
    if (last)
        once->phase = SMP_ONCE_BUSY;
    smp_lock_release(&once->lock);
    return last;
}

void smp_once_finish(struct smp_once *once, bool is_open)
{
    smp_lock_acquire(&once->lock);
    once->phase = is_open ? SMP_ONCE_OPEN : SMP_ONCE_CLOSED;
    once->users = is_open ? 1 : 0;
    smp_lock_notify(&once->lock);
    smp_lock_release(&once->lock);
}
