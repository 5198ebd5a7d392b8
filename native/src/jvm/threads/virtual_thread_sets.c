/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/virtual_thread_sets.h"

#include "jvm/agent/jdk.h"

#define SET "Ljava/util/Set;"
#define CONTAINERS "jdk/internal/vm/ThreadContainers"

enum { EXTRA_REFS = 16 /* local references */ };

static const char *const UNKNOWN_JDK = "unknown layout of the JDK's thread containers";

/* ----------------------------------------------------------------------------------- init, fini */

/* Yes, also where the JDK does not say so: then its fields are not found, either. */
static bool tracks_all_threads(JNIEnv *env, jclass containers)
{
    jmethodID tracks = smp_jdk_static_method(env, containers, "trackAllThreads", "()Z");
    const bool does =
        tracks == NULL || (*env)->CallStaticBooleanMethod(env, containers, tracks) != JNI_FALSE;

    if ((*env)->ExceptionCheck(env))
        (*env)->ExceptionClear(env);
    return does;
}

/* NULL: there is none, or it is no key set. */
static jobject find_static_set(JNIEnv *env, jclass owner, const char *name, jclass key_set)
{
    jfieldID field = smp_jdk_static_field(env, owner, name, SET);
    jobject set = field != NULL ? (*env)->GetStaticObjectField(env, owner, field) : NULL;

    if (set == NULL || key_set == NULL || !(*env)->IsInstanceOf(env, set, key_set))
        return NULL;
    return (*env)->NewGlobalRef(env, set);
}

static jclass keep_class(JNIEnv *env, jclass found)
{
    return found != NULL ? (*env)->NewGlobalRef(env, found) : NULL;
}

static void find_sets(JNIEnv *env, jclass containers, struct smp_virtual_thread_sets *out)
{
    jclass tracking = smp_jdk_class(env, CONTAINERS "$RootContainer$TrackingRootContainer");
    jclass container = smp_jdk_class(env, "jdk/internal/vm/SharedThreadContainer");
    jclass executor = smp_jdk_class(env, "java/util/concurrent/ThreadPerTaskExecutor");
    jclass reference = smp_jdk_class(env, "java/lang/ref/Reference");

    out->key_set =
        keep_class(env, smp_jdk_class(env, "java/util/concurrent/ConcurrentHashMap$KeySetView"));
    out->root = find_static_set(env, tracking, "VTHREADS", out->key_set);
    out->registry = find_static_set(env, containers, "CONTAINER_REGISTRY", out->key_set);
    out->container = keep_class(env, container);
    out->executor = keep_class(env, executor);
    out->container_threads = smp_jdk_field(env, container, "virtualThreads", SET);
    out->executor_threads = smp_jdk_field(env, executor, "threads", SET);
    out->reference = keep_class(env, reference);
    out->get = smp_jdk_method(env, reference, "get", "()Ljava/lang/Object;");
}

static bool has_all(const struct smp_virtual_thread_sets *sets)
{
    return sets->key_set != NULL && sets->root != NULL && sets->registry != NULL &&
           sets->container != NULL && sets->executor != NULL && sets->container_threads != NULL &&
           sets->executor_threads != NULL && sets->reference != NULL && sets->get != NULL;
}

const char *smp_virtual_thread_sets_init(JNIEnv *env, struct smp_virtual_thread_sets *out)
{
    const char *reason = NULL;

    *out = (struct smp_virtual_thread_sets){ 0 };
    if ((*env)->PushLocalFrame(env, EXTRA_REFS) != JNI_OK) {
        (*env)->ExceptionClear(env);
        return "no memory";
    }
    jclass containers = smp_jdk_class(env, CONTAINERS);
    if (containers == NULL || !smp_key_set_init(env, &out->known))
        reason = UNKNOWN_JDK;
    else if (!tracks_all_threads(env, containers))
        reason = "jdk.trackAllThreads is false";
    else
        find_sets(env, containers, out);
    if (reason == NULL && !has_all(out))
        reason = UNKNOWN_JDK;
    if (reason != NULL)
        smp_virtual_thread_sets_fini(out, env);
    (void)(*env)->PopLocalFrame(env, NULL);
    return reason;
}

void smp_virtual_thread_sets_fini(struct smp_virtual_thread_sets *sets, JNIEnv *env)
{
    const jobject kept[] = { sets->root,     sets->registry, sets->container,
                             sets->executor, sets->key_set,  sets->reference };

    for (size_t i = 0; env != NULL && i < sizeof(kept) / sizeof(kept[0]); i++) {
        if (kept[i] != NULL)
            (*env)->DeleteGlobalRef(env, kept[i]);
    }
    *sets = (struct smp_virtual_thread_sets){ 0 };
}

/* ---------------------------------------------------------------------------------------- visit */

struct registry_visit {
    const struct smp_virtual_thread_sets *sets;
    smp_on_virtual_thread_set *on_set;
    void *context;
};

/* NULL: it has no virtual threads, or is of another kind. */
static jobject threads_of(const struct smp_virtual_thread_sets *sets, JNIEnv *env,
                          jobject container)
{
    jobject set = NULL;

    if ((*env)->IsInstanceOf(env, container, sets->executor))
        set = (*env)->GetObjectField(env, container, sets->executor_threads);
    else if ((*env)->IsInstanceOf(env, container, sets->container))
        set = (*env)->GetObjectField(env, container, sets->container_threads);
    if (set == NULL || (*env)->IsInstanceOf(env, set, sets->key_set))
        return set;
    (*env)->DeleteLocalRef(env, set);
    return NULL;
}

static void visit_container(void *context, JNIEnv *env, jobject reference, double share)
{
    const struct registry_visit *visit = context;
    jobject container = NULL;
    jobject set = NULL;

    if (!(*env)->IsInstanceOf(env, reference, visit->sets->reference))
        return;
    container = (*env)->CallObjectMethod(env, reference, visit->sets->get);
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionClear(env);
        return;
    }
    if (container != NULL)
        set = threads_of(visit->sets, env, container);
    if (set != NULL)
        visit->on_set(visit->context, env, set, share);
    (*env)->DeleteLocalRef(env, set);
    (*env)->DeleteLocalRef(env, container);
}

void smp_virtual_thread_sets_visit(const struct smp_virtual_thread_sets *sets, JNIEnv *env,
                                   uint64_t *random, smp_on_virtual_thread_set *on_set,
                                   void *context)
{
    struct registry_visit visit = { sets, on_set, context };
    const struct smp_key_draw draw = { .share = 1,
                                       .most = SMP_VIRTUAL_SETS_VISITED,
                                       .random = random };

    on_set(context, env, sets->root, 1);
    (void)smp_key_set_draw(&sets->known, env, sets->registry, draw, visit_container, &visit);
}
