/* SPDX-License-Identifier: Apache-2.0 */
/* An internal thread: its signals, its attachment, and failures of both. */
#include "engine/session/worker.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/thread.h"

/* The sanitizers interpose pthread_create and do not allow another interposer. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <dlfcn.h>
#define CAN_REFUSE_THREADS 1

static bool refuses_threads;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    if (refuses_threads)
        return EAGAIN;
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attributes, run, argument);
}
#endif

struct fixture {
    struct smp_worker worker;
    enum smp_status entered;
    const char *name;
    int enters;
    int leaves;
    int runs;
    bool calls_ready;
    bool was_caller;
    sigset_t mask;
    size_t stack_bytes;
};

static enum smp_status enter(void *self, const char *name)
{
    struct fixture *f = self;

    f->enters++;
    f->name = name;
    return f->entered;
}

static void leave(void *self)
{
    ((struct fixture *)self)->leaves++;
}

static size_t own_stack_bytes(void)
{
    pthread_attr_t attributes;
    size_t bytes = 0;

    assert_int_equal(pthread_getattr_np(pthread_self(), &attributes), 0);
    assert_int_equal(pthread_attr_getstacksize(&attributes, &bytes), 0);
    (void)pthread_attr_destroy(&attributes);
    return bytes;
}

static void run(void *self)
{
    struct fixture *f = self;

    f->runs++;
    pthread_sigmask(SIG_SETMASK, NULL, &f->mask);
    f->was_caller = smp_worker_is_caller(&f->worker);
    f->stack_bytes = own_stack_bytes();
    if (f->calls_ready)
        smp_worker_ready(&f->worker);
}

static int setup(void **state)
{
    static struct fixture f;
    const struct smp_attach attach = { .enter = enter, .leave = leave, .self = &f };

    f = (struct fixture){ .calls_ready = true };
    *state = &f;
    return smp_worker_init(&f.worker, &attach, "worker", run, &f) == SMP_OK ? 0 : -1;
}

static int teardown(void **state)
{
    smp_worker_fini(&((struct fixture *)*state)->worker);
    return 0;
}

static void runs_attached_to_the_jvm(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(smp_worker_start(&f->worker), SMP_OK);
    smp_worker_join(&f->worker);
    assert_int_equal(f->runs, 1);
    assert_string_equal(f->name, "worker");
    assert_int_equal(f->enters, 1);
    assert_int_equal(f->leaves, 1);
}

static void the_thread_has_the_signal_mask_of_its_starter(void **state)
{
    struct fixture *f = *state;
    sigset_t some;
    sigset_t before;
    sigset_t after;

    (void)sigemptyset(&some);
    (void)sigaddset(&some, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &some, &before);
    assert_int_equal(smp_worker_start(&f->worker), SMP_OK);
    pthread_sigmask(SIG_SETMASK, &before, &after);
    smp_worker_join(&f->worker);
    for (int number = 1; number <= SIGRTMAX; number++) {
        assert_int_equal(sigismember(&f->mask, number), number == SIGUSR1);
        assert_int_equal(sigismember(&after, number), number == SIGUSR1);
    }
}

/* The process's default is small, as with "ulimit -s" or musl. */
static void the_stack_is_as_large_as_that_of_a_java_thread(void **state)
{
    struct fixture *f = *state;
    pthread_attr_t small;

    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, 256 * 1024), 0);
    assert_int_equal(pthread_setattr_default_np(&small), 0);
    assert_int_equal(smp_worker_start(&f->worker), SMP_OK);
    smp_worker_join(&f->worker);
    assert_true(f->stack_bytes >= SMP_THREAD_MIN_STACK_BYTES);
    assert_true(f->stack_bytes < 2 * SMP_THREAD_MIN_STACK_BYTES);
    f->worker.attach.stack_bytes = 3 * SMP_THREAD_MIN_STACK_BYTES - 1;
    assert_int_equal(smp_worker_start(&f->worker), SMP_OK);
    smp_worker_join(&f->worker);
    assert_true(f->stack_bytes >= 3 * SMP_THREAD_MIN_STACK_BYTES);
    (void)pthread_attr_destroy(&small);
}

static void the_thread_recognises_itself(void **state)
{
    struct fixture *f = *state;

    assert_false(smp_worker_is_caller(&f->worker));
    assert_int_equal(smp_worker_start(&f->worker), SMP_OK);
    assert_false(smp_worker_is_caller(&f->worker));
    smp_worker_join(&f->worker);
    assert_true(f->was_caller);
    assert_false(smp_worker_is_caller(&f->worker));
}

static void start_returns_although_the_thread_never_gets_ready(void **state)
{
    struct fixture *f = *state;

    f->calls_ready = false;
    assert_int_equal(smp_worker_start(&f->worker), SMP_OK);
    smp_worker_join(&f->worker);
    assert_int_equal(f->leaves, 1);
}

static void a_thread_that_cannot_attach_is_joined(void **state)
{
    struct fixture *f = *state;

    f->entered = SMP_EVM;
    assert_int_equal(smp_worker_start(&f->worker), SMP_EVM);
    assert_int_equal(f->runs, 0);
    assert_int_equal(f->leaves, 0);
    f->entered = SMP_OK;
    assert_int_equal(smp_worker_start(&f->worker), SMP_OK);
    smp_worker_join(&f->worker);
    assert_int_equal(f->runs, 1);
}

static void without_threads_start_fails(void **state)
{
#if defined(CAN_REFUSE_THREADS)
    struct fixture *f = *state;
    sigset_t mask;

    refuses_threads = true;
    assert_int_equal(smp_worker_start(&f->worker), SMP_ETHREAD);
    refuses_threads = false;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    assert_int_equal(sigismember(&mask, SIGINT), 0);
    assert_int_equal(f->enters, 0);
    assert_int_equal(smp_worker_start(&f->worker), SMP_OK);
    smp_worker_join(&f->worker);
#else
    (void)state;
    skip();
#endif
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(runs_attached_to_the_jvm),
        TEST(the_thread_has_the_signal_mask_of_its_starter),
        TEST(the_stack_is_as_large_as_that_of_a_java_thread),
        TEST(the_thread_recognises_itself),
        TEST(start_returns_although_the_thread_never_gets_ready),
        TEST(a_thread_that_cannot_attach_is_joined),
        TEST(without_threads_start_fails),
    };
#undef TEST
    return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
