/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/tid_resolver.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/safe_read.h"
#include "jvm/agent/agent.h"
#include "jvm/hotspot/fields.h"
#include "jvm/threads/tids.h"

enum { BATCH = 128, FIRST_GAP_MS = 100, LAST_GAP_MS = 60000 };
#define NS_PER_MS 1000000LL

static struct {
    _Atomic int64_t due_ns; /* INT64_MAX: all are known, or a run is under way */
    _Atomic int64_t gap_ms;
} next = { .due_ns = INT64_MAX };

struct tid_list {
    int32_t *tids;
    size_t count;
    size_t capacity;
};

/* Registered threads without a tid, each held; the tids of the others, and those that are left. */
struct unresolved {
    struct smp_registry *registry;
    void (*dispose)(struct smp_jvm_thread *entry);
    struct smp_jvm_thread **entries;
    size_t count;
    size_t capacity;
    struct tid_list known; /* sorted once all are in it */
    struct tid_list unknown;
    bool has_hints;
    uint64_t os_thread_offset;
    uint64_t tid_offset;
};

static bool read_os_thread_ns(SMP_UNUSED void *self, int32_t tid, int64_t *out)
{
    return smp_clock_thread_cpu_ns(tid, out);
}

/* A thread that ended after a scan had listed it and before it was registered: its event came too
 * early. The entry is held here, so end does not return it. */
static void end_missed(const struct unresolved *unresolved, const struct smp_jvm_thread *entry)
{
    (void)smp_registry_end(unresolved->registry, entry->java_id, smp_clock_ns());
}

static bool read_java_thread_ns(void *self, size_t thread, int64_t *out)
{
    const struct unresolved *unresolved = self;
    const struct smp_jvm_thread *entry = unresolved->entries[thread];
    jvmtiEnv *jvmti = smp_agent_jvmti();
    jlong ns = 0;
    const jvmtiError error = (*jvmti)->GetThreadCpuTime(jvmti, entry->ref, &ns);

    if (error == JVMTI_ERROR_THREAD_NOT_ALIVE)
        end_missed(unresolved, entry);
    if (error != JVMTI_ERROR_NONE)
        return false;
    *out = ns;
    return true;
}

/* JavaThread._osthread->_thread_id, at the offsets that the JVM exports. */
static int32_t read_tid_hint(void *self, size_t thread)
{
    const struct unresolved *unresolved = self;
    const uintptr_t java_thread = unresolved->entries[thread]->info.java_thread;
    uintptr_t os_thread = 0;
    int32_t tid = 0;

    if (!unresolved->has_hints || java_thread == 0 ||
        !smp_safe_read(&os_thread, java_thread + unresolved->os_thread_offset, sizeof(os_thread)) ||
        os_thread == 0 || !smp_safe_read(&tid, os_thread + unresolved->tid_offset, sizeof(tid)))
        return 0;
    return tid > 0 ? tid : 0;
}

/* The first field has moved from a class to its parent between releases. */
static void find_hints(struct unresolved *unresolved)
{
    static const char *const owners[] = { "JavaThread", "Thread" };

    for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]) && !unresolved->has_hints; i++) {
        struct smp_field fields[] = { { .type = owners[i], .name = "_osthread" },
                                      { .type = "OSThread", .name = "_thread_id" } };
        unresolved->has_hints = smp_safe_read_refusal() == NULL &&
                                smp_fields_read(fields, sizeof(fields) / sizeof(fields[0]));
        unresolved->os_thread_offset = fields[0].offset;
        unresolved->tid_offset = fields[1].offset;
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

static bool append_tid(struct tid_list *list, int32_t tid)
{
    if (!grow_array((void **)&list->tids, &list->capacity, list->count, sizeof(*list->tids)))
        return false;
    list->tids[list->count++] = tid;
    return true;
}

/* True: it keeps the caller's hold. */
static bool keep_unresolved(struct unresolved *unresolved, struct smp_jvm_thread *entry)
{
    if (entry->thread.os_tid != 0) {
        (void)append_tid(&unresolved->known, entry->thread.os_tid);
        return false;
    }
    if (!grow_array((void **)&unresolved->entries, &unresolved->capacity, unresolved->count,
                    sizeof(struct smp_jvm_thread *)))
        return false;
    unresolved->entries[unresolved->count++] = entry;
    return true;
}

static void drop_entry(const struct unresolved *unresolved, struct smp_jvm_thread *entry)
{
    struct smp_jvm_thread *unheld = smp_registry_release(unresolved->registry, entry);

    if (unheld != NULL)
        unresolved->dispose(unheld);
}

static void collect_unresolved(struct unresolved *unresolved)
{
    struct smp_jvm_thread *batch[BATCH];
    uint64_t cursor = 0;
    uint64_t newest = 0;
    size_t count = BATCH;

    while (count == BATCH) {
        count = smp_registry_collect(unresolved->registry, cursor, batch, BATCH, &newest);
        for (size_t i = 0; i < count; i++) {
            cursor = batch[i]->thread.serial;
            if (!keep_unresolved(unresolved, batch[i]))
                drop_entry(unresolved, batch[i]);
        }
    }
}

static int compare_tids(const void *left, const void *right)
{
    const int32_t *a = left;
    const int32_t *b = right;

    return (*a > *b) - (*a < *b);
}

static bool list_unknown_tid(void *context, int32_t tid)
{
    struct unresolved *unresolved = context;
    const struct tid_list *known = &unresolved->known;

    if (known->count > 0 &&
        bsearch(&tid, known->tids, known->count, sizeof(tid), compare_tids) != NULL)
        return true;
    return append_tid(&unresolved->unknown, tid);
}

static enum smp_status list_unknown_tids(struct unresolved *unresolved)
{
    struct tid_list *known = &unresolved->known;

    if (known->count > 0)
        qsort(known->tids, known->count, sizeof(*known->tids), compare_tids);
    return smp_tids_each(list_unknown_tid, unresolved);
}

/* Returns how many are still unknown. */
static size_t match_unresolved(struct unresolved *unresolved)
{
    const struct smp_tid_clocks clocks = { .os_thread_ns = read_os_thread_ns,
                                           .thread_ns = read_java_thread_ns,
                                           .hint = read_tid_hint,
                                           .self = unresolved };
    size_t unknown = unresolved->count;
    int32_t *found = smp_alloc(NULL, unresolved->count * sizeof(*found));

    if (found != NULL && list_unknown_tids(unresolved) == SMP_OK &&
        smp_tids_match(&clocks, unresolved->unknown.tids, unresolved->unknown.count,
                       unresolved->count, found) == SMP_OK) {
        for (size_t i = 0; i < unresolved->count; i++) {
            if (found[i] == 0)
                continue;
            unresolved->entries[i]->thread.os_tid = found[i];
            unknown--;
        }
    }
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
    struct unresolved unresolved = { .registry = registry, .dispose = dispose };
    int64_t due_ns = next.due_ns;
    size_t unknown = 0;

    if (due_ns == INT64_MAX || smp_clock_ns() < due_ns ||
        !atomic_compare_exchange_strong(&next.due_ns, &due_ns, INT64_MAX))
        return;
    collect_unresolved(&unresolved);
    if (unresolved.count > 0) {
        find_hints(&unresolved);
        unknown = match_unresolved(&unresolved);
    }
    for (size_t i = 0; i < unresolved.count; i++)
        drop_entry(&unresolved, unresolved.entries[i]);
    smp_free(NULL, (void *)unresolved.entries);
    smp_free(NULL, unresolved.known.tids);
    smp_free(NULL, unresolved.unknown.tids);
    if (unknown == 0)
        return;
    next.due_ns = smp_clock_ns() + next.gap_ms * NS_PER_MS;
    next.gap_ms = next.gap_ms * 2 < LAST_GAP_MS ? next.gap_ms * 2 : LAST_GAP_MS;
}
