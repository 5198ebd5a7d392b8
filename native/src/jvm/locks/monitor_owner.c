/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/locks/monitor_owner.h"

#include <string.h>

#include "base/clock.h"
#include "base/safe_read.h"
#include "hotspot/memory.h"
#include "hotspot/safepoint_count.h"
#include "jvm/threads/gate.h"
#include "jvm/threads/threads.h"
#include "jvm/threads/virtual_threads.h"

/* Values that were read from a monitor. */
struct monitor_reading {
    const struct smp_monitor_reader *reader;
    uintptr_t monitor;
    uintptr_t owner;        /* the raw owner word */
    uintptr_t stack_locker; /* an address in the owner's stack; 0: none */
    uintptr_t handle;       /* reference to the object */
    uintptr_t object;       /* 0: unknown */
    uint64_t safepoints;
};

static uintptr_t load_shared(uintptr_t address)
{
    return __atomic_load_n((const uintptr_t *)address, __ATOMIC_ACQUIRE); /* NOLINT */
}

/* Returns the monitor that the thread waits for; 0: none, or the thread cannot be read. */
static uintptr_t monitor_of(const struct smp_monitor_layout *layout, struct smp_walk_info *info)
{
    uintptr_t monitor = 0;

    if (!smp_gate_enter(&smp_gate_process))
        return 0;
    if (smp_gate_enter(&info->gate)) {
        const uintptr_t java_thread = info->java_thread;
        if (java_thread != 0) {
            monitor = load_shared(java_thread + layout->pending);
            if (monitor == 0)
                monitor = load_shared(java_thread + layout->waiting);
        }
        if (!smp_gate_leave(&info->gate))
            monitor = 0;
    }
    return smp_gate_leave(&smp_gate_process) ? monitor : 0;
}

static bool read_monitor(struct monitor_reading *reading)
{
    const struct smp_monitor_layout *layout = &reading->reader->layout;
    const struct smp_safe_part parts[] = {
        { &reading->owner, reading->monitor + layout->owner, sizeof(reading->owner) },
        { &reading->handle, reading->monitor + layout->object, sizeof(reading->handle) },
        { &reading->stack_locker, reading->monitor + layout->stack_locker,
          sizeof(reading->stack_locker) },
    };

    reading->safepoints = smp_safepoint_count(reading->reader->safepoints);
    return smp_safe_read_parts(parts, layout->stack_locker != 0 ? 3 : 2);
}

/* --- which thread --- */

static bool is_address_of(void *context, struct smp_walk_info *info)
{
    const struct monitor_reading *reading = context;

    return info->java_thread == reading->owner;
}

static bool has_in_stack(uintptr_t address, const struct smp_walk_info *info)
{
    return address >= info->stack_low && address < info->stack_high;
}

static bool is_owner_in_stack(void *context, struct smp_walk_info *info)
{
    const struct monitor_reading *reading = context;

    return has_in_stack(reading->owner, info);
}

static bool is_locker_in_stack(void *context, struct smp_walk_info *info)
{
    const struct monitor_reading *reading = context;

    return has_in_stack(reading->stack_locker, info);
}

static bool is_in_lock_stack(const struct monitor_reading *reading, uintptr_t java_thread)
{
    const struct smp_monitor_layout *layout = &reading->reader->layout;
    const uint32_t top = smp_load_u32(java_thread + layout->lock_stack_top);

    for (uint32_t at = layout->lock_stack_base;
         at < top && at < layout->lock_stack_base + SMP_LOCK_STACK_MOST * sizeof(uintptr_t);
         at += sizeof(uintptr_t)) {
        if (load_shared(java_thread + at) == reading->object)
            return true;
    }
    return false;
}

static bool has_locked(void *context, struct smp_walk_info *info)
{
    const struct monitor_reading *reading = context;
    bool is_locked = false;

    if (!smp_gate_enter(&info->gate))
        return false;
    const uintptr_t java_thread = info->java_thread;
    if (java_thread != 0)
        is_locked = is_in_lock_stack(reading, java_thread);
    return smp_gate_leave(&info->gate) && is_locked;
}

/* Returns whether the carrier has this owner's id, the id of its mounted virtual thread. */
static bool writes_as_owner(void *context, struct smp_walk_info *info)
{
    const struct monitor_reading *reading = context;
    bool is_owner = false;

    if (!info->is_carrier || !smp_gate_enter(&info->gate))
        return false;
    const uintptr_t java_thread = info->java_thread;
    if (java_thread != 0)
        is_owner = load_shared(java_thread + reading->reader->layout.owner_id) == reading->owner;
    return smp_gate_leave(&info->gate) && is_owner;
}

static uint64_t search(smp_thread_test *test, struct monitor_reading *reading)
{
    uint64_t serial = 0;

    if (!smp_gate_enter(&smp_gate_process))
        return 0;
    serial = smp_threads_search(test, reading);
    return smp_gate_leave(&smp_gate_process) ? serial : 0;
}

static void set_owner_thread(struct smp_lock_owner *out, uint64_t serial)
{
    out->kind = serial != 0 ? SMP_OWNER_THREAD : SMP_OWNER_UNREAD;
    out->serial = serial;
}

/* If no platform thread has the id, a virtual thread has it. */
static void find_by_id(struct monitor_reading *reading, struct smp_lock_owner *out)
{
    uint64_t serial = 0;

    if (smp_threads_find((int64_t)reading->owner, &serial)) {
        set_owner_thread(out, serial);
    } else if (smp_virtual_threads_in_use() && reading->reader->layout.owner_id != 0) {
        serial = search(writes_as_owner, reading);
        set_owner_thread(out, serial);
        if (serial == 0)
            out->kind = SMP_OWNER_UNMOUNTED;
    }
}

/* Searches the lock stacks. Fails if a safepoint may have moved the object meanwhile. */
static void find_by_lock_stack(struct monitor_reading *reading, struct smp_lock_owner *out)
{
    const struct smp_monitor_layout *layout = &reading->reader->layout;
    const uint64_t *safepoints = reading->reader->safepoints;

    if (reading->object == 0 || layout->lock_stack_top == 0 || safepoints == NULL)
        return;
    const uint64_t serial = search(has_locked, reading);
    if (smp_safepoint_count(safepoints) != reading->safepoints)
        return;
    set_owner_thread(out, serial);
    if (serial == 0 && smp_virtual_threads_in_use())
        out->kind = SMP_OWNER_UNMOUNTED;
}

static void find_owner(struct monitor_reading *reading, struct smp_lock_owner *out)
{
    const struct smp_monitor_layout *layout = &reading->reader->layout;

    if (reading->owner == SMP_MONITOR_NO_OWNER)
        out->kind = SMP_OWNER_NONE;
    else if (reading->owner == SMP_MONITOR_ANONYMOUS && reading->stack_locker != 0)
        set_owner_thread(out, search(is_locker_in_stack, reading));
    else if (reading->owner == SMP_MONITOR_ANONYMOUS)
        find_by_lock_stack(reading, out);
    else if (layout->is_id && reading->owner != SMP_MONITOR_DEFLATED)
        find_by_id(reading, out);
    else if (!layout->is_id) {
        const uint64_t serial = search(is_address_of, reading);
        set_owner_thread(out, serial != 0 ? serial : search(is_owner_in_stack, reading));
    }
}

static void find_lock_class(struct monitor_reading *reading, struct smp_lock_owner *out)
{
    const struct smp_object_layout *objects = &reading->reader->layout.objects;

    reading->object = smp_object_address(objects, reading->handle);
    if (reading->object == 0 ||
        !smp_object_class_name(objects, reading->object, out->lock, sizeof(out->lock)) ||
        (reading->reader->safepoints != NULL &&
         smp_safepoint_count(reading->reader->safepoints) != reading->safepoints))
        out->lock[0] = '\0';
}

/* Reads the owner again, because it may change while the thread keeps waiting. */
static bool is_owner_same(const struct monitor_reading *reading)
{
    uintptr_t owner = 0;

    return smp_safe_read(&owner, reading->monitor + reading->reader->layout.owner, sizeof(owner)) &&
           owner == reading->owner;
}

void smp_monitor_owner_read(const struct smp_monitor_reader *reader, struct smp_thread *waiter,
                            int64_t cpu_ns, struct smp_lock_owner *out)
{
    const struct smp_lock_owner unread = { .kind = SMP_OWNER_UNREAD };
    struct smp_walk_info *info = smp_threads_walk_info(waiter);
    struct monitor_reading reading = { .reader = reader };
    int64_t after_ns = 0;

    *out = unread;
    if (cpu_ns < 0 && !smp_clock_thread_cpu_ns(waiter->os_tid, &cpu_ns))
        return;
    reading.monitor = monitor_of(&reader->layout, info);
    if (reading.monitor == 0 || !read_monitor(&reading))
        return;
    find_lock_class(&reading, out);
    find_owner(&reading, out);
    /* The result counts only if the thread has waited for this monitor all the time. */
    if (!is_owner_same(&reading) || monitor_of(&reader->layout, info) != reading.monitor ||
        !smp_clock_thread_cpu_ns(waiter->os_tid, &after_ns) || after_ns != cpu_ns ||
        (out->kind == SMP_OWNER_THREAD && out->serial == waiter->serial))
        *out = unread;
}
