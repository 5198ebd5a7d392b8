/* SPDX-License-Identifier: Apache-2.0 */
/*
 * once.h - a reference count: the first user opens something, and the last one closes it. No lock
 * is held while that happens; other users wait.
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
    enum smp_once_phase phase; /* guarded by the lock, like users */
    unsigned users;
};

#define SMP_ONCE_INIT         \
    {                         \
        .lock = SMP_LOCK_INIT \
    }

/* Returns whether the caller is the first user, which must open and then call finish. */
bool smp_once_open(struct smp_once *once);
/* Returns whether the caller is the last user, which must close and then call finish(false). */
bool smp_once_close(struct smp_once *once);
/* is_open is false after open if opening failed: then the caller has no reference. */
void smp_once_finish(struct smp_once *once, bool is_open);

#endif
