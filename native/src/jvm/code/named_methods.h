/* SPDX-License-Identifier: Apache-2.0 */
/*
 * named_methods.h - methods that have no id yet: a key for each, and the names that were copied
 * while it was alive.
 *
 * The JVM makes the id of a method when it is first asked for one, so a walk of our own meets
 * methods without. It copies their names at once (hotspot/method.h), and this table turns the names
 * into a key, which the name source (methods.h) then resolves.
 *
 *   Method*, ConstMethod* ─find─► key                    warm: no names are read
 *                  names  ─add──► key ─texts─► class, method
 *
 * The key belongs to the names: two methods with equal names have one key, and an address that the
 * JVM uses again for another method gets that method's key. An address is believed for one epoch of
 * class unloading (class_unload.h).
 *
 * Keys have the highest bit set. No id has: up to JDK 25 an id is an address in user space, from 26
 * on a number that counts from 1. A key is never used again.
 *
 * Names lie in two generations. When the newer one is full the older one is forgotten and begins
 * anew. So the table never refuses a method, and the memory of an application that makes classes
 * for ever stays bounded. A sample is resolved soon after its walk; a key that is older than two
 * generations is unknown.
 *
 * Owns     up to two generations, made when they are first needed; 152 KiB each.
 * Threads  one at a time: the sampler thread of its session.
 * Errors   key 0: not known yet (find), no memory for a generation (add; counted).
 * Cost     find: one probe. add: two conversions and a probe.
 */
#ifndef SMP_JVM_CODE_NAMED_METHODS_H
#define SMP_JVM_CODE_NAMED_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "jvm/hotspot/method.h"

enum {
    SMP_NAMED_METHODS_GENERATION = 1024,      /* methods */
    SMP_NAMED_METHODS_TEXT_BYTES = 64 * 1024, /* of their names */
    SMP_NAMED_METHODS_ADDRESSES = 1024        /* methods may be found by */
};

/* Set in each key. */
#define SMP_NAMED_METHOD_BIT (UINT64_C(1) << 63)

struct smp_named_methods;

struct smp_named_method_texts {
    const char *class_name;  /* dotted; borrowed until the next add */
    const char *method_name; /* likewise */
    bool is_native;
};

struct smp_named_methods_stats {
    size_t methods;     /* that can be resolved now */
    uint64_t forgotten; /* methods of generations that were full */
    uint64_t refused;   /* adds for which there was no memory */
};

SMP_CHECKED enum smp_status smp_named_methods_create(struct smp_named_methods **out);
void smp_named_methods_destroy(struct smp_named_methods *named);

/* epoch: smp_class_unload_epoch, read before the method was. */
uint64_t smp_named_methods_find(const struct smp_named_methods *named, uintptr_t method,
                                uintptr_t const_method, uint64_t epoch);
/* As find, of a method that it does not know. */
uint64_t smp_named_methods_add(struct smp_named_methods *named, uintptr_t method, uint64_t epoch,
                               const struct smp_method_names *names, bool is_native);

/* Is it one of this table's keys? Of a key that has been forgotten, too. */
bool smp_named_methods_is_key(uint64_t key);
/* False: forgotten, or never handed out. */
bool smp_named_methods_texts(const struct smp_named_methods *named, uint64_t key,
                             struct smp_named_method_texts *out);

void smp_named_methods_get_stats(const struct smp_named_methods *named,
                                 struct smp_named_methods_stats *out);

#endif
