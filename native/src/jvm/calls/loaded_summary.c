/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/loaded_summary.h"

#include <string.h>

#include "base/alloc.h"
#include "classfile/class_file.h"
#include "counting/call_filter.h"
#include "jvm/agent/jvmti_status.h"

enum { FIRST_TEXTS = 32, POOL_START = 1 };

#define LAMBDA_MARK "$$Lambda"

struct smp_slice smp_loaded_class_name(const char *signature)
{
    const size_t length = strlen(signature);

    /* A hidden class's signature has a dot: Lcom/acme/Order.0x0123; */
    if (length < 3 || signature[0] != 'L' || memchr(signature, '.', length) != NULL)
        return (struct smp_slice){ 0 };
    return (struct smp_slice){ signature + 1, length - 2 };
}

struct smp_slice smp_lambda_class_name(const char *signature)
{
    const char *const mark = signature[0] == 'L' ? strstr(signature, LAMBDA_MARK) : NULL;
    const size_t length = strlen(signature);

    if (mark == NULL || memchr(mark, '.', length - (size_t)(mark - signature)) == NULL)
        return (struct smp_slice){ 0 };
    return (struct smp_slice){ signature + 1, length - 2 };
}

/* Takes the text over, also where it fails. */
static bool keep_text(struct smp_loaded_summary *made, jvmtiEnv *jvmti, char *text)
{
    if (made->text_count == made->text_capacity) {
        const size_t capacity = made->text_capacity > 0 ? made->text_capacity * 2 : FIRST_TEXTS;
        char **const texts = smp_realloc(NULL, made->texts, capacity * sizeof(*texts));
        if (texts == NULL) {
            (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)text);
            return false;
        }
        made->texts = texts;
        made->text_capacity = capacity;
    }
    made->texts[made->text_count++] = text;
    return true;
}

typedef struct smp_slice name_in(const char *signature);

static enum smp_status name_class(struct smp_loaded_summary *made, jvmtiEnv *jvmti, jclass type,
                                  name_in *name, struct smp_slice *out)
{
    char *signature = NULL;
    const enum smp_status status =
        smp_jvmti_status((*jvmti)->GetClassSignature(jvmti, type, &signature, NULL));

    if (status != SMP_OK)
        return status;
    if (!keep_text(made, jvmti, signature))
        return SMP_ENOMEM;
    *out = name(signature);
    return out->length > 0 ? SMP_OK : SMP_EGONE;
}

static enum smp_status name_super(struct smp_loaded_summary *made, jvmtiEnv *jvmti, JNIEnv *env,
                                  jclass type)
{
    jclass super = (*env)->GetSuperclass(env, type);
    enum smp_status status = SMP_OK;

    if (super == NULL)
        return SMP_OK;
    status = name_class(made, jvmti, super, smp_loaded_class_name, &made->summary.super_name);
    (*env)->DeleteLocalRef(env, super);
    return status;
}

static enum smp_status add_interfaces(struct smp_loaded_summary *made, jvmtiEnv *jvmti, JNIEnv *env,
                                      const jclass *types, size_t count)
{
    enum smp_status status = SMP_OK;

    made->interfaces = count > 0 ? smp_alloc(NULL, count * sizeof(*made->interfaces)) : NULL;
    if (count > 0 && made->interfaces == NULL)
        status = SMP_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        if (status == SMP_OK)
            status = name_class(made, jvmti, types[i], smp_loaded_class_name, &made->interfaces[i]);
        (*env)->DeleteLocalRef(env, types[i]);
    }
    made->summary.interfaces = made->interfaces;
    made->summary.interface_count = status == SMP_OK ? count : 0;
    return status;
}

static enum smp_status name_interfaces(struct smp_loaded_summary *made, jvmtiEnv *jvmti,
                                       JNIEnv *env, jclass type)
{
    jint count = 0;
    jclass *types = NULL;
    const jvmtiError error = (*jvmti)->GetImplementedInterfaces(jvmti, type, &count, &types);
    enum smp_status status = SMP_OK;

    if (error == JVMTI_ERROR_CLASS_NOT_PREPARED)
        return SMP_EGONE;
    status = smp_jvmti_status(error);
    if (status == SMP_OK)
        status = add_interfaces(made, jvmti, env, types, count > 0 ? (size_t)count : 0);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)(void *)types);
    return status;
}

static enum smp_status summary_loaded_method(struct smp_loaded_summary *made, jvmtiEnv *jvmti,
                                             jmethodID method, struct smp_method_summary *out)
{
    char *name = NULL;
    char *descriptor = NULL;
    jint access = 0;
    jvmtiError error = (*jvmti)->GetMethodName(jvmti, method, &name, &descriptor, NULL);

    if (error != JVMTI_ERROR_NONE)
        return smp_jvmti_status(error);
    const bool has_name = keep_text(made, jvmti, name);
    if (!keep_text(made, jvmti, descriptor) || !has_name)
        return SMP_ENOMEM;
    error = (*jvmti)->GetMethodModifiers(jvmti, method, &access);
    *out = (struct smp_method_summary){ .name = { name, strlen(name) },
                                        .descriptor = { descriptor, strlen(descriptor) },
                                        .access = (uint16_t)access };
    return smp_jvmti_status(error);
}

/* Its byte code is not at hand, but each proxy does the same. */
static bool is_loaded_proxy(const struct smp_loaded_summary *made)
{
    static const char PROXY[] = "java/lang/reflect/Proxy";
    const struct smp_slice super = made->summary.super_name;

    return super.length == sizeof(PROXY) - 1 && memcmp(super.bytes, PROXY, super.length) == 0 &&
           smp_call_filter_is_proxy(made->summary.name);
}

static void call_handler(struct smp_method_summary *method)
{
    static const char OWNER[] = "java/lang/reflect/InvocationHandler";
    static const char NAME[] = "invoke";
    static const char DESCRIPTOR[] =
        "(Ljava/lang/Object;Ljava/lang/reflect/Method;[Ljava/lang/Object;)Ljava/lang/Object;";
    static const struct smp_call_summary CALL = { .owner = { OWNER, sizeof(OWNER) - 1 },
                                                  .name = { NAME, sizeof(NAME) - 1 },
                                                  .descriptor = { DESCRIPTOR,
                                                                  sizeof(DESCRIPTOR) - 1 },
                                                  .is_dispatched = true };

    method->calls = &CALL;
    method->call_count = 1;
}

static enum smp_status summary_loaded_methods(struct smp_loaded_summary *made, jvmtiEnv *jvmti,
                                              jclass type)
{
    jint count = 0;
    jmethodID *methods = NULL;
    const jvmtiError error = (*jvmti)->GetClassMethods(jvmti, type, &count, &methods);
    enum smp_status status = SMP_OK;

    if (error == JVMTI_ERROR_CLASS_NOT_PREPARED)
        return SMP_EGONE;
    status = smp_jvmti_status(error);
    if (status == SMP_OK && count > 0) {
        made->methods = smp_alloc(NULL, (size_t)count * sizeof(*made->methods));
        status = made->methods != NULL ? SMP_OK : SMP_ENOMEM;
    }
    for (jint i = 0; status == SMP_OK && i < count; i++)
        status = summary_loaded_method(made, jvmti, methods[i], &made->methods[i]);
    for (jint i = 0; status == SMP_OK && i < count && is_loaded_proxy(made); i++)
        call_handler(&made->methods[i]);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)(void *)methods);
    made->summary.methods = made->methods;
    made->summary.method_count = status == SMP_OK && count > 0 ? (size_t)count : 0;
    return status;
}

/* --- lambdas --- */

static struct smp_slice slice_of_text(struct smp_class_text text)
{
    return (struct smp_slice){ text.bytes, text.length };
}

/* Each method that its constants name may be called by each of its own: there are few. How it is
 * called is not known, and dispatched finds all. */
static enum smp_status add_lambda_calls(struct smp_loaded_summary *made,
                                        const struct smp_class_file *pool)
{
    struct smp_class_member member;
    size_t count = 0;

    made->calls = smp_alloc(NULL, pool->pool_count * sizeof(*made->calls));
    if (made->calls == NULL)
        return SMP_ENOMEM;
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
    return SMP_OK;
}

/* A copy, behind a byte that makes no offset 0. */
static enum smp_status keep_constants(struct smp_loaded_summary *made, const unsigned char *bytes,
                                      size_t size)
{
    made->constants = smp_alloc(NULL, POOL_START + size);
    if (made->constants == NULL)
        return SMP_ENOMEM;
    memcpy(made->constants + POOL_START, bytes, size);
    return SMP_OK;
}

static enum smp_status read_lambda_calls(struct smp_loaded_summary *made, jvmtiEnv *jvmti,
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
    status = keep_constants(made, bytes, (size_t)size);
    (void)(*jvmti)->Deallocate(jvmti, bytes);
    if (status == SMP_OK)
        status = smp_class_file_open_pool(&pool, made->constants, POOL_START + (size_t)size,
                                          POOL_START, (uint16_t)count);
    if (status == SMP_OK)
        status = add_lambda_calls(made, &pool);
    smp_class_file_close(&pool);
    return status;
}

enum smp_status smp_loaded_summary_make_lambda(struct smp_loaded_summary *made, jvmtiEnv *jvmti,
                                               JNIEnv *env, jclass type, uint64_t loader)
{
    enum smp_status status;

    *made = (struct smp_loaded_summary){ .summary = { .loader = loader, .is_hidden = true } };
    status = name_class(made, jvmti, type, smp_lambda_class_name, &made->summary.name);
    if (status == SMP_OK)
        status = name_interfaces(made, jvmti, env, type);
    if (status == SMP_OK)
        status = summary_loaded_methods(made, jvmti, type);
    if (status == SMP_OK)
        status = read_lambda_calls(made, jvmti, type);
    if (status != SMP_OK)
        smp_loaded_summary_free(made, jvmti);
    return status;
}

/* --- make, free --- */

enum smp_status smp_loaded_summary_make(struct smp_loaded_summary *made, jvmtiEnv *jvmti,
                                        JNIEnv *env, jclass type, uint64_t loader,
                                        bool with_methods)
{
    enum smp_status status;

    *made = (struct smp_loaded_summary){ .summary = { .loader = loader, .lacks_calls = true } };
    status = name_class(made, jvmti, type, smp_loaded_class_name, &made->summary.name);
    if (status == SMP_OK)
        status = name_super(made, jvmti, env, type);
    if (status == SMP_OK)
        status = name_interfaces(made, jvmti, env, type);
    if (status == SMP_OK && with_methods)
        status = summary_loaded_methods(made, jvmti, type);
    if (status != SMP_OK)
        smp_loaded_summary_free(made, jvmti);
    return status;
}

void smp_loaded_summary_free(struct smp_loaded_summary *made, jvmtiEnv *jvmti)
{
    for (size_t i = 0; i < made->text_count; i++)
        (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)made->texts[i]);
    smp_free(NULL, made->constants);
    smp_free(NULL, made->calls);
    smp_free(NULL, made->texts);
    smp_free(NULL, made->methods);
    smp_free(NULL, made->interfaces);
    *made = (struct smp_loaded_summary){ 0 };
}
