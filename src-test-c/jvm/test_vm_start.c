/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include "jvm/agent/vm_start.h"
#include "support/failing_alloc.h"
#include "support/fake_vm.h"

static int starts;

static int setup(void **state)
{
    (void)state;
    fake_vm_reset();
    starts = 0;
    return 0;
}

static void count_start(JNIEnv *env, void *context)
{
    assert_non_null(env);
    assert_ptr_equal(context, &starts);
    assert_true(fake_vm.disposed);
    starts++;
}

static enum smp_status await_start(void)
{
    return smp_vm_start_await(fake_vm_java_vm(), count_start, &starts);
}

static void start_vm(void)
{
    fake_vm.callbacks.VMInit(fake_vm_jvmti(), fake_vm_jni(), NULL);
}

static void the_function_is_called_once_the_jvm_has_started(void **state)
{
    (void)state;
    assert_int_equal(await_start(), SMP_OK);
    assert_true(fake_vm.enabled[JVMTI_EVENT_VM_INIT]);
    assert_int_equal(starts, 0);
    start_vm();
    assert_int_equal(starts, 1);
}

static void a_jvm_without_jvmti_is_refused(void **state)
{
    (void)state;
    fake_vm.jvmti_answer = JNI_EVERSION;
    assert_int_equal(await_start(), SMP_EUNSUPPORTED);
    assert_false(fake_vm.disposed);
}

static void a_failure_leaves_no_environment(void **state)
{
    static const enum fake_call calls[] = { FAKE_SetEnvironmentLocalStorage, FAKE_SetEventCallbacks,
                                            FAKE_SetEventNotificationMode };

    (void)state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        fake_vm_reset();
        fake_vm.errors[calls[i]] = JVMTI_ERROR_INTERNAL;
        assert_int_equal(await_start(), SMP_EVM);
        assert_true(fake_vm.disposed);
    }
}

static enum smp_status attempt(void *self)
{
    const enum smp_status status = await_start();

    (void)self;
    if (status == SMP_OK)
        start_vm();
    assert_true(fake_vm.disposed);
    return status;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_int_equal(failing_alloc_each_step(attempt, NULL).refused, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_function_is_called_once_the_jvm_has_started, setup),
        cmocka_unit_test_setup(a_jvm_without_jvmti_is_refused, setup),
        cmocka_unit_test_setup(a_failure_leaves_no_environment, setup),
        cmocka_unit_test_setup(each_allocation_may_fail, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
