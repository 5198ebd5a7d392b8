/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those four */
#include <cmocka.h>

#include "support/failing_alloc.h"
#include "support/vm_fixture.h"
#include "vm/vm.h"
#include "vm/vm_selection.h"

static struct vm_fixture fixture;
static struct vm_fixture_reader reader;
static struct fake_thread workers[3];
static struct fake_array chosen;

static int setup(void **state)
{
    (void)state;
    vm_fixture_setup(&fixture);
    for (int i = 0; i < 3; i++)
        vm_fixture_add(&fixture, &workers[i], 30 - i, "worker");
    reader = (struct vm_fixture_reader){ .accept = VM_FIXTURE_MAX_BORN };
    chosen = (struct fake_array){ .object = { FAKE_ARRAY } };
    if (smp_vm_open() != SMP_OK)
        return -1;
    vm_fixture_poll(&reader);
    return reader.count == 4 ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    vm_fixture_drop_all(&reader);
    smp_vm_close();
    vm_fixture_teardown(&fixture);
    return 0;
}

static enum smp_status create(struct smp_selection *selection)
{
    jobject array = fake_jni_local(&chosen);
    enum smp_status status = smp_vm_selection_create(fake_jni_env(), array, selection);

    (*fake_jni_env())->DeleteLocalRef(fake_jni_env(), array);
    return status;
}

static bool has(const struct smp_selection *selection, size_t index)
{
    return selection->contains(selection->self, reader.threads[index]);
}

static void the_chosen_are_in_it_and_no_others(void **state)
{
    struct smp_selection selection;

    (void)state;
    chosen.count = 2;
    chosen.elements[0] = &workers[0].object;
    chosen.elements[1] = &workers[2].object;
    assert_int_equal(create(&selection), SMP_OK);
    assert_false(has(&selection, 0)); /* main */
    assert_true(has(&selection, 1));
    assert_false(has(&selection, 2));
    assert_true(has(&selection, 3));
    selection.destroy(selection.self);
}

static void nothing_is_held(void **state)
{
    struct smp_selection selection;
    const long before = fake_jni_live_refs();

    (void)state;
    chosen.count = 1;
    chosen.elements[0] = &workers[0].object;
    assert_int_equal(create(&selection), SMP_OK);
    assert_int_equal(fake_jni_live_refs(), before);
    selection.destroy(selection.self);
}

static void a_thread_counts_once_it_runs(void **state)
{
    static struct fake_thread late;
    struct smp_selection selection;

    (void)state;
    late = workers[0];
    late.java_id = 77;
    chosen.count = 1;
    chosen.elements[0] = &late.object;
    assert_int_equal(create(&selection), SMP_OK);
    fake_jvmti_thread_start(&late);
    vm_fixture_poll(&reader);
    assert_int_equal(reader.count, 5);
    assert_true(has(&selection, 4));
    assert_false(has(&selection, 1));
    selection.destroy(selection.self);
}

static void none_and_an_empty_array_choose_nobody(void **state)
{
    struct smp_selection selection;

    (void)state;
    assert_int_equal(smp_vm_selection_create(fake_jni_env(), NULL, &selection), SMP_OK);
    assert_false(has(&selection, 0));
    selection.destroy(selection.self);
    assert_int_equal(create(&selection), SMP_OK);
    assert_false(has(&selection, 0));
    selection.destroy(selection.self);
}

static void a_null_thread_is_refused(void **state)
{
    struct smp_selection selection;

    (void)state;
    chosen.count = 2;
    chosen.elements[0] = &workers[0].object;
    assert_int_equal(create(&selection), SMP_EINVAL);
}

static enum smp_status create_and_destroy(void *self)
{
    struct smp_selection selection;
    enum smp_status status = create(&selection);

    (void)self;
    if (status == SMP_OK)
        selection.destroy(selection.self);
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
        TEST(the_chosen_are_in_it_and_no_others), TEST(nothing_is_held),
        TEST(a_thread_counts_once_it_runs),       TEST(none_and_an_empty_array_choose_nobody),
        TEST(a_null_thread_is_refused),           TEST(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
