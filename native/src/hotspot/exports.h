/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exports.h - libjvm's exported symbols, and the lists by which it describes itself to debuggers:
 * fields, sizes of types, constants.
 *
 * Further exported numbers say how an entry of a list is laid out, so only their names are known
 * here. The lists are not a supported interface: a value read from them is a hint, which must be
 * checked against independent knowledge.
 *
 * Threads  any.
 * Errors   NULL: no such symbol. false: a list or one of the numbers is missing.
 * Cost     a symbol: a look-up in the dynamic linker's tables. A list: a pass over up to about two
 *          thousand entries.
 */
#ifndef SMP_HOTSPOT_EXPORTS_H
#define SMP_HOTSPOT_EXPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SMP_EXPORT_MAX_OFFSET = 64 * 1024 }; /* the JVM's objects that are read are smaller */

enum smp_export_list {
    SMP_EXPORT_FIELDS,        /* offsets; of static fields addresses */
    SMP_EXPORT_TYPES,         /* their sizes */
    SMP_EXPORT_INT_CONSTANTS, /* of names alone: type is NULL */
    SMP_EXPORT_LONG_CONSTANTS
};

struct smp_export {
    const char *type;
    const char *name;        /* of a field or a constant; NULL for a type */
    const char *type_string; /* of a field; may be NULL */
    bool is_static;          /* a field */
    uint64_t value;          /* offset, address, size or constant */
};

/* Looks up exported symbols. A NULL pointer to this struct means libjvm. */
struct smp_exports {
    const void *(*symbol)(void *self, const char *name);
    void *self;
};

/* Returns NULL if libjvm does not export the symbol. */
void *smp_symbol(const char *name);

/* Calls visit with each entry, whose texts exist as long as libjvm. */
bool smp_exports_visit(const struct smp_exports *exports, enum smp_export_list list,
                       void (*visit)(void *self, const struct smp_export *entry), void *self);

/* An entry that smp_exports_find looks for. */
struct smp_wanted {
    enum smp_export_list list;
    bool is_static;          /* a field; its value is an address */
    const char *type;        /* NULL: of a constant */
    const char *name;        /* NULL: of a type */
    const char *type_string; /* NULL: any; set to the entry's own */
    bool is_found; /* its value is an address, a plausible offset or size, or a constant */
    uint64_t value;
};

/* Looks up all entries. Returns false if at least one was not found. */
bool smp_exports_find(const struct smp_exports *exports, struct smp_wanted *wanted, size_t count);

#endif
