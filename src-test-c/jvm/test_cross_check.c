/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "jvm/agent/agent.h"
#include "jvm/code/named_methods.h"
#include "jvm/walk/cross_check.h"
#include "support/fake_vm.h"

enum { CAPACITY = 4, MANY = 3 * SMP_CROSS_CHECK_EACH };

static struct smp_frame frames[CAPACITY] = { { 11, 1 }, { 12, -1 }, { 13, 0 } };
static struct smp_sample sample;
static struct smp_sample jvmti; /* the stack of JVMTI */
static struct smp_frame jvmti_frames[CAPACITY];
static enum smp_status jvmti_status;
static unsigned handshakes;
static int64_t cpu_ns;
static uint64_t runs;
static bool runs_in_handshakes;
static bool runs_at_no_cost;
static struct smp_thread thread = { .os_tid = 3 };
static struct smp_cross_check check;

static enum smp_status walk(void *self, struct smp_thread *unused, struct smp_sample *out)
{
    (void)self;
    (void)unused;
    handshakes++;
    cpu_ns += runs_in_handshakes && !runs_at_no_cost;
    runs += runs_in_handshakes;
    memcpy(out->frames, jvmti.frames, sizeof(frames));
    out->count = jvmti.count;
    out->leaf_count = jvmti.leaf_count;
    out->omitted = jvmti.omitted;
    return jvmti_status;
}

static bool read_cpu(void *self, int32_t tid, int64_t *out)
{
    (void)self;
    *out = cpu_ns;
    return tid == 3;
}

static bool read_runs(void *self, int32_t tid, uint64_t *out)
{
    (void)self;
    *out = runs;
    return tid == 3;
}

static const struct smp_clock_fake clock_seam = { .thread_cpu_ns = read_cpu,
                                                  .thread_runs = read_runs };

static int setup(void **state)
{
    (void)state;
    sample =
        (struct smp_sample){ .frames = frames, .capacity = CAPACITY, .count = 3, .leaf_count = 3 };
    jvmti = sample;
    jvmti.frames = jvmti_frames;
    memcpy(jvmti_frames, frames, sizeof(frames));
    jvmti_status = SMP_OK;
    handshakes = 0;
    runs_in_handshakes = runs_at_no_cost = false;
    runs = 1;
    thread.os_tid = 3;
    smp_clock_set_fake(&clock_seam);
    smp_cross_check_set_each(0);
    return smp_cross_check_init(&check, CAPACITY) == SMP_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    smp_cross_check_fini(&check);
    smp_cross_check_set_each(0);
    smp_clock_set_fake(NULL);
    return smp_alloc_live_bytes() == 0 ? 0 : -1;
}

static bool one_walk(char *reason)
{
    const struct smp_walker by_jvmti = { .walk = walk };

    smp_cross_check_begin(&check, &thread);
    return smp_cross_check_end(&check, &by_jvmti, &thread, &sample, reason);
}

static void the_first_walks_are_compared_and_then_few(void **state)
{
    char reason[SMP_CROSS_CHECK_REASON_BYTES];
    const uint64_t before = smp_cross_check_get_counts().compared;

    (void)state;
    for (int i = 0; i < SMP_CROSS_CHECK_FIRST; i++)
        assert_true(one_walk(reason));
    assert_int_equal(handshakes, SMP_CROSS_CHECK_FIRST);
    for (int i = SMP_CROSS_CHECK_FIRST; i < MANY; i++)
        assert_true(one_walk(reason));
    assert_int_equal(handshakes, SMP_CROSS_CHECK_FIRST + 3);
    assert_int_equal(smp_cross_check_get_counts().compared - before, handshakes);
    assert_int_equal(smp_cross_check_get_counts().different, 0);
}

static void a_test_may_compare_all_walks(void **state)
{
    char reason[SMP_CROSS_CHECK_REASON_BYTES];

    (void)state;
    smp_cross_check_set_each(1);
    for (unsigned i = 0; i < 2 * SMP_CROSS_CHECK_FIRST; i++) {
        assert_true(one_walk(reason));
        assert_int_equal(handshakes, i + 1);
    }
}

/* JVMTI's stack is of a later time: no difference is reported, and the next walk is compared
 * instead. */
static void a_thread_that_runs_in_between_is_not_compared(void **state)
{
    char reason[SMP_CROSS_CHECK_REASON_BYTES];
    const uint64_t before = smp_cross_check_get_counts().compared;

    (void)state;
    jvmti.count = 1;
    runs_in_handshakes = true;
    for (int i = 0; i < 2 * SMP_CROSS_CHECK_FIRST; i++)
        assert_true(one_walk(reason));
    assert_int_equal(handshakes, 2 * SMP_CROSS_CHECK_FIRST);
    runs_in_handshakes = false;
    jvmti_status = SMP_EGONE;
    assert_true(one_walk(reason));
    thread.os_tid = 0;
    assert_true(one_walk(reason));
    assert_int_equal(smp_cross_check_get_counts().compared, before);
    assert_int_equal(check.walks, 0);
}

/* The kernel has subtracted the time that the host took. */
static void a_run_that_takes_no_cpu_time_is_noticed(void **state)
{
    char reason[SMP_CROSS_CHECK_REASON_BYTES];
    const struct smp_cross_check_counts before = smp_cross_check_get_counts();

    (void)state;
    jvmti.count = 1;
    runs_in_handshakes = runs_at_no_cost = true;
    assert_true(one_walk(reason));
    assert_int_equal(smp_cross_check_get_counts().compared, before.compared);
    runs_in_handshakes = false;
    assert_false(one_walk(reason));
    assert_int_equal(smp_cross_check_get_counts().different, before.different + 1);
}

static void the_last_difference_is_kept(void **state)
{
    char reason[SMP_CROSS_CHECK_REASON_BYTES];
    char last[SMP_CROSS_CHECK_REASON_BYTES] = "";

    (void)state;
    jvmti_frames[1].bci = 8;
    assert_false(one_walk(reason));
    smp_cross_check_last_difference(last);
    assert_string_equal(last, reason);
}

static void assert_differs(const char *expected)
{
    char reason[SMP_CROSS_CHECK_REASON_BYTES] = "";
    const uint64_t before = smp_cross_check_get_counts().different;

    assert_false(one_walk(reason));
    assert_string_equal(reason, expected);
    assert_int_equal(smp_cross_check_get_counts().different, before + 1);
    jvmti = sample;
    jvmti.frames = jvmti_frames;
    memcpy(jvmti_frames, frames, sizeof(frames));
    assert_true(one_walk(reason));
}

static void every_kind_of_difference_is_named(void **state)
{
    (void)state;
    jvmti_frames[2].bci = 1;
    assert_differs("frame 2 of 3 read as another one");
    jvmti_frames[0].method = 1;
    assert_differs("frame 0 of 3 read as another one");
    jvmti.count = jvmti.leaf_count = 2;
    assert_differs("a stack of 2 frames read as 3");
}

/* JVMTI's stack lacks the root's end, and ours may lack it. */
static void deep_stacks_are_compared_at_the_leafs_end(void **state)
{
    char reason[SMP_CROSS_CHECK_REASON_BYTES];

    (void)state;
    jvmti.omitted = 1;
    assert_true(one_walk(reason)); /* exactly as deep as there is room for */
    sample.leaf_count = 2;
    sample.omitted = 9;
    jvmti_frames[2].bci = 1;
    assert_true(one_walk(reason));
    jvmti_frames[1].bci = 1;
    assert_false(one_walk(reason));
    assert_string_equal(reason, "frame 1 of 3 read as another one");
    jvmti_frames[1].bci = frames[1].bci;
    sample.count = sample.leaf_count = 2;
    sample.omitted = 0;
    assert_false(one_walk(reason));
    assert_string_equal(reason, "a stack of 3 frames read as 2");
    sample.omitted = 1;
    assert_true(one_walk(reason));
}

/* JVMTI shows the id that it has just created. */
static void names_without_an_id_are_no_difference(void **state)
{
    char reason[SMP_CROSS_CHECK_REASON_BYTES];

    (void)state;
    frames[1].method = SMP_NAMED_METHOD_BIT | 1024;
    assert_true(one_walk(reason));
    jvmti_frames[1].bci++;
    assert_differs("frame 1 of 3 read as another one");
    frames[1].method = 12;
}

/* The JVM has changed the class between our look-up of a frame and its own walk. */
static void other_ids_of_the_same_method_are_no_difference(void **state)
{
    char reason[SMP_CROSS_CHECK_REASON_BYTES];

    (void)state;
    fake_vm_setup();
    smp_clock_set_fake(&clock_seam);
    assert_int_equal(smp_agent_open(), SMP_OK);
    fake_vm.other_id = (jmethodID)(uintptr_t)13; /* NOLINT(performance-no-int-to-ptr) */
    jvmti_frames[0].method = jvmti_frames[1].method = 13;
    assert_true(one_walk(reason));
    jvmti_frames[0].bci++;
    assert_differs("frame 0 of 3 read as another one");
    fake_vm.other.type = "(J)V";
    jvmti_frames[1].method = 13;
    assert_differs("frame 1 of 3 read as another one");
    smp_agent_close();
    smp_cross_check_fini(&check);
    check = (struct smp_cross_check){ 0 };
    fake_vm_teardown();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_first_walks_are_compared_and_then_few),
        TEST(a_test_may_compare_all_walks),
        TEST(a_thread_that_runs_in_between_is_not_compared),
        TEST(a_run_that_takes_no_cpu_time_is_noticed),
        TEST(the_last_difference_is_kept),
        TEST(every_kind_of_difference_is_named),
        TEST(deep_stacks_are_compared_at_the_leafs_end),
        TEST(names_without_an_id_are_no_difference),
        TEST(other_ids_of_the_same_method_are_no_difference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
