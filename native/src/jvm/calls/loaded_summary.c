/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/loaded_summary.h"

#include <string.h>

#include "base/alloc.h"
#include "classfile/class_file.h"
#include "counting/call_filter.h"
#include "jvm/agent/jvmti_status.h"

enum { POOL_START = 1, TEXTS_OF_METHOD = 2 };

/* The parts of the class, allocated by the JVM. */
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

/* All tables are in one piece of memory. */
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

/* The byte code of a proxy is not available, but all proxies do the same. */
static void add_proxy_calls(struct smp_loaded_summary *made)
{
    static const struct smp_call_summary HANDLER = {
        .owner = TEXT("java/lang/reflect/InvocationHandler"),
        .name = TEXT("invoke"),
        .descriptor = TEXT("(Ljava/lang/Object;Ljava/lang/reflect/Method;[Ljava/lang/Object;)"
                           "Ljava/lang/Object;"),
        .is_dispatched = true
    };
    static const char PROXY[] = "java/lang/reflect/Proxy";
    const struct smp_slice super = made->summary.super_name;

    if (super.length != sizeof(PROXY) - 1 || memcmp(super.bytes, PROXY, super.length) != 0 ||
        !smp_call_filter_is_proxy(made->summary.name))
        return;
    for (size_t i = 0; i < made->summary.method_count; i++) {
        made->methods[i].calls = &HANDLER;
        made->methods[i].call_count = 1;
    }
}

static struct smp_slice slice_of_text(struct smp_class_text text)
{
    return (struct smp_slice){ text.bytes, text.length };
}

/* Each method that the constants name may be called by each method of the lambda: there are few of
 * them. How they are called is not known; a dispatched call finds all of them. */
static void add_named_calls(struct smp_loaded_summary *made, const struct smp_class_file *pool)
{
    struct smp_class_member member;
    size_t count = 0;

    for (uint16_t i = 1; i < pool->pool_count; i++) {
        const uint8_t tag = smp_class_file_tag(pool, i);
        if ((tag == SMP_CONSTANT_METHOD || tag == SMP_CONSTANT_INTERFACE_METHOD) &&
            smp_class_file_member(pool, i, &member))
            made->calls[count++] =
                (struct smp_call_summary){ .owner = slice_of_text(member.owner),
                                           .name = slice_of_text(member.name),
                                           .descriptor = slice_of_text(member.descriptor),
                                           .is_dispatched = true };
    }
    for (size_t m = 0; m < made->summary.method_count; m++) {
        made->methods[m].calls = made->calls;
        made->methods[m].call_count = count;
    }
}

/* A copy of the constants follows the calls, after one byte, so that no offset is 0. */
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
