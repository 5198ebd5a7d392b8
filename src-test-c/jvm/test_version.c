/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "jvm/agent/version.h"
#include "jvm/threads/registry.h"
#include "jvm/walk/async.h"
#include "jvm/walk/walk_target.h"
#include "support/fake_vm.h"

static int set_up(void **state)
{
    (void)state;
    fake_vm_reset();
    return 0;
}

static void test_versions_are_parsed(void **state)
{
    (void)state;
    assert_int_equal(smp_jvm_version_parse("17"), 17);
    assert_int_equal(smp_jvm_version_parse("28"), 28);
    assert_int_equal(smp_jvm_version_parse("28-ea"), 28);
    assert_int_equal(smp_jvm_version_parse("1.8"), 8);
    assert_int_equal(smp_jvm_version_parse(""), 0);
    assert_int_equal(smp_jvm_version_parse("x"), 0);
    assert_int_equal(smp_jvm_version_parse("-5"), 0);
    assert_int_equal(smp_jvm_version_parse("0"), 0);
    assert_int_equal(smp_jvm_version_parse("99999999999999999999"), 0);
}

static void test_the_version_is_read_from_the_jvm(void **state)
{
    const long before = fake_vm_live_pieces();

    (void)state;
    fake_vm.version = "25";
    assert_int_equal(smp_jvm_version(fake_vm_jvmti()), 25);
    fake_vm.version = NULL;
    assert_int_equal(smp_jvm_version(fake_vm_jvmti()), 0);
    fake_vm.version = "28";
    fake_vm.errors[FAKE_GetSystemProperty] = JVMTI_ERROR_NOT_AVAILABLE;
    assert_int_equal(smp_jvm_version(fake_vm_jvmti()), 0);
    assert_int_equal(fake_vm_live_pieces(), before);
}

/* Earlier versions have none; later ones have them with or without preview features. */
static void test_which_jvms_have_value_classes(void **state)
{
    (void)state;
    assert_false(smp_jvm_version_has_value_classes(0, NULL));
    assert_false(smp_jvm_version_has_value_classes(17, NULL));
    assert_false(smp_jvm_version_has_value_classes(27, NULL));
    assert_true(smp_jvm_version_has_value_classes(29, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_versions_are_parsed, set_up),
        cmocka_unit_test_setup(test_the_version_is_read_from_the_jvm, set_up),
        cmocka_unit_test(test_which_jvms_have_value_classes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
