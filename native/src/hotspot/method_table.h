/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_table.h - what is known of methods, by their Method*: the method id, and where the byte
 * codes are.
 *
 *   the JVM's events: class prepared, method compiled ─offer, add─┐
 *   a walk that sees a method first ─────────────────────────put──┴─► Method* ─find─► id, byte
 *                                                                                     codes
 *
 * Only up to JDK 25, where a method id is the address of a word that has the Method*, or nothing
 * once its class is unloaded; that word is never freed or used again. So each find proves its entry
 * by one load: while the id's word has this Method*, the method is the one that was kept, and it is
 * alive. Another class may have taken the same addresses meanwhile, but not the same id. Where a
 * method's byte codes are does not change after its class is prepared: a class that is redefined
 * gets new Methods.
 *
 * The first id that an event brings is read safely: where it is no such address, none is kept.
 *
 * Two cases are not covered. The JVM frees the methods of a class that is unloaded a moment before
 * it clears their ids; what keeps an id checks it again once a class was unloaded. And where
 * it frees an obsolete version of a redefined class without clearing the ids (before JDK-8313816),
 * the next version may take its place: its frames then have the name of the obsolete one, until the
 * method is compiled.
 *
 * Owns     one table for the process, of fixed size, 512 KB, of which only what is used is real; an
 *          entry replaces one of the two that may be in its place.
 * Threads  find: any, signal handlers included; an entry that is just written is not found. put,
 *          offer, add: any, likewise; one thread writes at a time, another one's entry is dropped.
 *          empty: any but signal handlers.
 * Errors   false: not known.
 * Cost     find, offer: two cache lines, that of the entry and that of the id's word; the others:
 *          up to four. No system call, but for the first id.
 */
#ifndef SMP_HOTSPOT_METHOD_TABLE_H
#define SMP_HOTSPOT_METHOD_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "hotspot/layout.h"

enum {
    SMP_METHOD_TABLE_ENTRIES = 16 * 1024, /* a power of two */
    SMP_METHOD_TABLE_LAST_JDK = 25        /* whose method ids are pointers */
};

struct smp_known_method {
    uint64_t id;
    uintptr_t const_method; /* 0: where its byte codes are is not known yet */
    uint16_t code_bytes;
    bool is_native;
};

/* False: this JDK's ids are numbers, so nothing may be kept here. */
static inline bool smp_method_table_serves(const struct smp_layout *layout)
{
    return layout->version <= SMP_METHOD_TABLE_LAST_JDK;
}

bool smp_method_table_find(uintptr_t method, struct smp_known_method *out);
/* The id has been read and is this method's. What is known of a method stays known. */
void smp_method_table_put(uintptr_t method, const struct smp_known_method *known);
/* An id as the JVM returns it. offer: only where nothing was kept yet; add: in place of another. */
void smp_method_table_offer(uint64_t id);
void smp_method_table_add(uint64_t id);

/* Nothing is known any more, and no memory is used, but for what others put meanwhile. */
void smp_method_table_empty(void);

#endif
