/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/class_loaders.h"

#include "base/alloc.h"

struct smp_class_loader {
    _Atomic(struct smp_class_loader *) next; /* in its bucket, also after its removal */
    struct smp_class_loader *next_deferred;
    uint64_t number;
    jweak ref;
    jint hash;
};

/* Searches the entries before end. Returns NULL if none is for this loader. */
static struct smp_class_loader *find_class_loader(struct smp_class_loader *from,
                                                  const struct smp_class_loader *end, JNIEnv *env,
                                                  jobject loader, jint hash)
{
    struct smp_class_loader *at = from;

    while (at != NULL && at != end &&
           (at->hash != hash || !(*env)->IsSameObject(env, at->ref, loader)))
        at = atomic_load(&at->next);
    return at == end ? NULL : at;
}

static void dispose_loader(struct smp_class_loader *entry, JNIEnv *env)
{
    if (env != NULL)
        (*env)->DeleteWeakGlobalRef(env, entry->ref);
    smp_free(NULL, entry);
}

/* Returns NULL at the limit or without memory. */
static struct smp_class_loader *make_loader(struct smp_class_loaders *loaders, JNIEnv *env,
                                            jobject loader, jint hash)
{
    struct smp_class_loader *const entry = atomic_load(&loaders->count) < SMP_CLASS_LOADERS_LIMIT
                                               ? smp_alloc(NULL, sizeof(*entry))
                                               : NULL;

    if (entry == NULL)
        return NULL;
    entry->hash = hash;
    entry->ref = (*env)->NewWeakGlobalRef(env, loader);
    if (entry->ref != NULL)
        return entry;
    (*env)->ExceptionClear(env);
    smp_free(NULL, entry);
    return NULL;
}

/* If another thread adds an entry for the same loader meanwhile, returns that entry. */
static struct smp_class_loader *add_loader(struct smp_class_loaders *loaders,
                                           _Atomic(struct smp_class_loader *) *bucket,
                                           struct smp_class_loader *head,
                                           struct smp_class_loader *entry, JNIEnv *env,
                                           jobject loader)
{
    struct smp_class_loader *known = NULL;
    struct smp_class_loader *seen = head;

    entry->number = atomic_fetch_add(&loaders->last, 1) + 1;
    do {
        atomic_store(&entry->next, head);
        known = find_class_loader(head, seen, env, loader, entry->hash);
        if (known != NULL) {
            dispose_loader(entry, env);
            return known;
        }
        seen = head;
    } while (!atomic_compare_exchange_strong(bucket, &head, entry));
    atomic_fetch_add(&loaders->count, 1);
    return entry;
}

uint64_t smp_class_loaders_number(struct smp_class_loaders *loaders, jvmtiEnv *jvmti, JNIEnv *env,
                                  jobject loader)
{
    struct smp_class_loader *entry = NULL;
    jint hash = 0;

    if (loader == NULL)
        return SMP_CLASS_LOADERS_BOOT;
    if ((*jvmti)->GetObjectHashCode(jvmti, loader, &hash) != JVMTI_ERROR_NONE)
        return SMP_CLASS_LOADERS_UNKNOWN;
    _Atomic(struct smp_class_loader *) *const bucket =
        &loaders->buckets[(uint32_t)hash % SMP_CLASS_LOADERS_BUCKETS];
    struct smp_class_loader *const head = atomic_load(bucket);
    struct smp_class_loader *known = find_class_loader(head, NULL, env, loader, hash);
    if (known == NULL) {
        entry = make_loader(loaders, env, loader, hash);
        if (entry == NULL)
            return SMP_CLASS_LOADERS_UNKNOWN;
        known = add_loader(loaders, bucket, head, entry, env, loader);
    }
    return known->number;
}

/* Other threads may add entries at the head of the bucket meanwhile. */
static void take_out(struct smp_class_loaders *loaders, _Atomic(struct smp_class_loader *) *bucket,
                     struct smp_class_loader *entry)
{
    _Atomic(struct smp_class_loader *) *at = NULL;
    struct smp_class_loader *expected = NULL;

    do {
        for (at = bucket; atomic_load(at) != entry;)
            at = &atomic_load(at)->next;
        expected = entry;
    } while (!atomic_compare_exchange_strong(at, &expected, atomic_load(&entry->next)));
    entry->next_deferred = loaders->deferred;
    loaders->deferred = entry;
    atomic_fetch_sub(&loaders->count, 1);
}

void smp_class_loaders_purge(struct smp_class_loaders *loaders, JNIEnv *env,
                             void (*gone)(void *self, uint64_t number), void *self)
{
    for (size_t i = 0; i < SMP_CLASS_LOADERS_BUCKETS; i++) {
        struct smp_class_loader *entry = atomic_load(&loaders->buckets[i]);
        for (; entry != NULL; entry = atomic_load(&entry->next)) {
            if (!(*env)->IsSameObject(env, entry->ref, NULL))
                continue;
            take_out(loaders, &loaders->buckets[i], entry);
            gone(self, entry->number);
        }
    }
}

void smp_class_loaders_free_deferred(struct smp_class_loaders *loaders, JNIEnv *env)
{
    while (loaders->deferred != NULL) {
        struct smp_class_loader *const entry = loaders->deferred;
        loaders->deferred = entry->next_deferred;
        dispose_loader(entry, env);
    }
}

void smp_class_loaders_close(struct smp_class_loaders *loaders, JNIEnv *env)
{
    for (size_t i = 0; i < SMP_CLASS_LOADERS_BUCKETS; i++) {
        while (atomic_load(&loaders->buckets[i]) != NULL)
            take_out(loaders, &loaders->buckets[i], atomic_load(&loaders->buckets[i]));
    }
    smp_class_loaders_free_deferred(loaders, env);
}
