/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h - starts an internal thread, attaches it to the JVM, and joins it.
 *
 * The thread inherits the signal mask of its starter, like a Java thread. It may run code of the
 * application, and the threads and processes that this code starts inherit the mask.
 *
 * Owns     its thread between start and join.
 * Threads  start and join: one caller at a time; is_caller: any; ready: the thread itself.
 * Errors   start: SMP_ETHREAD, or the status of attach.enter; no thread is left.
 * Cost     start, join: a thread.
 */
#ifndef SMP_ENGINE_SESSION_WORKER_H
#define SMP_ENGINE_SESSION_WORKER_H

#include <pthread.h>
#include <stdbool.h>

#include "base/lock.h"
#include "base/status.h"
#include "engine/jvm.h"

/* Visible so that it can be a member of its owner. */
struct smp_worker {
    struct smp_attach attach;
    const char *name;
    void (*run)(void *self);
    void *self;
    struct smp_lock lock; /* guards the members below; notified when start may return */
    pthread_t thread;     /* valid while is_inside */
    bool is_inside;       /* the thread is running */
    bool may_start_return;
    enum smp_status status; /* the result of start */
    pthread_t to_join;      /* used only by the caller of start */
};

SMP_CHECKED enum smp_status smp_worker_init(struct smp_worker *worker,
                                            const struct smp_attach *attach, const char *name,
                                            void (*run)(void *self), void *self);
void smp_worker_fini(struct smp_worker *worker);

/* Returns when run has called ready or has returned. */
SMP_CHECKED enum smp_status smp_worker_start(struct smp_worker *worker);
void smp_worker_ready(struct smp_worker *worker);
/* Called once after a successful start, when run is about to return. */
void smp_worker_join(struct smp_worker *worker);
/* Returns whether the caller is this thread. */
bool smp_worker_is_caller(struct smp_worker *worker);

#endif
