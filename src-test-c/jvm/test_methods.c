/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <string.h>

#include "base/alloc.h"
#include "jvm/agent/agent.h"
#include "jvm/code/methods.h"
#include "support/failing_alloc.h"
#include "support/fake_vm.h"

static struct smp_jvm_methods *methods;
static struct smp_name_source source;
static struct smp_method_info info;

static int setup(void **state)
{
    (void)state;
    fake_vm_setup();
    methods = NULL;
    if (smp_agent_open() != SMP_OK || smp_jvm_methods_create(&methods) != SMP_OK)
        return -1;
    source = smp_jvm_methods_source(methods);
    info = (struct smp_method_info){ 0 };
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    smp_jvm_methods_destroy(methods);
    smp_agent_close();
    fake_vm_teardown();
    return 0;
}

static enum smp_status resolve(void)
{
    return source.resolve(source.self, FAKE_METHOD, &info);
}

static void a_method_has_class_name_file_and_lines(void **state)
{
    static const jvmtiLineNumberEntry lines[] = { { 0, 12 }, { 7, 13 }, { 65535, 65535 } };

    (void)state;
    fake_vm.method.signature = "Lcom/acme/Shop$Till;";
    fake_vm.method.lines = lines;
    fake_vm.method.line_count = 3;
    assert_int_equal(resolve(), SMP_OK);
    assert_string_equal(info.class_name, "com.acme.Shop$Till");
    assert_string_equal(info.method_name, "sell");
    assert_string_equal(info.file, "Shop.java");
    assert_false(info.is_native);
    assert_int_equal(info.line_count, 3);
    assert_int_equal(info.lines[1].start_bci, 7);
    assert_int_equal(info.lines[1].line, 13);
    assert_int_equal(info.lines[2].line, 65535);
    source.release(source.self, &info);
}

static void absent_files_and_lines_stay_absent(void **state)
{
    (void)state;
    fake_vm.method.file = NULL;
    assert_int_equal(resolve(), SMP_OK);
    assert_null(info.file);
    assert_null(info.lines);
    assert_int_equal(info.line_count, 0);
    source.release(source.self, &info);
}

static void a_native_method_has_no_lines(void **state)
{
    (void)state;
    fake_vm.method.is_native = true;
    assert_int_equal(resolve(), SMP_OK);
    assert_true(info.is_native);
    assert_null(info.lines);
    assert_int_equal(fake_vm.calls[FAKE_GetLineNumberTable], 0);
    source.release(source.self, &info);
}

static void names_become_standard_utf8(void **state)
{
    (void)state;
    fake_vm.method.name = "a\xED\xA0\xBD\xED\xB8\x80"; /* U+1F600 as two surrogates */
    fake_vm.method.file = "\xC0\x80.java";
    assert_int_equal(resolve(), SMP_OK);
    assert_string_equal(info.method_name, "a\xF0\x9F\x98\x80");
    assert_string_equal(info.file, "\xEF\xBF\xBD.java");
    source.release(source.self, &info);
}

static void the_name_of_a_hidden_class_keeps_its_slash(void **state)
{
    (void)state;
    fake_vm.method.signature = "Lcom/acme/Shop$$Lambda.0x0000000800c03000;";
    assert_int_equal(resolve(), SMP_OK);
    assert_string_equal(info.class_name, "com.acme.Shop$$Lambda/0x0000000800c03000");
    source.release(source.self, &info);
}

static void methods_of_an_unloaded_class_are_gone(void **state)
{
    (void)state;
    fake_vm.errors[FAKE_GetMethodDeclaringClass] = JVMTI_ERROR_INVALID_METHODID;
    assert_int_equal(resolve(), SMP_EGONE);
    fake_vm.errors[FAKE_GetMethodDeclaringClass] = JVMTI_ERROR_NONE;
    fake_vm.errors[FAKE_GetMethodName] = JVMTI_ERROR_INVALID_METHODID;
    assert_int_equal(resolve(), SMP_EGONE);
}

static void a_frame_without_an_id_is_gone(void **state)
{
    (void)state;
    assert_int_equal(source.resolve(source.self, SMP_METHODS_NO_ID, &info), SMP_EGONE);
    assert_int_equal(fake_vm.calls[FAKE_GetMethodDeclaringClass], 0);
}

/* In the middle of a stack, where it was walked. */
static void a_frame_without_an_id_has_a_text(void **state)
{
    (void)state;
    assert_string_equal(source.pseudo_text(source.self, SMP_METHODS_NO_ID),
                        "[method without an id]");
    assert_null(source.pseudo_text(source.self, 1)); /* of a stub that was not added */
}

static void every_call_may_run_out_of_memory(void **state)
{
    (void)state;
    for (int call = FAKE_GetMethodDeclaringClass; call <= FAKE_IsMethodNative; call++) {
        fake_vm.errors[call] = JVMTI_ERROR_OUT_OF_MEMORY;
        assert_int_equal(resolve(), SMP_ENOMEM);
        fake_vm.errors[call] = JVMTI_ERROR_NONE;
    }
}

static void names_need_no_capabilities(void **state)
{
    static const jvmtiLineNumberEntry lines[] = { { 0, 12 } };

    (void)state;
    fake_vm.method.lines = lines;
    fake_vm.method.line_count = 1;
    fake_vm.errors[FAKE_GetSourceFileName] = JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
    fake_vm.errors[FAKE_GetLineNumberTable] = JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
    assert_int_equal(resolve(), SMP_OK);
    assert_string_equal(info.class_name, "com.acme.Shop");
    assert_null(info.file);
    assert_null(info.lines);
    source.release(source.self, &info);
}

static void an_absurd_line_count_is_rejected(void **state)
{
    static const jvmtiLineNumberEntry lines[] = { { 0, 12 } };

    (void)state;
    fake_vm.method.lines = lines;
    fake_vm.method.line_count = -3;
    assert_int_equal(resolve(), SMP_OK);
    assert_int_equal(info.line_count, 0);
    assert_null(info.lines);
    source.release(source.self, &info);
}

static enum smp_status create_and_resolve(void *self)
{
    struct smp_jvm_methods *made = NULL;
    enum smp_status status = smp_jvm_methods_create(&made);

    (void)self;
    if (status == SMP_OK) {
        const struct smp_name_source from = smp_jvm_methods_source(made);
        status = from.resolve(from.self, FAKE_METHOD, &info);
        if (status == SMP_OK)
            from.release(from.self, &info);
    }
    smp_jvm_methods_destroy(made);
    return status;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_int_equal(failing_alloc_each_step(create_and_resolve, NULL).refused, 3);
}

static void a_large_buffer_is_freed(void **state)
{
    static char name[SMP_JVM_METHODS_KEEP_BYTES];

    (void)state;
    memset(name, 'x', sizeof(name) - 1);
    fake_vm.method.name = name;
    const size_t before = smp_alloc_live_bytes();
    assert_int_equal(resolve(), SMP_OK);
    assert_int_equal(strlen(info.method_name), sizeof(name) - 1);
    source.release(source.self, &info);
    assert_int_equal(smp_alloc_live_bytes(), before);
}

static void the_jvm_is_not_called_after_vm_death(void **state)
{
    (void)state;
    fake_vm_death();
    assert_int_equal(resolve(), SMP_EPHASE);
    assert_int_equal(fake_vm.calls[FAKE_GetMethodDeclaringClass], 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_method_has_class_name_file_and_lines),
        TEST(absent_files_and_lines_stay_absent),
        TEST(a_native_method_has_no_lines),
        TEST(names_become_standard_utf8),
        TEST(the_name_of_a_hidden_class_keeps_its_slash),
        TEST(methods_of_an_unloaded_class_are_gone),
        TEST(a_frame_without_an_id_is_gone),
        TEST(a_frame_without_an_id_has_a_text),
        TEST(every_call_may_run_out_of_memory),
        TEST(names_need_no_capabilities),
        TEST(an_absurd_line_count_is_rejected),
        TEST(each_allocation_may_fail),
        TEST(a_large_buffer_is_freed),
        TEST(the_jvm_is_not_called_after_vm_death),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
