/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/tid_resolver.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "jvm/agent/agent.h"
#include "jvm/hotspot/fields.h"
#include "jvm/threads/tids.h"

enum { BATCH = 128, FIRST_GAP_MS = 100, LAST_GAP_MS = 60000 };
#define NS_PER_MS 1000000LL

static struct {
    _Atomic int64_t due_ns; /* INT64_MAX: all are known, or somebody is at it */
    _Atomic int64_t gap_ms;
} next = { .due_ns = INT64_MAX };

/* Registered threads without a tid, each held; and the tids of the others. */
struct unsettled {
    struct smp_registry *registry;
    struct smp_jvm_thread **entries;
    size_t count;
    size_t capacity;
    int32_t *known;
    size_t known_count;
    size_t known_capacity;
    bool has_hints;
    uint64_t os_thread_offset;
    uint64_t tid_offset;
};

static bool read_os_thread_ns(void *self, int32_t tid, int64_t *out)
{
    (void)self;
    return smp_clock_thread_cpu_ns(tid, out);
}

/* A thread that ended after a scan had listed it and before it was registered has told its end to
 * nobody: it is told here. The entry is held, so nobody gets it back to dispose of. */
static void end_missed(const struct unsettled *unsettled, const struct smp_jvm_thread *entry)
{
    (void)smp_registry_end(unsettled->registry, entry->java_id, smp_clock_ns());
}

static bool read_java_thread_ns(void *self, size_t thread, int64_t *out)
{
    const struct unsettled *unsettled = self;
    const struct smp_jvm_thread *entry = unsettled->entries[thread];
    jvmtiEnv *jvmti = smp_agent_jvmti();
    jlong ns = 0;
    const jvmtiError error = (*jvmti)->GetThreadCpuTime(jvmti, entry->ref, &ns);

    if (error == JVMTI_ERROR_THREAD_NOT_ALIVE)
        end_missed(unsettled, entry);
    if (error != JVMTI_ERROR_NONE)
        return false;
    *out = ns;
    return true;
}

/* Reads of memory that may be gone by now: by a system call, which then says so. */
static bool read_safely(uintptr_t address, void *out, size_t size)
{
    const struct iovec to = { .iov_base = out, .iov_len = size };
    const struct iovec from = { .iov_base = (void *)address, .iov_len = size }; /* NOLINT */

    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)size;
}

/* JavaThread._osthread->_thread_id, where the JVM says these are. */
static int32_t read_tid_hint(void *self, size_t thread)
{
    const struct unsettled *unsettled = self;
    const uintptr_t java_thread = unsettled->entries[thread]->info.java_thread;
    uintptr_t os_thread = 0;
    int32_t tid = 0;

    if (!unsettled->has_hints || java_thread == 0 ||
        !read_safely(java_thread + unsettled->os_thread_offset, &os_thread, sizeof(os_thread)) ||
        os_thread == 0 || !read_safely(os_thread + unsettled->tid_offset, &tid, sizeof(tid)))
        return 0;
    return tid > 0 ? tid : 0;
}

/* The first of the two has moved from one class to its parent in the course of time. */
static void find_hints(struct unsettled *unsettled)
{
    static const char *const owners[] = { "JavaThread", "Thread" };

    for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]) && !unsettled->has_hints; i++) {
        struct smp_field fields[] = { { .type = owners[i], .name = "_osthread" },
                                      { .type = "OSThread", .name = "_thread_id" } };
        unsettled->has_hints = smp_fields_read(fields, sizeof(fields) / sizeof(fields[0]));
        unsettled->os_thread_offset = fields[0].offset;
        unsettled->tid_offset = fields[1].offset;
    }
}

static bool grow_array(void **array, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity)
        return true;
    const size_t wanted = *capacity == 0 ? BATCH : *capacity * 2;
    void *grown = smp_realloc(NULL, *array, wanted * size);
    if (grown == NULL)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

/* Keeps the hold where it returns true. */
static bool keep_unresolved(struct unsettled *unsettled, struct smp_jvm_thread *entry)
{
    if (entry->thread.os_tid != 0) {
        if (grow_array((void **)&unsettled->known, &unsettled->known_capacity,
                       unsettled->known_count, sizeof(*unsettled->known)))
            unsettled->known[unsettled->known_count++] = entry->thread.os_tid;
        return false;
    }
    if (!grow_array((void **)&unsettled->entries, &unsettled->capacity, unsettled->count,
                    sizeof(struct smp_jvm_thread *)))
        return false;
    unsettled->entries[unsettled->count++] = entry;
    return true;
}

static void drop_entry(struct smp_registry *registry, void (*dispose)(struct smp_jvm_thread *entry),
                       struct smp_jvm_thread *entry)
{
    struct smp_jvm_thread *unheld = smp_registry_release(registry, entry);

    if (unheld != NULL)
        dispose(unheld);
}

static void collect_unresolved(struct smp_registry *registry,
                               void (*dispose)(struct smp_jvm_thread *entry),
                               struct unsettled *unsettled)
{
    struct smp_jvm_thread *batch[BATCH];
    uint64_t cursor = 0;
    uint64_t newest = 0;
    size_t count = BATCH;

    while (count == BATCH) {
        count = smp_registry_collect(registry, cursor, batch, BATCH, &newest);
        for (size_t i = 0; i < count; i++) {
            cursor = batch[i]->thread.serial;
            if (!keep_unresolved(unsettled, batch[i]))
                drop_entry(registry, dispose, batch[i]);
        }
    }
}

static int compare_tids(const void *left, const void *right)
{
    const int32_t *a = left;
    const int32_t *b = right;

    return (*a > *b) - (*a < *b);
}

/* Returns how many are still unknown. */
static size_t match_unresolved(struct unsettled *unsettled)
{
    const struct smp_tid_clocks clocks = { .os_thread_ns = read_os_thread_ns,
                                           .thread_ns = read_java_thread_ns,
                                           .hint = read_tid_hint,
                                           .self = unsettled };
    size_t unknown = unsettled->count;
    int32_t *tids = NULL;
    size_t tid_count = 0;
    int32_t *found = smp_alloc(NULL, unsettled->count * sizeof(*found));

    if (unsettled->known_count > 0)
        qsort(unsettled->known, unsettled->known_count, sizeof(*unsettled->known), compare_tids);
    if (found == NULL ||
        smp_tids_list(unsettled->known, unsettled->known_count, &tids, &tid_count) != SMP_OK)
        goto done;
    if (smp_tids_match(&clocks, tids, tid_count, unsettled->count, found) != SMP_OK)
        goto done;
    for (size_t i = 0; i < unsettled->count; i++) {
        if (found[i] == 0)
            continue;
        unsettled->entries[i]->thread.os_tid = found[i];
        unknown--;
    }
done:
    smp_free(NULL, tids);
    smp_free(NULL, found);
    return unknown;
}

void smp_tid_resolver_restart(void)
{
    next.gap_ms = FIRST_GAP_MS;
    next.due_ns = INT64_MIN;
}

void smp_tid_resolver_run(struct smp_registry *registry,
                          void (*dispose)(struct smp_jvm_thread *entry))
{
    struct unsettled unsettled = { .registry = registry };
    int64_t due_ns = next.due_ns;
    size_t unknown = 0;

    if (due_ns == INT64_MAX || smp_clock_ns() < due_ns ||
        !atomic_compare_exchange_strong(&next.due_ns, &due_ns, INT64_MAX))
        return;
    collect_unresolved(registry, dispose, &unsettled);
    if (unsettled.count > 0) {
        find_hints(&unsettled);
        unknown = match_unresolved(&unsettled);
    }
    for (size_t i = 0; i < unsettled.count; i++)
        drop_entry(registry, dispose, unsettled.entries[i]);
    smp_free(NULL, (void *)unsettled.entries);
    smp_free(NULL, unsettled.known);
    if (unknown == 0)
        return;
    next.due_ns = smp_clock_ns() + next.gap_ms * NS_PER_MS;
    next.gap_ms = next.gap_ms * 2 < LAST_GAP_MS ? next.gap_ms * 2 : LAST_GAP_MS;
}
