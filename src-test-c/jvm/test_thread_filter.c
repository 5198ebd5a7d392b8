/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include "jvm/agent/agent.h"
#include "jvm/threads/thread_filter.h"
#include "support/failing_alloc.h"
#include "support/fake_vm.h"

static struct fake_vm_reader reader;
static struct fake_thread workers[3];
static struct fake_array chosen;

static int setup(void **state)
{
    (void)state;
    fake_vm_setup();
    for (int i = 0; i < 3; i++)
        fake_vm_add(&workers[i], 30 - i, "worker");
    reader = (struct fake_vm_reader){ .accept = FAKE_VM_MAX_POLLED };
    chosen = (struct fake_array){ .object = { FAKE_ARRAY } };
    if (smp_agent_open() != SMP_OK)
        return -1;
    fake_vm_poll(&reader);
    return reader.count == 4 ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    fake_vm_drop_all(&reader);
    smp_agent_close();
    fake_vm_teardown();
    return 0;
}

static enum smp_status create(struct smp_thread_filter *thread_filter)
{
    jobject array = fake_vm_local(&chosen);
    enum smp_status status = smp_jvm_thread_filter_create(fake_vm_jni(), array, thread_filter);

    (*fake_vm_jni())->DeleteLocalRef(fake_vm_jni(), array);
    return status;
}

static bool has(const struct smp_thread_filter *thread_filter, size_t index)
{
    return thread_filter->contains(thread_filter->self, reader.threads[index]);
}

static void only_chosen_threads_are_in_the_filter(void **state)
{
    struct smp_thread_filter thread_filter;

    (void)state;
    chosen.count = 2;
    chosen.elements[0] = &workers[0].object;
    chosen.elements[1] = &workers[2].object;
    assert_int_equal(create(&thread_filter), SMP_OK);
    assert_false(has(&thread_filter, 0)); /* the main thread */
    assert_true(has(&thread_filter, 1));
    assert_false(has(&thread_filter, 2));
    assert_true(has(&thread_filter, 3));
    thread_filter.destroy(thread_filter.self);
}

static void a_filter_holds_no_references(void **state)
{
    struct smp_thread_filter thread_filter;
    const long before = fake_vm_live_refs();

    (void)state;
    chosen.count = 1;
    chosen.elements[0] = &workers[0].object;
    assert_int_equal(create(&thread_filter), SMP_OK);
    assert_int_equal(fake_vm_live_refs(), before);
    thread_filter.destroy(thread_filter.self);
}

static void a_thread_counts_once_it_runs(void **state)
{
    static struct fake_thread late;
    struct smp_thread_filter thread_filter;

    (void)state;
    late = workers[0];
    late.java_id = 77;
    chosen.count = 1;
    chosen.elements[0] = &late.object;
    assert_int_equal(create(&thread_filter), SMP_OK);
    fake_vm_thread_start(&late);
    fake_vm_poll(&reader);
    assert_int_equal(reader.count, 5);
    assert_true(has(&thread_filter, 4));
    assert_false(has(&thread_filter, 1));
    thread_filter.destroy(thread_filter.self);
}

static void null_and_an_empty_array_choose_no_thread(void **state)
{
    struct smp_thread_filter thread_filter;

    (void)state;
    assert_int_equal(smp_jvm_thread_filter_create(fake_vm_jni(), NULL, &thread_filter), SMP_OK);
    assert_false(has(&thread_filter, 0));
    thread_filter.destroy(thread_filter.self);
    assert_int_equal(create(&thread_filter), SMP_OK);
    assert_false(has(&thread_filter, 0));
    thread_filter.destroy(thread_filter.self);
}

static void a_null_thread_is_refused(void **state)
{
    struct smp_thread_filter thread_filter;

    (void)state;
    chosen.count = 2;
    chosen.elements[0] = &workers[0].object;
    assert_int_equal(create(&thread_filter), SMP_EINVAL);
}

static enum smp_status create_and_destroy(void *self)
{
    struct smp_thread_filter thread_filter;
    enum smp_status status = create(&thread_filter);

    (void)self;
    if (status == SMP_OK)
        thread_filter.destroy(thread_filter.self);
    return status;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    chosen.count = 1;
    chosen.elements[0] = &workers[0].object;
    assert_int_equal(failing_alloc_each_step(create_and_destroy, NULL).refused, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(only_chosen_threads_are_in_the_filter),
        TEST(a_filter_holds_no_references),
        TEST(a_thread_counts_once_it_runs),
        TEST(null_and_an_empty_array_choose_no_thread),
        TEST(a_null_thread_is_refused),
        TEST(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
