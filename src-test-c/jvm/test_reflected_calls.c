/* SPDX-License-Identifier: Apache-2.0 */
/* ReflectionProgram (CountedCallsIT) has real calls. */
#include "jvm/calls/reflected_calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum step { NO_STEP, METHOD, MODIFIERS, NAME, RECEIVER, DECLARING };

enum { SEEN_BYTES = 1024, LONG_NAME = 60000, PRIVATE = 2, STATIC = 8 };

/* What the JVM answers. */
static struct {
    enum step fails;
    jint modifiers;
    const char *name;
    const char *receiver;
    bool is_pending;
    int live_texts;
    int local_refs;
} vm;

static char some_method;
static char declaring_class;
static char receiver_class;
static char some_object;

static jmethodID JNICALL from_reflected(JNIEnv *env, jobject called)
{
    (void)env;
    (void)called;
    vm.is_pending = vm.fails == METHOD;
    return vm.fails == METHOD ? NULL : (jmethodID)(void *)&some_method;
}

static void JNICALL clear_exception(JNIEnv *env)
{
    (void)env;
    vm.is_pending = false;
}

static jclass JNICALL object_class(JNIEnv *env, jobject object)
{
    (void)env;
    assert_ptr_equal(object, &some_object);
    vm.local_refs++;
    return (jclass)&receiver_class;
}

static void JNICALL delete_local(JNIEnv *env, jobject ref)
{
    (void)env;
    assert_non_null(ref);
    vm.local_refs--;
}

static char *text(const char *of)
{
    vm.live_texts++;
    return strdup(of);
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *piece)
{
    (void)env;
    vm.live_texts -= piece != NULL;
    free(piece);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_modifiers(jvmtiEnv *env, jmethodID method, jint *out)
{
    (void)env;
    (void)method;
    *out = vm.modifiers;
    return vm.fails == MODIFIERS ? JVMTI_ERROR_INVALID_METHODID : JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_name(jvmtiEnv *env, jmethodID method, char **name, char **descriptor,
                                   char **generic)
{
    (void)env;
    (void)method;
    assert_null(generic);
    if (vm.fails == NAME)
        return JVMTI_ERROR_OUT_OF_MEMORY;
    *name = text(vm.name);
    *descriptor = text("(I)V");
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_declaring(jvmtiEnv *env, jmethodID method, jclass *out)
{
    (void)env;
    (void)method;
    if (vm.fails == DECLARING)
        return JVMTI_ERROR_INVALID_METHODID;
    vm.local_refs++;
    *out = (jclass)&declaring_class;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL get_signature(jvmtiEnv *env, jclass type, char **out, char **generic)
{
    (void)env;
    assert_null(generic);
    if ((void *)type == (void *)&receiver_class && vm.fails == RECEIVER)
        return JVMTI_ERROR_OUT_OF_MEMORY;
    *out = text((void *)type == (void *)&receiver_class ? vm.receiver : "Lcom/acme/Base;");
    return JVMTI_ERROR_NONE;
}

static const struct JNINativeInterface_ jni_functions = { .FromReflectedMethod = from_reflected,
                                                          .ExceptionClear = clear_exception,
                                                          .GetObjectClass = object_class,
                                                          .DeleteLocalRef = delete_local };
static const jvmtiInterface_1 jvmti_functions = { .GetMethodModifiers = get_modifiers,
                                                  .GetMethodName = get_name,
                                                  .GetMethodDeclaringClass = get_declaring,
                                                  .GetClassSignature = get_signature,
                                                  .Deallocate = deallocate };

static JNIEnv jni = &jni_functions;
static jvmtiEnv jvmti = &jvmti_functions;

static char seen[SEEN_BYTES];
static size_t seen_bytes; /* of all records */

static void see(void *self, struct smp_slice class_name, struct smp_slice signature)
{
    const size_t length = strlen(seen);

    assert_ptr_equal(self, &vm);
    seen_bytes += class_name.length + signature.length;
    (void)snprintf(seen + length, sizeof(seen) - length, "%.*s.%.*s ", (int)class_name.length,
                   class_name.bytes, (int)signature.length, signature.bytes);
}

static const char *noted(void)
{
    seen[0] = '\0';
    seen_bytes = 0;
    (void)smp_reflected_calls_each(see, &vm);
    return seen;
}

static bool note(jobject receiver)
{
    const bool is_noted = smp_reflected_calls_note(&jvmti, &jni, (jobject)&some_object, receiver);

    assert_false(vm.is_pending);
    assert_int_equal(vm.live_texts, 0);
    assert_int_equal(vm.local_refs, 0);
    return is_noted;
}

static int begin(void **state)
{
    (void)state;
    smp_reflected_calls_clear();
    memset(&vm, 0, sizeof(vm));
    vm.name = "run";
    vm.receiver = "Lcom/acme/Sub;";
    return 0;
}

static void the_receiver_decides(void **state)
{
    jobject receiver = (jobject)&some_object;

    (void)state;
    assert_string_equal(noted(), "");
    assert_true(note(receiver));
    assert_true(note(NULL));
    assert_string_equal(noted(), "com/acme/Sub.run.(I)V com/acme/Base.run.(I)V ");
    assert_string_equal(noted(), "");
    vm.modifiers = PRIVATE;
    assert_true(note(receiver));
    vm.modifiers = STATIC;
    assert_true(note(receiver));
    assert_string_equal(noted(), "com/acme/Base.run.(I)V com/acme/Base.run.(I)V ");
}

static void a_hidden_receiver_counts_as_the_declaring_class(void **state)
{
    (void)state;
    vm.receiver = "Lcom/acme/Sub.0x0123;";
    assert_true(note((jobject)&some_object));
    assert_string_equal(noted(), "com/acme/Base.run.(I)V ");
}

static void what_the_jvm_refuses_is_said_again(void **state)
{
    (void)state;
    for (enum step step = METHOD; step <= DECLARING; step++) {
        vm.fails = step;
        assert_false(note(step == DECLARING ? NULL : (jobject)&some_object));
    }
    assert_string_equal(noted(), "");
}

static void a_full_buffer_is_said_again_and_any_name_fits_an_empty_one(void **state)
{
    char *name = calloc(1, LONG_NAME + 1);
    size_t count = 0;

    (void)state;
    assert_non_null(name);
    memset(name, 'x', LONG_NAME);
    vm.name = name;
    for (int round = 0; round < 3; round++) { /* both buffers */
        for (count = 0; note(NULL); count++)
            assert_true(count < SMP_REFLECTED_BUFFER_BYTES / LONG_NAME);
        assert_true(count >= 3);
        (void)noted();
        assert_int_equal(seen_bytes, count * (LONG_NAME + strlen("com/acme/Base") + 5));
    }
    free(name);
}

static void a_start_forgets_what_was_noted(void **state)
{
    (void)state;
    assert_true(note(NULL));
    smp_reflected_calls_clear();
    assert_string_equal(noted(), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_receiver_decides, begin),
        cmocka_unit_test_setup(a_hidden_receiver_counts_as_the_declaring_class, begin),
        cmocka_unit_test_setup(what_the_jvm_refuses_is_said_again, begin),
        cmocka_unit_test_setup(a_full_buffer_is_said_again_and_any_name_fits_an_empty_one, begin),
        cmocka_unit_test_setup(a_start_forgets_what_was_noted, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
