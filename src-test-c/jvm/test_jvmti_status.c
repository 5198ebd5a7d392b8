/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those four */
#include <cmocka.h>

#include "jvm/agent/jvmti_status.h"

static void ordinary_life_has_a_status_of_its_own(void **state)
{
    (void)state;
    assert_int_equal(smp_jvmti_status(JVMTI_ERROR_NONE), SMP_OK);
    assert_int_equal(smp_jvmti_status(JVMTI_ERROR_THREAD_NOT_ALIVE), SMP_EGONE);
    assert_int_equal(smp_jvmti_status(JVMTI_ERROR_INVALID_METHODID), SMP_EGONE);
    assert_int_equal(smp_jvmti_status(JVMTI_ERROR_WRONG_PHASE), SMP_EPHASE);
    assert_int_equal(smp_jvmti_status(JVMTI_ERROR_OUT_OF_MEMORY), SMP_ENOMEM);
    assert_int_equal(smp_jvmti_status(JVMTI_ERROR_NOT_AVAILABLE), SMP_EUNSUPPORTED);
    assert_int_equal(smp_jvmti_status(JVMTI_ERROR_MUST_POSSESS_CAPABILITY), SMP_EUNSUPPORTED);
}

static void everything_else_is_a_refusal(void **state)
{
    (void)state;
    assert_int_equal(smp_jvmti_status(JVMTI_ERROR_INTERNAL), SMP_EVM);
    assert_int_equal(smp_jvmti_status(JVMTI_ERROR_UNATTACHED_THREAD), SMP_EVM);
    assert_int_equal(smp_jvmti_status((jvmtiError)12345), SMP_EVM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_life_has_a_status_of_its_own),
        cmocka_unit_test(everything_else_is_a_refusal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
