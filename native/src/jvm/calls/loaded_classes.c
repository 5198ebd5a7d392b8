/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/loaded_classes.h"

#include <string.h>

#include "base/alloc.h"
#include "classfile/class_file.h"
#include "jvm/agent/jdk.h"
#include "jvm/agent/jvmti_status.h"

#define LAMBDA_MARK "$$Lambda"

enum { LIST_REFS = 1, EXTRA_CLASS_REFS = 64, INNER_REFS = 16 };

/* The environment for describing classes. */
struct class_reader {
    struct smp_class_loaders *loaders;
    jvmtiEnv *jvmti;
    JNIEnv *env;
    bool with_lambdas;
};

struct smp_slice smp_loaded_class_name(const char *signature)
{
    const size_t length = strlen(signature);

    /* The signature of a hidden class has a dot: Lcom/acme/Order.0x0123; */
    if (length < 3 || signature[0] != 'L' || memchr(signature, '.', length) != NULL)
        return (struct smp_slice){ 0 };
    return (struct smp_slice){ signature + 1, length - 2 };
}

/* Returns the name in `Lcom/acme/Order$$Lambda.0x0123;`, which begins with the class that contains
 * the lambda. Length 0: not the class of a lambda. */
static struct smp_slice lambda_class_name(const char *signature)
{
    const char *const mark = signature[0] == 'L' ? strstr(signature, LAMBDA_MARK) : NULL;

    if (mark == NULL || strchr(mark, '.') == NULL)
        return (struct smp_slice){ 0 };
    return (struct smp_slice){ signature + 1, strlen(signature) - 2 };
}

static uint64_t number_loader(const struct class_reader *reader, jclass type)
{
    jobject loader = NULL;

    if ((*reader->jvmti)->GetClassLoader(reader->jvmti, type, &loader) != JVMTI_ERROR_NONE)
        return SMP_CLASS_LOADERS_UNKNOWN;
    const uint64_t number =
        smp_class_loaders_number(reader->loaders, reader->jvmti, reader->env, loader);
    if (loader != NULL)
        (*reader->env)->DeleteLocalRef(reader->env, loader);
    return number;
}

bool smp_loaded_class_describe(const char *signature, bool with_lambdas,
                               struct smp_loaded_class *out)
{
    out->name = smp_loaded_class_name(signature);
    if (out->name.length == 0 && with_lambdas) {
        out->name = lambda_class_name(signature);
        out->is_lambda = true;
    }
    return out->name.length > 0;
}

/* Returns false if the class does not matter or was unloaded. The caller always frees signature. */
static bool describe_class(const struct class_reader *reader, jclass type,
                           struct smp_loaded_class *out, char **signature)
{
    *out = (struct smp_loaded_class){ .type = type };
    *signature = NULL;
    if ((*reader->jvmti)->GetClassSignature(reader->jvmti, type, signature, NULL) !=
            JVMTI_ERROR_NONE ||
        !smp_loaded_class_describe(*signature, reader->with_lambdas, out))
        return false;
    out->loader = number_loader(reader, type);
    return out->loader != SMP_CLASS_LOADERS_UNKNOWN;
}

static void offer_class(const struct class_reader *reader, jclass type, smp_on_loaded_class *each,
                        void *self)
{
    struct smp_loaded_class loaded;
    char *signature = NULL;

    if (describe_class(reader, type, &loaded, &signature))
        each(self, &loaded);
    (void)(*reader->jvmti)->Deallocate(reader->jvmti, (unsigned char *)signature);
}

void smp_loaded_classes_offer(struct smp_class_loaders *loaders, jvmtiEnv *jvmti, JNIEnv *env,
                              jclass type, smp_on_loaded_class *each, void *self)
{
    const struct class_reader reader = {
        .loaders = loaders, .jvmti = jvmti, .env = env, .with_lambdas = true
    };

    offer_class(&reader, type, each, self);
}

/*
 * Uses two local frames. The caller pushes the outer frame, which holds the references of the list
 * and has the capacity that -Xcheck:jni requires for them. The inner frame is for the work on each
 * class: -Xcheck:jni counts all references of the innermost frame after each call, which would be
 * slow in the list's frame.
 */
static enum smp_status offer_list(const struct class_reader *reader, smp_on_loaded_class *each,
                                  void *self)
{
    JNIEnv *const env = reader->env;
    jint count = 0;
    jclass *classes = NULL;
    enum smp_status status =
        smp_jvmti_status((*reader->jvmti)->GetLoadedClasses(reader->jvmti, &count, &classes));

    if (status != SMP_OK)
        return status;
    if ((*env)->EnsureLocalCapacity(env, count + EXTRA_CLASS_REFS) != JNI_OK)
        (*env)->ExceptionClear(env);
    if (smp_local_frame_push(env, INNER_REFS)) {
        for (jint i = 0; i < count; i++) {
            offer_class(reader, classes[i], each, self);
            (*env)->DeleteLocalRef(env, classes[i]);
        }
        smp_local_frame_pop(env);
    } else {
        status = SMP_ENOMEM;
    }
    (void)(*reader->jvmti)->Deallocate(reader->jvmti, (unsigned char *)(void *)classes);
    return status;
}

enum smp_status smp_loaded_classes_each(struct smp_class_loaders *loaders, jvmtiEnv *jvmti,
                                        JNIEnv *env, bool with_lambdas, smp_on_loaded_class *each,
                                        void *self)
{
    const struct class_reader reader = {
        .loaders = loaders, .jvmti = jvmti, .env = env, .with_lambdas = with_lambdas
    };
    enum smp_status status = SMP_ENOMEM;

    if (smp_local_frame_push(env, LIST_REFS)) {
        status = offer_list(&reader, each, self);
        smp_local_frame_pop(env);
    }
    return status;
}

/* --- super types --- */

/* A worklist of super types. */
struct rising {
    struct class_reader reader;
    jclass types[SMP_SUPER_TYPES_WAITING]; /* local references */
    size_t count;
};

static void add_type(struct rising *rising, jclass type)
{
    if (rising->count < SMP_SUPER_TYPES_WAITING)
        rising->types[rising->count++] = type;
    else
        (*rising->reader.env)->DeleteLocalRef(rising->reader.env, type);
}

static void add_supers(struct rising *rising, jclass type)
{
    jvmtiEnv *const jvmti = rising->reader.jvmti;
    jclass super = (*rising->reader.env)->GetSuperclass(rising->reader.env, type);
    jint count = 0;
    jclass *interfaces = NULL;

    if (super != NULL)
        add_type(rising, super);
    if ((*jvmti)->GetImplementedInterfaces(jvmti, type, &count, &interfaces) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < count; i++)
        add_type(rising, interfaces[i]);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)(void *)interfaces);
}

static bool offer_super(const struct class_reader *reader, jclass super, smp_on_super_type *each,
                        void *self)
{
    struct smp_loaded_class loaded;
    char *signature = NULL;
    const bool goes_on = describe_class(reader, super, &loaded, &signature) && each(self, &loaded);

    (void)(*reader->jvmti)->Deallocate(reader->jvmti, (unsigned char *)signature);
    return goes_on;
}

void smp_super_types_each(struct smp_class_loaders *loaders, jvmtiEnv *jvmti, JNIEnv *env,
                          jclass type, smp_on_super_type *each, void *self)
{
    struct rising rising = { .reader = { .loaders = loaders, .jvmti = jvmti, .env = env } };

    if (!smp_local_frame_push(env, SMP_SUPER_TYPES_WAITING + INNER_REFS))
        return;
    add_supers(&rising, type);
    while (rising.count > 0) {
        jclass super = rising.types[--rising.count];
        if (offer_super(&rising.reader, super, each, self))
            add_supers(&rising, super);
        (*env)->DeleteLocalRef(env, super);
    }
    smp_local_frame_pop(env);
}

/* --- summaries --- */

enum { POOL_START = 1, TEXTS_OF_METHOD = 2 };

/* Arrays of a class, allocated by the JVM. */
struct loaded_parts {
    jvmtiEnv *jvmti;
    JNIEnv *env;
    jint type_count;
    jclass *types; /* its interfaces */
    jint method_count;
    jmethodID *methods;
};

static bool find_parts(struct loaded_parts *parts, jclass type, bool with_methods,
                       enum smp_status *status)
{
    jvmtiEnv *const jvmti = parts->jvmti;
    jvmtiError error =
        (*jvmti)->GetImplementedInterfaces(jvmti, type, &parts->type_count, &parts->types);

    if (error == JVMTI_ERROR_NONE && with_methods)
        error = (*jvmti)->GetClassMethods(jvmti, type, &parts->method_count, &parts->methods);
    *status = error == JVMTI_ERROR_CLASS_NOT_PREPARED ? SMP_EGONE : smp_jvmti_status(error);
    return *status == SMP_OK;
}

static void release_parts(const struct loaded_parts *parts)
{
    jvmtiEnv *const jvmti = parts->jvmti;

    for (jint i = 0; i < parts->type_count; i++)
        (*parts->env)->DeleteLocalRef(parts->env, parts->types[i]);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)(void *)parts->types);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)(void *)parts->methods);
}

/* Allocates all tables in one block. */
static bool make_tables(struct smp_loaded_summary *made, const struct loaded_parts *parts)
{
    const size_t types = (size_t)parts->type_count;
    const size_t methods = (size_t)parts->method_count;
    const size_t texts = 1 + types + TEXTS_OF_METHOD * methods;

    made->methods =
        smp_alloc(NULL, methods * sizeof(*made->methods) + types * sizeof(*made->interfaces) +
                            texts * sizeof(*made->texts));
    if (made->methods == NULL)
        return false;
    made->interfaces = (struct smp_slice *)(void *)(made->methods + methods);
    made->texts = (char **)(void *)(made->interfaces + types);
    made->summary.methods = made->methods;
    made->summary.method_count = methods;
    made->summary.interfaces = made->interfaces;
    made->summary.interface_count = types;
    return true;
}

static enum smp_status name_type(struct smp_loaded_summary *made, jvmtiEnv *jvmti, jclass type,
                                 struct smp_slice *out)
{
    char *signature = NULL;
    const enum smp_status status =
        smp_jvmti_status((*jvmti)->GetClassSignature(jvmti, type, &signature, NULL));

    if (status != SMP_OK)
        return status;
    made->texts[made->text_count++] = signature;
    *out = smp_loaded_class_name(signature);
    return out->length > 0 ? SMP_OK : SMP_EGONE;
}

static enum smp_status name_super(struct smp_loaded_summary *made, const struct loaded_parts *parts,
                                  jclass type)
{
    jclass super = (*parts->env)->GetSuperclass(parts->env, type);
    enum smp_status status = SMP_OK;

    if (super == NULL)
        return SMP_OK;
    status = name_type(made, parts->jvmti, super, &made->summary.super_name);
    (*parts->env)->DeleteLocalRef(parts->env, super);
    return status;
}

static enum smp_status name_loaded_method(struct smp_loaded_summary *made, jvmtiEnv *jvmti,
                                          jmethodID method, struct smp_method_summary *out)
{
    char *name = NULL;
    char *descriptor = NULL;
    jint access = 0;
    jvmtiError error = (*jvmti)->GetMethodName(jvmti, method, &name, &descriptor, NULL);

    if (error != JVMTI_ERROR_NONE)
        return smp_jvmti_status(error);
    made->texts[made->text_count++] = name;
    made->texts[made->text_count++] = descriptor;
    error = (*jvmti)->GetMethodModifiers(jvmti, method, &access);
    *out = (struct smp_method_summary){ .name = { name, strlen(name) },
                                        .descriptor = { descriptor, strlen(descriptor) },
                                        .access = (uint16_t)access };
    return smp_jvmti_status(error);
}

/* --- calls --- */

#define TEXT(text)             \
    {                          \
        text, sizeof(text) - 1 \
    }

/* The byte code of a proxy is not available, but each method of a proxy calls its handler. */
static void add_proxy_calls(struct smp_loaded_summary *made)
{
    static const struct smp_call_summary HANDLER = {
        .owner = TEXT("java/lang/reflect/InvocationHandler"),
        .name = TEXT("invoke"),
        .descriptor = TEXT("(Ljava/lang/Object;Ljava/lang/reflect/Method;[Ljava/lang/Object;)"
                           "Ljava/lang/Object;"),
        .is_dispatched = true
    };

    if (!smp_class_summary_is_proxy(&made->summary))
        return;
    for (size_t i = 0; i < made->summary.method_count; i++) {
        made->methods[i].calls = &HANDLER;
        made->methods[i].call_count = 1;
    }
}

/* Assumes that each method of the lambda calls all methods in its constant pool, which are few.
 * The kind of call is unknown, so all are treated as dispatched, which finds any target. */
static void add_named_calls(struct smp_loaded_summary *made, const struct smp_class_file *pool)
{
    struct smp_class_member member;
    size_t count = 0;

    for (uint16_t i = 1; i < pool->pool_count; i++) {
        const uint8_t tag = smp_class_file_tag(pool, i);
        if ((tag == SMP_CONSTANT_METHOD || tag == SMP_CONSTANT_INTERFACE_METHOD) &&
            smp_class_file_member(pool, i, &member))
            made->calls[count++] = (struct smp_call_summary){ .owner = member.owner,
                                                              .name = member.name,
                                                              .descriptor = member.descriptor,
                                                              .is_dispatched = true };
    }
    for (size_t m = 0; m < made->summary.method_count; m++) {
        made->methods[m].calls = made->calls;
        made->methods[m].call_count = count;
    }
}

/* The block has the calls and then a copy of the constant pool. A byte in between keeps the
 * offsets of constants above 0. */
static enum smp_status add_lambda_calls(struct smp_loaded_summary *made, jvmtiEnv *jvmti,
                                        jclass type)
{
    jint count = 0;
    jint size = 0;
    unsigned char *bytes = NULL;
    struct smp_class_file pool = { 0 };
    enum smp_status status =
        smp_jvmti_status((*jvmti)->GetConstantPool(jvmti, type, &count, &size, &bytes));

    if (status != SMP_OK)
        return status;
    const size_t calls = (size_t)count * sizeof(*made->calls);
    made->calls = smp_alloc(NULL, calls + POOL_START + (size_t)size);
    if (made->calls == NULL) {
        (void)(*jvmti)->Deallocate(jvmti, bytes);
        return SMP_ENOMEM;
    }
    uint8_t *const constants = (uint8_t *)made->calls + calls;
    memcpy(constants + POOL_START, bytes, (size_t)size);
    (void)(*jvmti)->Deallocate(jvmti, bytes);
    status = smp_class_file_open_pool(&pool, constants, POOL_START + (size_t)size, POOL_START,
                                      (uint16_t)count);
    if (status == SMP_OK)
        add_named_calls(made, &pool);
    smp_class_file_close(&pool);
    return status;
}

/* --- make, free --- */

static enum smp_status fill_summary(struct smp_loaded_summary *made,
                                    const struct loaded_parts *parts,
                                    const struct smp_loaded_class *loaded)
{
    enum smp_status status = make_tables(made, parts) ? SMP_OK : SMP_ENOMEM;

    if (status == SMP_OK && !loaded->is_lambda)
        status = name_super(made, parts, loaded->type);
    for (jint i = 0; status == SMP_OK && i < parts->type_count; i++)
        status = name_type(made, parts->jvmti, parts->types[i], &made->interfaces[i]);
    for (jint i = 0; status == SMP_OK && i < parts->method_count; i++)
        status = name_loaded_method(made, parts->jvmti, parts->methods[i], &made->methods[i]);
    if (status == SMP_OK && loaded->is_lambda)
        return add_lambda_calls(made, parts->jvmti, loaded->type);
    if (status == SMP_OK)
        add_proxy_calls(made);
    return status;
}

enum smp_status smp_loaded_summary_make(struct smp_loaded_summary *made, jvmtiEnv *jvmti,
                                        JNIEnv *env, const struct smp_loaded_class *loaded,
                                        bool with_methods)
{
    struct loaded_parts parts = { .jvmti = jvmti, .env = env };
    enum smp_status status;

    *made = (struct smp_loaded_summary){ .summary = { .name = loaded->name,
                                                      .loader = loaded->loader,
                                                      .is_hidden = loaded->is_lambda,
                                                      .lacks_calls = !loaded->is_lambda } };
    if (find_parts(&parts, loaded->type, with_methods, &status))
        status = fill_summary(made, &parts, loaded);
    release_parts(&parts);
    if (status != SMP_OK)
        smp_loaded_summary_free(made, jvmti);
    return status;
}

void smp_loaded_summary_free(struct smp_loaded_summary *made, jvmtiEnv *jvmti)
{
    for (size_t i = 0; i < made->text_count; i++)
        (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)made->texts[i]);
    smp_free(NULL, made->calls);
    smp_free(NULL, made->methods);
    *made = (struct smp_loaded_summary){ 0 };
}
