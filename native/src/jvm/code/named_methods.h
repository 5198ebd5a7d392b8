/* SPDX-License-Identifier: Apache-2.0 */
/*
 * named_methods.h - keys and names of methods without a method id.
 *
 * The JVM makes ids on demand, so our own walk meets methods without one. While the method is
 * alive, the walk copies the texts that a report shows (hotspot/method.h). This table turns the
 * copy into a key, which the name source (methods.h) resolves.
 *
 *   copy ─add──► key ─find─► class, method, file, line
 *
 * A key stands for texts and a line: equal copies have one key.
 *
 * Keys have the highest bit set. No id has it: up to JDK 25 an id is an address in user space, from
 * 26 on a number that counts from 1. A key is never used again.
 *
 * The texts are in two generations. When the newer one is full, the older one is emptied and
 * becomes the newer one. So the table is never full, and its memory stays bounded even if an
 * application makes classes for ever. A sample is resolved soon after its walk; a key older than
 * two generations is unknown.
 *
 * Owns     up to two generations, made when they are first needed; about 100 KiB each.
 * Threads  one at a time: the sampler thread of its session.
 * Errors   key 0: no memory for a generation, or texts longer than SMP_NAMED_METHODS_LONGEST.
 * Cost     add: three conversions and a probe. find: none.
 */
#ifndef SMP_JVM_CODE_NAMED_METHODS_H
#define SMP_JVM_CODE_NAMED_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "hotspot/method.h"
#include "model/sample.h"

enum {
    SMP_NAMED_METHODS_GENERATION = 1024,      /* lines of methods */
    SMP_NAMED_METHODS_TEXT_BYTES = 64 * 1024, /* of their texts */
    SMP_NAMED_METHODS_LONGEST = 4 * 1024      /* bytes of one method's texts, as copied */
};

/* Set in each key. */
#define SMP_NAMED_METHOD_BIT (UINT64_C(1) << 63)

struct smp_named_methods;

SMP_CHECKED enum smp_status smp_named_methods_create(struct smp_named_methods **out);
void smp_named_methods_destroy(struct smp_named_methods *named);

uint64_t smp_named_methods_add(struct smp_named_methods *named, const struct smp_method_copy *copy);
/*
 * Replaces each mark of a copy in room (hotspot/frames.h), in the frames of the sample, by a key;
 * by 0 if add returns none, or if named is NULL.
 */
void smp_named_methods_take(struct smp_named_methods *named, struct smp_sample *sample,
                            const void *room, size_t bytes);

/* Returns true for every key that add has returned, also for one that was dropped since. */
bool smp_named_methods_is_key(uint64_t key);
/* False: dropped, or never returned by add. Texts and lines are borrowed until the next add. */
bool smp_named_methods_find(const struct smp_named_methods *named, uint64_t key,
                            struct smp_method_info *out);
/* Returns the number of methods that find can find now. */
size_t smp_named_methods_count(const struct smp_named_methods *named);

#endif
