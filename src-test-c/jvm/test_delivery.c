/* SPDX-License-Identifier: Apache-2.0 */
/* The delivery of a thread's walk: completed by a handshake if something is missing, cut if it is
 * too deep, and divided if a virtual thread is mounted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "hotspot/frames.h"
#include "jvm/agent/agent.h"
#include "jvm/code/methods.h"
#include "jvm/threads/registry.h"
#include "jvm/threads/threads.h"
#include "jvm/walk/delivery.h"
#include "support/fake_clock.h"
#include "support/fake_vm.h"
#include "support/thread_states.h"

enum { DEPTH = 6, CAPACITY = 16, TOKEN = 4711, FRAMES = 32 };

static struct fake_vm_reader reader;
static struct fake_clock fake_time;
static struct smp_delivery delivery;
static struct smp_jvm_frame frames[FRAMES];
static struct smp_walk_answer answer;
static struct smp_walked walked;

/* The last delivery. */
static struct {
    int count;
    uint64_t token;
    enum smp_answer answer;
    struct smp_sample sample;
    struct smp_frame frames[FRAMES];
    bool has_mounted;
    bool has_name;
    char mounted_name[SMP_DELIVERY_NAME_BYTES];
    jobject mounted_ref;
} got;

static void on_answer(void *context, uint64_t token, enum smp_answer how,
                      const struct smp_sample *sample, const struct smp_mounted_thread *mounted)
{
    assert_ptr_equal(context, &got);
    assert_true(sample->count <= FRAMES);
    got.count++;
    got.token = token;
    got.answer = how;
    got.sample = *sample;
    if (sample->count > 0)
        memcpy(got.frames, sample->frames, sample->count * sizeof(got.frames[0]));
    got.has_mounted = mounted != NULL;
    got.mounted_ref = mounted != NULL ? mounted->ref : NULL;
    got.has_name = mounted != NULL && mounted->name != NULL;
    if (got.has_name)
        (void)strcpy(got.mounted_name, mounted->name);
}

static const struct smp_delivery_to to = { .answered = on_answer, .context = &got };

static int setup(void **state)
{
    (void)state;
    fake_vm_setup();
    fake_clock_install(&fake_time);
    reader = (struct fake_vm_reader){ .accept = FAKE_VM_MAX_POLLED };
    if (smp_agent_open() != SMP_OK)
        return -1;
    fake_vm_poll(&reader);
    fake_vm.main_thread.depth = DEPTH;
    memset(&got, 0, sizeof(got));
    memset(frames, 0, sizeof(frames));
    delivery = (struct smp_delivery){ .capacity = CAPACITY, .states = STATES_UNTIL_27 };
    smp_handshakes_init(&delivery.handshakes);
    answer = (struct smp_walk_answer){ .answer = SMP_ANSWER_WHOLE };
    walked = (struct smp_walked){
        .token = TOKEN, .frames = frames, .capacity = FRAMES, .answer = &answer
    };
    if (reader.count == 1)
        walked.thread = reader.threads[0];
    return reader.count == 1 ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    smp_handshakes_fini(&delivery.handshakes);
    fake_vm_drop_all(&reader);
    smp_agent_close();
    fake_clock_remove();
    fake_vm_teardown();
    return 0;
}

static struct smp_jvm_frame frame_at(int from_root)
{
    return (struct smp_jvm_frame){ .bci = from_root,
                                   .method = (void *)(intptr_t)(FAKE_METHOD + from_root) };
}

/* frames[first ..): the innermost frames of a stack of this depth, as in the fake JVMTI. */
static void walk_frames(uint32_t first, int depth, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        frames[first + i] = frame_at(depth - 1 - (int)i);
}

static void walk_all(int depth)
{
    walk_frames(1, depth, (uint32_t)depth);
    answer.first = 1;
    answer.count = (uint32_t)depth;
}

static void forbid_handshakes(void)
{
    delivery.handshakes.saved_ns = 0;
}

static void assert_delivered(enum smp_answer how, int depth)
{
    assert_int_equal(got.count, 1);
    assert_int_equal(got.token, TOKEN);
    assert_int_equal(got.answer, how);
    assert_int_equal(got.sample.count, depth);
    assert_int_equal(got.sample.leaf_count, depth);
    assert_int_equal(got.sample.omitted, 0);
    for (int i = 0; i < depth; i++) {
        assert_int_equal(got.frames[i].method, FAKE_METHOD + depth - 1 - i);
        assert_int_equal(got.frames[i].bci, depth - 1 - i);
    }
}

/* --- frames --- */

static void a_stack_with_all_its_names_needs_no_handshake(void **state)
{
    (void)state;
    walk_all(DEPTH);
    smp_delivery_stack(&delivery, fake_vm_jni(), &walked, to);
    assert_delivered(SMP_ANSWER_WHOLE, DEPTH);
    assert_false(got.has_mounted);
    assert_false(smp_threads_walk_info(walked.thread)->is_carrier);
    assert_int_equal(fake_vm.calls[FAKE_GetStackTrace], 0);
}

static void a_second_try_is_counted_unless_it_was_recovered(void **state)
{
    (void)state;
    walked.is_retried = true;
    walk_all(DEPTH);
    smp_delivery_stack(&delivery, fake_vm_jni(), &walked, to);
    assert_int_equal(got.answer, SMP_ANSWER_RETRIED);
    answer.answer = SMP_ANSWER_IN_STUB;
    walk_all(DEPTH);
    smp_delivery_stack(&delivery, fake_vm_jni(), &walked, to);
    assert_int_equal(got.answer, SMP_ANSWER_IN_STUB);
}

static void a_walk_without_frames_is_an_empty_stack(void **state)
{
    (void)state;
    smp_delivery_stack(&delivery, fake_vm_jni(), &walked, to);
    assert_delivered(SMP_ANSWER_EMPTY, 0);
    smp_delivery_none(TOKEN, SMP_ANSWER_GC_ACTIVE, to);
    assert_int_equal(got.count, 2);
    assert_int_equal(got.answer, SMP_ANSWER_GC_ACTIVE);
    assert_int_equal(got.sample.count, 0);
}

static void a_deep_stack_loses_its_middle(void **state)
{
    (void)state;
    walk_all(CAPACITY + 3);
    smp_delivery_stack(&delivery, fake_vm_jni(), &walked, to);
    assert_int_equal(got.sample.count, CAPACITY);
    assert_int_equal(got.sample.leaf_count, CAPACITY / 2);
    assert_int_equal(got.sample.omitted, 3);
    assert_int_equal(got.frames[0].method, FAKE_METHOD + CAPACITY + 2);
    assert_int_equal(got.frames[CAPACITY - 1].method, FAKE_METHOD);
}

/* --- methods without an id --- */

static void missing_ids_are_taken_from_a_handshake(void **state)
{
    (void)state;
    walk_all(DEPTH);
    frames[2].method = NULL;
    frames[4].method = NULL;
    smp_delivery_stack(&delivery, fake_vm_jni(), &walked, to);
    assert_delivered(SMP_ANSWER_WHOLE, DEPTH);
    assert_int_equal(fake_vm.calls[FAKE_GetStackTrace], 1);
}

static void without_a_handshake_the_other_frames_keep_their_places(void **state)
{
    (void)state;
    walk_all(DEPTH);
    frames[2].method = NULL;
    forbid_handshakes();
    smp_delivery_stack(&delivery, fake_vm_jni(), &walked, to);
    assert_int_equal(got.answer, SMP_ANSWER_NO_METHOD);
    assert_int_equal(got.sample.count, DEPTH);
    assert_int_equal(got.frames[0].method, FAKE_METHOD + DEPTH - 1);
    assert_int_equal(got.frames[1].method, SMP_METHODS_NO_ID);
    assert_int_equal(got.frames[1].bci, SMP_BCI_PSEUDO);
    assert_int_equal(got.frames[2].method, FAKE_METHOD + DEPTH - 3);
}

/* The handshake would wait for a thread without a CPU. */
static void a_late_walk_gets_no_handshake(void **state)
{
    (void)state;
    walk_all(DEPTH);
    frames[2].method = NULL;
    walked.is_late = true;
    smp_delivery_stack(&delivery, fake_vm_jni(), &walked, to);
    assert_int_equal(got.answer, SMP_ANSWER_NO_METHOD);
    assert_int_equal(fake_vm.calls[FAKE_GetStackTrace], 0);
}

/* The frame above the frame that differs belongs to another call. */
static void a_thread_that_continued_keeps_a_frame_without_a_name(void **state)
{
    (void)state;
    walk_all(DEPTH);
    frames[1].method = NULL;
    frames[2].bci = 77;
    smp_delivery_stack(&delivery, fake_vm_jni(), &walked, to);
    assert_int_equal(got.answer, SMP_ANSWER_NO_METHOD);
    assert_int_equal(got.frames[0].method, SMP_METHODS_NO_ID);
}

/* The names that the walk has copied after its frames. */
static void copied_names_need_no_handshake(void **state)
{
    struct smp_named_methods *named = NULL;
    struct smp_method_info info;
    struct smp_method_copy *copy = (struct smp_method_copy *)(void *)&frames[DEPTH + 3];

    (void)state;
    assert_int_equal(smp_named_methods_create(&named), SMP_OK);
    *copy = (struct smp_method_copy){ .line = 7, .class_bytes = 1, .name_bytes = 1 };
    copy->texts[0] = 'A';
    copy->texts[1] = 'b';
    for (int has_table = 0; has_table < 2; has_table++) {
        got.count = 0;
        delivery.named = has_table ? named : NULL;
        walk_all(DEPTH);
        frames[2].method = (void *)(SMP_FRAME_NAME_BIT | (uintptr_t)copy);
        forbid_handshakes();
        smp_delivery_stack(&delivery, fake_vm_jni(), &walked, to);
        assert_int_equal(got.sample.count, DEPTH);
        assert_int_equal(got.answer, has_table ? SMP_ANSWER_WHOLE : SMP_ANSWER_NO_METHOD);
        assert_int_equal(got.frames[0].method, FAKE_METHOD + DEPTH - 1);
        assert_int_equal(got.frames[2].method, FAKE_METHOD + DEPTH - 3);
    }
    assert_int_equal(fake_vm.calls[FAKE_GetStackTrace], 0);
    assert_true(smp_named_methods_find(named, got.frames[1].method, &info));
    assert_string_equal(info.class_name, "A");
    assert_string_equal(info.method_name, "b");
    assert_int_equal(info.lines[0].line, 7);
    assert_int_equal(got.frames[1].bci, DEPTH - 2);
    smp_named_methods_destroy(named);
}

/* --- a thread that waits inside the JVM --- */

static void a_waiting_thread_has_the_stack_of_a_handshake(void **state)
{
    static const int32_t states[] = { STATE_BLOCKED, STATE_IN_NATIVE };

    (void)state;
    for (int i = 0; i < 2; i++) {
        got.count = 0;
        answer.state = states[i];
        assert_true(smp_delivery_waiting(&delivery, &walked, to));
        assert_delivered(SMP_ANSWER_RETRIED, DEPTH);
    }
    delivery.capacity = 4;
    assert_true(smp_delivery_waiting(&delivery, &walked, to));
    assert_int_equal(got.sample.count, 4);
    assert_int_equal(got.sample.omitted, DEPTH - 4);
}

static void jdk_28_has_other_state_numbers(void **state)
{
    (void)state;
    delivery.states = (struct smp_jvm_states)STATES_SINCE_28;
    answer.state = STATE_IN_NATIVE; /* in JDK 28 this number means "in Java" */
    assert_false(smp_delivery_waiting(&delivery, &walked, to));
    answer.state = delivery.states.blocked;
    assert_true(smp_delivery_waiting(&delivery, &walked, to));
    answer.state = delivery.states.in_native;
    assert_true(smp_delivery_waiting(&delivery, &walked, to));
}

static void a_thread_that_runs_is_not_waited_for(void **state)
{
    (void)state;
    assert_false(smp_delivery_waiting(&delivery, &walked, to));
    answer.state = STATE_BLOCKED + 1;
    assert_false(smp_delivery_waiting(&delivery, &walked, to));
    assert_int_equal(fake_vm.calls[FAKE_GetStackTrace], 0);
    answer.state = STATE_BLOCKED;
    fake_vm.main_thread.depth = 0;
    assert_false(smp_delivery_waiting(&delivery, &walked, to));
    fake_vm.main_thread.depth = DEPTH;
    forbid_handshakes();
    assert_false(smp_delivery_waiting(&delivery, &walked, to));
    assert_int_equal(got.count, 0);
}

/* --- virtual threads --- */

/* Two frames of the virtual thread, the boundary, two of its carrier. */
static void walk_carrier(bool is_whole)
{
    uint32_t at = 0;

    frames[at++] = frame_at(1);
    frames[at++] = frame_at(0);
    if (is_whole)
        frames[at++] = (struct smp_jvm_frame){ .method = (void *)(intptr_t)FAKE_ENTER };
    frames[at++] = (struct smp_jvm_frame){ .method = (void *)(intptr_t)FAKE_ENTER_SPECIAL };
    frames[at++] = frame_at(5);
    frames[at++] = frame_at(4);
    answer.first = 0;
    answer.count = at;
}

static void a_mounted_virtual_thread_has_its_own_stack_and_name(void **state)
{
    struct fake_string name;
    struct fake_thread mounted = { .object = { FAKE_THREAD }, .name = &name };

    (void)state;
    fake_string_set(&name, "orders-1");
    walked.mounted = fake_vm_local(&mounted);
    walk_carrier(true);
    assert_false(smp_threads_walk_info(walked.thread)->is_carrier);
    smp_delivery_stack(&delivery, fake_vm_jni(), &walked, to);
    assert_delivered(SMP_ANSWER_WHOLE, 2);
    assert_true(got.has_mounted);
    assert_string_equal(got.mounted_name, "orders-1");
    assert_ptr_equal(got.mounted_ref, walked.mounted);
    assert_true(smp_threads_walk_info(walked.thread)->is_carrier);
    (*fake_vm_jni())->DeleteLocalRef(fake_vm_jni(), walked.mounted);
}

static void a_virtual_thread_that_was_parked_is_cut(void **state)
{
    struct fake_string name;
    struct fake_thread mounted = { .object = { FAKE_THREAD }, .name = &name };

    (void)state;
    fake_string_set(&name, ""); /* most virtual threads have none */
    walked.mounted = fake_vm_local(&mounted);
    walk_carrier(false);
    smp_delivery_stack(&delivery, fake_vm_jni(), &walked, to);
    assert_delivered(SMP_ANSWER_VIRTUAL_CUT, 2);
    assert_true(got.has_mounted);
    assert_false(got.has_name);
    (*fake_vm_jni())->DeleteLocalRef(fake_vm_jni(), walked.mounted);
}

static void an_unknown_virtual_thread_has_no_name(void **state)
{
    (void)state;
    walk_carrier(true);
    smp_delivery_stack(&delivery, fake_vm_jni(), &walked, to);
    assert_delivered(SMP_ANSWER_WHOLE, 2);
    assert_true(got.has_mounted);
    assert_null(got.mounted_ref);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_stack_with_all_its_names_needs_no_handshake),
        TEST(a_second_try_is_counted_unless_it_was_recovered),
        TEST(a_walk_without_frames_is_an_empty_stack),
        TEST(a_deep_stack_loses_its_middle),
        TEST(missing_ids_are_taken_from_a_handshake),
        TEST(without_a_handshake_the_other_frames_keep_their_places),
        TEST(a_late_walk_gets_no_handshake),
        TEST(a_thread_that_continued_keeps_a_frame_without_a_name),
        TEST(copied_names_need_no_handshake),
        TEST(a_waiting_thread_has_the_stack_of_a_handshake),
        TEST(jdk_28_has_other_state_numbers),
        TEST(a_thread_that_runs_is_not_waited_for),
        TEST(a_mounted_virtual_thread_has_its_own_stack_and_name),
        TEST(a_virtual_thread_that_was_parked_is_cut),
        TEST(an_unknown_virtual_thread_has_no_name),
    };

    return cmocka_run_group_tests(tests, fake_vm_know_virtual_threads,
                                  fake_vm_forget_virtual_threads);
}
