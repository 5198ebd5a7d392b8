/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "handler/signal.h"
#include "jvm/agent/agent.h"
#include "jvm/threads/hidden_threads.h"
#include "jvm/threads/threads.h"
#include "support/failing_alloc.h"
#include "support/fake_clock.h"
#include "support/fake_vm.h"

enum { CROWD = 500 };

static struct fake_vm_reader reader;
static struct fake_thread crowd[CROWD];

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
    smp_agent_close();
    fake_vm_teardown();
    return 0;
}

static void open_it(void)
{
    assert_int_equal(smp_agent_open(), SMP_OK);
}

/* Makes a thread in the main group that the scan does not find. */
static void make(struct fake_thread *thread, int64_t java_id)
{
    *thread = fake_vm.main_thread;
    thread->java_id = java_id;
    thread->jvmti_name = "worker";
}

static bool was_handed(int64_t java_id)
{
    for (size_t i = 0; i < reader.count; i++) {
        if (smp_threads_java_id(reader.threads[i]) == java_id)
            return true;
    }
    return false;
}

static void old_and_new_threads_are_reported_once(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++)
        fake_vm_add(&crowd[i], 100 + i, "old");
    open_it();
    make(&crowd[400], 1000);
    crowd[400].daemon = true;
    fake_vm_thread_start(&crowd[400]);
    fake_vm_poll(&reader);
    assert_int_equal(reader.count, 302);
    assert_int_equal(reader.unseen, 0);
    assert_true(was_handed(1000));
    assert_true(reader.threads[301]->is_daemon);
    assert_false(reader.threads[0]->is_daemon);
    assert_int_not_equal(reader.threads[301]->os_tid, 0);
    assert_ptr_equal(fake_vm_object(smp_threads_ref(reader.threads[301])), &crowd[400]);
    fake_vm_poll(&reader);
    assert_int_equal(reader.count, 302);
}

/* A thread of the JVM has already used a little CPU time; native code may attach an old thread. */
static void cpu_time_before_a_threads_start_is_known(void **state)
{
    static const struct {
        int64_t clock_ns;
        int64_t before_ns;
    } cases[] = {
        { 100000, 0 }, { 4000000, 0 }, { 6000000, 6000000 }, { 3600000000000, 3600000000000 }
    };
    struct fake_clock clock;

    (void)state;
    fake_clock_install(&clock);
    open_it();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        atomic_store(&clock.own_cpu_ns, cases[i].clock_ns);
        make(&crowd[i], 100 + (int64_t)i);
        fake_vm_thread_start(&crowd[i]);
        fake_vm_poll(&reader);
        assert_int_equal(reader.threads[reader.count - 1]->started_cpu_ns, cases[i].before_ns);
    }
    assert_int_equal(reader.threads[0]->started_cpu_ns, 0); /* found by the scan */
    fake_clock_remove();
}

static void start_the_listed(enum fake_call call)
{
    if (call == FAKE_GetThreadInfo && fake_vm.calls[FAKE_GetThreadInfo] == 1)
        fake_vm_thread_start(&crowd[0]);
}

static void a_thread_the_scan_lists_while_it_starts_is_one_thread(void **state)
{
    (void)state;
    fake_vm_add(&crowd[0], 100, "starting");
    fake_vm.before = start_the_listed;
    open_it();
    fake_vm_poll(&reader);
    assert_int_equal(reader.count, 2);
    assert_int_equal(reader.unseen, 0);
}

static void a_thread_that_started_and_ended_is_unseen(void **state)
{
    (void)state;
    open_it();
    fake_vm_poll(&reader);
    for (int i = 0; i < 3; i++) {
        make(&crowd[i], 100 + i);
        fake_vm_thread_start(&crowd[i]);
    }
    fake_vm_thread_end(&crowd[0]);
    fake_vm_thread_end(&crowd[2]);
    fake_vm_poll(&reader);
    assert_int_equal(reader.count, 2); /* the main thread and the middle one */
    assert_int_equal(reader.unseen, 2);
    fake_vm_poll(&reader);
    assert_int_equal(reader.unseen, 2);
    struct fake_vm_reader late = { .accept = FAKE_VM_MAX_POLLED, .cursor = reader.cursor };
    fake_vm_poll(&late);
    assert_int_equal(late.unseen + late.count, 0);
}

static void a_new_reader_gets_all_threads(void **state)
{
    (void)state;
    open_it();
    make(&crowd[0], 100);
    fake_vm_thread_start(&crowd[0]);
    fake_vm_thread_end(&crowd[0]);
    fake_vm_poll(&reader);
    assert_int_equal(reader.count, 1);
    assert_int_equal(reader.unseen, 0);
}

static void a_refused_thread_is_offered_again(void **state)
{
    (void)state;
    open_it();
    fake_vm_poll(&reader);
    for (int i = 0; i < 3; i++) {
        make(&crowd[i], 100 + i);
        fake_vm_thread_start(&crowd[i]);
    }
    fake_vm_thread_end(&crowd[0]);
    reader.accept = 1;
    fake_vm_poll(&reader);
    assert_int_equal(reader.count, 1);
    fake_vm_poll(&reader);
    assert_int_equal(reader.count, 1);
    assert_int_equal(reader.unseen, 1); /* counted once, not at each poll */
    reader.accept = FAKE_VM_MAX_POLLED;
    fake_vm_poll(&reader);
    assert_int_equal(reader.count, 3);
    assert_int_equal(reader.unseen, 1);
}

static void two_readers_do_not_take_from_each_other(void **state)
{
    struct fake_vm_reader second = { .accept = FAKE_VM_MAX_POLLED };

    (void)state;
    open_it();
    make(&crowd[0], 100);
    fake_vm_thread_start(&crowd[0]);
    fake_vm_poll(&reader);
    fake_vm_poll(&second);
    assert_int_equal(reader.count, 2);
    assert_int_equal(second.count, 2);
    fake_vm_thread_end(&crowd[0]);
    assert_ptr_equal(reader.threads[1], second.threads[1]);
    fake_vm_drop_all(&reader);
    assert_int_not_equal(second.threads[1]->ended_ns, 0);
    fake_vm_drop_all(&second);
}

static void an_ended_thread_may_outlive_the_close(void **state)
{
    (void)state;
    open_it();
    fake_vm_poll(&reader);
    smp_agent_close();
    fake_vm_drop_all(&reader);
}

/* ------------------------------------------------------------------------------ service threads */

static struct fake_group innocuous;

static void the_jvms_service_threads_are_not_listed(void **state)
{
    static const char *const names[] = { "Reference Handler", "Finalizer", "Signal Dispatcher",
                                         "Attach Listener", "JVMCI CompilerThread0" };

    (void)state;
    for (int i = 0; i < 5; i++) {
        fake_vm_add(&crowd[i], 100 + i, names[i]);
        crowd[i].group = &fake_vm.system;
    }
    innocuous = (struct fake_group){ { FAKE_GROUP }, "InnocuousThreadGroup", &fake_vm.system };
    fake_vm_add(&crowd[5], 105, "Common-Cleaner");
    crowd[5].group = &innocuous;
    open_it();
    make(&crowd[6], 106);
    crowd[6].jvmti_name = "Notification Thread";
    crowd[6].group = &fake_vm.system;
    fake_vm_thread_start(&crowd[6]);
    make(&crowd[7], 107);
    crowd[7].jvmti_name = "Common-Cleaner";
    crowd[7].group = &innocuous;
    fake_vm_thread_start(&crowd[7]);
    fake_vm_poll(&reader);
    assert_int_equal(reader.count, 1); /* the main thread */
    assert_int_equal(reader.unseen, 0);
}

static void a_users_thread_with_such_a_name_is_listed(void **state)
{
    static struct fake_group forged;
    static struct fake_group forged_system;

    (void)state;
    forged = (struct fake_group){ { FAKE_GROUP }, "InnocuousThreadGroup", &fake_vm.main_group };
    forged_system = (struct fake_group){ { FAKE_GROUP }, "system", &fake_vm.main_group };
    fake_vm_add(&crowd[0], 100, "Finalizer");
    fake_vm_add(&crowd[1], 101, "Common-Cleaner");
    crowd[1].group = &forged;
    fake_vm_add(&crowd[2], 102, "Signal Dispatcher");
    crowd[2].group = &forged_system;
    open_it();
    fake_vm_poll(&reader);
    assert_int_equal(reader.count, 4);
}

static void other_threads_of_the_system_group_are_listed(void **state)
{
    (void)state;
    fake_vm_add(&crowd[0], 100, "Finalizer of orders");
    crowd[0].group = &fake_vm.system;
    fake_vm_add(&crowd[1], 101, "process reaper");
    crowd[1].group = &fake_vm.system;
    fake_vm_add(&crowd[2], 102, "Finalizer");
    crowd[2].group = NULL; /* it has ended since */
    open_it();
    fake_vm_poll(&reader);
    assert_int_equal(reader.count, 4);
}

/* ------------------------------------------------------------------------------- hidden threads */

static void hide(struct fake_thread *thread)
{
    jobject ref = fake_vm_local(thread);

    assert_int_equal(smp_threads_hide(fake_vm_jni(), ref), SMP_OK);
    (*fake_vm_jni())->DeleteLocalRef(fake_vm_jni(), ref);
}

static void a_hidden_thread_is_not_reported(void **state)
{
    (void)state;
    open_it();
    make(&crowd[0], 100);
    fake_vm_thread_start(&crowd[0]);
    hide(&crowd[0]);
    fake_vm_poll(&reader);
    assert_int_equal(reader.count, 1);
    assert_int_equal(reader.unseen, 0);
    fake_vm_thread_end(&crowd[0]);
}

static void a_thread_may_be_hidden_after_it_was_reported(void **state)
{
    (void)state;
    open_it();
    make(&crowd[0], 100);
    fake_vm_thread_start(&crowd[0]);
    fake_vm_poll(&reader);
    assert_int_equal(reader.count, 2);
    hide(&crowd[0]);
    assert_true(reader.threads[1]->is_hidden);
    fake_vm_thread_end(&crowd[0]);
}

static void a_scan_skips_a_thread_hidden_before_the_open(void **state)
{
    (void)state;
    fake_vm_add(&crowd[0], 100, "library");
    hide(&crowd[0]);
    open_it();
    fake_vm_poll(&reader);
    assert_int_equal(reader.count, 1);
    fake_vm_thread_end(&crowd[0]);
}

/* Returns the object of the hidden group. */
static void *hidden_group(JNIEnv *env, jobject offered)
{
    jobject group = NULL;
    void *object;

    assert_int_equal(smp_hidden_threads_offer_group(env, offered, &group), SMP_OK);
    object = fake_vm_object(group);
    (*env)->DeleteLocalRef(env, group);
    return object;
}

static void the_threads_of_a_group_may_be_hidden_from_their_start(void **state)
{
    jobject none = NULL;
    static struct fake_group own;
    static struct fake_group other;
    JNIEnv *env = fake_vm_jni();

    (void)state;
    own = (struct fake_group){ { FAKE_GROUP }, "threads-sampler-http", &fake_vm.main_group };
    other = (struct fake_group){ { FAKE_GROUP }, "threads-sampler-http", &fake_vm.main_group };
    jobject group = fake_vm_local(&own);
    jobject second = fake_vm_local(&other);
    fake_vm_add(&crowd[0], 100, "older");
    crowd[0].group = &own;
    assert_ptr_equal(hidden_group(env, group), &own);
    assert_ptr_equal(hidden_group(env, group), &own);
    assert_ptr_equal(hidden_group(env, second), &own); /* of another copy of the library */
    open_it();
    make(&crowd[1], 101);
    crowd[1].group = &own;
    fake_vm_thread_start(&crowd[1]);
    make(&crowd[2], 102);
    crowd[2].group = &other;
    fake_vm_thread_start(&crowd[2]);
    fake_vm_poll(&reader);
    /* the main thread, and the one of another group with that name */
    assert_int_equal(reader.count, 2);
    assert_true(was_handed(102));
    assert_int_equal(reader.unseen, 0);

    smp_hidden_threads_unloaded(env);
    fake_vm.refuse_global = true;
    assert_int_equal(smp_hidden_threads_offer_group(env, group, &none), SMP_ENOMEM);
    assert_null(none);
    fake_vm.refuse_global = false;
    assert_ptr_equal(hidden_group(env, second), &other);
    smp_hidden_threads_unloaded(env);
    (*env)->DeleteLocalRef(env, group);
    (*env)->DeleteLocalRef(env, second);
}

/* ------------------------------------------------------------------------------------- bad luck */

static void a_thread_without_memory_is_unseen(void **state)
{
    struct failing_alloc failing;

    (void)state;
    open_it();
    fake_vm_poll(&reader);
    make(&crowd[0], 100);
    make(&crowd[1], 101);
    make(&crowd[2], 102);
    failing_alloc_arm(&failing, 1, 1);
    fake_vm_thread_start(&crowd[0]);
    (void)failing_alloc_disarm(&failing);
    fake_vm.refuse_global = true;
    fake_vm_thread_start(&crowd[1]);
    fake_vm.refuse_global = false;
    fake_vm.errors[FAKE_GetThreadInfo] = JVMTI_ERROR_OUT_OF_MEMORY;
    fake_vm_thread_start(&crowd[2]);
    fake_vm_poll(&reader);
    assert_int_equal(reader.count, 1);
    assert_int_equal(reader.unseen, 3);
}

static void a_thread_that_ends_while_it_is_scanned_is_skipped(void **state)
{
    (void)state;
    fake_vm_add(&crowd[0], 100, "ending");
    fake_vm.errors[FAKE_GetThreadInfo] = JVMTI_ERROR_THREAD_NOT_ALIVE;
    open_it();
    fake_vm_poll(&reader);
    assert_int_equal(reader.count + reader.unseen, 0);
}

static void end_the_listed(enum fake_call call)
{
    if (call == FAKE_GetThreadInfo && !crowd[0].ended) {
        crowd[0].ended = true;
        fake_vm_thread_end(&crowd[0]);
    }
}

/* Its end event comes before it is registered; GetThreadInfo also knows dead threads. */
static void a_thread_that_ends_before_it_is_registered_is_not_reported(void **state)
{
    (void)state;
    fake_vm_add(&crowd[0], 100, "ending");
    fake_vm.before = end_the_listed;
    open_it();
    fake_vm_poll(&reader);
    assert_false(was_handed(100));
    assert_int_equal(reader.count, 1);
    assert_int_equal(reader.unseen, 0);
}

static void an_end_without_an_event_is_found_by_the_walk(void **state)
{
    (void)state;
    open_it();
    fake_vm_poll(&reader);
    smp_threads_gone(reader.threads[0]);
    assert_int_not_equal(reader.threads[0]->ended_ns, 0);
    fake_vm_thread_end(&fake_vm.main_thread); /* late, without effect */
}

/* As the walker does for a thread that blocks the signal. */
static uint64_t request_in_vain(struct smp_thread *thread, size_t session)
{
    uint64_t cookie = 0;
    struct smp_signal_slot *slot = smp_signal_take(&cookie);

    assert_non_null(slot);
    slot->mailbox = &smp_signal_mailboxes[0];
    smp_threads_walk_info(thread)->requests[session] = cookie;
    smp_signal_post(slot);
    assert_true(smp_signal_give_up(cookie));
    assert_int_equal(smp_signal_state(cookie), SMP_SLOT_LATE);
    return cookie;
}

static void a_thread_that_never_answered_leaves_no_used_slot(void **state)
{
    struct fake_vm_reader second = { .accept = FAKE_VM_MAX_POLLED };

    (void)state;
    make(&crowd[0], 100);
    open_it();
    fake_vm_thread_start(&crowd[0]);
    fake_vm_poll(&reader);
    fake_vm_poll(&second);
    const uint64_t cookie = request_in_vain(reader.threads[1], 0);
    const uint64_t other = request_in_vain(reader.threads[1], SMP_WALK_INFO_REQUESTS - 1);
    fake_vm_thread_end(&crowd[0]);
    fake_vm_drop_all(&reader);
    assert_int_equal(smp_signal_state(cookie),
                     SMP_SLOT_LATE); /* the other request may still get its answer */
    fake_vm_drop_all(&second);
    assert_int_equal(smp_signal_state(cookie), SMP_SLOT_FREE);
    assert_int_equal(smp_signal_state(other), SMP_SLOT_FREE);
}

static void events_after_the_close_are_ignored(void **state)
{
    jvmtiEventCallbacks callbacks;
    jobject ref = fake_vm_local(&crowd[0]);

    (void)state;
    open_it();
    callbacks = fake_vm.callbacks;
    smp_agent_close();
    make(&crowd[0], 100);
    callbacks.ThreadStart(fake_vm_jvmti(), fake_vm_jni(), ref);
    assert_int_equal(smp_alloc_live_bytes(), 0);
    callbacks.ThreadEnd(fake_vm_jvmti(), fake_vm_jni(), ref);
    (*fake_vm_jni())->DeleteLocalRef(fake_vm_jni(), ref);
}

static void after_vm_death_polls_fail(void **state)
{
    const struct smp_thread_source source = smp_threads_source();

    (void)state;
    open_it();
    fake_vm_death();
    assert_int_equal(source.poll(source.self, &reader.cursor, &reader.unseen, NULL, NULL),
                     SMP_EPHASE);
}

/* --------------------------------------------------------------------- short-lived threads */

enum { CHURNERS = 4, LIVES = 500 };

static _Atomic int churners_left;

static void *churn(void *arg)
{
    struct fake_thread thread = fake_vm.main_thread;
    const int64_t base = 1000 + (int64_t)(intptr_t)arg * LIVES;

    for (int64_t i = 0; i < LIVES; i++) {
        thread.java_id = base + i;
        thread.ended = false;
        fake_vm_thread_start(&thread);
        fake_vm_thread_end(&thread);
    }
    fake_vm_detach();
    churners_left--;
    return NULL;
}

static void thousands_of_threads_leave_no_memory_behind(void **state)
{
    pthread_t threads[CHURNERS];
    uint64_t handed = 0;

    (void)state;
    open_it();
    fake_vm_poll(&reader);
    handed += reader.count;
    fake_vm_drop_all(&reader);
    churners_left = CHURNERS;
    for (intptr_t i = 0; i < CHURNERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)i), 0);
    while (churners_left > 0) {
        fake_vm_poll(&reader);
        handed += reader.count;
        fake_vm_drop_all(&reader);
    }
    for (int i = 0; i < CHURNERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    fake_vm_poll(&reader);
    handed += reader.count;
    assert_int_equal(handed + reader.unseen, CHURNERS * LIVES + 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(old_and_new_threads_are_reported_once),
        TEST(cpu_time_before_a_threads_start_is_known),
        TEST(a_thread_the_scan_lists_while_it_starts_is_one_thread),
        TEST(a_thread_that_started_and_ended_is_unseen),
        TEST(a_new_reader_gets_all_threads),
        TEST(a_refused_thread_is_offered_again),
        TEST(two_readers_do_not_take_from_each_other),
        TEST(an_ended_thread_may_outlive_the_close),
        TEST(the_jvms_service_threads_are_not_listed),
        TEST(a_users_thread_with_such_a_name_is_listed),
        TEST(other_threads_of_the_system_group_are_listed),
        TEST(a_hidden_thread_is_not_reported),
        TEST(a_thread_may_be_hidden_after_it_was_reported),
        TEST(a_scan_skips_a_thread_hidden_before_the_open),
        TEST(the_threads_of_a_group_may_be_hidden_from_their_start),
        TEST(a_thread_without_memory_is_unseen),
        TEST(a_thread_that_ends_while_it_is_scanned_is_skipped),
        TEST(a_thread_that_ends_before_it_is_registered_is_not_reported),
        TEST(an_end_without_an_event_is_found_by_the_walk),
        TEST(a_thread_that_never_answered_leaves_no_used_slot),
        TEST(events_after_the_close_are_ignored),
        TEST(after_vm_death_polls_fail),
        TEST(thousands_of_threads_leave_no_memory_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
