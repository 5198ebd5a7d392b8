/* SPDX-License-Identifier: Apache-2.0 */
/* A redefined class keeps its new bytes if the JVM has accepted them, until another agent changes
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "jvm/calls/redefined_classes.h"
#include "support/failing_alloc.h"

enum { CLASSES = SMP_REDEFINED_LIMIT + 1 };

/* A reference, also a weak one, is the address of the object. */
struct fake_class {
    /* the id points to this, and this to the method structure; NULL: no methods */
    uintptr_t *method;
    uintptr_t structure;
    bool is_gone;
};

static struct smp_redefined_classes redefined = SMP_REDEFINED_CLASSES_INIT;
static struct fake_class classes[CLASSES];
static long weak_refs;
static long pieces;
static bool refuses_weak;
static bool refuses_methods;
static jvmtiError refused_callbacks;
static jvmtiError refused_mode;
static bool has_no_jvmti;
static int environments;
static jvmtiEventClassFileLoadHook hook_set;

/* --- a JVM --- */

static jboolean JNICALL are_same(JNIEnv *env, jobject left, jobject right)
{
    const struct fake_class *const one = (const struct fake_class *)(const void *)left;

    (void)env;
    return right == NULL ? one->is_gone : left == right && !one->is_gone;
}

static jweak JNICALL new_weak(JNIEnv *env, jobject object)
{
    (void)env;
    weak_refs += refuses_weak ? 0 : 1;
    return refuses_weak ? NULL : object;
}

static void JNICALL delete_weak(JNIEnv *env, jweak ref)
{
    (void)env;
    (void)ref;
    weak_refs--;
}

static void JNICALL clear_nothing(JNIEnv *env)
{
    (void)env;
}

static jvmtiError JNICALL methods_of(jvmtiEnv *jvmti, jclass type, jint *count, jmethodID **out)
{
    struct fake_class *const of = (struct fake_class *)(void *)type;

    (void)jvmti;
    if (refuses_methods)
        return JVMTI_ERROR_OUT_OF_MEMORY;
    *out = calloc(1, sizeof(**out));
    assert_non_null(*out);
    pieces++;
    *count = of->method != NULL;
    (*out)[0] = (jmethodID)(void *)of->method;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *jvmti, unsigned char *piece)
{
    (void)jvmti;
    pieces--;
    free(piece);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_callbacks(jvmtiEnv *jvmti, const jvmtiEventCallbacks *callbacks,
                                        jint size)
{
    (void)jvmti;
    assert_int_equal(size, sizeof(*callbacks));
    hook_set = callbacks->ClassFileLoadHook;
    return refused_callbacks;
}

static jvmtiError JNICALL set_mode(jvmtiEnv *jvmti, jvmtiEventMode mode, jvmtiEvent event,
                                   jthread thread, ...)
{
    (void)jvmti;
    assert_int_equal(mode, JVMTI_ENABLE);
    assert_int_equal(event, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK);
    assert_null(thread);
    return refused_mode;
}

static jvmtiError JNICALL dispose(jvmtiEnv *jvmti)
{
    (void)jvmti;
    environments--;
    return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ jvmti_functions = { .GetClassMethods = methods_of,
                                                          .Deallocate = deallocate,
                                                          .SetEventCallbacks = set_callbacks,
                                                          .SetEventNotificationMode = set_mode,
                                                          .DisposeEnvironment = dispose };
static const struct jvmtiInterface_1_ *jvmti_env = &jvmti_functions;

static jint JNICALL get_env(JavaVM *java_vm, void **out, jint version)
{
    (void)java_vm;
    assert_int_equal(version, JVMTI_VERSION_1_2);
    if (has_no_jvmti)
        return JNI_EVERSION;
    environments++;
    *out = (void *)&jvmti_env;
    return JNI_OK;
}

static const struct JNIInvokeInterface_ vm_functions = { .GetEnv = get_env };
static const struct JNIInvokeInterface_ *java_vm = &vm_functions;

static jint JNICALL get_vm(JNIEnv *env, JavaVM **out)
{
    (void)env;
    *out = (JavaVM *)(void *)&java_vm;
    return JNI_OK;
}

static const struct JNINativeInterface_ jni_functions = { .IsSameObject = are_same,
                                                          .NewWeakGlobalRef = new_weak,
                                                          .DeleteWeakGlobalRef = delete_weak,
                                                          .ExceptionClear = clear_nothing,
                                                          .GetJavaVM = get_vm };
static const struct JNINativeInterface_ *jni_env = &jni_functions;

static JNIEnv *jni(void)
{
    return (JNIEnv *)(void *)&jni_env;
}

static jclass ref_to(struct fake_class *type)
{
    return (jclass)(void *)type;
}

/* --- operations of the tests --- */

static struct smp_class_bytes file_of(const char *text)
{
    return (struct smp_class_bytes){ (const unsigned char *)text, strlen(text) };
}

static bool announce(struct fake_class *type)
{
    return smp_redefined_classes_announce(&redefined, jni(), ref_to(type), "app/Order");
}

/* The load hook. */
static enum smp_redefined see(struct fake_class *type, bool is_own, const char *given,
                              struct smp_class_bytes *file)
{
    *file = file_of(given);
    return smp_redefined_classes_see(&redefined, (jvmtiEnv *)(void *)&jvmti_env, jni(),
                                     ref_to(type), "app/Order", is_own, file);
}

static void assert_as_given(struct fake_class *type, bool is_own, const char *given)
{
    struct smp_class_bytes file;

    assert_int_equal(see(type, is_own, given, &file), SMP_CLASS_IS_AS_GIVEN);
    assert_int_equal(file.size, strlen(given));
    assert_memory_equal(file.bytes, given, file.size);
}

static void assert_replaced(struct fake_class *type, bool is_own, const char *given,
                            const char *expected)
{
    struct smp_class_bytes file;

    assert_int_equal(see(type, is_own, given, &file), SMP_CLASS_IS_REPLACED);
    assert_int_equal(file.size, strlen(expected));
    assert_memory_equal(file.bytes, expected, file.size);
}

/* The JVM accepts the result of the hooks: the class gets new method structures. */
static void accept(struct fake_class *type)
{
    type->structure++;
}

static void offer(struct fake_class *type, const char *next)
{
    struct smp_class_bytes file;

    assert_true(announce(type));
    assert_int_equal(see(type, false, next, &file), SMP_CLASS_IS_REDEFINED);
}

static void redefine(struct fake_class *type, const char *next)
{
    offer(type, next);
    accept(type);
}

static void note_given(const char *given)
{
    const struct smp_class_bytes file = file_of(given);

    smp_redefined_classes_note_given(&redefined, "app/Order", &file);
}

static int setup(void **state)
{
    (void)state;
    for (size_t i = 0; i < CLASSES; i++)
        classes[i] = (struct fake_class){ .method = &classes[i].structure };
    refuses_weak = false;
    refuses_methods = false;
    refused_callbacks = JVMTI_ERROR_NONE;
    refused_mode = JVMTI_ERROR_NONE;
    has_no_jvmti = false;
    return 0;
}

/* The next class takes an entry, and all unloaded ones release theirs. */
static void unload_all(void)
{
    for (size_t i = 0; i < CLASSES; i++)
        classes[i].is_gone = true;
    refuses_weak = true;
    (void)announce(&classes[0]);
}

static int teardown(void **state)
{
    (void)state;
    unload_all();
    assert_int_equal(weak_refs, 0);
    assert_int_equal(pieces, 0);
    assert_int_equal(smp_quota_used(&redefined.quota), 0);
    assert_int_equal(smp_alloc_live_bytes(), 0);
    memset(redefined.given, 0, sizeof(redefined.given));
    return 0;
}

/* --- tests --- */

static void a_class_that_was_not_redefined_has_the_jvms_bytes(void **state)
{
    (void)state;
    assert_as_given(&classes[0], true, "first");
    assert_as_given(&classes[0], false, "first");
}

static void our_change_starts_from_the_redefined_bytes(void **state)
{
    (void)state;
    redefine(&classes[0], "second");
    assert_replaced(&classes[0], true, "first", "second");
    accept(&classes[0]);
    assert_replaced(&classes[0], true, "first", "second");
    redefine(&classes[0], "third");
    assert_replaced(&classes[0], true, "first", "third");
    assert_as_given(&classes[1], true, "first");
}

static void a_refused_redefinition_changes_nothing(void **state)
{
    (void)state;
    offer(&classes[0], "refused");
    assert_as_given(&classes[0], true, "first");
    redefine(&classes[0], "second");
    offer(&classes[0], "refused");
    assert_replaced(&classes[0], true, "first", "second");
    offer(&classes[0], "refused");
    redefine(&classes[0], "third");
    assert_replaced(&classes[0], true, "first", "third");
}

/* The class has no code. */
static void a_class_without_methods_has_the_jvms_bytes(void **state)
{
    (void)state;
    classes[0].method = NULL;
    redefine(&classes[0], "second");
    assert_as_given(&classes[0], true, "first");
    classes[1].method = &classes[1].structure;
    refuses_methods = true;
    redefine(&classes[1], "second");
    assert_as_given(&classes[1], true, "first");
}

static void an_agent_that_repeats_its_change_keeps_the_version(void **state)
{
    (void)state;
    note_given("first");
    redefine(&classes[0], "second");
    assert_replaced(&classes[0], false, "first", "second");
    accept(&classes[0]);
    assert_replaced(&classes[0], true, "first", "second");
}

static void another_agents_change_of_the_old_bytes_is_used(void **state)
{
    (void)state;
    note_given("first");
    redefine(&classes[0], "second");
    assert_as_given(&classes[0], false, "first with advice");
    assert_replaced(&classes[0], true, "first", "second"); /* the JVM had refused it */
    assert_as_given(&classes[0], false, "first with advice");
    accept(&classes[0]);
    assert_as_given(&classes[0], true, "first with advice");
}

/* The bytes that the JVM hands in are known for one of the classes that share an entry. */
static void without_a_known_version_the_jvms_bytes_are_used(void **state)
{
    (void)state;
    redefine(&classes[0], "second");
    assert_as_given(&classes[0], false, "first");
    accept(&classes[0]);
    assert_as_given(&classes[0], true, "first");
}

static void a_version_without_memory_is_lost(void **state)
{
    struct failing_alloc all = { 0 };
    struct smp_class_bytes file;

    (void)state;
    note_given("first");
    failing_alloc_arm(&all, 1, SIZE_MAX);
    redefine(&classes[0], "second");
    (void)failing_alloc_disarm(&all);
    assert_int_equal(see(&classes[0], true, "first", &file), SMP_CLASS_IS_LOST);
    assert_int_equal(see(&classes[0], true, "first", &file), SMP_CLASS_IS_LOST);
    assert_as_given(&classes[0], false, "first");
    assert_int_equal(see(&classes[0], true, "first", &file), SMP_CLASS_IS_LOST);
    redefine(&classes[0], "third");
    assert_replaced(&classes[0], true, "first", "third");
}

static void the_memory_of_versions_is_limited(void **state)
{
    const size_t most = SMP_REDEFINED_MOST_BYTES;
    char *const large = calloc(1, most + 2);
    struct smp_class_bytes file;

    (void)state;
    assert_non_null(large);
    memset(large, 'x', most + 1);
    redefine(&classes[0], large);
    assert_int_equal(see(&classes[0], true, "first", &file), SMP_CLASS_IS_LOST);
    large[most / 2 + 1] = '\0';
    redefine(&classes[0], large);
    redefine(&classes[1], large);
    assert_int_equal(see(&classes[0], true, "first", &file), SMP_CLASS_IS_REPLACED);
    assert_int_equal(see(&classes[1], true, "first", &file), SMP_CLASS_IS_LOST);
    free(large);
}

static void an_unloaded_class_releases_its_entry(void **state)
{
    (void)state;
    for (size_t i = 0; i < SMP_REDEFINED_LIMIT; i++)
        redefine(&classes[i], "second");
    assert_false(announce(&classes[SMP_REDEFINED_LIMIT]));
    assert_as_given(&classes[SMP_REDEFINED_LIMIT], true, "first");
    assert_true(announce(&classes[7])); /* it has an entry */
    classes[8].is_gone = true;
    assert_true(announce(&classes[SMP_REDEFINED_LIMIT]));
    assert_int_equal(weak_refs, SMP_REDEFINED_LIMIT);
}

static void a_class_that_cannot_be_remembered_is_reported(void **state)
{
    (void)state;
    refuses_weak = true;
    assert_false(announce(&classes[0]));
    assert_as_given(&classes[0], true, "first");
    refuses_weak = false;
    assert_true(announce(&classes[0]));
}

static void JNICALL no_hook(jvmtiEnv *jvmti, JNIEnv *env, jclass type, jobject loader,
                            const char *name, jobject domain, jint size, const unsigned char *bytes,
                            jint *new_size, unsigned char **new_bytes)
{
    (void)jvmti;
    (void)env;
    (void)type;
    (void)loader;
    (void)name;
    (void)domain;
    (void)size;
    (void)bytes;
    (void)new_size;
    (void)new_bytes;
}

static void redefinitions_are_watched_by_a_separate_environment(void **state)
{
    (void)state;
    has_no_jvmti = true;
    assert_int_equal(smp_redefined_classes_watch(jni(), no_hook), SMP_EUNSUPPORTED);
    has_no_jvmti = false;
    refused_callbacks = JVMTI_ERROR_OUT_OF_MEMORY;
    assert_int_equal(smp_redefined_classes_watch(jni(), no_hook), SMP_ENOMEM);
    refused_callbacks = JVMTI_ERROR_NONE;
    refused_mode = JVMTI_ERROR_OUT_OF_MEMORY;
    assert_int_equal(smp_redefined_classes_watch(jni(), no_hook), SMP_ENOMEM);
    assert_int_equal(environments, 0);
    refused_mode = JVMTI_ERROR_NONE;
    assert_int_equal(smp_redefined_classes_watch(jni(), no_hook), SMP_OK);
    assert_int_equal(environments, 1);
    assert_ptr_equal((void *)hook_set, (void *)no_hook);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_class_that_was_not_redefined_has_the_jvms_bytes),
        TEST(our_change_starts_from_the_redefined_bytes),
        TEST(a_refused_redefinition_changes_nothing),
        TEST(a_class_without_methods_has_the_jvms_bytes),
        TEST(an_agent_that_repeats_its_change_keeps_the_version),
        TEST(another_agents_change_of_the_old_bytes_is_used),
        TEST(without_a_known_version_the_jvms_bytes_are_used),
        TEST(a_version_without_memory_is_lost),
        TEST(the_memory_of_versions_is_limited),
        TEST(an_unloaded_class_releases_its_entry),
        TEST(a_class_that_cannot_be_remembered_is_reported),
        TEST(redefinitions_are_watched_by_a_separate_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
