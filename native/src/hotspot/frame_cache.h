/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_cache.h - remembers the frames of return addresses, the ids of methods, and in which
 * method's code an address lies, for frames.h.
 *
 *   return address    ─► blob, compile id, frame's size, its frames with their method ids
 *   Method*           ─► byte codes, method id (from JDK 26 on; before that: method_table.h)
 *   pc, neighbourhood ─► the method's blob, if pc lies in it
 *
 * An entry of an address is used if the blob is still in use with its compile id and the cache has
 * not been renewed since; else it is checked once more. A renewed blob is searched again. If an
 * address has more than four frames, the others are in further entries of the same table. Those may
 * have been replaced separately: then nothing is found.
 *
 * Blobs are kept because smp_blob_find reads a dozen places of the JVM's memory, which a busy
 * program has driven out of the processor's caches.
 *
 * Owns     its tables, of fixed sizes; a new entry replaces the one in its place.
 * Threads  find: any, signal handlers included; an entry that is being written is not found. put:
 *          any, one thread at a time; the entry of a second thread is dropped.
 * Errors   create: SMP_ENOMEM. blob_find: false, as smp_blob_find.
 * Cost     find: one or two cache lines, and one of the blob; a blob that is found: one cache line
 *          of the table and two of the blob. Memory: 2.5 MB, of which only the used pages are real.
 */
#ifndef SMP_HOTSPOT_FRAME_CACHE_H
#define SMP_HOTSPOT_FRAME_CACHE_H

#include "hotspot/frame_types.h"
#include "hotspot/method.h"

/* Addresses of a program do not use this bit. */
#define SMP_FRAME_CACHE_LEAF (UINT64_C(1) << 63)

/* The code that contains a return address, and its frames there. */
struct smp_known_code {
    uintptr_t blob;
    uint32_t compile_id;
    uint32_t frame_bytes;
    uint32_t epoch;       /* the cache's, before the code was read */
    bool is_virtual_root; /* the frame below a virtual thread's own first one */
    bool says_size;       /* frame_bytes is the least; the frame has its real size */
    size_t count;
    /* Owned by the caller, with room for SMP_CODE_MAX_FRAMES. */
    struct smp_raw_frame *frames;
    uint64_t *ids;
};

/* If nothing is found, sets out->epoch. cache may be NULL, here and below: then nothing is found or
 * kept. */
bool smp_frame_cache_find(struct smp_frames_cache *cache, const struct smp_layout *layout,
                          uintptr_t pc, struct smp_known_code *out);
void smp_frame_cache_put(struct smp_frames_cache *cache, uintptr_t pc,
                         const struct smp_known_code *code);

/* The key of the first record at or behind an address; a plain pc is its own record's key. */
static inline uintptr_t smp_frame_cache_leaf(uintptr_t line_pc)
{
    return line_pc | SMP_FRAME_CACHE_LEAF;
}

/*
 * Finds the method or reads it; with a cache, keeps it. *id is 0 if the method has no id yet; a
 * missing id is read again each time. Returns false if method does not point to a method.
 */
bool smp_frame_cache_method(struct smp_frames_cache *cache, const struct smp_layout *layout,
                            uintptr_t method, struct smp_method_code *out, uint64_t *id);
/* Finds only the id, which may be known when the byte codes are not. */
bool smp_frame_cache_id(struct smp_frames_cache *cache, const struct smp_layout *layout,
                        uintptr_t method, uint64_t *id);

/* Finds the same as smp_blob_find. */
bool smp_blob_cache_find(struct smp_frames_cache *cache, const struct smp_layout *layout,
                         uintptr_t pc, struct smp_blob *out);

#endif
