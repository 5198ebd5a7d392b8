/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lock.h"

enum smp_status smp_lock_init(struct smp_lock *lock)
{
    if (pthread_mutex_init(&lock->mutex, NULL) != 0)
        return SMP_ENOMEM;
    if (pthread_cond_init(&lock->changed, NULL) == 0)
        return SMP_OK;
    (void)pthread_mutex_destroy(&lock->mutex);
    return SMP_ENOMEM;
}

void smp_lock_fini(struct smp_lock *lock)
{
    (void)pthread_cond_destroy(&lock->changed);
    (void)pthread_mutex_destroy(&lock->mutex);
}
