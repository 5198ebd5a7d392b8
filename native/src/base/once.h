/* SPDX-License-Identifier: Apache-2.0 */
/*
 * once.h - the first who enters brings something up, the last who leaves takes it down, without
 * a lock held meanwhile; the others wait.
 *
 * Owns     nothing.
 * Threads  any.
 * Errors   none.
 * Cost     one mutex.
 */
#ifndef SMP_BASE_ONCE_H
#define SMP_BASE_ONCE_H

#include <pthread.h>
#include <stdbool.h>

enum smp_once_phase { SMP_ONCE_CLOSED, SMP_ONCE_BUSY, SMP_ONCE_OPEN };

struct smp_once {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    enum smp_once_phase phase; /* guarded by mutex, as users */
    unsigned users;
};

#define SMP_ONCE_INIT                                                           \
    {                                                                           \
        .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER \
    }

/* True to the first: it must bring up, then settle. False: it is up. */
bool smp_once_open(struct smp_once *once);
/* True to the last: it must take down, then settle(false). */
bool smp_once_close(struct smp_once *once);
/* up: of the first who entered; false: it could not be brought up, and nobody has entered. */
void smp_once_finish(struct smp_once *once, bool up);

#endif
