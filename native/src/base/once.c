/* SPDX-License-Identifier: Apache-2.0 */
#include "base/once.h"

/* With the mutex held: waits while another thread opens or closes. */
static void wait_while_busy(struct smp_once *once)
{
    while (once->phase == SMP_ONCE_BUSY)
        (void)pthread_cond_wait(&once->changed, &once->mutex);
}

bool smp_once_open(struct smp_once *once)
{
    bool first = false;

    (void)pthread_mutex_lock(&once->mutex);
    wait_while_busy(once);
    if (once->phase == SMP_ONCE_CLOSED) {
        once->phase = SMP_ONCE_BUSY;
        first = true;
    } else {
        once->users++;
    }
    (void)pthread_mutex_unlock(&once->mutex);
    return first;
}

bool smp_once_close(struct smp_once *once)
{
    bool last = false;

    (void)pthread_mutex_lock(&once->mutex);
    wait_while_busy(once);
    if (once->phase == SMP_ONCE_OPEN && --once->users == 0) {
        once->phase = SMP_ONCE_BUSY;
        last = true;
    }
    (void)pthread_mutex_unlock(&once->mutex);
    return last;
}

void smp_once_finish(struct smp_once *once, bool is_open)
{
    (void)pthread_mutex_lock(&once->mutex);
    once->phase = is_open ? SMP_ONCE_OPEN : SMP_ONCE_CLOSED;
    once->users = is_open ? 1 : 0;
    (void)pthread_cond_broadcast(&once->changed);
    (void)pthread_mutex_unlock(&once->mutex);
}
