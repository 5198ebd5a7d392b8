/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session/worker.h"

#include <signal.h>
#include <stdio.h>

enum {
    SYSTEM_NAME_BYTES = 16,
    EXTRA_STACK_BYTES = 64 * 1024,
    PAGE_BYTES = 64 * 1024 /* a multiple of every page size there is */
};

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

/* The system's name of the thread: as much as fits. */
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
    /* From here on the system may give this thread's id to another one. */
    set_inside(worker, false);
    end_start(worker, status);
    return NULL;
}

/* A whole number of pages. With glibc the thread's control block and the thread-locals of all
 * libraries are part of the stack: EXTRA_STACK_BYTES is for those. */
static size_t stack_bytes_of(const struct smp_attach *attach)
{
    size_t wanted = attach->stack_bytes;

    if (wanted < SMP_WORKER_MIN_STACK_BYTES)
        wanted = SMP_WORKER_MIN_STACK_BYTES;
    return (wanted + EXTRA_STACK_BYTES + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static int create_with_stack(struct smp_worker *worker)
{
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);

    if (error != 0)
        return error;
    error = pthread_attr_setstacksize(&attributes, stack_bytes_of(&worker->attach));
    if (error == 0)
        error = pthread_create(&worker->to_join, &attributes, run_worker, worker);
    (void)pthread_attr_destroy(&attributes);
    return error;
}

/* The new thread inherits the mask: no signal of the application is ever handled on it. */
static int start_masked(struct smp_worker *worker)
{
    sigset_t all;
    sigset_t before;
    int error;

    (void)sigfillset(&all);
    error = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (error != 0)
        return error;
    error = create_with_stack(worker);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

enum smp_status smp_worker_start(struct smp_worker *worker)
{
    enum smp_status status;

    worker->may_start_return = false;
    if (start_masked(worker) != 0)
        return SMP_ETHREAD;
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
