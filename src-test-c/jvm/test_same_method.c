/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <string.h>

#include "jvm/agent/agent.h"
#include "jvm/code/methods.h"
#include "jvm/code/same_method.h"
#include "support/fake_vm.h"

enum { METHOD = FAKE_METHOD, OTHER = FAKE_METHOD + 8 };

static int setup(void **state)
{
    (void)state;
    fake_vm_setup();
    fake_vm.other_id = (jmethodID)(uintptr_t)OTHER; /* NOLINT(performance-no-int-to-ptr) */
    return smp_agent_open() == SMP_OK ? 0 : -1;
}

/* All memory returned by the JVM was freed. */
static int teardown(void **state)
{
    (void)state;
    smp_agent_close();
    fake_vm_teardown();
    return 0;
}

static void equal_ids_are_the_same_method(void **state)
{
    (void)state;
    assert_true(smp_same_method(METHOD, METHOD));
    assert_true(smp_same_method(0, 0));
    assert_int_equal(fake_vm.calls[FAKE_GetMethodName], 0);
}

static void two_ids_of_one_method_are_recognised(void **state)
{
    static struct fake_object loader = { FAKE_CLASS };

    (void)state;
    assert_true(smp_same_method(METHOD, OTHER));
    fake_vm.method.loader = fake_vm.other.loader = &loader;
    assert_true(smp_same_method(OTHER, METHOD));
}

static void methods_that_differ_in_any_part_are_different(void **state)
{
    static struct fake_object loader = { FAKE_CLASS };
    const struct fake_method same = fake_vm.method;
    struct fake_method others[] = { same, same, same, same };

    (void)state;
    others[0].signature = "Lcom/acme/Shops;";
    others[1].name = "buy";
    others[2].type = "(J)V"; /* an overload */
    others[3].loader = &loader;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        fake_vm.other = others[i];
        assert_false(smp_same_method(METHOD, OTHER));
        assert_false(smp_same_method(OTHER, METHOD));
    }
}

static void methods_that_the_jvm_does_not_name_differ(void **state)
{
    static const enum fake_call calls[] = { FAKE_GetMethodDeclaringClass, FAKE_GetClassLoader,
                                            FAKE_GetClassSignature, FAKE_GetMethodName };

    (void)state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        fake_vm.errors[calls[i]] = JVMTI_ERROR_OUT_OF_MEMORY;
        assert_false(smp_same_method(METHOD, OTHER));
        fake_vm.errors[calls[i]] = JVMTI_ERROR_NONE;
    }
    assert_true(smp_same_method(METHOD, OTHER));
}

/* The JVM would take the keys for addresses. */
static void the_jvm_gets_no_keys_that_are_not_ids(void **state)
{
    const uint64_t keys[] = { 0, SMP_METHODS_NO_ID, SMP_NAMED_METHOD_BIT | 1024 };

    (void)state;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        assert_false(smp_same_method(METHOD, keys[i]));
        assert_false(smp_same_method(keys[i], METHOD));
    }
    assert_int_equal(fake_vm.calls[FAKE_GetMethodDeclaringClass], 0);
}

static void only_equal_ids_are_the_same_without_a_live_jvm(void **state)
{
    (void)state;
    fake_vm_death();
    assert_false(smp_same_method(METHOD, OTHER));
    assert_true(smp_same_method(METHOD, METHOD));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(equal_ids_are_the_same_method),
        TEST(two_ids_of_one_method_are_recognised),
        TEST(methods_that_differ_in_any_part_are_different),
        TEST(methods_that_the_jvm_does_not_name_differ),
        TEST(the_jvm_gets_no_keys_that_are_not_ids),
        TEST(only_equal_ids_are_the_same_without_a_live_jvm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
