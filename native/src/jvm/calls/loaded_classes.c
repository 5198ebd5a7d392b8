/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/loaded_classes.h"

#include "jvm/agent/jvmti_status.h"
#include "jvm/agent/local_frame.h"
#include "jvm/calls/loaded_outline.h"

enum { LIST_REFS = 1, EXTRA_CLASS_REFS = 64, INNER_REFS = 16 };

struct going {
    struct smp_class_loaders *loaders;
    jvmtiEnv *jvmti;
    JNIEnv *env;
    bool with_lambdas;
    jobject last_loader; /* classes of one loader mostly come in a row */
    uint64_t last_number;
};

static uint64_t number_loader(struct going *going, jclass type)
{
    jobject loader = NULL;

    if ((*going->jvmti)->GetClassLoader(going->jvmti, type, &loader) != JVMTI_ERROR_NONE)
        return SMP_CLASS_LOADERS_UNKNOWN;
    if (loader == NULL)
        return 0;
    if (going->last_loader != NULL &&
        (*going->env)->IsSameObject(going->env, loader, going->last_loader)) {
        (*going->env)->DeleteLocalRef(going->env, loader);
        return going->last_number;
    }
    if (going->last_loader != NULL)
        (*going->env)->DeleteLocalRef(going->env, going->last_loader);
    going->last_loader = loader;
    going->last_number = smp_class_loaders_number(going->loaders, going->jvmti, going->env, loader);
    return going->last_number;
}

bool smp_loaded_class_describe(const char *signature, bool with_lambdas,
                               struct smp_loaded_class *out)
{
    out->name = smp_loaded_class_name(signature);
    if (out->name.length == 0 && with_lambdas) {
        out->name = smp_lambda_class_name(signature);
        out->is_lambda = true;
    }
    return out->name.length > 0;
}

static void offer_class(struct going *going, jclass type, smp_on_loaded_class *each, void *self)
{
    char *signature = NULL;
    struct smp_loaded_class loaded = { .type = type };

    if ((*going->jvmti)->GetClassSignature(going->jvmti, type, &signature, NULL) !=
        JVMTI_ERROR_NONE)
        return;
    if (smp_loaded_class_describe(signature, going->with_lambdas, &loaded)) {
        loaded.loader = number_loader(going, type);
        if (loaded.loader != SMP_CLASS_LOADERS_UNKNOWN)
            each(self, &loaded);
    }
    (void)(*going->jvmti)->Deallocate(going->jvmti, (unsigned char *)signature);
}

static void offer_classes(struct going *going, const jclass *classes, jint count,
                          smp_on_loaded_class *each, void *self)
{
    for (jint i = 0; i < count; i++) {
        offer_class(going, classes[i], each, self);
        (*going->env)->DeleteLocalRef(going->env, classes[i]);
    }
    if (going->last_loader != NULL)
        (*going->env)->DeleteLocalRef(going->env, going->last_loader);
}

/*
 * Needs two frames. The outer one holds the references of the list, and the capacity that
 * -Xcheck:jni wants for them: both end with it. The inner one is for what is done with a class:
 * -Xcheck:jni counts the references of the innermost frame after each call, which would be those of
 * all classes.
 */
static enum smp_status offer_list(struct going *going, smp_on_loaded_class *each, void *self)
{
    JNIEnv *const env = going->env;
    jint count = 0;
    jclass *classes = NULL;
    enum smp_status status =
        smp_jvmti_status((*going->jvmti)->GetLoadedClasses(going->jvmti, &count, &classes));

    if (status != SMP_OK)
        return status;
    if ((*env)->EnsureLocalCapacity(env, count + EXTRA_CLASS_REFS) != JNI_OK)
        (*env)->ExceptionClear(env);
    if (smp_local_frame_push(env, INNER_REFS)) {
        offer_classes(going, classes, count, each, self);
        smp_local_frame_pop(env);
    } else {
        status = SMP_ENOMEM;
    }
    (void)(*going->jvmti)->Deallocate(going->jvmti, (unsigned char *)(void *)classes);
    return status;
}

enum smp_status smp_loaded_classes_each(struct smp_class_loaders *loaders, jvmtiEnv *jvmti,
                                        JNIEnv *env, bool with_lambdas, smp_on_loaded_class *each,
                                        void *self)
{
    struct going going = {
        .loaders = loaders, .jvmti = jvmti, .env = env, .with_lambdas = with_lambdas
    };
    enum smp_status status = SMP_ENOMEM;

    if (smp_local_frame_push(env, LIST_REFS)) {
        status = offer_list(&going, each, self);
        smp_local_frame_pop(env);
    }
    return status;
}
