/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/loaded_classes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "classfile/class_file.h"
#include "support/class_builder.h"
#include "support/failing_alloc.h"

enum { JAVA_17 = 61, POOL_START = 10, ACCESS_PUBLIC = 1 };

/* The class of which a summary is made. */
static struct {
    const char *signature;
    const char *super;
    uint8_t *file; /* its constants belong to the class */
    jint pool_count;
    jint pool_bytes;
    jvmtiError pool_error;
    int live_texts;
} vm;

static char the_class;
static char super_class;
static char interface_class;
static char the_method;

static unsigned char *hand_out(const void *from, size_t bytes)
{
    unsigned char *piece = malloc(bytes);

    assert_non_null(piece);
    memcpy(piece, from, bytes);
    vm.live_texts++;
    return piece;
}

static char *text(const char *of)
{
    return (char *)hand_out(of, strlen(of) + 1);
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *piece)
{
    (void)env;
    vm.live_texts -= piece != NULL;
    free(piece);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_signature(jvmtiEnv *env, jclass type, char **out, char **generic)
{
    (void)env;
    assert_null(generic);
    if ((void *)type == (void *)&the_class)
        *out = text(vm.signature);
    else
        *out = text((void *)type == (void *)&super_class ? vm.super : "Ljava/lang/Runnable;");
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_interfaces(jvmtiEnv *env, jclass type, jint *count, jclass **out)
{
    jclass one = (jclass)&interface_class;

    (void)env;
    (void)type;
    *count = 1;
    *out = (jclass *)(void *)hand_out(&one, sizeof(one));
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_methods(jvmtiEnv *env, jclass type, jint *count, jmethodID **out)
{
    jmethodID one = (jmethodID)(void *)&the_method;

    (void)env;
    (void)type;
    *count = 1;
    *out = (jmethodID *)(void *)hand_out(&one, sizeof(one));
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_name(jvmtiEnv *env, jmethodID method, char **name, char **descriptor,
                                   char **generic)
{
    (void)env;
    (void)method;
    assert_null(generic);
    *name = text("run");
    *descriptor = text("()V");
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_modifiers(jvmtiEnv *env, jmethodID method, jint *out)
{
    (void)env;
    (void)method;
    *out = ACCESS_PUBLIC;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_pool(jvmtiEnv *env, jclass type, jint *count, jint *bytes,
                                   unsigned char **out)
{
    (void)env;
    (void)type;
    if (vm.pool_error != JVMTI_ERROR_NONE)
        return vm.pool_error;
    *count = vm.pool_count;
    *bytes = vm.pool_bytes;
    *out = hand_out(vm.file + POOL_START, (size_t)vm.pool_bytes);
    return JVMTI_ERROR_NONE;
}

static jclass JNICALL get_super(JNIEnv *env, jclass type)
{
    (void)env;
    (void)type;
    return vm.super == NULL ? NULL : (jclass)&super_class;
}

static void JNICALL delete_local(JNIEnv *env, jobject ref)
{
    (void)env;
    (void)ref;
}

static const struct JNINativeInterface_ jni_functions = { .GetSuperclass = get_super,
                                                          .DeleteLocalRef = delete_local };
static const jvmtiInterface_1 jvmti_functions = { .GetClassSignature = get_signature,
                                                  .GetImplementedInterfaces = get_interfaces,
                                                  .GetClassMethods = get_methods,
                                                  .GetMethodName = get_name,
                                                  .GetMethodModifiers = get_modifiers,
                                                  .GetConstantPool = get_pool,
                                                  .Deallocate = deallocate };

static JNIEnv jni = &jni_functions;
static jvmtiEnv jvmti = &jvmti_functions;

static void is_slice(struct smp_slice slice, const char *expected)
{
    assert_int_equal(slice.length, strlen(expected));
    assert_memory_equal(slice.bytes, expected, slice.length);
}

static void summaries_have_the_names_of_classes(void **state)
{
    struct smp_loaded_class loaded = { 0 };

    (void)state;
    is_slice(smp_loaded_class_name("Lcom/acme/Order;"), "com/acme/Order");
    assert_int_equal(smp_loaded_class_name("Lcom/acme/Order.0x12;").length, 0);
    assert_int_equal(smp_loaded_class_name("[I").length, 0);
    assert_true(smp_loaded_class_describe("La/A;", false, &loaded));
    assert_false(loaded.is_lambda);
    assert_false(smp_loaded_class_describe("La/A$$Lambda.0x12;", false, &loaded));
    assert_true(smp_loaded_class_describe("La/A$$Lambda.0x12;", true, &loaded));
    assert_true(loaded.is_lambda);
    is_slice(loaded.name, "a/A$$Lambda.0x12");
    assert_true(smp_loaded_class_describe("La/A$$Lambda$7.0x1;", true, &loaded));
    is_slice(loaded.name, "a/A$$Lambda$7.0x1");
    assert_false(smp_loaded_class_describe("Lcom/acme/Order.0x12;", true, &loaded));
    assert_false(smp_loaded_class_describe("[La/A$$Lambda.0x12;", true, &loaded));
}

static enum smp_status make_summary(struct smp_loaded_summary *made)
{
    struct smp_loaded_class loaded = { .type = (jclass)&the_class, .loader = 7 };

    assert_true(smp_loaded_class_describe(vm.signature, true, &loaded));
    return smp_loaded_summary_make(made, &jvmti, &jni, &loaded, true);
}

/* Begins a lambda's class, whose constants name its body and other things. */
static void begin_lambda(void)
{
    struct class_builder builder;

    class_builder_init(&builder, JAVA_17, "a/A$$Lambda", "java/lang/Object");
    (void)class_builder_member(&builder, SMP_CONSTANT_METHOD, "java/lang/Object", "<init>", "()V");
    (void)class_builder_member(&builder, SMP_CONSTANT_FIELD, "a/A$$Lambda", "arg$1", "I");
    (void)class_builder_member(&builder, SMP_CONSTANT_METHOD, "a/A", "lambda$run$0", "()V");
    (void)class_builder_member(&builder, SMP_CONSTANT_INTERFACE_METHOD, "a/I", "of", "()V");
    const size_t size = class_builder_finish(&builder, &vm.file);
    struct smp_class_file file;
    assert_int_equal(smp_class_file_open(&file, vm.file, size), SMP_OK);
    vm.pool_count = file.pool_count;
    vm.pool_bytes = (jint)(file.pool_end - POOL_START);
    smp_class_file_close(&file);
    vm.signature = "La/A$$Lambda.0x12;";
    vm.super = "Ljava/lang/Object;";
    vm.pool_error = JVMTI_ERROR_NONE;
}

static void end_lambda(void)
{
    free(vm.file);
    vm.file = NULL;
    assert_int_equal(vm.live_texts, 0);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static void a_lambda_calls_the_method_that_its_constants_name(void **state)
{
    struct smp_loaded_summary made;

    (void)state;
    begin_lambda();
    assert_int_equal(make_summary(&made), SMP_OK);
    const struct smp_class_summary *summary = &made.summary;
    assert_true(summary->is_hidden);
    assert_int_equal(summary->loader, 7);
    is_slice(summary->name, "a/A$$Lambda.0x12");
    assert_int_equal(summary->interface_count, 1);
    is_slice(summary->interfaces[0], "java/lang/Runnable");
    assert_int_equal(summary->method_count, 1);
    is_slice(summary->methods[0].name, "run");
    assert_int_equal(summary->methods[0].call_count, 3);
    is_slice(summary->methods[0].calls[1].owner, "a/A");
    is_slice(summary->methods[0].calls[1].name, "lambda$run$0");
    is_slice(summary->methods[0].calls[1].descriptor, "()V");
    assert_true(summary->methods[0].calls[1].is_dispatched);
    is_slice(summary->methods[0].calls[2].owner, "a/I");
    smp_loaded_summary_free(&made, &jvmti);
    end_lambda();
}

static void a_lambda_without_constants_has_no_summary(void **state)
{
    struct smp_loaded_summary made;

    (void)state;
    begin_lambda();
    vm.pool_error = JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
    assert_int_not_equal(make_summary(&made), SMP_OK);
    vm.pool_error = JVMTI_ERROR_NONE;
    vm.pool_bytes--; /* truncated */
    assert_int_equal(make_summary(&made), SMP_EINVAL);
    vm.pool_bytes++;
    end_lambda();
}

static enum smp_status make_lambda(void *self)
{
    struct smp_loaded_summary made;
    const enum smp_status status = make_summary(&made);

    (void)self;
    if (status == SMP_OK)
        smp_loaded_summary_free(&made, &jvmti);
    return status;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    begin_lambda();
    assert_true(failing_alloc_each_step(make_lambda, NULL).refused > 2);
    end_lambda();
}

static void a_proxy_calls_its_handler(void **state)
{
    struct smp_loaded_summary made;

    (void)state;
    vm.signature = "Ljdk/proxy1/$Proxy3;";
    vm.super = "Ljava/lang/reflect/Proxy;";
    assert_int_equal(make_summary(&made), SMP_OK);
    assert_int_equal(made.summary.methods[0].call_count, 1);
    is_slice(made.summary.methods[0].calls[0].owner, "java/lang/reflect/InvocationHandler");
    assert_true(made.summary.methods[0].calls[0].is_dispatched);
    smp_loaded_summary_free(&made, &jvmti);
    vm.super = "Ljava/lang/Object;";
    assert_int_equal(make_summary(&made), SMP_OK);
    assert_int_equal(made.summary.methods[0].call_count, 0);
    assert_false(made.summary.is_hidden);
    smp_loaded_summary_free(&made, &jvmti);
    assert_int_equal(vm.live_texts, 0);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summaries_have_the_names_of_classes),
        cmocka_unit_test(a_lambda_calls_the_method_that_its_constants_name),
        cmocka_unit_test(a_lambda_without_constants_has_no_summary),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(a_proxy_calls_its_handler),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
