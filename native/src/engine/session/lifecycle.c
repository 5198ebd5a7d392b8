/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session/lifecycle.h"

/* bit s of TRANSITIONS[t]: state t may follow state s. */
static const unsigned TRANSITIONS[SMP_STATE_COUNT] = {
    [SMP_NEW] = 1u << SMP_STARTING, /* the start has failed */
    [SMP_STARTING] = 1u << SMP_NEW,     [SMP_RUNNING] = 1u << SMP_STARTING,
    [SMP_STOPPING] = 1u << SMP_RUNNING, [SMP_STOPPED] = 1u << SMP_STOPPING,
};

static void lock_lifecycle(struct smp_lifecycle *lifecycle)
{
    (void)pthread_mutex_lock(&lifecycle->mutex);
}

static void unlock_lifecycle(struct smp_lifecycle *lifecycle)
{
    (void)pthread_mutex_unlock(&lifecycle->mutex);
}

/* With the lock. False: it cannot follow the state there is. */
static bool move_to(struct smp_lifecycle *lifecycle, enum smp_state state)
{
    if ((TRANSITIONS[state] >> lifecycle->state & 1u) == 0)
        return false;
    lifecycle->state = state;
    (void)pthread_cond_broadcast(&lifecycle->changed);
    return true;
}

enum smp_status smp_lifecycle_init(struct smp_lifecycle *lifecycle)
{
    *lifecycle = (struct smp_lifecycle){ .state = SMP_NEW };
    lifecycle->end = &lifecycle->first;
    if (pthread_mutex_init(&lifecycle->mutex, NULL) != 0)
        return SMP_ENOMEM;
    if (pthread_cond_init(&lifecycle->changed, NULL) == 0)
        return SMP_OK;
    (void)pthread_mutex_destroy(&lifecycle->mutex);
    return SMP_ENOMEM;
}

void smp_lifecycle_fini(struct smp_lifecycle *lifecycle)
{
    (void)pthread_cond_destroy(&lifecycle->changed);
    (void)pthread_mutex_destroy(&lifecycle->mutex);
}

/* --- start, stop --- */

enum smp_status smp_lifecycle_begin_start(struct smp_lifecycle *lifecycle)
{
    bool has_moved;

    lock_lifecycle(lifecycle);
    has_moved = move_to(lifecycle, SMP_STARTING);
    unlock_lifecycle(lifecycle);
    return has_moved ? SMP_OK : SMP_ESTATE;
}

static struct smp_request *take_all(struct smp_lifecycle *lifecycle)
{
    struct smp_request *requests = lifecycle->first;

    lifecycle->first = NULL;
    lifecycle->end = &lifecycle->first;
    return requests;
}

void smp_lifecycle_end_start(struct smp_lifecycle *lifecycle, bool has_started,
                             smp_do_request *do_request, void *self)
{
    lock_lifecycle(lifecycle);
    (void)move_to(lifecycle, has_started ? SMP_RUNNING : SMP_NEW);
    if (!has_started) {
        for (struct smp_request *request = take_all(lifecycle); request != NULL;
             request = request->next) {
            request->status = do_request(self, request, false);
            request->is_done = true;
        }
    }
    unlock_lifecycle(lifecycle);
}

bool smp_lifecycle_begin_stop(struct smp_lifecycle *lifecycle, bool wants_last_report)
{
    bool has_moved;

    lock_lifecycle(lifecycle);
    while (lifecycle->state == SMP_STARTING || lifecycle->state == SMP_STOPPING)
        (void)pthread_cond_wait(&lifecycle->changed, &lifecycle->mutex);
    has_moved = move_to(lifecycle, SMP_STOPPING);
    if (has_moved)
        lifecycle->wants_last_report = wants_last_report;
    smp_event_call(&lifecycle->event);
    unlock_lifecycle(lifecycle);
    return has_moved;
}

void smp_lifecycle_end_stop(struct smp_lifecycle *lifecycle)
{
    lock_lifecycle(lifecycle);
    (void)move_to(lifecycle, SMP_STOPPED);
    unlock_lifecycle(lifecycle);
}

/* --- requests --- */

static enum smp_status wait_until_done(struct smp_lifecycle *lifecycle, struct smp_request *request)
{
    request->is_done = false;
    request->next = NULL;
    *lifecycle->end = request;
    lifecycle->end = &request->next;
    smp_event_call(&lifecycle->event);
    while (!request->is_done)
        (void)pthread_cond_wait(&lifecycle->changed, &lifecycle->mutex);
    return request->status;
}

enum smp_status smp_lifecycle_ask(struct smp_lifecycle *lifecycle, struct smp_request *request,
                                  smp_do_request *do_request, void *self)
{
    enum smp_status status = SMP_ESTOPPED;

    lock_lifecycle(lifecycle);
    if (lifecycle->state == SMP_NEW)
        status = do_request(self, request, false);
    else if (lifecycle->state == SMP_STARTING || lifecycle->state == SMP_RUNNING)
        status = wait_until_done(lifecycle, request);
    unlock_lifecycle(lifecycle);
    return status;
}

static bool goes_on(const struct smp_lifecycle *lifecycle)
{
    return lifecycle->state == SMP_STARTING || lifecycle->state == SMP_RUNNING;
}

bool smp_lifecycle_has_work(struct smp_lifecycle *lifecycle)
{
    bool has_work;

    lock_lifecycle(lifecycle);
    has_work = lifecycle->first != NULL || lifecycle->options != NULL || !goes_on(lifecycle);
    unlock_lifecycle(lifecycle);
    return has_work;
}

bool smp_lifecycle_take(struct smp_lifecycle *lifecycle, struct smp_request **requests)
{
    bool is_running;

    lock_lifecycle(lifecycle);
    *requests = take_all(lifecycle);
    is_running = goes_on(lifecycle);
    unlock_lifecycle(lifecycle);
    return is_running;
}

void smp_lifecycle_done(struct smp_lifecycle *lifecycle, struct smp_request *request,
                        enum smp_status status)
{
    lock_lifecycle(lifecycle);
    request->status = status;
    request->is_done = true;
    (void)pthread_cond_broadcast(&lifecycle->changed);
    unlock_lifecycle(lifecycle);
}

enum smp_status smp_lifecycle_put_options(struct smp_lifecycle *lifecycle,
                                          struct smp_prepared_options *options,
                                          struct smp_prepared_options **out)
{
    enum smp_status status = SMP_ESTOPPED;

    *out = options;
    lock_lifecycle(lifecycle);
    if (lifecycle->state == SMP_NEW || goes_on(lifecycle)) {
        *out = lifecycle->options;
        lifecycle->options = options;
        smp_event_call(&lifecycle->event);
        status = SMP_OK;
    }
    unlock_lifecycle(lifecycle);
    return status;
}

struct smp_prepared_options *smp_lifecycle_take_options(struct smp_lifecycle *lifecycle)
{
    struct smp_prepared_options *options;

    lock_lifecycle(lifecycle);
    options = lifecycle->options;
    lifecycle->options = NULL;
    unlock_lifecycle(lifecycle);
    return options;
}

enum smp_state smp_lifecycle_state(struct smp_lifecycle *lifecycle)
{
    (void)pthread_mutex_lock(&lifecycle->mutex);
    const enum smp_state state = lifecycle->state;
    (void)pthread_mutex_unlock(&lifecycle->mutex);
    return state;
}
