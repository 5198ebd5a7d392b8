/* SPDX-License-Identifier: Apache-2.0 */
/* Ids are created for all loaded classes and for all classes prepared later, up to a limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include "jvm/agent/agent.h"
#include "jvm/code/method_ids.h"
#include "support/fake_vm.h"

enum { CLASSES = 3, METHODS = 10 };

static int setup(void **state)
{
    (void)state;
    fake_vm_setup();
    fake_vm.class_count = CLASSES;
    fake_vm.class_methods = METHODS;
    return smp_agent_open() == SMP_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    smp_method_ids_close();
    smp_agent_close();
    fake_vm_teardown();
    return 0;
}

/* If the event is enabled, the JVM sends it on the thread that prepares the class. */
static void prepare_class(void)
{
    fake_vm.callbacks.ClassPrepare(smp_agent_jvmti(), fake_vm_jni(), NULL, NULL);
}

static bool hears_of_classes(void)
{
    return fake_vm.enabled[JVMTI_EVENT_CLASS_PREPARE];
}

static void expect_event_before_list(enum fake_call call)
{
    if (call == FAKE_GetLoadedClasses)
        assert_true(hears_of_classes()); /* otherwise a class could be missed in between */
}

static void ids_of_loaded_classes_are_created_at_open(void **state)
{
    (void)state;
    fake_vm.before = expect_event_before_list;
    smp_method_ids_open(fake_vm_jni());
    assert_int_equal(fake_vm.calls[FAKE_GetLoadedClasses], 1);
    assert_int_equal(fake_vm.calls[FAKE_GetClassMethods], CLASSES);
    assert_int_equal(smp_method_ids_made(), CLASSES * METHODS);
}

static void ids_of_a_class_are_created_when_it_is_prepared(void **state)
{
    (void)state;
    smp_method_ids_open(fake_vm_jni());
    prepare_class();
    prepare_class();
    assert_int_equal(fake_vm.calls[FAKE_GetClassMethods], CLASSES + 2);
    assert_int_equal(smp_method_ids_made(), (CLASSES + 2) * METHODS);
    assert_true(hears_of_classes());
}

static void repeated_opens_do_not_count_ids_twice(void **state)
{
    (void)state;
    smp_method_ids_open(fake_vm_jni());
    prepare_class();
    assert_int_equal(smp_method_ids_make_all(fake_vm_jni()), SMP_OK);
    assert_int_equal(smp_method_ids_made(), (CLASSES + 1) * METHODS);
    fake_vm.class_count = 2 * CLASSES; /* some of them caused no event */
    assert_int_equal(smp_method_ids_make_all(fake_vm_jni()), SMP_OK);
    assert_int_equal(smp_method_ids_made(), 2 * CLASSES * METHODS);
}

/* An application may create classes for ever. */
static void no_ids_are_created_beyond_the_limit(void **state)
{
    (void)state;
    smp_method_ids_open(fake_vm_jni());
    fake_vm.class_methods = SMP_IDS_LIMIT / 2;
    prepare_class();
    assert_true(hears_of_classes());
    prepare_class();
    assert_false(hears_of_classes());
    const int calls = fake_vm.calls[FAKE_GetClassMethods];
    prepare_class(); /* an event that was already running */
    assert_int_equal(smp_method_ids_make_all(fake_vm_jni()), SMP_EQUOTA);
    assert_int_equal(fake_vm.calls[FAKE_GetClassMethods], calls);
    assert_in_range(smp_method_ids_made(), SMP_IDS_LIMIT, SMP_IDS_LIMIT + SMP_IDS_LIMIT / 2);
}

static void the_limit_also_applies_at_open(void **state)
{
    (void)state;
    fake_vm.class_methods = SMP_IDS_LIMIT / 2;
    smp_method_ids_open(fake_vm_jni());
    assert_int_equal(fake_vm.calls[FAKE_GetClassMethods], 2);
    assert_int_equal(smp_method_ids_made(), SMP_IDS_LIMIT);
    assert_false(hears_of_classes());
}

static void no_ids_are_created_after_close(void **state)
{
    (void)state;
    smp_method_ids_open(fake_vm_jni());
    smp_method_ids_close();
    assert_false(hears_of_classes());
    const int calls = fake_vm.calls[FAKE_GetClassMethods];
    prepare_class(); /* an event that was already running */
    assert_int_equal(fake_vm.calls[FAKE_GetClassMethods], calls);
    smp_method_ids_open(fake_vm_jni());
    assert_true(hears_of_classes());
    assert_int_equal(smp_method_ids_made(), CLASSES * METHODS);
}

static void refusals_of_the_jvm_are_ignored(void **state)
{
    (void)state;
    fake_vm.errors[FAKE_GetClassMethods] = JVMTI_ERROR_CLASS_NOT_PREPARED;
    smp_method_ids_open(fake_vm_jni());
    prepare_class();
    assert_int_equal(smp_method_ids_made(), 0);
    fake_vm.errors[FAKE_GetClassMethods] = JVMTI_ERROR_NONE;
    fake_vm.errors[FAKE_GetLoadedClasses] = JVMTI_ERROR_OUT_OF_MEMORY;
    assert_int_equal(smp_method_ids_make_all(fake_vm_jni()), SMP_ENOMEM);
    prepare_class();
    assert_int_equal(smp_method_ids_made(), METHODS);
}

static void a_jvm_that_dies_is_not_called(void **state)
{
    (void)state;
    smp_method_ids_open(fake_vm_jni());
    fake_vm_death();
    const int lists = fake_vm.calls[FAKE_GetLoadedClasses];
    const int modes = fake_vm.calls[FAKE_SetEventNotificationMode];
    assert_int_equal(smp_method_ids_make_all(fake_vm_jni()), SMP_EPHASE);
    smp_method_ids_close();
    assert_int_equal(fake_vm.calls[FAKE_GetLoadedClasses], lists);
    assert_int_equal(fake_vm.calls[FAKE_SetEventNotificationMode], modes);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(ids_of_loaded_classes_are_created_at_open),
        TEST(ids_of_a_class_are_created_when_it_is_prepared),
        TEST(repeated_opens_do_not_count_ids_twice),
        TEST(no_ids_are_created_beyond_the_limit),
        TEST(the_limit_also_applies_at_open),
        TEST(no_ids_are_created_after_close),
        TEST(refusals_of_the_jvm_are_ignored),
        TEST(a_jvm_that_dies_is_not_called),
    };
#undef TEST
    return cmocka_run_group_tests_name("method_ids", tests, NULL, NULL);
}
