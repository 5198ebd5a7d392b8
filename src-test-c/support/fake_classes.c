/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fake_classes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_LOADER = 1, KIND_CLASS, KIND_WEAK };

struct weak_ref {
    int kind;
    struct fake_loader *loader;
};

struct fake_classes fake_classes;

static void *take_piece(size_t size)
{
    void *piece = calloc(1, size > 0 ? size : 1);

    assert_non_null(piece);
    fake_classes.live_pieces++;
    return piece;
}

static char *take_text(const char *text, size_t length)
{
    char *copy = take_piece(length + 1);

    memcpy(copy, text, length);
    return copy;
}

static struct fake_loaded *class_of(jclass ref)
{
    struct fake_loaded *type = (struct fake_loaded *)(void *)ref;

    assert_int_equal(type->kind, KIND_CLASS);
    return type;
}

static jobject ref_to(void *object)
{
    return (jobject)object;
}

/* --- JVMTI --- */

static jvmtiError JNICALL fake_allocate(jvmtiEnv *env, jlong size, unsigned char **out)
{
    void (*const meanwhile)(void) = fake_classes.while_allocated;

    (void)env;
    fake_classes.while_allocated = NULL;
    if (meanwhile != NULL)
        meanwhile();
    if (fake_classes.refuses_allocate)
        return JVMTI_ERROR_OUT_OF_MEMORY;
    *out = take_piece((size_t)size);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_deallocate(jvmtiEnv *env, unsigned char *piece)
{
    (void)env;
    if (piece != NULL)
        fake_classes.live_pieces--;
    free(piece);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_loaded_classes(jvmtiEnv *env, jint *count, jclass **out)
{
    jclass *list = NULL;

    (void)env;
    if (fake_classes.failed_lists > 0) {
        fake_classes.failed_lists--;
        return JVMTI_ERROR_OUT_OF_MEMORY;
    }
    list = take_piece(FAKE_CLASSES_MOST * sizeof(*list));
    *count = 0;
    for (size_t i = 0; i < fake_classes.count; i++) {
        if (fake_classes.classes[i]->is_loaded)
            list[(*count)++] = ref_to(fake_classes.classes[i]);
    }
    *out = list;
    if (fake_classes.while_listed != NULL)
        fake_classes.while_listed();
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_signature(jvmtiEnv *env, jclass type, char **out, char **generic)
{
    const char *signature = class_of(type)->signature;

    (void)env;
    assert_null(generic);
    *out = take_text(signature, strlen(signature));
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_loader_of(jvmtiEnv *env, jclass type, jobject *out)
{
    (void)env;
    *out = ref_to(class_of(type)->loader);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_hash_code(jvmtiEnv *env, jobject object, jint *out)
{
    const struct fake_loader *loader = (const struct fake_loader *)(void *)object;

    (void)env;
    assert_int_equal(loader->kind, KIND_LOADER);
    *out = loader->hash;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_status(jvmtiEnv *env, jclass type, jint *out)
{
    (void)env;
    *out =
        class_of(type)->is_prepared ? JVMTI_CLASS_STATUS_VERIFIED | JVMTI_CLASS_STATUS_PREPARED : 0;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_interfaces(jvmtiEnv *env, jclass type, jint *count, jclass **out)
{
    (void)env;
    if (!class_of(type)->is_prepared)
        return JVMTI_ERROR_CLASS_NOT_PREPARED;
    *count = 0;
    *out = take_piece(sizeof(**out));
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_methods(jvmtiEnv *env, jclass type, jint *count, jmethodID **out)
{
    struct fake_loaded *loaded = class_of(type);

    (void)env;
    if (!loaded->is_prepared)
        return JVMTI_ERROR_CLASS_NOT_PREPARED;
    *count = loaded->file.method_count;
    *out = take_piece(loaded->file.method_count * sizeof(**out));
    for (jint i = 0; i < *count; i++)
        (*out)[i] = (jmethodID)(void *)&loaded->file.methods[i];
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_method_name(jvmtiEnv *env, jmethodID id, char **name,
                                           char **descriptor, char **generic)
{
    const struct smp_class_method *method = (const struct smp_class_method *)(void *)id;

    (void)env;
    assert_null(generic);
    *name = take_text(method->name.bytes, method->name.length);
    *descriptor = take_text(method->descriptor.bytes, method->descriptor.length);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_modifiers(jvmtiEnv *env, jmethodID id, jint *out)
{
    (void)env;
    *out = ((const struct smp_class_method *)(void *)id)->access;
    return JVMTI_ERROR_NONE;
}

/* Returns NULL if the hook does not change the class. */
static uint8_t *run_hook(struct fake_loaded *type, bool is_retransformed, size_t *size)
{
    uint8_t *out = NULL;

    if (fake_classes.hook == NULL ||
        !fake_classes.hook(type, is_retransformed, type->original, type->original_size, &out, size))
        return NULL;
    return out;
}

static void set_bytes(struct fake_loaded *type, uint8_t *changed, size_t size)
{
    free(type->bytes);
    type->size = changed != NULL ? size : type->original_size;
    type->bytes = malloc(type->size);
    assert_non_null(type->bytes);
    memcpy(type->bytes, changed != NULL ? changed : type->original, type->size);
    (void)fake_deallocate(NULL, changed);
}

static jvmtiError refuse_batch(jint count, const jclass *types)
{
    if (fake_classes.is_dying)
        return JVMTI_ERROR_WRONG_PHASE;
    for (jint i = 0; i < count; i++) {
        struct fake_loaded *type = class_of(types[i]);
        const jvmtiError refusal = type->refusal;
        /* the JVM would link an unprepared class, which runs user code */
        assert_true(type->is_prepared);
        if (refusal == JVMTI_ERROR_NONE)
            continue;
        if (count == 1 && type->refused > 0 && --type->refused == 0)
            type->refusal = JVMTI_ERROR_NONE;
        return refusal;
    }
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL fake_retransform(jvmtiEnv *env, jint count, const jclass *types)
{
    uint8_t *changed[FAKE_CLASSES_MOST] = { 0 };
    size_t sizes[FAKE_CLASSES_MOST] = { 0 };
    jvmtiError error = refuse_batch(count, types);

    (void)env;
    /* JDK 17 counts local references together with those of each agent's load hook. */
    assert_true(fake_classes.global_refs >= count);
    fake_classes.batches++;
    for (jint i = 0; i < count && !fake_classes.is_dying; i++)
        changed[i] = run_hook(class_of(types[i]), true, &sizes[i]);
    for (jint i = 0; i < count; i++) {
        if (changed[i] != NULL && sizes[i] == 1)
            error = JVMTI_ERROR_INVALID_CLASS_FORMAT;
    }
    for (jint i = 0; i < count; i++) {
        if (error != JVMTI_ERROR_NONE) {
            (void)fake_deallocate(NULL, changed[i]);
            continue;
        }
        set_bytes(class_of(types[i]), changed[i], sizes[i]);
        class_of(types[i])->changes++;
    }
    fake_classes.stops += error == JVMTI_ERROR_NONE;
    return error;
}

static const struct jvmtiInterface_1_ jvmti_functions = {
    .Allocate = fake_allocate,
    .Deallocate = fake_deallocate,
    .GetLoadedClasses = fake_loaded_classes,
    .GetClassSignature = fake_signature,
    .GetClassLoader = fake_loader_of,
    .GetObjectHashCode = fake_hash_code,
    .GetClassStatus = fake_status,
    .GetImplementedInterfaces = fake_interfaces,
    .GetClassMethods = fake_methods,
    .GetMethodName = fake_method_name,
    .GetMethodModifiers = fake_modifiers,
    .RetransformClasses = fake_retransform,
};
static const struct jvmtiInterface_1_ *jvmti_env = &jvmti_functions;

jvmtiEnv *fake_classes_jvmti(void)
{
    return (jvmtiEnv *)(void *)&jvmti_env;
}

/* --- JNI --- */

static jint JNICALL ensure_nothing(JNIEnv *env, jint capacity)
{
    (void)env;
    (void)capacity;
    return JNI_OK;
}

static jint JNICALL push_frame(JNIEnv *env, jint capacity)
{
    (void)env;
    (void)capacity;
    if (fake_classes.frames == fake_classes.refused_frame - 1) {
        fake_classes.refused_frame = 0;
        return JNI_ENOMEM;
    }
    fake_classes.frames++;
    return JNI_OK;
}

static jobject JNICALL pop_frame(JNIEnv *env, jobject result)
{
    (void)env;
    fake_classes.frames--;
    return result;
}

static void JNICALL delete_no_ref(JNIEnv *env, jobject ref)
{
    (void)env;
    (void)ref;
}

static void JNICALL clear_nothing(JNIEnv *env)
{
    (void)env;
}

static void *resolve_ref(jobject ref)
{
    const int *kind = (const int *)(void *)ref; /* each object begins with its kind */

    if (kind == NULL || *kind != KIND_WEAK)
        return (void *)ref;
    struct fake_loader *loader = ((const struct weak_ref *)(void *)ref)->loader;
    return loader->is_gone ? NULL : loader;
}

static jboolean JNICALL are_same(JNIEnv *env, jobject left, jobject right)
{
    (void)env;
    return resolve_ref(left) == resolve_ref(right);
}

static jclass JNICALL fake_superclass(JNIEnv *env, jclass type)
{
    (void)env;
    return ref_to(class_of(type)->super);
}

static jobject JNICALL new_global(JNIEnv *env, jobject object)
{
    (void)env;
    if (fake_classes.refused_globals > 0) {
        fake_classes.refused_globals--;
        return NULL;
    }
    fake_classes.global_refs++;
    return object;
}

static void JNICALL delete_global(JNIEnv *env, jobject ref)
{
    (void)env;
    (void)ref;
    fake_classes.global_refs--;
}

static jweak JNICALL new_weak(JNIEnv *env, jobject object)
{
    struct weak_ref *weak = calloc(1, sizeof(*weak));

    (void)env;
    assert_non_null(weak);
    *weak = (struct weak_ref){ KIND_WEAK, (struct fake_loader *)(void *)object };
    fake_classes.weak_refs++;
    return ref_to(weak);
}

static void JNICALL delete_weak(JNIEnv *env, jweak ref)
{
    (void)env;
    fake_classes.weak_refs--;
    free((void *)ref);
}

static const struct JNINativeInterface_ jni_functions = {
    .PushLocalFrame = push_frame,
    .PopLocalFrame = pop_frame,
    .EnsureLocalCapacity = ensure_nothing,
    .DeleteLocalRef = delete_no_ref,
    .ExceptionClear = clear_nothing,
    .IsSameObject = are_same,
    .GetSuperclass = fake_superclass,
    .NewGlobalRef = new_global,
    .DeleteGlobalRef = delete_global,
    .NewWeakGlobalRef = new_weak,
    .DeleteWeakGlobalRef = delete_weak,
};
static const struct JNINativeInterface_ *jni_env = &jni_functions;

JNIEnv *fake_classes_jni(void)
{
    return (JNIEnv *)(void *)&jni_env;
}

/* --- for the test --- */

void fake_classes_reset(void)
{
    fake_classes = (struct fake_classes){ 0 };
}

void fake_classes_check(void)
{
    for (size_t i = 0; i < fake_classes.count; i++) {
        struct fake_loaded *type = fake_classes.classes[i];
        smp_class_file_close(&type->file);
        free(type->original);
        free(type->bytes);
    }
    fake_classes.count = 0;
    assert_int_equal(fake_classes.live_pieces, 0);
    assert_int_equal(fake_classes.weak_refs, 0);
    assert_int_equal(fake_classes.global_refs, 0);
    assert_int_equal(fake_classes.frames, 0);
}

struct fake_loader fake_loader(jint hash)
{
    return (struct fake_loader){ .kind = KIND_LOADER, .hash = hash };
}

void fake_classes_add(struct fake_loaded *type, const char *name, struct fake_loader *loader,
                      uint8_t *bytes, size_t size)
{
    *type = (struct fake_loaded){
        .kind = KIND_CLASS, .loader = loader, .original = bytes, .original_size = size
    };
    (void)snprintf(type->signature, sizeof(type->signature), "L%s;", name);
    assert_int_equal(smp_class_file_open(&type->file, bytes, size), SMP_OK);
    set_bytes(type, NULL, 0);
    assert_true(fake_classes.count < FAKE_CLASSES_MOST);
    fake_classes.classes[fake_classes.count++] = type;
}

void fake_classes_load(struct fake_loaded *type, bool is_prepared)
{
    size_t size = 0;
    uint8_t *changed = run_hook(type, false, &size);

    set_bytes(type, changed, size);
    type->is_loaded = true;
    type->is_prepared = is_prepared;
}
