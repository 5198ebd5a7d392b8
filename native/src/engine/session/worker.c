/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session/worker.h"

#include <stdio.h>

#include "base/thread.h"

enum { SYSTEM_NAME_BYTES = 16 };

enum smp_status smp_worker_init(struct smp_worker *worker, const struct smp_attach *attach,
                                const char *name, void (*run)(void *self), void *self)
{
    *worker = (struct smp_worker){ .attach = *attach, .name = name, .run = run, .self = self };
    return smp_lock_init(&worker->lock);
}

void smp_worker_fini(struct smp_worker *worker)
{
    smp_lock_fini(&worker->lock);
}

static void end_start(struct smp_worker *worker, enum smp_status status)
{
    smp_lock_acquire(&worker->lock);
    if (!worker->may_start_return) {
        worker->may_start_return = true;
        worker->status = status;
        smp_lock_notify(&worker->lock);
    }
    smp_lock_release(&worker->lock);
}

static void set_inside(struct smp_worker *worker, bool is_inside)
{
    smp_lock_acquire(&worker->lock);
    worker->thread = pthread_self();
    worker->is_inside = is_inside;
    smp_lock_release(&worker->lock);
}

/* Sets the kernel's name of the thread, truncated to its maximum length. */
static void name_thread(const char *name)
{
    char text[SYSTEM_NAME_BYTES];

    (void)snprintf(text, sizeof(text), "%s", name);
    (void)pthread_setname_np(pthread_self(), text);
}

static void *run_worker(void *argument)
{
    struct smp_worker *worker = argument;
    enum smp_status status;

    set_inside(worker, true);
    name_thread(worker->name);
    status = worker->attach.enter(worker->attach.self, worker->name);
    if (status == SMP_OK) {
        worker->run(worker->self);
        worker->attach.leave(worker->attach.self);
    }
    /* From here on the system may reuse this thread's id. */
    set_inside(worker, false);
    end_start(worker, status);
    return NULL;
}

enum smp_status smp_worker_start(struct smp_worker *worker)
{
    enum smp_status status;

    worker->may_start_return = false;
    status = smp_thread_start(&worker->to_join, worker->attach.stack_bytes, run_worker, worker);
    if (status != SMP_OK)
        return status;
    smp_lock_acquire(&worker->lock);
    while (!worker->may_start_return)
        smp_lock_wait(&worker->lock);
    status = worker->status;
    smp_lock_release(&worker->lock);
    if (status != SMP_OK)
        smp_worker_join(worker);
    return status;
}

void smp_worker_ready(struct smp_worker *worker)
{
    end_start(worker, SMP_OK);
}

void smp_worker_join(struct smp_worker *worker)
{
    (void)pthread_join(worker->to_join, NULL);
}

bool smp_worker_is_caller(struct smp_worker *worker)
{
    smp_lock_acquire(&worker->lock);
    const bool is_caller = worker->is_inside && pthread_equal(worker->thread, pthread_self()) != 0;
    smp_lock_release(&worker->lock);
    return is_caller;
}
