/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/alloc.h"
#include "jvm/agent/agent.h"
#include "jvm/threads/registry.h"
#include "jvm/walk/signals.h"
#include "support/failing_alloc.h"
#include "support/fake_vm.h"

static struct fake_vm_reader reader;

static int setup(void **state)
{
    (void)state;
    fake_vm_setup();
    reader = (struct fake_vm_reader){ .accept = FAKE_VM_MAX_POLLED };
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fake_vm_drop_all(&reader);
    fake_vm_teardown();
    return 0;
}

static bool any_event_is_on(void)
{
    for (int i = 0; i <= JVMTI_MAX_EVENT_TYPE_VAL; i++) {
        if (fake_vm.enabled[i])
            return true;
    }
    return false;
}

/* Must be the first test, because the id is kept once it is found. */
static void a_jvm_without_thread_ids_is_refused(void **state)
{
    (void)state;
    fake_vm.no_id_field = true;
    assert_int_equal(smp_agent_open(), SMP_EUNSUPPORTED);
    assert_false(any_event_is_on());
}

static void loading_creates_no_environment(void **state)
{
    (void)state;
    assert_null(smp_agent_jvmti());
    assert_false(smp_agent_is_live());
    assert_int_equal(fake_vm.calls[FAKE_GetPhase], 0);
}

static void events_are_on_while_it_is_open(void **state)
{
    (void)state;
    assert_int_equal(smp_agent_open(), SMP_OK);
    assert_int_equal(smp_agent_open(), SMP_OK);
    assert_int_equal(fake_vm.calls[FAKE_GetAllThreads], 1);
    assert_true(fake_vm.enabled[JVMTI_EVENT_THREAD_START]);
    assert_true(fake_vm.enabled[JVMTI_EVENT_THREAD_END]);
    assert_true(fake_vm.enabled[JVMTI_EVENT_VM_DEATH]);
    smp_agent_close();
    assert_true(fake_vm.enabled[JVMTI_EVENT_THREAD_START]);
    smp_agent_close();
    assert_false(any_event_is_on());
    assert_false(fake_vm.disposed);
    smp_agent_close(); /* an additional close has no effect */
}

static void the_environment_is_created_once(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(smp_agent_open(), SMP_OK);
        smp_agent_close();
    }
    assert_int_equal(fake_vm.calls[FAKE_SetEventCallbacks], 1);
    assert_int_equal(fake_vm.calls[FAKE_GetAllThreads], 3);
}

static void end_events_are_on_before_start_events(enum fake_call call)
{
    if (call == FAKE_SetEventNotificationMode && fake_vm.enabled[JVMTI_EVENT_THREAD_START])
        assert_true(fake_vm.enabled[JVMTI_EVENT_THREAD_END]);
    if (call == FAKE_GetAllThreads)
        assert_true(fake_vm.enabled[JVMTI_EVENT_THREAD_START]);
}

static void events_are_on_before_the_scan(void **state)
{
    (void)state;
    fake_vm.before = end_events_are_on_before_start_events;
    assert_int_equal(smp_agent_open(), SMP_OK);
    smp_agent_close();
}

static void capabilities_are_added_one_by_one(void **state)
{
    (void)state;
    fake_vm.potential.can_get_line_numbers = 0;
    assert_int_equal(smp_agent_open(), SMP_OK);
    assert_false(fake_vm.added.can_get_line_numbers);
    assert_true(fake_vm.added.can_get_source_file_name);
    smp_agent_close();
}

static void no_jvmti_is_unsupported(void **state)
{
    (void)state;
    fake_vm.jvmti_answer = JNI_EVERSION;
    assert_int_equal(smp_agent_open(), SMP_EUNSUPPORTED);
    assert_null(smp_agent_jvmti());
}

static void a_jvm_that_is_not_live_is_refused(void **state)
{
    (void)state;
    fake_vm.phase = JVMTI_PHASE_START;
    assert_int_equal(smp_agent_open(), SMP_EPHASE);
    assert_true(fake_vm.disposed);
    assert_null(smp_agent_jvmti());
    fake_vm.phase = JVMTI_PHASE_LIVE;
    assert_int_equal(smp_agent_open(), SMP_OK);
    smp_agent_close();
}

static void a_failed_open_leaves_nothing(void **state)
{
    static const enum fake_call fatal[] = { FAKE_GetPhase, FAKE_SetEventCallbacks,
                                            FAKE_SetEventNotificationMode, FAKE_GetAllThreads };

    (void)state;
    for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++) {
        fake_vm.errors[fatal[i]] = JVMTI_ERROR_OUT_OF_MEMORY;
        assert_int_equal(smp_agent_open(), SMP_ENOMEM);
        fake_vm.errors[fatal[i]] = JVMTI_ERROR_NONE;
        assert_false(any_event_is_on());
        assert_int_equal(smp_alloc_live_bytes(), 0);
    }
    assert_int_equal(smp_agent_open(), SMP_OK);
    smp_agent_close();
}

static enum smp_status open_and_close(void *self)
{
    (void)self;
    const enum smp_status status = smp_agent_open();
    if (status == SMP_OK)
        smp_agent_close();
    return status;
}

/* Without memory for a thread, the thread is unknown; without memory to find its tid, it is walked
 * through JVMTI; without memory for the table, opening fails. */
static void each_allocation_may_fail(void **state)
{
    (void)state;
    const struct failing_alloc_steps steps = failing_alloc_each_step(open_and_close, NULL);
    assert_true(steps.refused >= 2);
    assert_int_equal(steps.survived, steps.refused - 1);
}

static void the_agent_opens_without_a_system_group(void **state)
{
    (void)state;
    fake_vm.errors[FAKE_GetTopThreadGroups] = JVMTI_ERROR_OUT_OF_MEMORY;
    assert_int_equal(smp_agent_open(), SMP_OK);
    smp_agent_close();
}

static void *open_close_many(void *arg)
{
    (void)arg;
    (void)fake_vm_jni();
    for (int i = 0; i < 200; i++) {
        if (smp_agent_open() != SMP_OK)
            return (void *)1;
        if (!smp_agent_is_live() || smp_agent_jvmti() == NULL)
            return (void *)1;
        smp_agent_close();
    }
    fake_vm_detach();
    return NULL;
}

static void sessions_open_and_close_on_many_threads(void **state)
{
    pthread_t threads[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_close_many, NULL), 0);
    for (int i = 0; i < 4; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_null(result);
    }
    assert_false(any_event_is_on());
}

static void after_vm_death_the_jvm_is_not_called(void **state)
{
    int calls = 0;

    (void)state;
    assert_int_equal(smp_agent_open(), SMP_OK);
    fake_vm_poll(&reader);
    fake_vm_death();
    assert_false(smp_agent_is_live());
    for (int i = 0; i < FAKE_CALL_COUNT; i++)
        calls += fake_vm.calls[i];
    fake_vm_drop_all(&reader);
    smp_agent_close();
    assert_int_equal(smp_agent_open(), SMP_EPHASE);
    assert_int_equal(smp_agent_attach("late"), SMP_EPHASE);
    for (int i = 0; i < FAKE_CALL_COUNT; i++)
        calls -= fake_vm.calls[i];
    assert_int_equal(calls, 0);
}

/* -------------------------------------------------------------------------- internal threads */

static struct fake_thread own_thread;

static void start_own_thread(void)
{
    fake_vm_thread_start(&own_thread);
}

static void *enter_and_leave(void *arg)
{
    const char *name = arg;
    enum smp_status status = smp_agent_attach(name);

    if (status == SMP_OK) {
        fake_vm_poll(&reader);
        fake_vm_thread_end(&own_thread);
        smp_agent_detach();
    }
    return (void *)(intptr_t)status;
}

static enum smp_status run_own_thread(const char *name)
{
    pthread_t thread;
    void *status = NULL;

    own_thread = fake_vm.main_thread;
    own_thread.java_id = 99;
    fake_vm.on_attach = start_own_thread;
    assert_int_equal(pthread_create(&thread, NULL, enter_and_leave, (void *)(intptr_t)name), 0);
    assert_int_equal(pthread_join(thread, &status), 0);
    return (enum smp_status)(intptr_t)status;
}

static void an_internal_thread_is_a_hidden_daemon_in_the_system_group(void **state)
{
    (void)state;
    assert_int_equal(smp_agent_open(), SMP_OK);
    assert_int_equal(run_own_thread("threads-sampler"), SMP_OK);
    assert_string_equal(fake_vm.last_attach_name, "threads-sampler");
    assert_ptr_equal(fake_vm_object(fake_vm.last_attach.group), &fake_vm.system);
    assert_int_equal(reader.count, 1); /* only the main thread */
    assert_int_equal(reader.unseen, 0);
    smp_agent_close();
}

/* Returns the signal mask of a thread that the user's code starts on an internal thread. */
static void *enter_with_all_blocked(void *arg)
{
    enum smp_status status;
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    status = smp_agent_attach("threads-sampler");
    pthread_sigmask(SIG_SETMASK, NULL, arg);
    if (status == SMP_OK)
        smp_agent_detach();
    return (void *)(intptr_t)status;
}

static void an_internal_thread_receives_only_the_sampling_signal(void **state)
{
    const int ours = smp_signals_number(0);
    void *status = NULL;
    pthread_t thread;
    sigset_t mask;

    (void)state;
    assert_int_equal(smp_agent_open(), SMP_OK);
    assert_int_equal(smp_signals_install(ours), SMP_OK);
    assert_int_equal(pthread_create(&thread, NULL, enter_with_all_blocked, &mask), 0);
    assert_int_equal(pthread_join(thread, &status), 0);
    assert_int_equal((intptr_t)status, SMP_OK);
    assert_false(sigismember(&mask, ours));
    assert_true(sigismember(&mask, ours + 1));
    assert_true(sigismember(&mask, SIGINT));
    smp_agent_close();
}

static void a_long_name_is_cut(void **state)
{
    char name[200];

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(smp_agent_open(), SMP_OK);
    assert_int_equal(run_own_thread(name), SMP_OK);
    assert_int_equal(strlen(fake_vm.last_attach_name), SMP_JVM_THREAD_NAME_BYTES - 1);
    smp_agent_close();
}

static void a_thread_that_cannot_attach_is_not_internal(void **state)
{
    (void)state;
    assert_int_equal(smp_agent_open(), SMP_OK);
    fake_vm.refuse_attach = true;
    assert_int_equal(run_own_thread("threads-sampler"), SMP_ETHREAD);
    smp_agent_close();
}

/* An entry that remained would hide a user's thread that later gets the same number. */
static void ended_internal_threads_leave_room_for_others(void **state)
{
    (void)state;
    assert_int_equal(smp_agent_open(), SMP_OK);
    for (int i = 0; i <= SMP_INTERNAL_THREADS_MAX; i++)
        assert_int_equal(run_own_thread("threads-sampler"), SMP_OK);
    fake_vm.refuse_attach = true;
    for (int i = 0; i <= SMP_INTERNAL_THREADS_MAX; i++)
        assert_int_equal(run_own_thread("threads-sampler"), SMP_ETHREAD);
    smp_agent_close();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_jvm_without_thread_ids_is_refused),
        TEST(loading_creates_no_environment),
        TEST(events_are_on_while_it_is_open),
        TEST(the_environment_is_created_once),
        TEST(events_are_on_before_the_scan),
        TEST(capabilities_are_added_one_by_one),
        TEST(no_jvmti_is_unsupported),
        TEST(a_jvm_that_is_not_live_is_refused),
        TEST(a_failed_open_leaves_nothing),
        TEST(each_allocation_may_fail),
        TEST(the_agent_opens_without_a_system_group),
        TEST(sessions_open_and_close_on_many_threads),
        TEST(after_vm_death_the_jvm_is_not_called),
        TEST(an_internal_thread_is_a_hidden_daemon_in_the_system_group),
        TEST(an_internal_thread_receives_only_the_sampling_signal),
        TEST(a_long_name_is_cut),
        TEST(a_thread_that_cannot_attach_is_not_internal),
        TEST(ended_internal_threads_leave_room_for_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
