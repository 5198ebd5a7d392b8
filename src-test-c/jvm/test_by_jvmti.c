/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include "handler/pauses.h"
#include "jvm/agent/agent.h"
#include "jvm/code/methods.h"
#include "jvm/walk/by_jvmti.h"
#include "support/fake_clock.h"
#include "support/fake_vm.h"

enum { CAPACITY = 16 };

static struct fake_vm_reader reader;
static struct smp_frame frames[CAPACITY + 1];
static struct smp_sample sample;
static struct fake_clock fake_time;
static int64_t handshake_ns;

static void take_time(enum fake_call call)
{
    if (call == FAKE_GetStackTrace)
        fake_clock_advance(&fake_time, handshake_ns);
}

static int setup(void **state)
{
    (void)state;
    fake_vm_setup();
    reader = (struct fake_vm_reader){ .accept = FAKE_VM_MAX_POLLED };
    if (smp_agent_open() != SMP_OK)
        return -1;
    fake_vm_poll(&reader);
    frames[CAPACITY] = (struct smp_frame){ .method = 42, .bci = 42 };
    sample = (struct smp_sample){ .frames = frames, .capacity = CAPACITY };
    return reader.count == 1 ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    fake_vm_drop_all(&reader);
    smp_agent_close();
    fake_vm_teardown();
    /* nothing was written after the sample */
    return frames[CAPACITY].method == 42 && frames[CAPACITY].bci == 42 ? 0 : -1;
}

static enum smp_status walk(void)
{
    const struct smp_walker walker = smp_by_jvmti();

    return walker.walk(walker.self, reader.threads[0], &sample);
}

/* frames[from..till) are those whose distance from the root is at most from_root. */
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
    fake_vm.main_thread.depth = 5;
    assert_int_equal(walk(), SMP_OK);
    assert_int_equal(sample.count, 5);
    assert_int_equal(sample.leaf_count, 5);
    assert_int_equal(sample.omitted, 0);
    assert_frames(0, 5, 4);
}

static void an_empty_stack_is_ok(void **state)
{
    (void)state;
    fake_vm.main_thread.depth = 0;
    sample.count = 7;
    assert_int_equal(walk(), SMP_OK);
    assert_int_equal(sample.count, 0);
    assert_int_equal(sample.leaf_count, 0);
}

/* To get the depth, the JVM would walk the whole stack in the handshake. */
static void assert_bounded(void)
{
    assert_int_equal(fake_vm.calls[FAKE_GetStackTrace], 1);
    assert_int_equal(fake_vm.most_frames, sample.capacity);
    assert_int_equal(fake_vm.calls[FAKE_GetFrameCount], 0);
}

static void a_stack_that_fits_is_complete(void **state)
{
    (void)state;
    fake_vm.main_thread.depth = CAPACITY - 1;
    assert_int_equal(walk(), SMP_OK);
    assert_int_equal(sample.count, CAPACITY - 1);
    assert_int_equal(sample.leaf_count, CAPACITY - 1);
    assert_int_equal(sample.omitted, 0);
    assert_frames(0, CAPACITY - 1, CAPACITY - 2);
    assert_bounded();
}

static void a_deep_stack_is_read_at_the_leafs_end_without_its_depth(void **state)
{
    static const jint depths[] = { CAPACITY, CAPACITY + 1, 500000 };

    (void)state;
    for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
        fake_vm.calls[FAKE_GetStackTrace] = 0;
        fake_vm.main_thread.depth = depths[i];
        assert_int_equal(walk(), SMP_OK);
        assert_int_equal(sample.count, CAPACITY);
        assert_true(smp_sample_lacks_root(&sample));
        assert_frames(0, CAPACITY, (size_t)depths[i] - 1);
        assert_bounded();
    }
}

static void long_handshakes_are_counted(void **state)
{
    const int session = smp_pauses_open();

    (void)state;
    fake_clock_install(&fake_time);
    fake_vm.before = take_time;
    for (int64_t ns = SMP_PAUSE_LEAST_NS - 1; ns <= SMP_PAUSE_LEAST_NS + 1; ns++) {
        handshake_ns = ns;
        assert_int_equal(walk(), SMP_OK);
        assert_int_equal(smp_pauses_take(session, SMP_PAUSE_HANDSHAKE),
                         ns < SMP_PAUSE_LEAST_NS ? 0 : ns);
        assert_int_equal(smp_pauses_take(session, SMP_PAUSE_HANDSHAKE), 0);
    }
    fake_clock_remove();
    smp_pauses_close(session);
}

static void absurd_counts_are_rejected(void **state)
{
    static const jint counts[] = { CAPACITY + 1, 1000000, -1, INT32_MIN, INT32_MAX };

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        fake_vm.absurd_count = counts[i];
        assert_int_equal(walk(), SMP_EVM);
    }
}

static void errors_are_distinguished(void **state)
{
    (void)state;
    fake_vm.errors[FAKE_GetStackTrace] = JVMTI_ERROR_WRONG_PHASE;
    assert_int_equal(walk(), SMP_EPHASE);
    fake_vm.errors[FAKE_GetStackTrace] = JVMTI_ERROR_OUT_OF_MEMORY;
    assert_int_equal(walk(), SMP_ENOMEM);
    fake_vm.errors[FAKE_GetStackTrace] = JVMTI_ERROR_INTERNAL;
    assert_int_equal(walk(), SMP_EVM);
    assert_int_equal(reader.threads[0]->ended_ns, 0);
}

static void a_thread_may_have_died(void **state)
{
    (void)state;
    fake_vm.main_thread.ended = true;
    assert_int_equal(walk(), SMP_EGONE);
    /* there was no event, so the walk reported it */
    assert_int_not_equal(reader.threads[0]->ended_ns, 0);
    struct fake_vm_reader late = { .accept = FAKE_VM_MAX_POLLED };
    fake_vm_poll(&late);
    assert_int_equal(late.count, 0);
}

static void a_frame_without_an_id_has_a_key(void **state)
{
    (void)state;
    fake_vm.null_methods = true;
    assert_int_equal(walk(), SMP_OK);
    assert_int_equal(sample.count, 3);
    assert_true(frames[0].method == SMP_METHODS_NO_ID);
}

static void too_small_a_sample_is_refused(void **state)
{
    (void)state;
    sample.capacity = 1;
    assert_int_equal(walk(), SMP_EINVAL);
    assert_int_equal(fake_vm.calls[FAKE_GetStackTrace], 0);
}

static void after_vm_death_the_jvm_is_not_called(void **state)
{
    (void)state;
    fake_vm_death();
    assert_int_equal(walk(), SMP_EPHASE);
    assert_int_equal(fake_vm.calls[FAKE_GetStackTrace], 0);
}

static int teardown_after_death(void **state)
{
    const int before = fake_vm.calls[FAKE_SetEventNotificationMode];

    if (teardown(state) != 0)
        return -1;
    return fake_vm.calls[FAKE_SetEventNotificationMode] == before ? 0 : -1;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_stack_is_read_leaf_first),
        TEST(an_empty_stack_is_ok),
        TEST(a_stack_that_fits_is_complete),
        TEST(a_deep_stack_is_read_at_the_leafs_end_without_its_depth),
        TEST(long_handshakes_are_counted),
        TEST(absurd_counts_are_rejected),
        TEST(errors_are_distinguished),
        TEST(a_thread_may_have_died),
        TEST(a_frame_without_an_id_has_a_key),
        TEST(too_small_a_sample_is_refused),
        cmocka_unit_test_setup_teardown(after_vm_death_the_jvm_is_not_called, setup,
                                        teardown_after_death),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
