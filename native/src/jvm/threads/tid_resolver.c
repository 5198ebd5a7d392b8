/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/tid_resolver.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "hotspot/exports.h"
#include "jvm/agent/agent.h"

enum { BATCH = 128, FIRST_GAP_MS = 100, LAST_GAP_MS = 60000 };
#define NS_PER_MS 1000000LL

static struct {
    _Atomic int64_t due_ns; /* INT64_MAX: all are known, or a run is under way */
    _Atomic int64_t gap_ms;
    /* JavaThread._osthread->_thread_id. Written while no run is due. */
    bool has_fields;
    uint64_t os_thread_offset;
    uint64_t tid_offset;
} next = { .due_ns = INT64_MAX };

/* A pipe: the kernel copies memory into it, or fails if the memory has been freed. Filters of
 * system calls that forbid smp_safe_read allow pipes. */
struct reader {
    int from;
    int to;
};

static bool open_tid_reader(struct reader *reader)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    *reader = (struct reader){ .from = ends[0], .to = ends[1] };
    return true;
}

static void close_reader(const struct reader *reader)
{
    (void)close(reader->from);
    (void)close(reader->to);
}

/* A number is copied whole or not at all if its address is a multiple of its size. */
static bool read_tid_field(const struct reader *reader, uintptr_t address, void *to, size_t size)
{
    return address % size == 0 &&
           write(reader->to, (const void *)address, size) == (ssize_t)size && /* NOLINT */
           read(reader->from, to, size) == (ssize_t)size;
}

/* Returns 0 if there is no tid, or it cannot be read. */
static int32_t read_tid(const struct reader *reader, uintptr_t java_thread)
{
    uintptr_t os_thread = 0;
    int32_t tid = 0;

    if (java_thread == 0 ||
        !read_tid_field(reader, java_thread + next.os_thread_offset, &os_thread,
                        sizeof(os_thread)) ||
        os_thread == 0 || !read_tid_field(reader, os_thread + next.tid_offset, &tid, sizeof(tid)))
        return 0;
    return tid > 0 ? tid : 0;
}

/* The first field has moved from a class to its parent between releases. */
static void find_fields(void)
{
    static const char *const owners[] = { "JavaThread", "Thread" };

    next.has_fields = false;
    for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]) && !next.has_fields; i++) {
        struct smp_wanted fields[] = { { .type = owners[i], .name = "_osthread" },
                                       { .type = "OSThread", .name = "_thread_id" } };
        next.has_fields = smp_exports_find(NULL, fields, sizeof(fields) / sizeof(fields[0]));
        next.os_thread_offset = fields[0].value;
        next.tid_offset = fields[1].value;
    }
}

static bool is_own_tid_right(uintptr_t java_thread)
{
    struct reader reader;

    if (!open_tid_reader(&reader))
        return false;
    const bool is_right = read_tid(&reader, java_thread) == smp_thread_own_tid();
    close_reader(&reader);
    return is_right;
}

/* Reads all three clocks even if tid is 0: a thread may have ended after a scan had listed it and
 * before it was registered, so that its event came too early. The entry is held here, so end does
 * not return it. */
static bool is_tid_of(struct smp_registry *registry, const struct smp_jvm_thread *entry,
                      int32_t tid)
{
    jvmtiEnv *jvmti = smp_agent_jvmti();
    int64_t before_ns = 0;
    int64_t after_ns = 0;
    jlong ns = 0;
    const bool has_clock = smp_clock_thread_cpu_ns(tid, &before_ns);
    const jvmtiError error = (*jvmti)->GetThreadCpuTime(jvmti, entry->ref, &ns);

    if (error == JVMTI_ERROR_THREAD_NOT_ALIVE)
        (void)smp_registry_end(registry, entry->java_id, smp_clock_ns(), 0);
    return has_clock && error == JVMTI_ERROR_NONE && smp_clock_thread_cpu_ns(tid, &after_ns) &&
           before_ns <= ns && ns <= after_ns;
}

/* Returns false if the tid is still not known. */
static bool resolve(struct smp_registry *registry, const struct reader *reader,
                    struct smp_jvm_thread *entry)
{
    if (entry->thread.os_tid == 0) {
        const int32_t tid = next.has_fields ? read_tid(reader, entry->info.java_thread) : 0;
        if (is_tid_of(registry, entry, tid))
            entry->thread.os_tid = tid;
    }
    return entry->thread.os_tid != 0 || entry->thread.ended_ns != 0;
}

/* Returns how many are still unknown. */
static size_t resolve_all(struct smp_registry *registry, const struct reader *reader,
                          void (*dispose)(struct smp_jvm_thread *entry))
{
    struct smp_jvm_thread *batch[BATCH];
    uint64_t cursor = 0;
    uint64_t newest = 0;
    size_t unknown = 0;
    size_t count = BATCH;

    while (count == BATCH) {
        count = smp_registry_collect(registry, cursor, batch, BATCH, &newest);
        for (size_t i = 0; i < count; i++) {
            struct smp_jvm_thread *unheld = NULL;
            cursor = batch[i]->thread.serial;
            unknown += !resolve(registry, reader, batch[i]);
            unheld = smp_registry_release(registry, batch[i]);
            if (unheld != NULL)
                dispose(unheld);
        }
    }
    return unknown;
}

void smp_tid_resolver_restart(uintptr_t java_thread)
{
    find_fields();
    next.has_fields = next.has_fields && is_own_tid_right(java_thread);
    next.gap_ms = FIRST_GAP_MS;
    next.due_ns = INT64_MIN;
}

void smp_tid_resolver_set_fields(uint64_t os_thread_offset, uint64_t tid_offset)
{
    next.has_fields = true;
    next.os_thread_offset = os_thread_offset;
    next.tid_offset = tid_offset;
    next.due_ns = INT64_MIN;
}

void smp_tid_resolver_run(struct smp_registry *registry,
                          void (*dispose)(struct smp_jvm_thread *entry))
{
    int64_t due_ns = next.due_ns;
    size_t unknown = 1;
    struct reader reader;

    if (due_ns == INT64_MAX || smp_clock_ns() < due_ns ||
        !atomic_compare_exchange_strong(&next.due_ns, &due_ns, INT64_MAX))
        return;
    if (open_tid_reader(&reader)) {
        unknown = resolve_all(registry, &reader, dispose);
        close_reader(&reader);
    }
    if (unknown == 0)
        return;
    next.due_ns = smp_clock_ns() + next.gap_ms * NS_PER_MS;
    next.gap_ms = next.gap_ms * 2 < LAST_GAP_MS ? next.gap_ms * 2 : LAST_GAP_MS;
}
