/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the library as it is shipped, in several copies of its file. The test loads and unloads
 * them as the JVM does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <jni.h>
#include <stdbool.h>
#include <string.h>

#include "base/status.h"
#include "support/library_copies.h"

#define BRIDGE "Java_com_incapsula_sampler_internal_engine_NativeBridge_"

enum { JDK_CLASSES = 7 };

/* Classes and references are addresses in these arrays. */
static struct {
    struct library_copies files;
    size_t loading; /* the copy that a class loader is loading */
    int64_t live_globals;
    int refuse_global_at; /* the call of NewGlobalRef that fails; 0: none */
    int global_calls;
    bool exception;
    char text[64]; /* text of the last NewStringUTF */
    /* the file whose methods a copy's class has registered */
    void *registered_for[LIBRARY_COPIES];
    void *join_of[LIBRARY_COPIES]; /* the copy's native method join, from JNI_OnLoad */
} fixture;

static char bridges[LIBRARY_COPIES]; /* the class NativeBridge of each copy */
static char class;
static char method;

/* --- the functions of a JVM that join and JNI_OnUnload call --- */

static jclass JNICALL find_class(JNIEnv *env, const char *name)
{
    (void)env;
    if (strcmp(name, "com/incapsula/sampler/internal/engine/NativeBridge") == 0)
        return (jclass)(void *)&bridges[fixture.loading];
    return strncmp(name, "java/", strlen("java/")) == 0 ? (jclass)(void *)&class : NULL;
}

static jobject JNICALL new_global_ref(JNIEnv *env, jobject object)
{
    (void)env;
    if (++fixture.global_calls == fixture.refuse_global_at)
        return NULL;
    fixture.live_globals++;
    return object;
}

static void JNICALL delete_global_ref(JNIEnv *env, jobject object)
{
    (void)env;
    (void)object;
    fixture.live_globals--;
}

static void JNICALL delete_local_ref(JNIEnv *env, jobject object)
{
    (void)env;
    (void)object;
}

static jmethodID JNICALL get_method_id(JNIEnv *env, jclass of, const char *name,
                                       const char *signature)
{
    (void)env;
    (void)of;
    (void)name;
    (void)signature;
    return (jmethodID)(void *)&method;
}

static jboolean JNICALL exception_check(JNIEnv *env)
{
    (void)env;
    return fixture.exception ? JNI_TRUE : JNI_FALSE;
}

static jstring JNICALL new_string_utf(JNIEnv *env, const char *text)
{
    (void)env;
    (void)strncpy(fixture.text, text, sizeof(fixture.text) - 1);
    return (jstring)(void *)fixture.text;
}

static jint JNICALL register_natives(JNIEnv *env, jclass bridge, const JNINativeMethod *natives,
                                     jint count)
{
    void *file = NULL;
    Dl_info info;

    (void)env;
    if (fixture.exception)
        return JNI_ERR;
    assert_true(count > 0);
    for (jint i = 0; i < count; i++) {
        assert_int_equal(natives[i].signature[0], '(');
        assert_int_not_equal(dladdr(natives[i].fnPtr, &info), 0);
        assert_true(file == NULL || file == info.dli_fbase);
        file = info.dli_fbase;
        if (strcmp(natives[i].name, "join") == 0)
            fixture.join_of[(char *)(void *)bridge - bridges] = natives[i].fnPtr;
    }
    fixture.registered_for[(char *)(void *)bridge - bridges] = file;
    return JNI_OK;
}

static jint JNICALL get_java_vm(JNIEnv *env, JavaVM **java_vm);

static const struct JNINativeInterface_ functions = {
    .FindClass = find_class,
    .NewGlobalRef = new_global_ref,
    .DeleteGlobalRef = delete_global_ref,
    .DeleteLocalRef = delete_local_ref,
    .GetMethodID = get_method_id,
    .GetStaticMethodID = get_method_id,
    .ExceptionCheck = exception_check,
    .NewStringUTF = new_string_utf,
    .RegisterNatives = register_natives,
    .GetJavaVM = get_java_vm,
};
static const struct JNINativeInterface_ *jni_env = &functions;

static jint JNICALL get_env(JavaVM *java_vm, void **env, jint version)
{
    (void)java_vm;
    (void)version;
    *env = (void *)&jni_env;
    return JNI_OK;
}

static const struct JNIInvokeInterface_ invoke_functions = { .GetEnv = get_env };
static const struct JNIInvokeInterface_ *jni_vm = &invoke_functions;

static jint JNICALL get_java_vm(JNIEnv *env, JavaVM **java_vm)
{
    (void)env;
    *java_vm = (JavaVM *)(void *)&jni_vm;
    return JNI_OK;
}

/* --- a copy --- */

static int make_copies(void **state)
{
    (void)state;
    memset(&fixture, 0, sizeof(fixture));
    library_copies_init(&fixture.files, SMP_TEST_LIBRARY);
    return 0;
}

static int remove_copies(void **state)
{
    (void)state;
    library_copies_fini(&fixture.files);
    return 0;
}

/* Returns the address at which the file is mapped. */
static void *base_of(size_t i)
{
    Dl_info info;

    assert_int_not_equal(dladdr(library_copy_symbol(&fixture.files.copies[i], "JNI_OnLoad"), &info),
                         0);
    return info.dli_fbase;
}

/* Returns true if join gives no reason against the copy and throws no exception. */
static bool join_by(void *method_found, size_t i)
{
    jstring (*join_core)(JNIEnv * env, jclass bridge);

    *(void **)&join_core = method_found;
    const jstring reason = join_core((JNIEnv *)(void *)&jni_env, (jclass)(void *)&bridges[i]);
    return reason == NULL && !fixture.exception;
}

/* Joins as a copy whose class loader has loaded the file. */
static bool join(size_t i)
{
    return join_by(fixture.join_of[i], i);
}

/* Joins as a copy that has loaded no file: the JVM has loaded this file as an agent and finds the
 * method by its name. */
static bool join_agent(size_t file, size_t i)
{
    return join_by(library_copy_symbol(&fixture.files.copies[file], BRIDGE "join"), i);
}

static void load(size_t i)
{
    jint (*on_load)(JavaVM * java_vm, void *reserved);

    library_copy_load(&fixture.files.copies[i]);
    fixture.loading = i;
    *(void **)&on_load = library_copy_symbol(&fixture.files.copies[i], "JNI_OnLoad");
    assert_int_equal(on_load((JavaVM *)(void *)&jni_vm, NULL), JNI_VERSION_1_8);
    assert_ptr_equal(fixture.registered_for[i], base_of(i)); /* abi and join are the two methods */
}

static void unload(size_t i)
{
    void (*on_unload)(JavaVM * java_vm, void *reserved);

    *(void **)&on_unload = library_copy_symbol(&fixture.files.copies[i], "JNI_OnUnload");
    on_unload((JavaVM *)(void *)&jni_vm, NULL);
    library_copy_unload(&fixture.files.copies[i]);
}

static bool is_mapped(size_t i)
{
    void *handle = dlopen(fixture.files.copies[i].path, RTLD_LAZY | RTLD_NOLOAD);

    if (handle != NULL)
        (void)dlclose(handle);
    return handle != NULL;
}

/* --- the tests; a core stays mapped, so each test has its own option name --- */

static void change_seam(const char *option)
{
    for (size_t i = 0; i < LIBRARY_COPIES; i++)
        library_copy_change(&fixture.files.copies[i], "idleLookbackMillis", option);
}

static void the_first_copy_provides_the_core_for_all(void **state)
{
    (void)state;
    change_seam("idleLookbackFirst_");
    for (size_t i = 0; i < LIBRARY_COPIES; i++) {
        load(i);
        assert_true(join(i));
        assert_ptr_equal(fixture.registered_for[i], base_of(0));
        assert_int_equal(fixture.live_globals, JDK_CLASSES);
    }
    for (size_t i = 0; i < LIBRARY_COPIES; i++)
        unload(i);
    assert_int_equal(fixture.live_globals, 0);
}

static void the_core_outlives_its_own_classes(void **state)
{
    (void)state;
    change_seam("idleLookbackCore__");
    load(0);
    assert_true(join(0));
    void *const core = base_of(0);
    load(1);
    assert_true(join(1));
    unload(0);
    assert_true(is_mapped(0));
    assert_int_equal(fixture.live_globals, JDK_CLASSES);
    load(2);
    assert_true(join(2));
    assert_ptr_equal(fixture.registered_for[2], core);
    unload(1);
    assert_false(is_mapped(1));
    assert_int_equal(fixture.live_globals, JDK_CLASSES);
    unload(2);
    assert_int_equal(fixture.live_globals, 0);
    load(1);
    assert_true(join(1));
    assert_ptr_equal(fixture.registered_for[1], core);
    unload(1);
}

/* The class loader that loaded the file is collected; others use the file as the JVM's agent. */
static void a_copy_that_joined_through_the_agent_stays(void **state)
{
    (void)state;
    change_seam("idleLookbackAgent_");
    load(0);
    assert_true(join(0));
    assert_true(join_agent(0, 1));
    assert_ptr_equal(fixture.registered_for[1], base_of(0));
    unload(0);
    assert_int_equal(fixture.live_globals, JDK_CLASSES);
    load(0);
    assert_true(join(0));
    unload(0);
    assert_int_equal(fixture.live_globals, JDK_CLASSES);
}

static void another_build_has_a_core_of_its_own(void **state)
{
    (void)state;
    change_seam("idleLookbackBuild1");
    library_copy_change(&fixture.files.copies[2], "idleLookbackBuild1", "idleLookbackBuild2");
    for (size_t i = 0; i < LIBRARY_COPIES; i++) {
        load(i);
        assert_true(join(i));
    }
    assert_ptr_equal(fixture.registered_for[1], base_of(0));
    assert_ptr_equal(fixture.registered_for[2], base_of(2));
    assert_int_equal(fixture.live_globals, 2 * JDK_CLASSES);
    for (size_t i = 0; i < LIBRARY_COPIES; i++)
        unload(i);
    assert_int_equal(fixture.live_globals, 0);
}

/* Formats are numbers passed between Java and C. */
static void different_formats_are_different_builds(void **state)
{
    (void)state;
    change_seam("idleLookbackFormat");
    library_copy_change(&fixture.files.copies[1], "SPEEDSCOPE", "FLAMESCOPE");
    load(0);
    assert_true(join(0));
    load(1);
    assert_true(join(1));
    assert_ptr_equal(fixture.registered_for[1], base_of(1));
    unload(0);
    unload(1);
}

static void without_memory_a_join_leaves_nothing(void **state)
{
    int calls = 0;

    (void)state;
    change_seam("idleLookbackMemory");
    load(0);
    do {
        assert_int_equal(fixture.live_globals, 0);
        fixture.global_calls = 0;
        fixture.refuse_global_at = ++calls;
    } while (!join(0));
    assert_int_equal(calls, JDK_CLASSES + 1);
    assert_string_equal(fixture.text, smp_status_text(SMP_EVM));
    assert_int_equal(fixture.live_globals, JDK_CLASSES);
    unload(0);
    assert_int_equal(fixture.live_globals, 0);
}

static void a_copy_that_lacks_a_method_is_not_counted(void **state)
{
    (void)state;
    change_seam("idleLookbackMethod");
    load(0);
    assert_true(join(0));
    load(1);
    fixture.exception = true;
    assert_false(join(1));
    fixture.exception = false;
    assert_ptr_equal(fixture.registered_for[1], base_of(1));
    unload(0);
    assert_int_equal(fixture.live_globals, 0);
    unload(1);
}

static void unloading_a_copy_that_has_not_joined_leaves_nothing(void **state)
{
    (void)state;
    load(0);
    unload(0);
    assert_false(is_mapped(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(test) cmocka_unit_test_setup_teardown(test, make_copies, remove_copies)
        T(the_first_copy_provides_the_core_for_all),
        T(the_core_outlives_its_own_classes),
        T(a_copy_that_joined_through_the_agent_stays),
        T(another_build_has_a_core_of_its_own),
        T(different_formats_are_different_builds),
        T(without_memory_a_join_leaves_nothing),
        T(a_copy_that_lacks_a_method_is_not_counted),
        T(unloading_a_copy_that_has_not_joined_leaves_nothing),
#undef T
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
