/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/redefined_classes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash_map.h"
#include "jvm/agent/agent.h"
#include "jvm/agent/jvmti_status.h"

/* --- the environment --- */

enum smp_status smp_redefined_classes_watch(JNIEnv *env, jvmtiEventClassFileLoadHook hook)
{
    const jvmtiEventCallbacks callbacks = { .ClassFileLoadHook = hook };
    JavaVM *java_vm = NULL;
    void *found = NULL;
    jvmtiEnv *jvmti = NULL;
    enum smp_status status;

    if ((*env)->GetJavaVM(env, &java_vm) != JNI_OK ||
        (*java_vm)->GetEnv(java_vm, &found, SMP_AGENT_JVMTI_VERSION) != JNI_OK || found == NULL)
        return SMP_EUNSUPPORTED;
    jvmti = found;
    status =
        smp_jvmti_status((*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof(callbacks)));
    if (status == SMP_OK)
        status = smp_jvmti_status((*jvmti)->SetEventNotificationMode(
            jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL));
    if (status != SMP_OK)
        (void)(*jvmti)->DisposeEnvironment(jvmti);
    return status;
}

/* --- versions --- */

static void forget_version(struct smp_redefined_classes *redefined,
                           struct smp_class_version *version)
{
    smp_free(&redefined->quota, version->bytes);
    *version = (struct smp_class_version){ 0 };
}

static struct smp_class_version keep_version(struct smp_redefined_classes *redefined,
                                             const struct smp_class_bytes *file)
{
    struct smp_class_version version = { .is_lost = true };

    if (file->size == 0)
        return version;
    version.bytes = smp_alloc(&redefined->quota, file->size);
    if (version.bytes == NULL)
        return version;
    memcpy(version.bytes, file->bytes, file->size);
    version.size = file->size;
    version.is_lost = false;
    return version;
}

/* --- classes --- */

static uint32_t hash_class_text(const char *name)
{
    return smp_hash_bytes(SMP_HASH_START, name, strlen(name));
}

/* Frees the entry if its class was unloaded. */
static void purge_place(struct smp_redefined_classes *redefined, JNIEnv *env,
                        struct smp_redefined_class *place)
{
    if (place->type == NULL || !(*env)->IsSameObject(env, place->type, NULL))
        return;
    (*env)->DeleteWeakGlobalRef(env, place->type);
    forget_version(redefined, &place->now);
    forget_version(redefined, &place->next);
    *place = (struct smp_redefined_class){ 0 };
}

static struct smp_redefined_class *find_redefined(struct smp_redefined_classes *redefined,
                                                  JNIEnv *env, jclass type, uint32_t name_hash)
{
    for (size_t i = 0; i < redefined->count; i++) {
        struct smp_redefined_class *const place = &redefined->classes[i];
        if (place->type != NULL && place->name_hash == name_hash &&
            (*env)->IsSameObject(env, place->type, type))
            return place;
    }
    return NULL;
}

static struct smp_redefined_class *free_redefined(struct smp_redefined_classes *redefined,
                                                  JNIEnv *env)
{
    struct smp_redefined_class *found = NULL;

    for (size_t i = 0; i < redefined->count; i++) {
        purge_place(redefined, env, &redefined->classes[i]);
        if (found == NULL && redefined->classes[i].type == NULL)
            found = &redefined->classes[i];
    }
    if (found == NULL && redefined->count < SMP_REDEFINED_LIMIT)
        found = &redefined->classes[redefined->count++];
    return found;
}

static struct smp_redefined_class *add_redefined(struct smp_redefined_classes *redefined,
                                                 JNIEnv *env, jclass type, uint32_t name_hash)
{
    struct smp_redefined_class *const place = free_redefined(redefined, env);

    if (place == NULL)
        return NULL;
    place->type = (*env)->NewWeakGlobalRef(env, type);
    if (place->type == NULL) {
        (*env)->ExceptionClear(env);
        return NULL;
    }
    place->name_hash = name_hash;
    return place;
}

/* Returns the HotSpot Method that the id points to, or 0 if the class has no method. */
static uintptr_t structure_of(jmethodID method)
{
    return method != NULL ? *(const uintptr_t *)(const void *)method : 0;
}

static jmethodID any_method(jvmtiEnv *jvmti, jclass type)
{
    jmethodID *methods = NULL;
    jmethodID method = NULL;
    jint count = 0;

    if ((*jvmti)->GetClassMethods(jvmti, type, &count, &methods) != JVMTI_ERROR_NONE)
        return NULL;
    if (count > 0)
        method = methods[0];
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)(void *)methods);
    return method;
}

/* Records a version that the JVM is about to accept or refuse. */
static void offer_next(struct smp_redefined_class *type, jvmtiEnv *jvmti, jclass ref,
                       struct smp_class_version next)
{
    type->has_next = true;
    type->next = next;
    type->method = any_method(jvmti, ref);
    type->structure = structure_of(type->method);
}

/* Finds out whether the JVM has accepted the next version. A class without methods has no code
 * that could be outdated, so its version is not kept. */
static void resolve_next(struct smp_redefined_classes *redefined, struct smp_redefined_class *type)
{
    if (!type->has_next)
        return;
    type->has_next = false;
    if (type->method == NULL || structure_of(type->method) == type->structure) {
        forget_version(redefined, &type->next);
        return;
    }
    forget_version(redefined, &type->now);
    type->now = type->next;
    type->next = (struct smp_class_version){ 0 };
}

bool smp_redefined_classes_announce(struct smp_redefined_classes *redefined, JNIEnv *env,
                                    jclass type, const char *name)
{
    const uint32_t name_hash = hash_class_text(name);
    struct smp_redefined_class *place;

    smp_lock_acquire(&redefined->lock);
    place = find_redefined(redefined, env, type, name_hash);
    if (place == NULL)
        place = add_redefined(redefined, env, type, name_hash);
    if (place != NULL)
        place->is_announced = true;
    smp_lock_release(&redefined->lock);
    return place != NULL;
}

/* --- the load hook --- */

static struct smp_given_class given_class(const char *name, const struct smp_class_bytes *file)
{
    return (struct smp_given_class){ .name_hash = hash_class_text(name),
                                     .bytes_hash = smp_hash_bytes(
                                         SMP_HASH_START, (const char *)file->bytes, file->size) };
}

static struct smp_given_class *given_place(struct smp_redefined_classes *redefined,
                                           uint32_t name_hash)
{
    return &redefined->given[name_hash & (SMP_REDEFINED_GIVEN - 1)];
}

void smp_redefined_classes_note_given(struct smp_redefined_classes *redefined, const char *name,
                                      const struct smp_class_bytes *file)
{
    const struct smp_given_class given = given_class(name, file);

    smp_lock_acquire(&redefined->lock);
    *given_place(redefined, given.name_hash) = given;
    smp_lock_release(&redefined->lock);
}

static bool is_as_before(struct smp_redefined_classes *redefined, const char *name,
                         const struct smp_class_bytes *file)
{
    const struct smp_given_class given = given_class(name, file);
    const struct smp_given_class *const before = given_place(redefined, given.name_hash);

    return before->name_hash == given.name_hash && before->bytes_hash == given.bytes_hash;
}

/* Returns whether the class keeps its redefined bytes. The caller holds the lock. */
static bool outlasts_change(struct smp_redefined_classes *redefined,
                            const struct smp_redefined_class *type, const char *name,
                            const struct smp_class_bytes *file)
{
    return !type->now.is_lost && is_as_before(redefined, name, file);
}

static enum smp_redefined replace_given(const struct smp_redefined_class *type,
                                        struct smp_class_bytes *file)
{
    if (type->now.is_lost)
        return SMP_CLASS_IS_LOST;
    *file = (struct smp_class_bytes){ type->now.bytes, type->now.size };
    return SMP_CLASS_IS_REPLACED;
}

enum smp_redefined smp_redefined_classes_see(struct smp_redefined_classes *redefined,
                                             jvmtiEnv *jvmti, JNIEnv *env, jclass type,
                                             const char *name, bool is_own,
                                             struct smp_class_bytes *file)
{
    enum smp_redefined seen = SMP_CLASS_IS_AS_GIVEN;
    struct smp_redefined_class *place;

    smp_lock_acquire(&redefined->lock);
    place = find_redefined(redefined, env, type, hash_class_text(name));
    if (place != NULL) {
        resolve_next(redefined, place);
        if (place->is_announced) {
            place->is_announced = false;
            offer_next(place, jvmti, type, keep_version(redefined, file));
            seen = SMP_CLASS_IS_REDEFINED;
        } else if (place->now.bytes == NULL && !place->now.is_lost) {
            seen = SMP_CLASS_IS_AS_GIVEN;
        } else if (is_own || outlasts_change(redefined, place, name, file)) {
            seen = replace_given(place, file);
        } else {
            offer_next(place, jvmti, type, (struct smp_class_version){ 0 });
        }
    }
    smp_lock_release(&redefined->lock);
    return seen;
}
