/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_cache.h - remembers in which method's code an address lies, because smp_blob_find reads a
 * dozen places of the JVM's memory, which a busy program has driven out of the processor's caches.
 *
 *   pc ─► entry of its neighbourhood ─► the method's blob, if pc lies in it
 *
 * An entry is believed under the conditions of frame_cache.h: the blob's block is in use, its
 * compile id is the same, and no class has been unloaded since.
 *
 * Threads  any, signal handlers included. One thread writes at a time; an entry that is being
 *          written is not found.
 * Errors   false: as smp_blob_find.
 * Cost     if found, one cache line of the table and two of the blob.
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
