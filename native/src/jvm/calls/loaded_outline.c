/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/loaded_outline.h"

#include <string.h>

#include "base/alloc.h"
#include "counting/call_filter.h"
#include "jvm/agent/jvmti_status.h"

enum { FIRST_TEXTS = 32 };

struct smp_slice smp_loaded_class_name(const char *signature)
{
    const size_t length = strlen(signature);

    /* A hidden class's signature has a dot: Lcom/acme/Order.0x0123; */
    if (length < 3 || signature[0] != 'L' || memchr(signature, '.', length) != NULL)
        return (struct smp_slice){ 0 };
    return (struct smp_slice){ signature + 1, length - 2 };
}

/* Takes the text over, also where it fails. */
static bool keep_text(struct smp_loaded_outline *made, jvmtiEnv *jvmti, char *text)
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

static enum smp_status name_class(struct smp_loaded_outline *made, jvmtiEnv *jvmti, jclass type,
                                  struct smp_slice *out)
{
    char *signature = NULL;
    const enum smp_status status =
        smp_jvmti_status((*jvmti)->GetClassSignature(jvmti, type, &signature, NULL));

    if (status != SMP_OK)
        return status;
    if (!keep_text(made, jvmti, signature))
        return SMP_ENOMEM;
    *out = smp_loaded_class_name(signature);
    return out->length > 0 ? SMP_OK : SMP_EGONE;
}

static enum smp_status name_super(struct smp_loaded_outline *made, jvmtiEnv *jvmti, JNIEnv *env,
                                  jclass type)
{
    jclass super = (*env)->GetSuperclass(env, type);
    enum smp_status status = SMP_OK;

    if (super == NULL)
        return SMP_OK;
    status = name_class(made, jvmti, super, &made->outline.super_name);
    (*env)->DeleteLocalRef(env, super);
    return status;
}

static enum smp_status add_interfaces(struct smp_loaded_outline *made, jvmtiEnv *jvmti, JNIEnv *env,
                                      const jclass *types, size_t count)
{
    enum smp_status status = SMP_OK;

    made->interfaces = count > 0 ? smp_alloc(NULL, count * sizeof(*made->interfaces)) : NULL;
    if (count > 0 && made->interfaces == NULL)
        status = SMP_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        if (status == SMP_OK)
            status = name_class(made, jvmti, types[i], &made->interfaces[i]);
        (*env)->DeleteLocalRef(env, types[i]);
    }
    made->outline.interfaces = made->interfaces;
    made->outline.interface_count = status == SMP_OK ? count : 0;
    return status;
}

static enum smp_status name_interfaces(struct smp_loaded_outline *made, jvmtiEnv *jvmti,
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

static enum smp_status outline_loaded_method(struct smp_loaded_outline *made, jvmtiEnv *jvmti,
                                             jmethodID method, struct smp_method_outline *out)
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
    *out = (struct smp_method_outline){ .name = { name, strlen(name) },
                                        .descriptor = { descriptor, strlen(descriptor) },
                                        .access = (uint16_t)access };
    return smp_jvmti_status(error);
}

/* Its byte code is not at hand, but each proxy does the same. */
static bool is_loaded_proxy(const struct smp_loaded_outline *made)
{
    static const char PROXY[] = "java/lang/reflect/Proxy";
    const struct smp_slice super = made->outline.super_name;

    return super.length == sizeof(PROXY) - 1 && memcmp(super.bytes, PROXY, super.length) == 0 &&
           smp_call_filter_is_proxy(made->outline.name);
}

static void call_handler(struct smp_method_outline *method)
{
    static const char OWNER[] = "java/lang/reflect/InvocationHandler";
    static const char NAME[] = "invoke";
    static const char DESCRIPTOR[] =
        "(Ljava/lang/Object;Ljava/lang/reflect/Method;[Ljava/lang/Object;)Ljava/lang/Object;";
    static const struct smp_call_outline CALL = { .owner = { OWNER, sizeof(OWNER) - 1 },
                                                  .name = { NAME, sizeof(NAME) - 1 },
                                                  .descriptor = { DESCRIPTOR,
                                                                  sizeof(DESCRIPTOR) - 1 },
                                                  .is_dispatched = true };

    method->calls = &CALL;
    method->call_count = 1;
}

static enum smp_status outline_loaded_methods(struct smp_loaded_outline *made, jvmtiEnv *jvmti,
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
        status = outline_loaded_method(made, jvmti, methods[i], &made->methods[i]);
    for (jint i = 0; status == SMP_OK && i < count && is_loaded_proxy(made); i++)
        call_handler(&made->methods[i]);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)(void *)methods);
    made->outline.methods = made->methods;
    made->outline.method_count = status == SMP_OK && count > 0 ? (size_t)count : 0;
    return status;
}

enum smp_status smp_loaded_outline_make(struct smp_loaded_outline *made, jvmtiEnv *jvmti,
                                        JNIEnv *env, jclass type, uint64_t loader,
                                        bool with_methods)
{
    enum smp_status status;

    *made = (struct smp_loaded_outline){ .outline = { .loader = loader } };
    status = name_class(made, jvmti, type, &made->outline.name);
    if (status == SMP_OK)
        status = name_super(made, jvmti, env, type);
    if (status == SMP_OK)
        status = name_interfaces(made, jvmti, env, type);
    if (status == SMP_OK && with_methods)
        status = outline_loaded_methods(made, jvmti, type);
    if (status != SMP_OK)
        smp_loaded_outline_free(made, jvmti);
    return status;
}

void smp_loaded_outline_free(struct smp_loaded_outline *made, jvmtiEnv *jvmti)
{
    for (size_t i = 0; i < made->text_count; i++)
        (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)made->texts[i]);
    smp_free(NULL, made->texts);
    smp_free(NULL, made->methods);
    smp_free(NULL, made->interfaces);
    *made = (struct smp_loaded_outline){ 0 };
}
