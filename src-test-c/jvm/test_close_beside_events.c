/* SPDX-License-Identifier: Apache-2.0 */
/* JVMTI does not wait for callbacks when an event is disabled. Here callbacks of all events are
 * running while the last session closes and the next one opens. The sanitizers find the errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "jvm/agent/agent.h"
#include "jvm/code/class_events.h"
#include "jvm/code/code_events.h"
#include "jvm/code/code_map.h"
#include "jvm/code/method_ids.h"
#include "jvm/threads/threads.h"
#include "support/fake_vm.h"
#include "support/rounds.h"

#define STUB_NAME "fast_monitorexit_nofpu Runtime1 stub with a long name"

enum { ROUNDS = 300, FIRST_ID = 1000, STUB_BYTES = 64, METHOD_BYTES = 32, CLASSES = 3 };

static uint8_t code[STUB_BYTES + METHOD_BYTES]; /* no calls */
static _Atomic bool is_over;
static _Atomic unsigned long calls;

/* Threads that start and end. */
static void *start_and_end(void *self)
{
    struct fake_thread *thread = self;
    JNIEnv *env = fake_vm_jni();

    while (!atomic_load(&is_over)) {
        jobject ref = fake_vm_local(thread);
        smp_threads_on_start(fake_vm_jvmti(), env, ref);
        smp_threads_on_end(fake_vm_jvmti(), env, ref);
        (*env)->DeleteLocalRef(env, ref);
        atomic_fetch_add(&calls, 1);
    }
    fake_vm_detach();
    return NULL;
}

static void *make_code(void *self)
{
    jmethodID method = (jmethodID)(void *)code;

    while (!atomic_load(&is_over)) {
        smp_code_events_on_stub(fake_vm_jvmti(), STUB_NAME, code, STUB_BYTES);
        smp_code_events_on_load(fake_vm_jvmti(), method, METHOD_BYTES, code + STUB_BYTES, 0, NULL,
                                NULL);
        /* calls made by such a method */
        (void)smp_code_map_is_stub((uintptr_t)code, "monitorexit");
        (void)smp_code_map_is_java((uintptr_t)code + STUB_BYTES);
        smp_code_events_on_unload(fake_vm_jvmti(), method, code + STUB_BYTES);
        atomic_fetch_add(&calls, 1);
    }
    return self;
}

static void *prepare_classes(void *self)
{
    static struct fake_object prepared = { FAKE_CLASS };
    JNIEnv *env = fake_vm_jni();

    while (!atomic_load(&is_over)) {
        jobject ref = fake_vm_local(&prepared);
        smp_method_ids_on_prepare(fake_vm_jvmti(), env, NULL, ref);
        smp_code_events_on_class_load(fake_vm_jvmti(), env, NULL, ref);
        (void)smp_class_unload_epoch();
        (*env)->DeleteLocalRef(env, ref);
        atomic_fetch_add(&calls, 1);
    }
    fake_vm_detach();
    return self;
}

static void open_and_close(void)
{
    const unsigned long before = atomic_load(&calls);

    assert_int_equal(smp_agent_open(), SMP_OK);
    smp_method_ids_open(fake_vm_jni());
    (void)!smp_code_events_open(smp_agent_jvmti());
    while (atomic_load(&calls) < before + 2) /* until there is something to close */
        sched_yield();
    smp_method_ids_close();
    smp_code_events_close();
    smp_agent_close();
}

static void closing_waits_for_no_event(void **state)
{
    static struct fake_thread threads[2];
    pthread_t running[5];
    const long rounds = test_rounds(ROUNDS);

    (void)state;
    fake_vm_setup();
    fake_vm.class_count = fake_vm.class_methods = CLASSES;
    assert_int_equal(smp_agent_open(), SMP_OK); /* the events come from its environment */
    smp_agent_close();
    for (int i = 0; i < 2; i++) {
        threads[i] = fake_vm.main_thread;
        threads[i].java_id = FIRST_ID + i;
        assert_int_equal(pthread_create(&running[i], NULL, start_and_end, &threads[i]), 0);
        assert_int_equal(pthread_create(&running[2 + i], NULL, make_code, NULL), 0);
    }
    assert_int_equal(pthread_create(&running[4], NULL, prepare_classes, NULL), 0);
    for (long i = 0; i < rounds; i++)
        open_and_close();
    atomic_store(&is_over, true);
    for (size_t i = 0; i < sizeof(running) / sizeof(running[0]); i++)
        assert_int_equal(pthread_join(running[i], NULL), 0);
    fake_vm_teardown();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(closing_waits_for_no_event) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
