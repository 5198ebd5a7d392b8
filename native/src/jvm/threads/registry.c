/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/registry.h"

#include "base/alloc.h"

enum { FIRST_BUCKETS = 64 };

static struct smp_jvm_thread **bucket_of(const struct smp_registry *registry, int64_t java_id)
{
    /* Java ids are consecutive: the multiplication spreads neighbours. */
    const uint64_t hash = (uint64_t)java_id * 0x9E3779B97F4A7C15U;

    return &registry->buckets[(hash >> 32) & (registry->bucket_count - 1)];
}

static struct smp_jvm_thread *find_entry(const struct smp_registry *registry, int64_t java_id)
{
    struct smp_jvm_thread *entry = NULL;

    if (registry->bucket_count > 0)
        entry = *bucket_of(registry, java_id);
    while (entry != NULL && entry->java_id != java_id)
        entry = entry->next;
    return entry;
}

static void put_into_bucket(struct smp_registry *registry, struct smp_jvm_thread *entry)
{
    struct smp_jvm_thread **bucket = bucket_of(registry, entry->java_id);

    entry->next = *bucket;
    *bucket = entry;
}

/* Without memory the table stays as it is: chains get longer, but nothing is lost. */
static void grow_buckets(struct smp_registry *registry)
{
    const size_t wanted = registry->bucket_count * 2;
    struct smp_jvm_thread **old = registry->buckets;
    struct smp_jvm_thread **buckets = smp_alloc(NULL, wanted * sizeof(struct smp_jvm_thread *));

    if (buckets == NULL)
        return;
    registry->buckets = buckets;
    registry->bucket_count = wanted;
    for (struct smp_jvm_thread *entry = registry->oldest; entry != NULL; entry = entry->newer)
        put_into_bucket(registry, entry);
    smp_free(NULL, old);
}

static void link_newest(struct smp_registry *registry, struct smp_jvm_thread *entry)
{
    put_into_bucket(registry, entry);
    entry->older = registry->newest;
    entry->newer = NULL;
    if (registry->newest != NULL)
        registry->newest->newer = entry;
    else
        registry->oldest = entry;
    registry->newest = entry;
    registry->count++;
}

static void unlink_entry(struct smp_registry *registry, struct smp_jvm_thread *entry)
{
    struct smp_jvm_thread **at = bucket_of(registry, entry->java_id);

    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    if (registry->mark == entry)
        registry->mark = entry->older != NULL ? entry->older : entry->newer;
    if (entry->older != NULL)
        entry->older->newer = entry->newer;
    else
        registry->oldest = entry->newer;
    if (entry->newer != NULL)
        entry->newer->older = entry->older;
    else
        registry->newest = entry->older;
    entry->older = NULL;
    entry->newer = NULL;
    entry->next = NULL;
    registry->count--;
}

/* Returns the entry if this was the last hold, else NULL. */
static struct smp_jvm_thread *release_hold(struct smp_jvm_thread *entry)
{
    entry->holders--;
    return entry->holders == 0 ? entry : NULL;
}

enum smp_status smp_registry_open(struct smp_registry *registry)
{
    enum smp_status status = SMP_ENOMEM;
    struct smp_jvm_thread **buckets =
        smp_alloc(NULL, FIRST_BUCKETS * sizeof(struct smp_jvm_thread *));

    pthread_mutex_lock(&registry->mutex);
    if (buckets != NULL && !registry->open) {
        registry->buckets = buckets;
        registry->bucket_count = FIRST_BUCKETS;
        registry->open = true;
        for (size_t i = 0; i < registry->internal_count; i++)
            registry->internal[i].stale = registry->internal[i].java_id != 0;
        buckets = NULL;
        status = SMP_OK;
    }
    pthread_mutex_unlock(&registry->mutex);
    smp_free(NULL, buckets);
    return status;
}

struct smp_jvm_thread *smp_registry_close(struct smp_registry *registry)
{
    struct smp_jvm_thread *unheld = NULL;
    struct smp_jvm_thread **buckets = NULL;

    pthread_mutex_lock(&registry->mutex);
    while (registry->newest != NULL) {
        struct smp_jvm_thread *entry = registry->newest;
        unlink_entry(registry, entry);
        entry = release_hold(entry);
        if (entry != NULL) {
            entry->next = unheld;
            unheld = entry;
        }
    }
    buckets = registry->buckets;
    registry->buckets = NULL;
    registry->bucket_count = 0;
    registry->open = false;
    pthread_mutex_unlock(&registry->mutex);
    smp_free(NULL, buckets);
    return unheld;
}

static void call_listeners(struct smp_registry *registry)
{
    while (registry->listeners != NULL) {
        struct smp_start_listener *listener = registry->listeners;
        registry->listeners = listener->next;
        listener->is_in = false;
        smp_event_call(listener->event);
    }
}

bool smp_registry_add(struct smp_registry *registry, struct smp_jvm_thread *entry)
{
    bool added = false;

    pthread_mutex_lock(&registry->mutex);
    struct smp_jvm_thread *known = find_entry(registry, entry->java_id);
    if (known != NULL) {
        /* A scan does not know the tid. No reader has the entry yet. */
        if (known->holders == 1 && known->thread.os_tid == 0)
            known->thread.os_tid = entry->thread.os_tid;
        if (!smp_gate_is_unsure(&entry->info.gate))
            smp_gate_confirm(&known->info.gate); /* this is its start event, so it has not ended */
    } else if (registry->open) {
        if (registry->count >= registry->bucket_count)
            grow_buckets(registry);
        entry->thread.serial = ++registry->newest_serial;
        entry->holders = 1;
        link_newest(registry, entry);
        call_listeners(registry);
        added = true;
    }
    pthread_mutex_unlock(&registry->mutex);
    return added;
}

void smp_registry_miss(struct smp_registry *registry)
{
    pthread_mutex_lock(&registry->mutex);
    registry->newest_serial++;
    pthread_mutex_unlock(&registry->mutex);
}

static void forget_internal(struct smp_registry *registry, size_t index)
{
    registry->internal[index] = registry->internal[--registry->internal_count];
}

static void forget_internal_id(struct smp_registry *registry, int64_t java_id)
{
    for (size_t i = 0; i < registry->internal_count; i++) {
        if (registry->internal[i].java_id == java_id) {
            forget_internal(registry, i);
            return;
        }
    }
}

struct smp_jvm_thread *smp_registry_hold(struct smp_registry *registry, int64_t java_id)
{
    pthread_mutex_lock(&registry->mutex);
    struct smp_jvm_thread *entry = find_entry(registry, java_id);
    if (entry != NULL)
        entry->holders++;
    pthread_mutex_unlock(&registry->mutex);
    return entry;
}

struct smp_jvm_thread *smp_registry_end(struct smp_registry *registry, int64_t java_id,
                                        int64_t now_ns, int64_t cpu_ns)
{
    struct smp_jvm_thread *unheld = NULL;

    pthread_mutex_lock(&registry->mutex);
    forget_internal_id(registry, java_id);
    struct smp_jvm_thread *entry = find_entry(registry, java_id);
    if (entry != NULL) {
        entry->thread.ended_cpu_ns = cpu_ns;
        /* 0 means alive, so an end at the clock's zero becomes 1. */
        entry->thread.ended_ns = now_ns != 0 ? now_ns : 1;
        smp_gate_close(&entry->info.gate);
        unlink_entry(registry, entry);
        unheld = release_hold(entry);
    }
    pthread_mutex_unlock(&registry->mutex);
    return unheld;
}

struct smp_jvm_thread *smp_registry_release(struct smp_registry *registry,
                                            struct smp_jvm_thread *entry)
{
    pthread_mutex_lock(&registry->mutex);
    struct smp_jvm_thread *unheld = release_hold(entry);
    pthread_mutex_unlock(&registry->mutex);
    return unheld;
}

static uint64_t distance_between(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Searches from the newest thread, because few threads are usually new, or from where the last
 * batch ended, for when tens of thousands are collected for the first time. */
static struct smp_jvm_thread *first_above(const struct smp_registry *registry, uint64_t after)
{
    struct smp_jvm_thread *at = registry->newest;
    struct smp_jvm_thread *mark = registry->mark;

    if (at == NULL || at->thread.serial <= after)
        return NULL;
    if (mark != NULL &&
        distance_between(mark->thread.serial, after) < distance_between(at->thread.serial, after))
        at = mark;
    while (at->thread.serial <= after)
        at = at->newer;
    while (at->older != NULL && at->older->thread.serial > after)
        at = at->older;
    return at;
}

size_t smp_registry_collect(struct smp_registry *registry, uint64_t after,
                            struct smp_jvm_thread **batch, size_t capacity, uint64_t *newest)
{
    size_t count = 0;

    pthread_mutex_lock(&registry->mutex);
    for (struct smp_jvm_thread *entry = first_above(registry, after);
         entry != NULL && count < capacity; entry = entry->newer) {
        entry->holders++;
        batch[count++] = entry;
        registry->mark = entry;
    }
    *newest = registry->newest_serial;
    pthread_mutex_unlock(&registry->mutex);
    return count;
}

uint64_t smp_registry_search(struct smp_registry *registry, smp_thread_test *test, void *context)
{
    struct smp_jvm_thread *entry;

    pthread_mutex_lock(&registry->mutex);
    entry = registry->newest;
    while (entry != NULL && !test(context, &entry->info))
        entry = entry->older;
    const uint64_t serial = entry != NULL ? entry->thread.serial : 0;
    pthread_mutex_unlock(&registry->mutex);
    return serial;
}

bool smp_registry_listen(struct smp_registry *registry, uint64_t after,
                         struct smp_start_listener *listener)
{
    pthread_mutex_lock(&registry->mutex);
    const bool is_up_to_date = registry->newest_serial <= after;
    if (is_up_to_date && !listener->is_in) {
        listener->next = registry->listeners;
        listener->is_in = true;
        registry->listeners = listener;
    }
    pthread_mutex_unlock(&registry->mutex);
    return is_up_to_date;
}

void smp_registry_unlisten(struct smp_registry *registry, struct smp_start_listener *listener)
{
    struct smp_start_listener **at = &registry->listeners;

    pthread_mutex_lock(&registry->mutex);
    if (listener->is_in) {
        while (*at != listener)
            at = &(*at)->next;
        *at = listener->next;
        listener->is_in = false;
    }
    pthread_mutex_unlock(&registry->mutex);
}

static enum smp_status add_internal(struct smp_registry *registry,
                                    struct smp_internal_thread thread)
{
    if (registry->internal_count == SMP_INTERNAL_THREADS_MAX)
        return SMP_EQUOTA;
    registry->internal[registry->internal_count++] = thread;
    return SMP_OK;
}

enum smp_status smp_registry_enter(struct smp_registry *registry, int32_t tid)
{
    pthread_mutex_lock(&registry->mutex);
    enum smp_status status = add_internal(registry, (struct smp_internal_thread){ .tid = tid });
    pthread_mutex_unlock(&registry->mutex);
    return status;
}

void smp_registry_leave(struct smp_registry *registry, int32_t tid)
{
    pthread_mutex_lock(&registry->mutex);
    for (size_t i = 0; i < registry->internal_count; i++) {
        if (registry->internal[i].tid == tid) {
            forget_internal(registry, i);
            break;
        }
    }
    pthread_mutex_unlock(&registry->mutex);
}

enum smp_status smp_registry_hide(struct smp_registry *registry, int64_t java_id)
{
    pthread_mutex_lock(&registry->mutex);
    forget_internal_id(registry, java_id);
    enum smp_status status =
        add_internal(registry, (struct smp_internal_thread){ .java_id = java_id });
    struct smp_jvm_thread *entry = find_entry(registry, java_id);
    if (status == SMP_OK && entry != NULL)
        entry->thread.is_hidden = true;
    pthread_mutex_unlock(&registry->mutex);
    return status;
}

bool smp_registry_is_internal(struct smp_registry *registry, int32_t tid, int64_t java_id)
{
    bool is_internal = false;

    pthread_mutex_lock(&registry->mutex);
    for (size_t i = 0; i < registry->internal_count && !is_internal; i++) {
        struct smp_internal_thread *known = &registry->internal[i];
        is_internal = known->java_id != 0 ? known->java_id == java_id : known->tid == tid;
        if (is_internal)
            known->stale = false;
    }
    pthread_mutex_unlock(&registry->mutex);
    return is_internal;
}

void smp_registry_purge(struct smp_registry *registry)
{
    pthread_mutex_lock(&registry->mutex);
    for (size_t i = registry->internal_count; i > 0; i--) {
        if (registry->internal[i - 1].stale)
            forget_internal(registry, i - 1);
    }
    pthread_mutex_unlock(&registry->mutex);
}
