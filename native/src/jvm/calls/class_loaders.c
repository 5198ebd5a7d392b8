/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/class_loaders.h"

#include "base/alloc.h"

enum { MOST_OF_ONE_HASH = 16 };

struct smp_class_loader {
    struct smp_class_loader *next; /* in its bucket, or on the list of deferred frees */
    uint64_t number;
    jweak ref;
    jint hash;
};

struct candidate {
    uint64_t number;
    jweak ref;
};

static struct smp_class_loader **loader_bucket(struct smp_class_loaders *loaders, jint hash)
{
    return &loaders->buckets[(uint32_t)hash % SMP_CLASS_LOADERS_BUCKETS];
}

/* Loaders with this hash. *added: how often one had been added by then. */
static size_t collect_loaders(struct smp_class_loaders *loaders, jint hash,
                              struct candidate out[MOST_OF_ONE_HASH], uint64_t *added)
{
    size_t count = 0;

    smp_lock_acquire(&loaders->lock);
    for (const struct smp_class_loader *at = *loader_bucket(loaders, hash);
         at != NULL && count < MOST_OF_ONE_HASH; at = at->next) {
        if (at->hash == hash)
            out[count++] = (struct candidate){ at->number, at->ref };
    }
    *added = loaders->added;
    smp_lock_release(&loaders->lock);
    return count;
}

/* 0: it is not there. */
static uint64_t find_class_loader(struct smp_class_loaders *loaders, JNIEnv *env, jobject loader,
                                  jint hash, uint64_t *added)
{
    struct candidate candidates[MOST_OF_ONE_HASH];
    const size_t count = collect_loaders(loaders, hash, candidates, added);

    for (size_t i = 0; i < count; i++) {
        if ((*env)->IsSameObject(env, candidates[i].ref, loader))
            return candidates[i].number;
    }
    return count == MOST_OF_ONE_HASH ? SMP_CLASS_LOADERS_UNKNOWN : 0;
}

/* 0: another thread has added one meanwhile, perhaps this. */
static uint64_t add_loader(struct smp_class_loaders *loaders, struct smp_class_loader *entry,
                           uint64_t added)
{
    struct smp_class_loader **const bucket = loader_bucket(loaders, entry->hash);
    uint64_t number = 0;

    smp_lock_acquire(&loaders->lock);
    if (loaders->count == SMP_CLASS_LOADERS_LIMIT) {
        number = SMP_CLASS_LOADERS_UNKNOWN;
    } else if (loaders->added == added) {
        number = ++loaders->last;
        entry->number = number;
        entry->next = *bucket;
        *bucket = entry;
        loaders->added++;
        loaders->count++;
    }
    smp_lock_release(&loaders->lock);
    return number;
}

static void dispose_loader(struct smp_class_loader *entry, JNIEnv *env)
{
    if (entry == NULL)
        return;
    if (env != NULL && entry->ref != NULL)
        (*env)->DeleteWeakGlobalRef(env, entry->ref);
    smp_free(NULL, entry);
}

static struct smp_class_loader *make_loader(JNIEnv *env, jobject loader, jint hash)
{
    struct smp_class_loader *entry = smp_alloc(NULL, sizeof(*entry));

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

uint64_t smp_class_loaders_number(struct smp_class_loaders *loaders, jvmtiEnv *jvmti, JNIEnv *env,
                                  jobject loader)
{
    jint hash = 0;
    uint64_t added = 0;
    struct smp_class_loader *entry = NULL;

    if (loader == NULL)
        return SMP_CLASS_LOADERS_BOOT;
    if ((*jvmti)->GetObjectHashCode(jvmti, loader, &hash) != JVMTI_ERROR_NONE)
        return SMP_CLASS_LOADERS_UNKNOWN;
    uint64_t number = find_class_loader(loaders, env, loader, hash, &added);
    if (number != 0)
        return number;
    entry = make_loader(env, loader, hash);
    if (entry == NULL)
        return SMP_CLASS_LOADERS_UNKNOWN;
    number = add_loader(loaders, entry, added);
    while (number == 0) {
        number = find_class_loader(loaders, env, loader, hash, &added);
        if (number == 0)
            number = add_loader(loaders, entry, added);
    }
    if (number != entry->number)
        dispose_loader(entry, env);
    return number;
}

/* A copy of one bucket's references, to be compared without the lock. */
static size_t copy_bucket(struct smp_class_loaders *loaders, size_t bucket, uint64_t above,
                          struct candidate out[MOST_OF_ONE_HASH])
{
    size_t count = 0;

    smp_lock_acquire(&loaders->lock);
    for (const struct smp_class_loader *at = loaders->buckets[bucket]; at != NULL; at = at->next) {
        /* The lowest numbers above the last one that was seen, whatever their order. */
        if (at->number <= above)
            continue;
        size_t place = count < MOST_OF_ONE_HASH ? count++ : MOST_OF_ONE_HASH;
        for (; place > 0 && out[place - 1].number > at->number; place--) {
            if (place < MOST_OF_ONE_HASH)
                out[place] = out[place - 1];
        }
        if (place < MOST_OF_ONE_HASH)
            out[place] = (struct candidate){ at->number, at->ref };
    }
    smp_lock_release(&loaders->lock);
    return count;
}

static void take_out(struct smp_class_loaders *loaders, size_t bucket, uint64_t number)
{
    smp_lock_acquire(&loaders->lock);
    struct smp_class_loader **at = &loaders->buckets[bucket];
    while (*at != NULL && (*at)->number != number)
        at = &(*at)->next;
    struct smp_class_loader *const entry = *at;
    if (entry != NULL) {
        *at = entry->next;
        entry->next = loaders->deferred;
        loaders->deferred = entry;
        loaders->count--;
    }
    smp_lock_release(&loaders->lock);
}

void smp_class_loaders_purge(struct smp_class_loaders *loaders, JNIEnv *env,
                             void (*gone)(void *self, uint64_t number), void *self)
{
    struct candidate some[MOST_OF_ONE_HASH];

    for (size_t bucket = 0; bucket < SMP_CLASS_LOADERS_BUCKETS; bucket++) {
        uint64_t above = 0;
        size_t count = MOST_OF_ONE_HASH;
        while (count == MOST_OF_ONE_HASH) {
            count = copy_bucket(loaders, bucket, above, some);
            for (size_t i = 0; i < count; i++) {
                above = some[i].number;
                if (!(*env)->IsSameObject(env, some[i].ref, NULL))
                    continue;
                take_out(loaders, bucket, some[i].number);
                gone(self, some[i].number);
            }
        }
    }
}

void smp_class_loaders_free_deferred(struct smp_class_loaders *loaders, JNIEnv *env)
{
    smp_lock_acquire(&loaders->lock);
    struct smp_class_loader *entry = loaders->deferred;
    loaders->deferred = NULL;
    smp_lock_release(&loaders->lock);
    while (entry != NULL) {
        struct smp_class_loader *const next = entry->next;
        dispose_loader(entry, env);
        entry = next;
    }
}

void smp_class_loaders_close(struct smp_class_loaders *loaders, JNIEnv *env)
{
    smp_lock_acquire(&loaders->lock);
    for (size_t bucket = 0; bucket < SMP_CLASS_LOADERS_BUCKETS; bucket++) {
        while (loaders->buckets[bucket] != NULL) {
            struct smp_class_loader *const entry = loaders->buckets[bucket];
            loaders->buckets[bucket] = entry->next;
            entry->next = loaders->deferred;
            loaders->deferred = entry;
        }
    }
    loaders->count = 0;
    smp_lock_release(&loaders->lock);
    smp_class_loaders_free_deferred(loaders, env);
}
