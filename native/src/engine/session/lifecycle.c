/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session/lifecycle.h"

/* Bit s of TRANSITIONS[t] is set if state t may follow state s. */
static const unsigned TRANSITIONS[SMP_STATE_COUNT] = {
    [SMP_NEW] = 1u << SMP_STARTING, /* after a failed start */
    [SMP_STARTING] = 1u << SMP_NEW,     [SMP_RUNNING] = 1u << SMP_STARTING,
    [SMP_STOPPING] = 1u << SMP_RUNNING, [SMP_STOPPED] = 1u << SMP_STOPPING,
};

/* Changes the state, if it may follow the current one. The caller holds the lock. */
static bool move_to(struct smp_lifecycle *lifecycle, enum smp_state state)
{
    if ((TRANSITIONS[state] >> lifecycle->state & 1u) == 0)
        return false;
    lifecycle->state = state;
    smp_lock_notify(&lifecycle->lock);
    return true;
}

static bool goes_on(const struct smp_lifecycle *lifecycle)
{
    return lifecycle->state == SMP_STARTING || lifecycle->state == SMP_RUNNING;
}

enum smp_status smp_lifecycle_init(struct smp_lifecycle *lifecycle)
{
    *lifecycle = (struct smp_lifecycle){ .state = SMP_NEW };
    lifecycle->end = &lifecycle->first;
    return smp_lock_init(&lifecycle->lock);
}

void smp_lifecycle_fini(struct smp_lifecycle *lifecycle)
{
    smp_lock_fini(&lifecycle->lock);
}

/* --- start, stop --- */

enum smp_status smp_lifecycle_begin_start(struct smp_lifecycle *lifecycle)
{
    smp_lock_acquire(&lifecycle->lock);
    const bool has_moved = move_to(lifecycle, SMP_STARTING);
    smp_lock_release(&lifecycle->lock);
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
    smp_lock_acquire(&lifecycle->lock);
    (void)move_to(lifecycle, has_started ? SMP_RUNNING : SMP_NEW);
    if (!has_started) {
        for (struct smp_request *request = take_all(lifecycle); request != NULL;
             request = request->next) {
            request->status = do_request(self, request, false);
            request->is_done = true;
        }
    }
    smp_lock_release(&lifecycle->lock);
}

bool smp_lifecycle_begin_stop(struct smp_lifecycle *lifecycle, bool wants_last_report)
{
    smp_lock_acquire(&lifecycle->lock);
    while (lifecycle->state == SMP_STARTING || lifecycle->state == SMP_STOPPING)
        smp_lock_wait(&lifecycle->lock);
    const bool has_moved = move_to(lifecycle, SMP_STOPPING);
    if (has_moved)
        lifecycle->wants_last_report = wants_last_report;
    smp_event_call(&lifecycle->event);
    smp_lock_release(&lifecycle->lock);
    return has_moved;
}

void smp_lifecycle_end_stop(struct smp_lifecycle *lifecycle)
{
    smp_lock_acquire(&lifecycle->lock);
    (void)move_to(lifecycle, SMP_STOPPED);
    smp_lock_release(&lifecycle->lock);
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
        smp_lock_wait(&lifecycle->lock);
    return request->status;
}

enum smp_status smp_lifecycle_request(struct smp_lifecycle *lifecycle, struct smp_request *request,
                                      smp_do_request *do_request, void *self)
{
    enum smp_status status = SMP_ESTOPPED;

    smp_lock_acquire(&lifecycle->lock);
    if (lifecycle->state == SMP_NEW)
        status = do_request(self, request, false);
    else if (goes_on(lifecycle))
        status = wait_until_done(lifecycle, request);
    smp_lock_release(&lifecycle->lock);
    return status;
}

bool smp_lifecycle_has_work(struct smp_lifecycle *lifecycle)
{
    smp_lock_acquire(&lifecycle->lock);
    const bool has_work =
        lifecycle->first != NULL || lifecycle->options != NULL || !goes_on(lifecycle);
    smp_lock_release(&lifecycle->lock);
    return has_work;
}

bool smp_lifecycle_take(struct smp_lifecycle *lifecycle, struct smp_request **requests)
{
    smp_lock_acquire(&lifecycle->lock);
    *requests = take_all(lifecycle);
    const bool is_running = goes_on(lifecycle);
    smp_lock_release(&lifecycle->lock);
    return is_running;
}

void smp_lifecycle_done(struct smp_lifecycle *lifecycle, struct smp_request *request,
                        enum smp_status status)
{
    smp_lock_acquire(&lifecycle->lock);
    request->status = status;
    request->is_done = true;
    smp_lock_notify(&lifecycle->lock);
    smp_lock_release(&lifecycle->lock);
}

enum smp_status smp_lifecycle_put_options(struct smp_lifecycle *lifecycle,
                                          struct smp_prepared_options *options,
                                          struct smp_prepared_options **out)
{
    enum smp_status status = SMP_ESTOPPED;

    *out = options;
    smp_lock_acquire(&lifecycle->lock);
    if (lifecycle->state == SMP_NEW || goes_on(lifecycle)) {
        *out = lifecycle->options;
        lifecycle->options = options;
        smp_event_call(&lifecycle->event);
        status = SMP_OK;
    }
    smp_lock_release(&lifecycle->lock);
    return status;
}

struct smp_prepared_options *smp_lifecycle_take_options(struct smp_lifecycle *lifecycle)
{
    smp_lock_acquire(&lifecycle->lock);
    struct smp_prepared_options *options = lifecycle->options;
    lifecycle->options = NULL;
    smp_lock_release(&lifecycle->lock);
    return options;
}

enum smp_state smp_lifecycle_state(struct smp_lifecycle *lifecycle)
{
    smp_lock_acquire(&lifecycle->lock);
    const enum smp_state state = lifecycle->state;
    smp_lock_release(&lifecycle->lock);
    return state;
}
