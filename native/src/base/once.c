/* SPDX-License-Identifier: Apache-2.0 */
#include "base/once.h"

/* With the mutex held: waits for one that is bringing up or taking down. */
static void wait_until_settled(struct smp_once *once)
{
    while (once->phase == SMP_ONCE_BUSY)
        (void)pthread_cond_wait(&once->changed, &once->mutex);
}

bool smp_once_open(struct smp_once *once)
{
    bool first = false;

    (void)pthread_mutex_lock(&once->mutex);
    wait_until_settled(once);
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
    wait_until_settled(once);
    if (once->phase == SMP_ONCE_OPEN && --once->users == 0) {
        once->phase = SMP_ONCE_BUSY;
        last = true;
    }
    (void)pthread_mutex_unlock(&once->mutex);
    return last;
}

void smp_once_finish(struct smp_once *once, bool up)
{
    (void)pthread_mutex_lock(&once->mutex);
    once->phase = up ? SMP_ONCE_OPEN : SMP_ONCE_CLOSED;
    once->users = up ? 1 : 0;
    (void)pthread_cond_broadcast(&once->changed);
    (void)pthread_mutex_unlock(&once->mutex);
}
