/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/loaded_classes.h"

#include <string.h>

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

    /* A hidden class's signature has a dot: Lcom/acme/Order.0x0123; */
    if (length < 3 || signature[0] != 'L' || memchr(signature, '.', length) != NULL)
        return (struct smp_slice){ 0 };
    return (struct smp_slice){ signature + 1, length - 2 };
}

/* The name in `Lcom/acme/Order$$Lambda.0x0123;`, which begins with the name of the class that made
 * the lambda. Length 0: not a lambda's class. */
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

/* False: the class does not matter, or is gone. The caller frees signature by JVMTI. */
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
 * Needs two frames. The outer frame, pushed by the caller, holds the references of the list, with
 * the capacity that -Xcheck:jni requires for them. The inner frame is for the work on each class:
 * after each call -Xcheck:jni counts the references of the innermost frame, which otherwise were
 * those of all classes.
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

/* Types that still wait for a visit. */
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
