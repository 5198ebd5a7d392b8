/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/virtual_thread_sets.h"

#include <string.h>

#include "jvm/agent/jdk.h"

#define SET "Ljava/util/Set;"
#define CONTAINERS "jdk/internal/vm/ThreadContainers"

enum {
    EXTRA_REFS = 16, /* local references */
    REFERENCES = 7   /* that a struct of sets has */
};

static const char *const UNKNOWN_JDK = "unknown layout of the JDK's thread containers";

/* ----------------------------------------------------------------------------------- init, fini */

/* Also returns true if the JDK does not say: then its fields are missing as well. */
static bool tracks_all_threads(JNIEnv *env, jclass containers)
{
    jmethodID tracks = smp_jdk_static_method(env, containers, "trackAllThreads", "()Z");
    const bool does =
        tracks == NULL || (*env)->CallStaticBooleanMethod(env, containers, tracks) != JNI_FALSE;

    if ((*env)->ExceptionCheck(env))
        (*env)->ExceptionClear(env);
    return does;
}

/* Returns NULL if there is none, or it is not a key set. */
static jobject find_static_set(JNIEnv *env, jclass owner, const char *name, jclass key_set)
{
    jfieldID field = smp_jdk_static_field(env, owner, name, SET);
    jobject set = field != NULL ? (*env)->GetStaticObjectField(env, owner, field) : NULL;

    return set != NULL && key_set != NULL && (*env)->IsInstanceOf(env, set, key_set) ? set : NULL;
}

/* Finds local references; missing ones are NULL. */
static void find_sets(JNIEnv *env, jclass containers, struct smp_virtual_thread_sets *out)
{
    jclass tracking = smp_jdk_class(env, CONTAINERS "$RootContainer$TrackingRootContainer");

    out->key_set = smp_jdk_class(env, "java/util/concurrent/ConcurrentHashMap$KeySetView");
    out->root = find_static_set(env, tracking, "VTHREADS", out->key_set);
    out->registry = find_static_set(env, containers, "CONTAINER_REGISTRY", out->key_set);
    out->container = smp_jdk_class(env, "jdk/internal/vm/SharedThreadContainer");
    out->executor = smp_jdk_class(env, "java/util/concurrent/ThreadPerTaskExecutor");
    out->reference = smp_jdk_class(env, "java/lang/ref/Reference");
    out->virtual_factory = smp_jdk_class(env, "java/lang/ThreadBuilders$VirtualThreadFactory");
    out->container_threads = smp_jdk_field(env, out->container, "virtualThreads", SET);
    out->executor_threads = smp_jdk_field(env, out->executor, "threads", SET);
    out->executor_factory =
        smp_jdk_field(env, out->executor, "factory", "Ljava/util/concurrent/ThreadFactory;");
    out->get = smp_jdk_method(env, out->reference, "get", "()Ljava/lang/Object;");
}

/* A factory's class and field are not required: without them all executors may be mixed. */
static bool has_all(const struct smp_virtual_thread_sets *sets)
{
    return sets->key_set != NULL && sets->root != NULL && sets->registry != NULL &&
           sets->container != NULL && sets->executor != NULL && sets->container_threads != NULL &&
           sets->executor_threads != NULL && sets->reference != NULL && sets->get != NULL;
}

static void get_references(struct smp_virtual_thread_sets *sets, jobject *out[REFERENCES])
{
    jobject *const all[REFERENCES] = { &sets->root,           &sets->registry, &sets->container,
                                       &sets->executor,       &sets->key_set,  &sets->reference,
                                       &sets->virtual_factory };

    memcpy(out, all, sizeof(all));
}

/* Replaces the local references by global ones. Returns false without memory for one of them. */
static bool keep_references(JNIEnv *env, struct smp_virtual_thread_sets *sets)
{
    jobject *references[REFERENCES];
    bool all = true;

    get_references(sets, references);
    for (size_t i = 0; i < REFERENCES; i++) {
        jobject local = *references[i];
        *references[i] = local != NULL ? (*env)->NewGlobalRef(env, local) : NULL;
        all = all && (local == NULL || *references[i] != NULL);
    }
    return all;
}

static enum smp_status find_all(JNIEnv *env, struct smp_virtual_thread_sets *out,
                                const char **reason)
{
    jclass containers = smp_jdk_class(env, CONTAINERS);
    struct smp_virtual_thread_sets found = { 0 };
    enum smp_status status = SMP_EUNSUPPORTED;

    *reason = UNKNOWN_JDK;
    if (containers == NULL)
        return SMP_EUNSUPPORTED;
    status = smp_key_set_init(env, &found.known);
    if (status != SMP_OK)
        return status;
    if (!tracks_all_threads(env, containers)) {
        *reason = "jdk.trackAllThreads is false";
        return SMP_EUNSUPPORTED;
    }
    find_sets(env, containers, &found);
    if (!has_all(&found))
        return SMP_EUNSUPPORTED;
    if (!keep_references(env, &found))
        status = SMP_ENOMEM;
    *out = found;
    return status;
}

enum smp_status smp_virtual_thread_sets_init(JNIEnv *env, struct smp_virtual_thread_sets *out,
                                             const char **reason)
{
    enum smp_status status = SMP_ENOMEM;

    *out = (struct smp_virtual_thread_sets){ 0 };
    if (!smp_local_frame_push(env, EXTRA_REFS))
        return SMP_ENOMEM;
    status = find_all(env, out, reason);
    if (status != SMP_OK)
        smp_virtual_thread_sets_fini(out, env);
    smp_local_frame_pop(env);
    return status;
}

void smp_virtual_thread_sets_fini(struct smp_virtual_thread_sets *sets, JNIEnv *env)
{
    jobject *references[REFERENCES];

    get_references(sets, references);
    for (size_t i = 0; env != NULL && i < REFERENCES; i++) {
        if (*references[i] != NULL)
            (*env)->DeleteGlobalRef(env, *references[i]);
    }
    *sets = (struct smp_virtual_thread_sets){ 0 };
}

/* ---------------------------------------------------------------------------------------- visit */

struct registry_visit {
    const struct smp_virtual_thread_sets *sets;
    smp_on_virtual_thread_set *on_set;
    void *context;
};

/* The JDK's own factory of virtual threads creates no other threads; any other factory may. */
static bool may_have_platform_threads(const struct smp_virtual_thread_sets *sets, JNIEnv *env,
                                      jobject executor)
{
    jobject factory = NULL;
    bool may = true;

    if (sets->executor_factory == NULL || sets->virtual_factory == NULL)
        return true;
    factory = (*env)->GetObjectField(env, executor, sets->executor_factory);
    may = factory == NULL || !(*env)->IsInstanceOf(env, factory, sets->virtual_factory);
    (*env)->DeleteLocalRef(env, factory);
    return may;
}

/* Returns a local reference, or NULL if there are no virtual threads or it is of another kind. */
static jobject threads_of(const struct smp_virtual_thread_sets *sets, JNIEnv *env,
                          jobject container, bool *is_mixed)
{
    jobject set = NULL;

    if ((*env)->IsInstanceOf(env, container, sets->executor)) {
        set = (*env)->GetObjectField(env, container, sets->executor_threads);
        *is_mixed = may_have_platform_threads(sets, env, container);
    } else if ((*env)->IsInstanceOf(env, container, sets->container)) {
        set = (*env)->GetObjectField(env, container, sets->container_threads);
    }
    if (set == NULL || (*env)->IsInstanceOf(env, set, sets->key_set))
        return set;
    (*env)->DeleteLocalRef(env, set);
    return NULL;
}

static void visit_container(void *context, JNIEnv *env, jobject reference, double share)
{
    const struct registry_visit *visit = context;
    struct smp_virtual_thread_set set = { .share = share };
    jobject container = NULL;

    if (!(*env)->IsInstanceOf(env, reference, visit->sets->reference))
        return;
    container = (*env)->CallObjectMethod(env, reference, visit->sets->get);
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionClear(env);
        return;
    }
    if (container != NULL)
        set.threads = threads_of(visit->sets, env, container, &set.is_mixed);
    if (set.threads != NULL)
        visit->on_set(visit->context, env, &set);
    (*env)->DeleteLocalRef(env, set.threads);
    (*env)->DeleteLocalRef(env, container);
}

void smp_virtual_thread_sets_visit(const struct smp_virtual_thread_sets *sets, JNIEnv *env,
                                   uint64_t *random, smp_on_virtual_thread_set *on_set,
                                   void *context)
{
    const struct smp_virtual_thread_set root = { .threads = sets->root, .share = 1 };
    struct registry_visit visit = { sets, on_set, context };
    const struct smp_key_draw draw = { .share = 1,
                                       .most = SMP_VIRTUAL_SETS_VISITED,
                                       .random = random };

    on_set(context, env, &root);
    (void)smp_key_set_draw(&sets->known, env, sets->registry, draw, visit_container, &visit);
}
