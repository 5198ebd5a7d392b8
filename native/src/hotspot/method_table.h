/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_table.h - finds the method id and the byte codes of a Method*.
 *
 *   the JVM's events: class prepared, method compiled ─offer, add─┐
 *   a walk that sees a method first ─────────────────────────put──┴─► Method* ─find─► id, byte
 *                                                                                     codes
 *
 * Used only up to JDK 25. There a method id is the address of a word that holds the Method*, or 0
 * once its class is unloaded; the JVM never frees or reuses that word. So one load proves an entry:
 * while the id's word holds this Method*, the method is the one that was kept, and it is alive.
 * Another class may have taken the same addresses meanwhile, but not the same id. The byte codes of
 * a method do not move after its class is prepared: a class that is redefined gets new Methods.
 *
 * The first id that an event brings is read safely; if it is not such an address, the table stays
 * empty.
 *
 * Two cases are not covered. The JVM frees the methods of an unloaded class a moment before it
 * clears their ids; callers that keep an id check it again after a class was unloaded. And a JVM
 * before JDK-8313816 frees an obsolete version of a redefined class without clearing the ids. If
 * the next version takes its place, frames of the next version have the obsolete one's name until
 * the method is compiled.
 *
 * Owns     one table for the process, of fixed size, 512 KB, of which only the used pages are real.
 *          Two entries compete for each place.
 * Threads  find: any, signal handlers included; an entry that is being written is not found. put,
 *          offer, add: any, signal handlers included; one thread writes at a time, and the entry of
 *          a second one is dropped. empty: any but signal handlers.
 * Errors   false: not known.
 * Cost     find, offer: two cache lines, the entry's and that of the id's word; the others: up to
 *          four. No system call, except for the first id.
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

/* Returns false if this JDK's ids are numbers; then the table must not be used. */
static inline bool smp_method_table_serves(const struct smp_layout *layout)
{
    return layout->version <= SMP_METHOD_TABLE_LAST_JDK;
}

bool smp_method_table_find(uintptr_t method, struct smp_known_method *out);
/* The caller knows that the id is this method's, having read it. Keeps what is already known. */
void smp_method_table_put(uintptr_t method, const struct smp_known_method *known);
/* id: as the JVM returns it. offer uses only a free place, add also replaces another method. */
void smp_method_table_offer(uint64_t id);
void smp_method_table_add(uint64_t id);

/* Removes all methods and returns the memory to the system. Other threads may put new ones
 * meanwhile. */
void smp_method_table_empty(void);

#endif
