/* SPDX-License-Identifier: Apache-2.0 */
/* A walk learns that its thread is alive, and its root frame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "jvm/agent/agent.h"
#include "jvm/threads/threads.h"
#include "jvm/walk/by_jvmti.h"
#include "jvm/walk/walk_target.h"
#include "support/fake_vm.h"

enum { ADDRESS = 0x7000, OTHER = 77, RUN = 78 };

static struct fake_vm_reader reader;
static struct smp_thread *older; /* main_thread, which is older than the library */

static int setup(void **state)
{
    (void)state;
    fake_vm_setup();
    fake_vm.has_addresses = true;
    fake_vm.has_status = true;
    fake_vm.has_holder = true;
    fake_vm.main_thread.address = ADDRESS;
    reader = (struct fake_vm_reader){ .accept = FAKE_VM_MAX_POLLED };
    if (smp_agent_open() != SMP_OK)
        return -1;
    fake_vm_poll(&reader);
    older = reader.threads[0];
    return reader.count == 1 ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    fake_vm_drop_all(&reader);
    smp_agent_close();
    fake_vm_teardown();
    return 0;
}

static bool is_unsure(void)
{
    return smp_gate_is_unsure(&smp_threads_walk_info(older)->gate);
}

static void learn(uint32_t count)
{
    const struct smp_walk_answer answer = { .answer = SMP_ANSWER_WHOLE, .count = count };

    smp_walk_target_learn(older, fake_vm_jni(), &answer);
}

static void frames_of_a_thread_that_lives_open_its_gate(void **state)
{
    (void)state;
    assert_int_equal(smp_threads_walk_info(older)->java_thread, ADDRESS);
    assert_true(is_unsure());
    learn(0);
    assert_true(is_unsure());
    learn(1);
    assert_false(is_unsure());
    assert_int_equal(older->ended_ns, 0);
}

/* It ended before it was registered, and another thread with its tid has answered. */
static void frames_of_another_thread_do_not_open_its_gate(void **state)
{
    (void)state;
    fake_vm.main_thread.address = 0;
    learn(0);
    assert_int_equal(older->ended_ns, 0);
    learn(1);
    assert_true(is_unsure());
    assert_false(smp_gate_enter(&smp_threads_walk_info(older)->gate));
    assert_int_not_equal(older->ended_ns, 0);
}

static void without_the_jvm_its_gate_is_not_opened(void **state)
{
    const struct smp_walk_answer answer = { .answer = SMP_ANSWER_WHOLE, .count = 1 };

    (void)state;
    smp_walk_target_learn(older, NULL, &answer);
    assert_true(is_unsure());
    assert_int_equal(older->ended_ns, 0);
}

/* Its ThreadEnd event reports its end. */
static void a_thread_whose_start_was_seen_is_not_read(void **state)
{
    struct fake_thread started;
    struct smp_thread *thread = NULL;
    const struct smp_walk_answer answer = { .answer = SMP_ANSWER_WHOLE, .count = 1 };

    (void)state;
    fake_vm_add(&started, 100, "started");
    started.address = ADDRESS + 8;
    fake_vm_thread_start(&started);
    fake_vm_poll(&reader);
    thread = reader.threads[1];
    started.address = 0;
    smp_walk_target_learn(thread, fake_vm_jni(), &answer);
    assert_int_equal(thread->ended_ns, 0);
    assert_false(smp_gate_is_unsure(&smp_threads_walk_info(thread)->gate));
}

/* AsyncGetCallTrace often stops at the same wrong frame many times in a row. */
static void a_stack_that_ends_in_run_has_its_root(void **state)
{
    struct smp_walk_info *info = smp_threads_walk_info(older);
    const struct smp_walk_answer other = { .count = 1, .root = (void *)(uintptr_t)OTHER };
    const struct smp_walk_answer answer = { .count = 1, .root = (void *)(uintptr_t)RUN };

    (void)state;
    info->run_method = RUN;
    for (int i = 0; i < 100; i++)
        smp_walk_target_learn(older, fake_vm_jni(), &other);
    assert_int_equal(info->root, 0);
    smp_walk_target_learn(older, fake_vm_jni(), &answer);
    assert_int_equal(info->root, RUN);
    smp_walk_target_learn(older, fake_vm_jni(), &other);
    assert_int_equal(info->root, RUN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Since JDK 19 the status is in a holder object, which a virtual thread does not have. */
static void the_holder_shows_whether_a_thread_waits(void **state)
{
    JNIEnv *env = fake_vm_jni();

    (void)state;
    assert_false((smp_threads_status(env, smp_threads_ref(older)) & JVMTI_THREAD_STATE_WAITING) !=
                 0);
    fake_vm.main_thread.status = JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_WAITING;
    assert_true((smp_threads_status(env, smp_threads_ref(older)) & JVMTI_THREAD_STATE_WAITING) !=
                0);
    fake_vm.main_thread.has_no_holder = true;
    assert_false((smp_threads_status(env, smp_threads_ref(older)) & JVMTI_THREAD_STATE_WAITING) !=
                 0);
}

/* A handshake with a thread in native code does not wait; with a thread in Java code it would. */
static void a_frame_of_a_thread_in_native_code_is_read_by_a_handshake(void **state)
{
    (void)state;
    fake_vm.main_thread.depth = 3;
    smp_by_jvmti_confirm_life(older);
    assert_int_equal(fake_vm.calls[FAKE_GetStackTrace], 0);
    assert_true(is_unsure());
    fake_vm.main_thread.status = JVMTI_THREAD_STATE_IN_NATIVE;
    smp_by_jvmti_confirm_life(older);
    assert_int_equal(fake_vm.most_frames, 1);
    assert_false(is_unsure());
    smp_by_jvmti_confirm_life(older);
    assert_int_equal(fake_vm.calls[FAKE_GetStackTrace], 1);
}

/* Native code that has attached itself has no Java frame. */
static void a_thread_without_frames_is_not_read_at_each_walk(void **state)
{
    (void)state;
    fake_vm.main_thread.status = JVMTI_THREAD_STATE_IN_NATIVE;
    fake_vm.main_thread.depth = 0;
    smp_by_jvmti_confirm_life(older);
    assert_true(is_unsure());
    assert_int_equal(fake_vm.calls[FAKE_GetStackTrace], 1);
    smp_by_jvmti_confirm_life(older);
    assert_int_equal(fake_vm.calls[FAKE_GetStackTrace], 1);
    smp_threads_walk_info(older)->asked_ns -= SMP_BY_JVMTI_ASK_MS * INT64_C(1000000);
    fake_vm.main_thread.depth = 1;
    smp_by_jvmti_confirm_life(older);
    assert_false(is_unsure());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(frames_of_a_thread_that_lives_open_its_gate),
        TEST(the_holder_shows_whether_a_thread_waits),
        TEST(frames_of_another_thread_do_not_open_its_gate),
        TEST(without_the_jvm_its_gate_is_not_opened),
        TEST(a_thread_whose_start_was_seen_is_not_read),
        TEST(a_stack_that_ends_in_run_has_its_root),
        TEST(a_frame_of_a_thread_in_native_code_is_read_by_a_handshake),
        TEST(a_thread_without_frames_is_not_read_at_each_walk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
