/* SPDX-License-Identifier: Apache-2.0 */
/*
 * once.h - a reference whose first holder opens something and whose last one closes it, without a
 * lock held meanwhile; others wait.
 *
 * Threads  any.
 * Cost     one lock.
 */
#ifndef SMP_BASE_ONCE_H
#define SMP_BASE_ONCE_H

#include <stdbool.h>

#include "base/lock.h"

enum smp_once_phase { SMP_ONCE_CLOSED, SMP_ONCE_BUSY, SMP_ONCE_OPEN };

struct smp_once {
    struct smp_lock lock;
    enum smp_once_phase phase; /* guarded by the lock, as users */
    unsigned users;
};

#define SMP_ONCE_INIT         \
    {                         \
        .lock = SMP_LOCK_INIT \
    }

/* True for the first: it must open, then call finish. False: it is open. */
bool smp_once_open(struct smp_once *once);
/* True for the last: it must close, then call finish(false). */
bool smp_once_close(struct smp_once *once);
/* is_open false, after open: it could not be opened, and there is no reference to it. */
void smp_once_finish(struct smp_once *once, bool is_open);

#endif
