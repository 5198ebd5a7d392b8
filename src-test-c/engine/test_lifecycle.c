/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a session: their order, and what happens to requests in each state. */
#include "engine/session/lifecycle.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/thread.h"
#include "engine/session/sampler.h"
#include "support/sleeping_thread.h"

static int setup(void **state)
{
    static struct smp_lifecycle lifecycle;

    assert_int_equal(smp_lifecycle_init(&lifecycle), SMP_OK);
    *state = &lifecycle;
    return 0;
}

static int teardown(void **state)
{
    smp_lifecycle_fini(*state);
    return 0;
}

/* Counts its calls. Only before the start. */
static enum smp_status count_call(void *self, struct smp_request *request, bool is_started)
{
    (void)request;
    assert_false(is_started);
    ++*(unsigned *)self;
    return SMP_EIO;
}

static enum smp_status pause_it(struct smp_lifecycle *lifecycle, unsigned *calls)
{
    struct smp_request stale = { .kind = SMP_REQUEST_RESUME };
    /* It may have been queued before, in front of another request. */
    struct smp_request request = { .kind = SMP_REQUEST_PAUSE, .next = &stale };

    return smp_lifecycle_request(lifecycle, &request, count_call, calls);
}

static void start(struct smp_lifecycle *lifecycle, bool has_started)
{
    assert_int_equal(smp_lifecycle_begin_start(lifecycle), SMP_OK);
    smp_lifecycle_end_start(lifecycle, has_started, count_call, NULL);
}

static void a_session_starts_and_stops_once(void **state)
{
    struct smp_lifecycle *lifecycle = *state;
    struct smp_request *requests = NULL;

    start(lifecycle, true);
    assert_int_equal(smp_lifecycle_begin_start(lifecycle), SMP_ESTATE);
    assert_false(smp_lifecycle_has_work(lifecycle));
    assert_true(smp_lifecycle_take(lifecycle, &requests));
    assert_true(smp_lifecycle_begin_stop(lifecycle, true));
    assert_true(lifecycle->wants_last_report);
    assert_true(smp_lifecycle_has_work(lifecycle)); /* the end of the thread */
    assert_false(smp_lifecycle_take(lifecycle, &requests));
    assert_null(requests);
    smp_lifecycle_end_stop(lifecycle);
    assert_false(smp_lifecycle_begin_stop(lifecycle, false));
    assert_true(lifecycle->wants_last_report);
    assert_int_equal(smp_lifecycle_begin_start(lifecycle), SMP_ESTATE);
    assert_int_equal(lifecycle->state, SMP_STOPPED);
}

static void a_failed_start_may_be_tried_again(void **state)
{
    struct smp_lifecycle *lifecycle = *state;

    start(lifecycle, false);
    assert_int_equal(lifecycle->state, SMP_NEW);
    assert_false(smp_lifecycle_begin_stop(lifecycle, true));
    start(lifecycle, true);
    assert_int_equal(lifecycle->state, SMP_RUNNING);
}

static void requests_run_at_once_before_start_and_fail_after_stop(void **state)
{
    struct smp_lifecycle *lifecycle = *state;
    unsigned calls = 0;

    assert_int_equal(pause_it(lifecycle, &calls), SMP_EIO);
    assert_int_equal(calls, 1);
    start(lifecycle, true);
    assert_true(smp_lifecycle_begin_stop(lifecycle, false));
    assert_int_equal(pause_it(lifecycle, &calls), SMP_ESTOPPED);
    smp_lifecycle_end_stop(lifecycle);
    assert_int_equal(pause_it(lifecycle, &calls), SMP_ESTOPPED);
    assert_int_equal(calls, 1);
}

/* The lifecycle never reads the options themselves. */
static void only_the_last_options_are_kept_and_none_after_stop(void **state)
{
    struct smp_lifecycle *lifecycle = *state;
    struct smp_prepared_options options[3];
    struct smp_prepared_options *out = NULL;
    struct smp_request *requests = NULL;

    assert_null(smp_lifecycle_take_options(lifecycle));
    assert_int_equal(smp_lifecycle_put_options(lifecycle, &options[0], &out), SMP_OK);
    assert_null(out);
    start(lifecycle, true);
    const uint32_t calls = smp_event_calls(&lifecycle->event);
    assert_int_equal(smp_lifecycle_put_options(lifecycle, &options[1], &out), SMP_OK);
    assert_ptr_equal(out, &options[0]);
    assert_int_not_equal(smp_event_calls(&lifecycle->event), calls);
    assert_true(smp_lifecycle_has_work(lifecycle));
    assert_ptr_equal(smp_lifecycle_take_options(lifecycle), &options[1]);
    assert_null(smp_lifecycle_take_options(lifecycle));
    assert_false(smp_lifecycle_has_work(lifecycle));
    /* An accepted slot is still there for the end. */
    assert_int_equal(smp_lifecycle_put_options(lifecycle, &options[2], &out), SMP_OK);
    assert_true(smp_lifecycle_begin_stop(lifecycle, true));
    assert_int_equal(smp_lifecycle_put_options(lifecycle, &options[0], &out), SMP_ESTOPPED);
    assert_ptr_equal(out, &options[0]);
    assert_false(smp_lifecycle_take(lifecycle, &requests));
    assert_ptr_equal(smp_lifecycle_take_options(lifecycle), &options[2]);
    smp_lifecycle_end_stop(lifecycle);
    assert_int_equal(smp_lifecycle_put_options(lifecycle, &options[0], &out), SMP_ESTOPPED);
}

struct caller {
    struct smp_lifecycle *lifecycle;
    unsigned calls;
    enum smp_status status;
};

static void *request_in_thread(void *self)
{
    struct caller *caller = self;

    caller->status = pause_it(caller->lifecycle, &caller->calls);
    return NULL;
}

static void requests_during_a_failed_start_are_done_at_its_end(void **state)
{
    struct caller caller = { .lifecycle = *state };
    pthread_t thread;

    assert_int_equal(smp_lifecycle_begin_start(caller.lifecycle), SMP_OK);
    assert_int_equal(pthread_create(&thread, NULL, request_in_thread, &caller), 0);
    while (!smp_lifecycle_has_work(caller.lifecycle))
        sched_yield();
    smp_lifecycle_end_start(caller.lifecycle, false, count_call, &caller.calls);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(caller.calls, 1);
    assert_int_equal(caller.status, SMP_EIO);
}

static void requests_during_a_start_are_done_by_the_running_thread(void **state)
{
    struct caller caller = { .lifecycle = *state, .status = SMP_OK };
    struct smp_request *requests = NULL;
    pthread_t thread;

    assert_int_equal(smp_lifecycle_begin_start(caller.lifecycle), SMP_OK);
    assert_int_equal(pthread_create(&thread, NULL, request_in_thread, &caller), 0);
    while (!smp_lifecycle_has_work(caller.lifecycle))
        sched_yield();
    smp_lifecycle_end_start(caller.lifecycle, true, count_call, &caller.calls);
    assert_true(smp_lifecycle_has_work(caller.lifecycle));
    assert_true(smp_lifecycle_take(caller.lifecycle, &requests));
    smp_lifecycle_done(caller.lifecycle, requests, SMP_EQUOTA);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(caller.calls, 0);
    assert_int_equal(caller.status, SMP_EQUOTA);
}

static void requests_to_the_running_thread_wait_until_they_are_done(void **state)
{
    struct caller caller = { .lifecycle = *state, .status = SMP_OK };
    struct smp_request *requests = NULL;
    pthread_t thread;

    start(caller.lifecycle, true);
    assert_int_equal(pthread_create(&thread, NULL, request_in_thread, &caller), 0);
    while (!smp_lifecycle_has_work(caller.lifecycle))
        sched_yield();
    assert_true(smp_lifecycle_take(caller.lifecycle, &requests));
    assert_non_null(requests);
    assert_null(requests->next);
    assert_false(smp_lifecycle_has_work(caller.lifecycle));
    smp_lifecycle_done(caller.lifecycle, requests, SMP_EQUOTA);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(caller.calls, 0);
    assert_int_equal(caller.status, SMP_EQUOTA);
}

struct stopper {
    struct smp_lifecycle *lifecycle;
    pthread_t thread;
    _Atomic int32_t tid;
    _Atomic bool has_returned;
    bool has_to_stop;
};

static void *stop_in_thread(void *self)
{
    struct stopper *stopper = self;

    stopper->tid = smp_thread_own_tid();
    stopper->has_to_stop = smp_lifecycle_begin_stop(stopper->lifecycle, true);
    stopper->has_returned = true;
    return NULL;
}

/* Returns when the stop waits. A stop that does not wait returns and fails the test. */
static void begin_to_wait(struct stopper *stopper)
{
    assert_int_equal(pthread_create(&stopper->thread, NULL, stop_in_thread, stopper), 0);
    while (stopper->tid == 0 || (!stopper->has_returned && !thread_sleeps(stopper->tid)))
        sched_yield();
    assert_false(stopper->has_returned);
}

static void a_stop_waits_for_the_end_of_a_start(void **state)
{
    struct stopper stopper = { .lifecycle = *state };

    assert_int_equal(smp_lifecycle_begin_start(stopper.lifecycle), SMP_OK);
    begin_to_wait(&stopper);
    smp_lifecycle_end_start(stopper.lifecycle, true, count_call, NULL);
    assert_int_equal(pthread_join(stopper.thread, NULL), 0);
    assert_true(stopper.has_to_stop);
    assert_int_equal(smp_lifecycle_state(stopper.lifecycle), SMP_STOPPING);
}

static void a_second_stop_waits_for_the_end_of_the_first(void **state)
{
    struct stopper stopper = { .lifecycle = *state };

    start(stopper.lifecycle, true);
    assert_true(smp_lifecycle_begin_stop(stopper.lifecycle, false));
    begin_to_wait(&stopper);
    smp_lifecycle_end_stop(stopper.lifecycle);
    assert_int_equal(pthread_join(stopper.thread, NULL), 0);
    assert_false(stopper.has_to_stop);
    assert_false(stopper.lifecycle->wants_last_report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_session_starts_and_stops_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_failed_start_may_be_tried_again, setup, teardown),
        cmocka_unit_test_setup_teardown(requests_run_at_once_before_start_and_fail_after_stop,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(only_the_last_options_are_kept_and_none_after_stop, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(requests_during_a_failed_start_are_done_at_its_end, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(requests_during_a_start_are_done_by_the_running_thread,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(requests_to_the_running_thread_wait_until_they_are_done,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_stop_waits_for_the_end_of_a_start, setup, teardown),
        cmocka_unit_test_setup_teardown(a_second_stop_waits_for_the_end_of_the_first, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
