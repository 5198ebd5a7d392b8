/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those four */
#include <cmocka.h>

#include "jvm/agent/agent.h"
#include "jvm/code/methods.h"
#include "jvm/walk/by_jvmti.h"
#include "support/vm_fixture.h"

enum { CAPACITY = 16 };

static struct vm_fixture fixture;
static struct vm_fixture_reader reader;
static struct smp_frame frames[CAPACITY + 1];
static struct smp_sample sample;

static int setup(void **state)
{
    (void)state;
    vm_fixture_setup(&fixture);
    reader = (struct vm_fixture_reader){ .accept = VM_FIXTURE_MAX_THREADS };
    if (smp_agent_open() != SMP_OK)
        return -1;
    vm_fixture_poll(&reader);
    frames[CAPACITY] = (struct smp_frame){ .method = 42, .bci = 42 };
    sample = (struct smp_sample){ .frames = frames, .capacity = CAPACITY };
    return reader.count == 1 ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    vm_fixture_drop_all(&reader);
    smp_agent_close();
    vm_fixture_teardown(&fixture);
    /* nothing was written behind the sample */
    return frames[CAPACITY].method == 42 && frames[CAPACITY].bci == 42 ? 0 : -1;
}

static enum smp_status walk(void)
{
    const struct smp_walker walker = smp_by_jvmti();

    return walker.walk(walker.self, reader.threads[0], &sample);
}

/* frames[from..till) are those at a distance of from_root and less from the root. */
static void assert_frames(size_t from, size_t till, size_t from_root)
{
    for (size_t i = from; i < till; i++) {
        assert_int_equal(frames[i].method, FAKE_METHOD + from_root - (i - from));
        assert_int_equal(frames[i].bci, from_root - (i - from));
    }
}

static void a_stack_is_read_leaf_first(void **state)
{
    (void)state;
    fixture.main_thread.depth = 5;
    assert_int_equal(walk(), SMP_OK);
    assert_int_equal(sample.count, 5);
    assert_int_equal(sample.leaf_count, 5);
    assert_int_equal(sample.omitted, 0);
    assert_frames(0, 5, 4);
    assert_int_equal(fake_jvmti.calls[FAKE_GetStackTrace], 1);
    assert_int_equal(fake_jvmti.calls[FAKE_GetFrameCount], 0);
}

static void an_empty_stack_is_ok(void **state)
{
    (void)state;
    fixture.main_thread.depth = 0;
    sample.count = 7;
    assert_int_equal(walk(), SMP_OK);
    assert_int_equal(sample.count, 0);
    assert_int_equal(sample.leaf_count, 0);
}

static void a_stack_that_just_fits_is_whole(void **state)
{
    (void)state;
    fixture.main_thread.depth = CAPACITY;
    assert_int_equal(walk(), SMP_OK);
    assert_int_equal(sample.count, CAPACITY);
    assert_int_equal(sample.leaf_count, CAPACITY);
    assert_int_equal(sample.omitted, 0);
    assert_frames(0, CAPACITY, CAPACITY - 1);
}

static void a_deep_stack_keeps_both_ends(void **state)
{
    (void)state;
    fixture.main_thread.depth = 50000;
    assert_int_equal(walk(), SMP_OK);
    assert_int_equal(sample.count, CAPACITY);
    assert_int_equal(sample.leaf_count, CAPACITY / 2);
    assert_int_equal(sample.omitted, 50000 - CAPACITY);
    assert_frames(0, CAPACITY / 2, 49999);
    assert_frames(CAPACITY / 2, CAPACITY, CAPACITY / 2 - 1);
}

static void one_frame_too_many_is_one_omitted(void **state)
{
    (void)state;
    fixture.main_thread.depth = CAPACITY + 1;
    assert_int_equal(walk(), SMP_OK);
    assert_int_equal(sample.omitted, 1);
    assert_int_equal(sample.count, CAPACITY);
}

static void an_odd_capacity_keeps_both_ends(void **state)
{
    (void)state;
    sample.capacity = 5;
    fixture.main_thread.depth = 9;
    assert_int_equal(walk(), SMP_OK);
    assert_int_equal(sample.count, 5);
    assert_int_equal(sample.leaf_count, 3);
    assert_int_equal(sample.omitted, 4);
    assert_frames(0, 3, 8);
    assert_frames(3, 5, 1);
}

static void shrink_at_frame_count(enum fake_call call)
{
    if (call == FAKE_GetFrameCount)
        fixture.main_thread.depth = 4;
}

static void a_stack_that_shrank_is_walked_again(void **state)
{
    (void)state;
    fixture.main_thread.depth = 100;
    fake_jvmti.before = shrink_at_frame_count;
    assert_int_equal(walk(), SMP_OK);
    assert_int_equal(sample.count, 4);
    assert_int_equal(sample.leaf_count, 4);
    assert_int_equal(sample.omitted, 0);
    assert_frames(0, 4, 3);
}

static void shrink_at_root_end(enum fake_call call)
{
    if (call == FAKE_GetStackTrace && fake_jvmti.calls[FAKE_GetFrameCount] == 1)
        fixture.main_thread.depth = 4;
}

static void a_root_end_that_is_no_more_is_walked_again(void **state)
{
    (void)state;
    fixture.main_thread.depth = 100;
    fake_jvmti.before = shrink_at_root_end;
    assert_int_equal(walk(), SMP_OK);
    assert_int_equal(sample.count, 4);
    assert_int_equal(sample.omitted, 0);
}

static void breathe(enum fake_call call)
{
    fixture.main_thread.depth = call == FAKE_GetFrameCount ? 4 : 100;
}

static void a_stack_that_never_stands_still_is_given_up(void **state)
{
    (void)state;
    fake_jvmti.before = breathe;
    assert_int_equal(walk(), SMP_EVM);
    assert_int_equal(fake_jvmti.calls[FAKE_GetFrameCount], SMP_JVMTI_WALK_ATTEMPTS);
}

static void absurd_counts_are_not_believed(void **state)
{
    static const jint counts[] = { CAPACITY + 1, 1000000, -1, INT32_MIN, INT32_MAX };

    (void)state;
    fixture.main_thread.depth = CAPACITY; /* so that the depth does not betray the count */
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        fake_jvmti.absurd_count = counts[i];
        assert_int_equal(walk(), SMP_EVM);
    }
}

static void make_depth_absurd(enum fake_call call)
{
    if (call == FAKE_GetFrameCount)
        fixture.main_thread.depth = -5;
}

static void an_absurd_depth_is_not_believed(void **state)
{
    (void)state;
    fixture.main_thread.depth = 100;
    fake_jvmti.before = make_depth_absurd;
    assert_int_equal(walk(), SMP_EVM);
}

static void errors_are_distinguished(void **state)
{
    (void)state;
    fake_jvmti.errors[FAKE_GetStackTrace] = JVMTI_ERROR_WRONG_PHASE;
    assert_int_equal(walk(), SMP_EPHASE);
    fake_jvmti.errors[FAKE_GetStackTrace] = JVMTI_ERROR_OUT_OF_MEMORY;
    assert_int_equal(walk(), SMP_ENOMEM);
    fake_jvmti.errors[FAKE_GetStackTrace] = JVMTI_ERROR_INTERNAL;
    assert_int_equal(walk(), SMP_EVM);
    assert_int_equal(reader.threads[0]->ended_ns, 0);
}

static void die_before_frame_count(enum fake_call call)
{
    if (call == FAKE_GetFrameCount)
        fixture.main_thread.ended = true;
}

static void a_thread_may_die_between_two_calls(void **state)
{
    (void)state;
    fixture.main_thread.depth = 100;
    fake_jvmti.before = die_before_frame_count;
    assert_int_equal(walk(), SMP_EGONE);
    /* there was no event, so the walk reported it */
    assert_int_not_equal(reader.threads[0]->ended_ns, 0);
    struct vm_fixture_reader late = { .accept = VM_FIXTURE_MAX_THREADS };
    vm_fixture_poll(&late);
    assert_int_equal(late.count, 0);
}

static void a_frame_without_an_id_has_a_key(void **state)
{
    (void)state;
    fake_jvmti.null_methods = true;
    assert_int_equal(walk(), SMP_OK);
    assert_int_equal(sample.count, 3);
    assert_true(frames[0].method == SMP_METHODS_NO_ID);
}

static void too_small_a_sample_is_refused(void **state)
{
    (void)state;
    sample.capacity = 1;
    assert_int_equal(walk(), SMP_EINVAL);
    assert_int_equal(fake_jvmti.calls[FAKE_GetStackTrace], 0);
}

static void after_vm_death_the_jvm_is_left_alone(void **state)
{
    (void)state;
    fake_jvmti_vm_death();
    assert_int_equal(walk(), SMP_EPHASE);
    assert_int_equal(fake_jvmti.calls[FAKE_GetStackTrace], 0);
}

static int teardown_after_death(void **state)
{
    const int before = fake_jvmti.calls[FAKE_SetEventNotificationMode];

    if (teardown(state) != 0)
        return -1;
    return fake_jvmti.calls[FAKE_SetEventNotificationMode] == before ? 0 : -1;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_stack_is_read_leaf_first),
        TEST(an_empty_stack_is_ok),
        TEST(a_stack_that_just_fits_is_whole),
        TEST(a_deep_stack_keeps_both_ends),
        TEST(one_frame_too_many_is_one_omitted),
        TEST(an_odd_capacity_keeps_both_ends),
        TEST(a_stack_that_shrank_is_walked_again),
        TEST(a_root_end_that_is_no_more_is_walked_again),
        TEST(a_stack_that_never_stands_still_is_given_up),
        TEST(absurd_counts_are_not_believed),
        TEST(an_absurd_depth_is_not_believed),
        TEST(errors_are_distinguished),
        TEST(a_thread_may_die_between_two_calls),
        TEST(a_frame_without_an_id_has_a_key),
        TEST(too_small_a_sample_is_refused),
        cmocka_unit_test_setup_teardown(after_vm_death_the_jvm_is_left_alone, setup,
                                        teardown_after_death),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
