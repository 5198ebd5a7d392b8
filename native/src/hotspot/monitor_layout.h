/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor_layout.h - the JVM's records of the monitor that a thread waits for, and of its owner.
 *
 *   JavaThread ─► _current_pending_monitor, _current_waiting_monitor ─► ObjectMonitor ─┬► _owner
 *        │                                                                             └► _object
 *        └► _lock_stack: objects that the thread has locked, and no thread has waited for
 *
 * The declared type of the field, not the JDK's version, decides how an owner is written:
 *
 *   a pointer   the owner's JavaThread, or an address in the owner's stack
 *   int64_t     the owner's Java thread id, also a virtual thread's; 1: anonymous, its lock stack
 *               has the object; 2: the monitor is being taken away
 *
 * libjvm exports these fields for debuggers (exports.h), which is not a supported interface. So
 * they are used only if their values for the calling thread are right.
 *
 * Threads  find: any attached one. A found layout is constant.
 * Errors   false: a field is missing, has an unexpected type, or holds a wrong value.
 * Cost     find: a pass over about three thousand names.
 */
#ifndef SMP_HOTSPOT_MONITOR_LAYOUT_H
#define SMP_HOTSPOT_MONITOR_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "hotspot/exports.h"
#include "hotspot/object_class.h"

enum {
    SMP_MONITOR_NO_OWNER = 0,
    SMP_MONITOR_ANONYMOUS = 1, /* where owners are ids, or with lock stacks */
    SMP_MONITOR_DEFLATED = 2,  /* where owners are ids */
    SMP_LOCK_STACK_MOST = 64   /* entries of a lock stack; it has 8 */
};

/* Offsets, in bytes; 0: this JVM has no such field. */
struct smp_monitor_layout {
    bool is_id;       /* an owner is written as an id, not as a pointer */
    uint32_t pending; /* in a JavaThread */
    uint32_t waiting;
    uint32_t owner_id;        /* the id that the thread writes as owner: its own, or that of the
                                  virtual thread mounted on it */
    uint32_t lock_stack_top;  /* 32 bits: the end of its entries, from the JavaThread on */
    uint32_t lock_stack_base; /* its first entry */
    uint32_t owner;           /* in an ObjectMonitor */
    uint32_t object;          /* the address of a reference */
    uint32_t stack_locker;    /* of an anonymous owner: an address in its stack, or 0 */
    struct smp_object_layout objects;
};

/* exports: NULL, or a test's. java_thread: the calling thread's; java_id: its id. */
bool smp_monitor_layout_find(const struct smp_exports *exports, uintptr_t java_thread,
                             int64_t java_id, struct smp_monitor_layout *out);

#endif
