/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include "jvm/agent/agent.h"
#include "jvm/threads/threads.h"
#include "jvm/threads/virtual_threads.h"
#include "jvm/walk/handshakes.h"
#include "support/failing_alloc.h"
#include "support/fake_clock.h"
#include "support/fake_vm.h"

enum { DEPTH = 5, COST_NS = 30000000 };

static struct fake_vm_reader reader;
static struct fake_clock fake_time;
static struct smp_handshakes handshakes;
static struct smp_sample sample;
static int64_t cost_ns;

/* A handshake lasts until the thread reaches its safepoint. */
static void spend_time(enum fake_call call)
{
    if (call == FAKE_GetStackTrace || call == FAKE_GetLoadedClasses)
        fake_clock_advance(&fake_time, cost_ns);
}

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
    fake_vm.before = spend_time;
    cost_ns = 0;
    smp_handshakes_init(&handshakes);
    return reader.count == 1 ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    smp_handshakes_fini(&handshakes);
    fake_vm_drop_all(&reader);
    smp_agent_close();
    fake_clock_remove();
    fake_vm_teardown();
    return 0;
}

static bool walk(size_t frames)
{
    return smp_handshakes_walk(&handshakes, smp_threads_ref(reader.threads[0]), frames, &sample);
}

static void a_whole_stack_is_walked(void **state)
{
    (void)state;
    assert_true(walk(DEPTH));
    assert_int_equal(sample.count, DEPTH);
    assert_int_equal(sample.leaf_count, DEPTH);
    assert_int_equal(sample.omitted, 0);
    assert_int_equal(sample.frames[0].method, FAKE_METHOD + DEPTH - 1);
    assert_int_equal(sample.frames[DEPTH - 1].method, FAKE_METHOD);
}

static void a_stack_that_fills_the_buffer_is_rejected(void **state)
{
    (void)state;
    fake_vm.main_thread.depth = SMP_HANDSHAKES_FRAMES;
    assert_false(walk(0));
    assert_true(walk(1));
    fake_vm.main_thread.depth = SMP_HANDSHAKES_FRAMES + 1;
    assert_true(walk(1));
    fake_vm.main_thread.depth = SMP_HANDSHAKES_FRAMES + 2;
    assert_false(walk(1));
}

static void no_stack_is_walked_further_than_the_limit(void **state)
{
    (void)state;
    fake_vm.main_thread.depth = 500000;
    assert_false(walk(100000));
    assert_int_equal(fake_vm.most_frames, SMP_HANDSHAKES_MOST);
}

static void the_credit_is_spent_and_earned_again(void **state)
{
    (void)state;
    cost_ns = COST_NS;
    assert_true(walk(DEPTH));
    assert_true(walk(DEPTH)); /* an overdraft: the credit may be less than the cost */
    assert_false(walk(DEPTH));
    /* The overdraft was less than one cost; the credit grows by a percentage of the time. */
    fake_clock_advance(&fake_time, (int64_t)COST_NS * 100 / SMP_HANDSHAKES_PERCENT);
    cost_ns = 0;
    assert_true(walk(DEPTH));
}

static void the_credit_is_limited(void **state)
{
    static const int64_t pauses_ns[] = { INT64_C(3600) * 1000000000, 100000000 };

    (void)state;
    for (int i = 0; i < 2; i++) {
        handshakes.saved_ns = SMP_HANDSHAKES_SAVED_NS;
        fake_clock_advance(&fake_time, pauses_ns[i]);
        cost_ns = SMP_HANDSHAKES_SAVED_NS;
        assert_true(walk(DEPTH));
        assert_int_equal(handshakes.saved_ns, 0);
        cost_ns = 0;
        assert_true(walk(DEPTH)); /* a percentage of the time of the first one */
    }
    handshakes.saved_ns = 0;
    assert_false(walk(DEPTH));
}

static void a_percentage_of_the_time_is_earned(void **state)
{
    enum { DEBT_NS = 1000 };

    (void)state;
    handshakes.saved_ns = -DEBT_NS;
    fake_clock_advance(&fake_time, DEBT_NS * 100 / SMP_HANDSHAKES_PERCENT);
    assert_false(walk(DEPTH));
    fake_clock_advance(&fake_time, 100);
    assert_true(walk(DEPTH));
    handshakes.saved_ns = 1 - SMP_HANDSHAKES_PERCENT;
    fake_clock_advance(&fake_time, 100);
    assert_true(walk(DEPTH)); /* as long as any credit is left */
}

static void without_memory_there_is_no_handshake(void **state)
{
    struct failing_alloc failing;

    (void)state;
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    assert_false(walk(DEPTH));
    (void)failing_alloc_disarm(&failing);
    assert_true(walk(DEPTH));
}

/* Without virtual threads a handshake creates missing ids; nothing else may. */
static void without_virtual_threads_ids_are_not_created(void **state)
{
    (void)state;
    fake_vm.class_count = 3;
    assert_false(smp_handshakes_make_ids(&handshakes, smp_agent_env()));
    assert_int_equal(fake_vm.calls[FAKE_GetLoadedClasses], 0);
}

static void see_carrier(void)
{
    struct fake_thread carrier = { .object = { FAKE_THREAD }, .is_carrier = true };
    jobject ref = fake_vm_local(&carrier);

    assert_true(smp_virtual_threads_is_carrier(fake_vm_jni(), ref));
    (*fake_vm_jni())->DeleteLocalRef(fake_vm_jni(), ref);
}

/* A handshake would stall virtual threads: instead, ids are created for all methods, within the
 * time allowed. This must be the last test, because virtual threads that were seen once remain in
 * use. */
static void with_virtual_threads_ids_are_created_without_handshakes(void **state)
{
    (void)state;
    see_carrier();
    fake_vm.class_count = 3;
    fake_vm.class_methods = 10;
    assert_true(smp_handshakes_make_ids(&handshakes, smp_agent_env()));
    assert_int_equal(fake_vm.calls[FAKE_GetClassMethods], 3);
    assert_false(walk(DEPTH));
    assert_int_equal(fake_vm.calls[FAKE_GetStackTrace], 0);
    cost_ns = SMP_HANDSHAKES_SAVED_NS + COST_NS;
    assert_true(smp_handshakes_make_ids(&handshakes, smp_agent_env()));
    assert_false(smp_handshakes_make_ids(&handshakes, smp_agent_env()));
    assert_int_equal(fake_vm.calls[FAKE_GetLoadedClasses], 2);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_whole_stack_is_walked),
        TEST(a_stack_that_fills_the_buffer_is_rejected),
        TEST(no_stack_is_walked_further_than_the_limit),
        TEST(the_credit_is_spent_and_earned_again),
        TEST(the_credit_is_limited),
        TEST(a_percentage_of_the_time_is_earned),
        TEST(without_memory_there_is_no_handshake),
        TEST(without_virtual_threads_ids_are_not_created),
        TEST(with_virtual_threads_ids_are_created_without_handshakes),
    };

    return cmocka_run_group_tests(tests, fake_vm_know_virtual_threads,
                                  fake_vm_forget_virtual_threads);
}
