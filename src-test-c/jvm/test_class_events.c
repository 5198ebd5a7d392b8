/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include "jvm/agent/agent.h"
#include "jvm/code/class_events.h"
#include "support/fake_vm.h"

static int setup(void **state)
{
    (void)state;
    fake_vm_setup();
    fake_vm.has_class_unload = true;
    return smp_agent_open() == SMP_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    smp_class_unload_close(smp_agent_jvmti());
    smp_agent_close();
    fake_vm_teardown();
    return 0;
}

static void an_unloaded_class_begins_an_epoch(void **state)
{
    (void)state;
    assert_true(smp_class_unload_open(smp_agent_jvmti()));
    const uint64_t epoch = smp_class_unload_epoch();
    assert_int_not_equal(epoch, 0);
    assert_int_equal(smp_class_unload_epoch(), epoch);
    fake_vm.on_class_unload(smp_agent_jvmti(), fake_vm_jni(), NULL);
    assert_int_equal(smp_class_unload_epoch(), epoch + 1);
}

/* No event reports classes that were unloaded while the library was closed. */
static void data_from_before_a_gap_are_invalid(void **state)
{
    (void)state;
    assert_true(smp_class_unload_open(smp_agent_jvmti()));
    const uint64_t epoch = smp_class_unload_epoch();
    smp_class_unload_close(smp_agent_jvmti());
    assert_null(fake_vm.on_class_unload);
    const uint64_t closed = smp_class_unload_epoch();
    assert_int_not_equal(closed, epoch);
    assert_int_not_equal(smp_class_unload_epoch(), closed);
    assert_true(smp_class_unload_open(smp_agent_jvmti()));
    assert_true(smp_class_unload_epoch() > closed);
}

static void without_the_event_all_data_are_invalid(void **state)
{
    (void)state;
    fake_vm.has_class_unload = false;
    assert_false(smp_class_unload_open(smp_agent_jvmti()));
    assert_int_not_equal(smp_class_unload_epoch(), smp_class_unload_epoch());
    fake_vm.has_class_unload = true;
    fake_vm.errors[FAKE_GetExtensionEvents] = JVMTI_ERROR_OUT_OF_MEMORY;
    assert_false(smp_class_unload_open(smp_agent_jvmti()));
    fake_vm.errors[FAKE_GetExtensionEvents] = JVMTI_ERROR_NONE;
    fake_vm.errors[FAKE_SetExtensionEventCallback] = JVMTI_ERROR_NOT_AVAILABLE;
    assert_false(smp_class_unload_open(smp_agent_jvmti()));
    assert_int_not_equal(smp_class_unload_epoch(), smp_class_unload_epoch());
}

static void a_dead_jvm_is_not_called(void **state)
{
    (void)state;
    assert_true(smp_class_unload_open(smp_agent_jvmti()));
    const int calls = fake_vm.calls[FAKE_SetExtensionEventCallback];
    smp_class_unload_close(NULL);
    assert_int_equal(fake_vm.calls[FAKE_SetExtensionEventCallback], calls);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_unloaded_class_begins_an_epoch),
        TEST(data_from_before_a_gap_are_invalid),
        TEST(without_the_event_all_data_are_invalid),
        TEST(a_dead_jvm_is_not_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
