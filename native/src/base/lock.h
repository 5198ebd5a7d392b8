/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.h - a mutex and a condition variable, which signals that the guarded data has changed.
 *
 * Threads  any. wait and notify: with the lock held.
 * Errors   init: SMP_ENOMEM. wait may return for no reason, so the caller checks again.
 * Cost     an uncontended acquire: no system call.
 */
#ifndef SMP_BASE_LOCK_H
#define SMP_BASE_LOCK_H

#include <pthread.h>

#include "base/status.h"

struct smp_lock {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
};

/* Initializes a static lock, which needs no smp_lock_init. */
#define SMP_LOCK_INIT                                                           \
    {                                                                           \
        .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER \
    }

SMP_CHECKED enum smp_status smp_lock_init(struct smp_lock *lock);
void smp_lock_fini(struct smp_lock *lock);

static inline void smp_lock_acquire(struct smp_lock *lock)
{
    (void)pthread_mutex_lock(&lock->mutex);
}

static inline void smp_lock_release(struct smp_lock *lock)
{
    (void)pthread_mutex_unlock(&lock->mutex);
}

/* Waits for the next notify, with the lock released meanwhile. */
static inline void smp_lock_wait(struct smp_lock *lock)
{
    (void)pthread_cond_wait(&lock->changed, &lock->mutex);
}

/* Wakes up all waiting threads. */
static inline void smp_lock_notify(struct smp_lock *lock)
{
    (void)pthread_cond_broadcast(&lock->changed);
}

#endif
