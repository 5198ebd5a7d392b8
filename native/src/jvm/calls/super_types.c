/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/super_types.h"

#include "jvm/agent/local_frame.h"

enum { LEVEL_REFS = 64 };

struct rising {
    struct smp_class_loaders *loaders;
    jvmtiEnv *jvmti;
    JNIEnv *env;
    smp_on_super_type *each;
    void *self;
    int depth;
};

static void rise_from(struct rising *rising, jclass type);

static bool offer_super(struct rising *rising, jclass super)
{
    jvmtiEnv *const jvmti = rising->jvmti;
    char *signature = NULL;
    jobject loader = NULL;
    struct smp_loaded_class loaded = { .type = super };
    bool goes_on = false;

    if ((*jvmti)->GetClassSignature(jvmti, super, &signature, NULL) != JVMTI_ERROR_NONE)
        return false;
    if (smp_loaded_class_describe(signature, false, &loaded) &&
        (*jvmti)->GetClassLoader(jvmti, super, &loader) == JVMTI_ERROR_NONE) {
        loaded.loader = smp_class_loaders_number(rising->loaders, jvmti, rising->env, loader);
        goes_on = loaded.loader != SMP_CLASS_LOADERS_UNKNOWN && rising->each(rising->self, &loaded);
        if (loader != NULL)
            (*rising->env)->DeleteLocalRef(rising->env, loader);
    }
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    return goes_on;
}

/* A hierarchy is as deep as its tallest branch, SMP_SUPER_TYPES_DEPTH at most.
 * NOLINTBEGIN(misc-no-recursion) */
static void rise_to(struct rising *rising, jclass super)
{
    if (offer_super(rising, super))
        rise_from(rising, super);
    (*rising->env)->DeleteLocalRef(rising->env, super);
}

static void rise_to_interfaces(struct rising *rising, jclass type)
{
    jvmtiEnv *const jvmti = rising->jvmti;
    jint count = 0;
    jclass *interfaces = NULL;

    if ((*jvmti)->GetImplementedInterfaces(jvmti, type, &count, &interfaces) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < count; i++)
        rise_to(rising, interfaces[i]);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)(void *)interfaces);
}

/* A level of the hierarchy has a frame of its own, so that its references go with it. */
static void rise_from(struct rising *rising, jclass type)
{
    jclass super = NULL;

    if (rising->depth == SMP_SUPER_TYPES_DEPTH || !smp_local_frame_push(rising->env, LEVEL_REFS))
        return;
    rising->depth++;
    super = (*rising->env)->GetSuperclass(rising->env, type);
    if (super != NULL)
        rise_to(rising, super);
    rise_to_interfaces(rising, type);
    rising->depth--;
    smp_local_frame_pop(rising->env);
}
/* NOLINTEND(misc-no-recursion) */

void smp_super_types_each(struct smp_class_loaders *loaders, jvmtiEnv *jvmti, JNIEnv *env,
                          jclass type, smp_on_super_type *each, void *self)
{
    struct rising rising = {
        .loaders = loaders, .jvmti = jvmti, .env = env, .each = each, .self = self
    };

    rise_from(&rising, type);
}
