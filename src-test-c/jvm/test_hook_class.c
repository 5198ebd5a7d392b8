/* SPDX-License-Identifier: Apache-2.0 */
/* A JVM that refuses one step after the other; HooksIT tests real JVMs. */
#include "jvm/calls/hook_class.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "counting/call_arena.h"

enum step {
    NO_STEP, /* no step fails */
    DEFINE,
    INITIALISE,
    DEFINE_NATIVES,
    CONSTRUCTOR,
    NATIVES,
    NEW_NATIVES,
    SET_UP_METHOD,
    ARRAY,
    SET_UP_THROWS,
    LAYOUT,
    GLOBAL_REF
};

/* The JVM's results, and what it has received. */
static struct {
    enum step fails;
    bool is_defined; /* by another core */
    jlong shared;    /* as that core has set it */
    bool is_pending;
    int natives;
    jlong numbers[64];
    jsize number_count;
} vm;

static char some_class;
static char natives_class;
static char natives_object;
static char natives_field;
static char some_method;
static char some_array;
static char field_shared;

static void *answer(enum step step, void *value)
{
    assert_false(vm.is_pending); /* no JNI call is made with a pending exception */
    if (vm.fails != step)
        return value;
    vm.is_pending = true;
    return NULL;
}

static jclass JNICALL find_class(JNIEnv *env, const char *name)
{
    (void)env;
    assert_string_equal(name, SMP_HOOK_CLASS);
    vm.is_pending = !vm.is_defined;
    return vm.is_defined ? (jclass)&some_class : NULL;
}

static jclass JNICALL define_class(JNIEnv *env, const char *name, jobject loader,
                                   const jbyte *bytes, jsize size)
{
    const bool is_hook = strcmp(name, SMP_HOOK_CLASS) == 0;

    (void)env;
    assert_null(loader);
    assert_int_equal(size, is_hook ? smp_hook_class_size : smp_hook_natives_size);
    assert_memory_equal(bytes, "\xca\xfe\xba\xbe\0\0\0\x3d", 8); /* Java 17 */
    if (!is_hook)
        assert_string_equal(name, SMP_HOOK_NATIVES);
    return is_hook ? answer(DEFINE, &some_class) : answer(DEFINE_NATIVES, &natives_class);
}

static jmethodID JNICALL constructor(JNIEnv *env, jclass type, const char *name,
                                     const char *signature)
{
    (void)env;
    (void)signature;
    assert_ptr_equal(type, &natives_class);
    assert_string_equal(name, "<init>");
    return answer(CONSTRUCTOR, &some_method);
}

static jobject JNICALL new_natives(JNIEnv *env, jclass type, jmethodID method, ...)
{
    (void)env;
    (void)method;
    assert_ptr_equal(type, &natives_class);
    return answer(NEW_NATIVES, &natives_object);
}

static jobject JNICALL get_natives(JNIEnv *env, jclass type, jfieldID field)
{
    (void)env;
    (void)type;
    assert_ptr_equal(field, &natives_field);
    return vm.shared == 0 ? NULL : (jobject)&natives_object;
}

static jclass JNICALL object_class(JNIEnv *env, jobject object)
{
    (void)env;
    assert_ptr_equal(object, &natives_object);
    return (jclass)&natives_class;
}

static jmethodID JNICALL static_method(JNIEnv *env, jclass type, const char *name,
                                       const char *signature)
{
    (void)env;
    (void)signature;
    assert_ptr_equal(type, &some_class);
    return answer(strcmp(name, "setUp") == 0 ? SET_UP_METHOD : INITIALISE, &some_method);
}

static jint JNICALL register_all(JNIEnv *env, jclass type, const JNINativeMethod *methods,
                                 jint count)
{
    (void)env;
    (void)methods;
    assert_ptr_equal(type, &natives_class);
    vm.natives = count;
    return answer(NATIVES, &some_class) != NULL ? JNI_OK : JNI_ERR;
}

static jlongArray JNICALL long_array(JNIEnv *env, jsize count)
{
    (void)env;
    vm.number_count = count;
    return answer(ARRAY, &some_array);
}

static void JNICALL set_region(JNIEnv *env, jlongArray array, jsize from, jsize count,
                               const jlong *numbers)
{
    (void)env;
    (void)array;
    (void)from;
    memcpy(vm.numbers, numbers, (size_t)count * sizeof(jlong));
}

static jint JNICALL call_set_up(JNIEnv *env, jclass type, jmethodID method, ...)
{
    (void)env;
    (void)type;
    (void)method;
    (void)answer(SET_UP_THROWS, NULL);
    return vm.fails == LAYOUT ? 3 : -1;
}

static jfieldID JNICALL static_field(JNIEnv *env, jclass type, const char *name,
                                     const char *signature)
{
    (void)env;
    (void)type;
    (void)signature;
    if (strcmp(name, "natives") == 0)
        return (jfieldID)&natives_field;
    if (strcmp(name, "shared") == 0)
        return (jfieldID)&field_shared;
    return NULL;
}

static jlong JNICALL get_long(JNIEnv *env, jclass type, jfieldID field)
{
    (void)env;
    (void)type;
    assert_ptr_equal(field, &field_shared);
    return vm.shared;
}

static jobject JNICALL global_ref(JNIEnv *env, jobject object)
{
    (void)env;
    return vm.fails == GLOBAL_REF ? NULL : object;
}

static jint JNICALL push_frame(JNIEnv *env, jint capacity)
{
    (void)env;
    (void)capacity;
    return JNI_OK;
}

static jobject JNICALL pop_frame(JNIEnv *env, jobject result)
{
    (void)env;
    return result;
}

static jboolean JNICALL check_exception(JNIEnv *env)
{
    (void)env;
    return vm.is_pending;
}

static void JNICALL clear_exception(JNIEnv *env)
{
    (void)env;
    vm.is_pending = false;
}

static const struct JNINativeInterface_ functions = {
    .FindClass = find_class,
    .DefineClass = define_class,
    .GetStaticMethodID = static_method,
    .GetMethodID = constructor,
    .NewObject = new_natives,
    .GetStaticObjectField = get_natives,
    .GetObjectClass = object_class,
    .RegisterNatives = register_all,
    .NewLongArray = long_array,
    .SetLongArrayRegion = set_region,
    .CallStaticIntMethod = call_set_up,
    .GetStaticFieldID = static_field,
    .GetStaticLongField = get_long,
    .NewGlobalRef = global_ref,
    .PushLocalFrame = push_frame,
    .PopLocalFrame = pop_frame,
    .ExceptionCheck = check_exception,
    .ExceptionClear = clear_exception,
};

static JNIEnv env = &functions;

static bool on_reflected(JNIEnv *jni, jobject called, jobject receiver)
{
    (void)jni;
    (void)called;
    (void)receiver;
    return true;
}

static void open_fails(enum step step, enum smp_status expected, const char *why)
{
    char reason[SMP_HOOK_REASON_BYTES] = "";

    vm.fails = step;
    assert_int_equal(smp_hook_class_open(&env, on_reflected, reason), expected);
    assert_string_equal(reason, why);
    assert_false(vm.is_pending);
}

static void every_refusal_has_a_reason(void **state)
{
    (void)state;
    open_fails(DEFINE, SMP_EUNSUPPORTED, "the JVM does not define the hook class");
    open_fails(INITIALISE, SMP_EUNSUPPORTED, "the hook class cannot be initialised");
    open_fails(DEFINE_NATIVES, SMP_EUNSUPPORTED, "the JVM does not define the hooks' native part");
    open_fails(CONSTRUCTOR, SMP_EUNSUPPORTED, "the JVM does not define the hooks' native part");
    open_fails(NATIVES, SMP_EUNSUPPORTED, "the hooks' native methods are not accepted");
    open_fails(NEW_NATIVES, SMP_ENOMEM, "");
    open_fails(SET_UP_METHOD, SMP_EUNSUPPORTED, "the hook class has another layout");
    open_fails(ARRAY, SMP_ENOMEM, "");
    open_fails(SET_UP_THROWS, SMP_EUNSUPPORTED, "the hook class has another layout");
    open_fails(LAYOUT, SMP_EUNSUPPORTED, "the hook class has another layout");
    open_fails(GLOBAL_REF, SMP_ENOMEM, "");
}

static void a_class_of_another_version_is_refused(void **state)
{
    static _Alignas(SMP_CALL_UNIT) uint64_t other_stamp = 1;

    (void)state;
    vm.is_defined = true;
    vm.shared = 0; /* never set up: from an archive */
    open_fails(LAYOUT, SMP_EUNSUPPORTED, "the hook class has another layout");
    vm.shared = (jlong)(uintptr_t)&other_stamp;
    open_fails(NO_STEP, SMP_EUNSUPPORTED, "another version of this library counts in this JVM");
    vm.is_defined = false;
}

/* The class comes from an archive: like a defined class, it is set up once. */
static void the_hook_class_is_set_up_once_and_taken_over_each_time(void **state)
{
    const struct smp_call_options counting = { .max_bytes = 1 << 20,
                                               .nodes = SMP_CALL_LEAST_UNITS,
                                               .depth = 1 };
    char reason[SMP_HOOK_REASON_BYTES] = "";

    (void)state;
    vm.fails = NO_STEP;
    vm.is_defined = true;
    vm.shared = 0;
    vm.natives = 0;
    assert_int_equal(smp_hook_class_open(&env, on_reflected, reason), SMP_OK);
    assert_int_equal(vm.natives, 7);
    assert_int_equal(vm.number_count, 23);
    assert_int_equal(vm.numbers[0], SMP_CALL_SLOTS - 1);
    /* Another core may be opened in between and be refused, so it is not registered yet. */
    vm.natives = 0;
    vm.number_count = 0;
    vm.shared = 1;
    assert_int_equal(smp_hook_class_open(&env, on_reflected, reason), SMP_OK);
    assert_int_equal(vm.natives, 0);
    assert_int_equal(smp_call_arena_open(&counting), SMP_OK);
    assert_int_equal(smp_hook_class_take(&env, reason), SMP_OK);
    assert_int_equal(vm.natives, 7);
    assert_int_equal(vm.number_count, 0);
    vm.fails = NATIVES;
    assert_int_equal(smp_hook_class_take(&env, reason), SMP_EUNSUPPORTED);
    assert_string_equal(reason, "the hooks' native methods are not accepted");
    smp_call_arena_close();
    reason[0] = '\0';
    vm.fails = NO_STEP;
    assert_string_equal(reason, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_refusal_has_a_reason),
        cmocka_unit_test(a_class_of_another_version_is_refused),
        cmocka_unit_test(the_hook_class_is_set_up_once_and_taken_over_each_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
