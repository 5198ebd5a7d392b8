/* SPDX-License-Identifier: Apache-2.0 */
/* The JVM's flag, exported correctly and wrongly; CallsIT tests real JVMs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <stdbool.h>

#include "hotspot/flags.h"
#include "support/fake_libjvm.h"

static uint8_t flag;

static bool is_expected(const struct smp_export *entry)
{
    struct fake_libjvm *libjvm = fake_libjvm_create(17);
    if (entry != NULL)
        fake_libjvm_add(libjvm, entry);
    const struct smp_exports exports = fake_libjvm_exports(libjvm);
    const bool expected = smp_class_changes_are_expected(&exports);

    fake_libjvm_destroy(libjvm);
    return expected;
}

static void the_flag_decides_whether_classes_may_change(void **state)
{
    const struct smp_export entry = { .type = "JvmtiExport",
                                      .name = "_can_hotswap_or_post_breakpoint",
                                      .type_string = "bool",
                                      .is_static = true,
                                      .value = (uint64_t)(uintptr_t)&flag };

    (void)state;
    flag = 0;
    assert_false(is_expected(&entry));
    flag = 1;
    assert_true(is_expected(&entry));
}

static void other_fields_are_ignored(void **state)
{
    const struct smp_export right = { .type = "JvmtiExport",
                                      .name = "_can_hotswap_or_post_breakpoint",
                                      .type_string = "bool",
                                      .is_static = true,
                                      .value = (uint64_t)(uintptr_t)&flag };
    struct smp_export wrong[4] = { right, right, right, right };

    (void)state;
    flag = 1;
    wrong[0].type = "JvmtiImport";
    wrong[1].name = "_can_post_on_exceptions";
    wrong[2].type_string = "int";
    wrong[3].is_static = false;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(is_expected(&wrong[i]));
    assert_false(is_expected(NULL));
}

static void a_missing_list_means_that_classes_do_not_change(void **state)
{
    struct fake_libjvm *libjvm = fake_libjvm_create(17);

    (void)state;
    fake_libjvm_hide_symbol(libjvm, "gHotSpotVMStructs");
    const struct smp_exports exports = fake_libjvm_exports(libjvm);
    assert_false(smp_class_changes_are_expected(&exports));
    fake_libjvm_destroy(libjvm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_flag_decides_whether_classes_may_change),
        cmocka_unit_test(other_fields_are_ignored),
        cmocka_unit_test(a_missing_list_means_that_classes_do_not_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
