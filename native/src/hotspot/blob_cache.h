/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_cache.h - remembers in which method's code an address lies. smp_blob_find reads a dozen
 * places of the JVM's memory for it, which a program that computes has driven out of the
 * processor's caches.
 *
 *   pc ─► entry of its neighbourhood ─► the method's blob, if pc lies in it
 *
 * An entry is believed as one of frame_cache.h is: the blob's block is in use, its compile id is
 * the same, and no class was unloaded since.
 *
 * Threads  any, signal handlers included; an entry that is just written is not found, and one
 *          thread writes at a time.
 * Errors   false: as smp_blob_find.
 * Cost     found: one cache line, and two of the blob.
 */
#ifndef SMP_HOTSPOT_BLOB_CACHE_H
#define SMP_HOTSPOT_BLOB_CACHE_H

#include "hotspot/frame_cache_entry.h"

enum {
    SMP_BLOB_CACHE = 256, /* a power of two */
    SMP_BLOB_ENTRY_WORDS = 8
};

struct smp_blob_entry {
    _Alignas(SMP_ENTRY_LINE_BYTES) _Atomic uint64_t words[SMP_BLOB_ENTRY_WORDS];
};

/* Finds the same as smp_blob_find. cache may be NULL. */
bool smp_blob_cache_find(struct smp_frames_cache *cache, const struct smp_layout *layout,
                         uintptr_t pc, struct smp_blob *out);

#endif
