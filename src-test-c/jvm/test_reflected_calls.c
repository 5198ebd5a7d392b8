/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the reading of reflective calls. ReflectionProgram (CountedCallsIT) makes real ones. */
#include "jvm/calls/reflected_calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "support/failing_alloc.h"

enum step { NO_STEP, RECEIVER, DECLARING, PARAMETERS, RESULT };

enum { SEEN_BYTES = 1024, LONG_NAME = 60000, PRIVATE = 2, STATIC = 8 };

/* The JVM's results. */
static struct {
    enum step fails;
    jint modifiers;
    const char *name;
    const char *receiver;
    bool is_constructor;
    const char *lacks; /* the missing field */
    bool refuses_ref;
    bool is_pending;
    int live_texts;
    int local_refs;
} vm;

static char method_type;
static char constructor_type;
static char declaring_class;
static char receiver_class;
static char int_class;
static char text_class;
static char some_name;
static char some_types;
static char some_object;
static char field_ids[8];

static const char *const FIELDS[] = { "clazz", "parameterTypes", "modifiers", "name",
                                      "returnType" };

static jclass JNICALL find_class(JNIEnv *env, const char *name)
{
    (void)env;
    vm.local_refs++;
    return (jclass)(strcmp(name, "java/lang/reflect/Method") == 0 ? &method_type
                                                                  : &constructor_type);
}

static jfieldID JNICALL get_field_id(JNIEnv *env, jclass type, const char *name,
                                     const char *signature)
{
    (void)env;
    (void)type;
    (void)signature;
    assert_false(vm.is_pending);
    vm.is_pending = vm.lacks != NULL && strcmp(name, vm.lacks) == 0;
    for (size_t i = 0; i < 5 && !vm.is_pending; i++) {
        if (strcmp(name, FIELDS[i]) == 0)
            return (jfieldID)(void *)&field_ids[i];
    }
    return NULL;
}

static jobject JNICALL global_ref(JNIEnv *env, jobject of)
{
    (void)env;
    return vm.refuses_ref ? NULL : of;
}

static void JNICALL clear_exception(JNIEnv *env)
{
    (void)env;
    vm.is_pending = false;
}

static jboolean JNICALL is_instance(JNIEnv *env, jobject object, jclass type)
{
    (void)env;
    (void)object;
    assert_ptr_equal(type, &method_type);
    return !vm.is_constructor;
}

static jint JNICALL get_int(JNIEnv *env, jobject object, jfieldID field)
{
    (void)env;
    (void)object;
    assert_ptr_equal(field, &field_ids[2]);
    return vm.modifiers;
}

static jobject JNICALL get_object(JNIEnv *env, jobject object, jfieldID field)
{
    static char *const values[] = { &declaring_class, &some_types, NULL, &some_name, &int_class };
    const size_t which = (size_t)((char *)(void *)field - field_ids);

    (void)env;
    (void)object;
    if ((which == 0 && vm.fails == DECLARING) || (which == 1 && vm.fails == PARAMETERS) ||
        (which == 4 && vm.fails == RESULT))
        return NULL;
    vm.local_refs++;
    return (jobject)values[which];
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

static jsize JNICALL array_length(JNIEnv *env, jarray array)
{
    (void)env;
    assert_ptr_equal(array, &some_types);
    return 2;
}

static jobject JNICALL array_element(JNIEnv *env, jobjectArray array, jsize at)
{
    (void)env;
    (void)array;
    vm.local_refs++;
    return (jobject)(at == 0 ? &int_class : &text_class);
}

static jsize JNICALL string_length(JNIEnv *env, jstring string)
{
    (void)env;
    assert_ptr_equal(string, &some_name);
    return (jsize)strlen(vm.name);
}

static void JNICALL string_region(JNIEnv *env, jstring string, jsize from, jsize count, char *out)
{
    (void)env;
    (void)string;
    assert_int_equal(from, 0);
    memcpy(out, vm.name, (size_t)count + 1);
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
    const void *requested = type;
    const char *signature = "Lcom/acme/Base;";

    (void)env;
    assert_null(generic);
    if (requested == &receiver_class && vm.fails == RECEIVER)
        return JVMTI_ERROR_OUT_OF_MEMORY;
    if (requested == &receiver_class)
        signature = vm.receiver;
    else if (requested == &int_class)
        signature = "I";
    else if (requested == &text_class)
        signature = "Ljava/lang/String;";
    vm.live_texts++;
    *out = strdup(signature);
    return JVMTI_ERROR_NONE;
}

static const struct JNINativeInterface_ jni_functions = { .FindClass = find_class,
                                                          .GetFieldID = get_field_id,
                                                          .NewGlobalRef = global_ref,
                                                          .ExceptionClear = clear_exception,
                                                          .IsInstanceOf = is_instance,
                                                          .GetIntField = get_int,
                                                          .GetObjectField = get_object,
                                                          .GetObjectClass = object_class,
                                                          .DeleteLocalRef = delete_local,
                                                          .GetArrayLength = array_length,
                                                          .GetObjectArrayElement = array_element,
                                                          .GetStringUTFLength = string_length,
                                                          .GetStringLength = string_length,
                                                          .GetStringUTFRegion = string_region };
static const jvmtiInterface_1 jvmti_functions = { .GetClassSignature = get_signature,
                                                  .Deallocate = deallocate };

static JNIEnv jni = &jni_functions;
static jvmtiEnv jvmti = &jvmti_functions;

static char seen[SEEN_BYTES];
static size_t seen_bytes; /* of all names */

static void see(void *self, struct smp_slice class_name, struct smp_slice signature)
{
    const size_t length = strlen(seen);

    assert_ptr_equal(self, &vm);
    seen_bytes += class_name.length + signature.length;
    (void)snprintf(seen + length, sizeof(seen) - length, "%.*s.%.*s ", (int)class_name.length,
                   class_name.bytes, (int)signature.length, signature.bytes);
}

/* Returns the calls reported since the last time. */
static const char *noted(void)
{
    static char last[SEEN_BYTES];

    memcpy(last, seen, sizeof(last));
    seen[0] = '\0';
    seen_bytes = 0;
    return last;
}

static bool note(jobject receiver)
{
    const bool is_noted =
        smp_reflected_calls_name(&jvmti, &jni, (jobject)&some_object, receiver, see, &vm);

    assert_false(vm.is_pending);
    assert_int_equal(vm.live_texts, 0);
    assert_int_equal(vm.local_refs, 0);
    return is_noted;
}

static int begin(void **state)
{
    (void)state;
    assert_true(smp_reflected_calls_open(&jni));
    (void)noted();
    memset(&vm, 0, sizeof(vm));
    vm.name = "run";
    vm.receiver = "Lcom/acme/Sub;";
    return 0;
}

/* Must be checked before it is open. */
static void a_jdk_with_other_fields_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        vm.lacks = FIELDS[i];
        assert_false(smp_reflected_calls_open(&jni));
        assert_false(vm.is_pending);
        assert_int_equal(vm.local_refs, 0);
    }
    vm.lacks = NULL;
    vm.refuses_ref = true;
    assert_false(smp_reflected_calls_open(&jni));
    vm.refuses_ref = false;
    assert_true(smp_reflected_calls_open(&jni));
    assert_true(smp_reflected_calls_open(&jni));
    assert_int_equal(vm.local_refs, 0);
}

static void a_constructor_has_the_name_of_one(void **state)
{
    (void)state;
    vm.is_constructor = true;
    assert_true(note(NULL));
    assert_string_equal(noted(), "com/acme/Base.<init>.(ILjava/lang/String;)V ");
}

static enum smp_status note_and_forget(void *self)
{
    (void)self;
    return note(NULL) ? SMP_OK : SMP_ENOMEM;
}

static void without_memory_a_call_is_reported_again(void **state)
{
    (void)state;
    assert_int_equal(failing_alloc_each_step(note_and_forget, NULL).refused, 1);
    assert_string_equal(noted(), "com/acme/Base.run.(ILjava/lang/String;)I ");
}

static void the_class_of_the_receiver_is_reported(void **state)
{
    jobject receiver = (jobject)&some_object;

    (void)state;
    assert_string_equal(noted(), "");
    assert_true(note(receiver));
    assert_true(note(NULL));
    assert_string_equal(
        noted(),
        "com/acme/Sub.run.(ILjava/lang/String;)I com/acme/Base.run.(ILjava/lang/String;)I ");
    assert_string_equal(noted(), "");
    vm.modifiers = PRIVATE;
    assert_true(note(receiver));
    vm.modifiers = STATIC;
    assert_true(note(receiver));
    assert_string_equal(
        noted(),
        "com/acme/Base.run.(ILjava/lang/String;)I com/acme/Base.run.(ILjava/lang/String;)I ");
}

static void a_hidden_receiver_counts_as_the_declaring_class(void **state)
{
    (void)state;
    vm.receiver = "Lcom/acme/Sub.0x0123;";
    assert_true(note((jobject)&some_object));
    assert_string_equal(noted(), "com/acme/Base.run.(ILjava/lang/String;)I ");
}

static void a_call_that_the_jvm_refuses_is_reported_again(void **state)
{
    (void)state;
    for (enum step step = RECEIVER; step <= RESULT; step++) {
        vm.fails = step;
        assert_false(note(step == DECLARING ? NULL : (jobject)&some_object));
    }
    assert_string_equal(noted(), "");
}

static void names_of_any_length_are_reported(void **state)
{
    char *name = calloc(1, LONG_NAME + 1);

    (void)state;
    assert_non_null(name);
    memset(name, 'x', LONG_NAME);
    vm.name = name;
    assert_true(note(NULL));
    assert_int_equal(seen_bytes,
                     LONG_NAME + strlen("com/acme/Base") + strlen(".(ILjava/lang/String;)I"));
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_jdk_with_other_fields_is_refused),
        cmocka_unit_test_setup(a_constructor_has_the_name_of_one, begin),
        cmocka_unit_test_setup(without_memory_a_call_is_reported_again, begin),
        cmocka_unit_test_setup(the_class_of_the_receiver_is_reported, begin),
        cmocka_unit_test_setup(a_hidden_receiver_counts_as_the_declaring_class, begin),
        cmocka_unit_test_setup(a_call_that_the_jvm_refuses_is_reported_again, begin),
        cmocka_unit_test_setup(names_of_any_length_are_reported, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
