/* SPDX-License-Identifier: Apache-2.0 */
/* A JVM without memory, and one without the JDK's sets of threads; UnmountedIT tests the other
 * cases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "jvm/threads/virtual_thread_sets.h"

static int frames_left; /* number of local frames that can still be pushed */
static int frames;
static bool has_classes;
static int exceptions;

static jint JNICALL push_local_frame(JNIEnv *env, jint capacity)
{
    (void)env;
    (void)capacity;
    if (frames_left == 0) {
        exceptions++;
        return JNI_ENOMEM;
    }
    frames_left--;
    frames++;
    return JNI_OK;
}

static jobject JNICALL pop_local_frame(JNIEnv *env, jobject result)
{
    (void)env;
    frames--;
    return result;
}

static void JNICALL exception_clear(JNIEnv *env)
{
    (void)env;
    exceptions = 0;
}

static jclass JNICALL find_class(JNIEnv *env, const char *name)
{
    (void)env;
    (void)name;
    exceptions += has_classes ? 0 : 1;
    return has_classes ? (jclass)(void *)&has_classes : NULL;
}

/* No class has any field or method. */
static jfieldID JNICALL get_field_id(JNIEnv *env, jclass owner, const char *name, const char *type)
{
    (void)env;
    (void)owner;
    (void)name;
    (void)type;
    exceptions++;
    return NULL;
}

static jmethodID JNICALL get_method_id(JNIEnv *env, jclass owner, const char *name,
                                       const char *type)
{
    return (jmethodID)(void *)get_field_id(env, owner, name, type);
}

static const struct JNINativeInterface_ functions = {
    .PushLocalFrame = push_local_frame,
    .PopLocalFrame = pop_local_frame,
    .ExceptionClear = exception_clear,
    .FindClass = find_class,
    .GetFieldID = get_field_id,
    .GetMethodID = get_method_id,
};
static const struct JNINativeInterface_ *env_functions = &functions;

static enum smp_status init(const char **reason)
{
    static const struct smp_virtual_thread_sets none;
    struct smp_virtual_thread_sets sets;
    enum smp_status status = SMP_OK;

    memset(&sets, 1, sizeof(sets));
    frames = exceptions = 0;
    status = smp_virtual_thread_sets_init((JNIEnv *)(void *)&env_functions, &sets, reason);
    assert_memory_equal(&sets, &none, sizeof(sets));
    assert_int_equal(frames, 0);
    assert_int_equal(exceptions, 0);
    return status;
}

/* It may have memory the next time: only permanent reasons disable it for good. */
static void a_lack_of_memory_is_no_refusal(void **state)
{
    const char *reason = "none";

    (void)state;
    has_classes = true;
    for (frames_left = 0; frames_left < 2; frames_left++) {
        const int left = frames_left;
        assert_int_equal(init(&reason), SMP_ENOMEM);
        frames_left = left;
    }
}

static void other_layouts_are_refused(void **state)
{
    const char *reason = NULL;

    (void)state;
    for (int i = 0; i < 2; i++) {
        has_classes = i > 0;
        frames_left = 2;
        assert_int_equal(init(&reason), SMP_EUNSUPPORTED);
        assert_string_equal(reason, "unknown layout of the JDK's thread containers");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lack_of_memory_is_no_refusal),
        cmocka_unit_test(other_layouts_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
