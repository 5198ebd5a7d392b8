/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include "jvm/agent/jvmti_status.h"

static void ordinary_errors_have_their_own_status(void **state)
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

static void all_other_errors_are_refusals(void **state)
{
    (void)state;
    assert_int_equal(smp_jvmti_status(JVMTI_ERROR_INTERNAL), SMP_EVM);
    assert_int_equal(smp_jvmti_status(JVMTI_ERROR_UNATTACHED_THREAD), SMP_EVM);
    assert_int_equal(smp_jvmti_status((jvmtiError)12345), SMP_EVM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_errors_have_their_own_status),
        cmocka_unit_test(all_other_errors_are_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
