/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunks.h - where the older frames of a mounted virtual thread lie: in objects of the Java heap,
 * from which the JVM brings them back to the carrier's stack one by one.
 *
 *   ContinuationEntry (on the stack) ─► Continuation.tail ─► StackChunk: newest frames
 *                                                              └─ parent ─► StackChunk: older ones
 *
 * jvm/code/continuations.h gets the offsets of these classes' fields from the JDK; libjvm exports
 * how a reference is compressed. Each use checks that a chunk refers to its Continuation.
 *
 * Used only if no object moves while a thread runs Java code: with the collectors Serial, Parallel
 * and G1. From JDK 21 on.
 *
 * Threads  any. The result is a value, which signal handlers may read.
 * Errors   false, with the reason.
 * Cost     a pass over some thousand names.
 */
#ifndef SMP_HOTSPOT_CHUNKS_H
#define SMP_HOTSPOT_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "hotspot/exports.h"
#include "hotspot/layout.h"

enum {
    SMP_CHUNKS_REASON_BYTES = 96,
    SMP_CHUNKS_FIRST_VERSION = 21,
    SMP_CHUNKS_MAX_HEADER = 128, /* bytes of a chunk before its frames */
    SMP_CHUNKS_YIELDS = 2
};

struct smp_chunks {
    struct {
        bool is_compressed; /* 32 bits, of which 0 is null */
        uint32_t shift;
        uintptr_t base;
    } reference;
    /* Offsets in bytes. The chunk's own sizes are in words. */
    uint32_t tail;   /* in a Continuation */
    uint32_t parent; /* in a chunk, as the next ones */
    uint32_t size;
    uint32_t sp;
    uint32_t bottom;
    bool is_bottom_from_end; /* JDK 21: the field says how many words are behind the bottom */
    uint32_t frames;         /* where its words begin */
    /* Ids of the methods in which a thread copies its frames to the heap when it parks; 0: none. */
    uint64_t yields[SMP_CHUNKS_YIELDS];
    /* Only for smp_chunks_find_frames: */
    uintptr_t mirror_klass;  /* the address of the Klass's offset in a class's object */
    uintptr_t layout_helper; /* offset in a Klass */
};

/* Returns whether the id is of such a method. A thread with one among its two newest frames is
 * parking: its frames may be both on the stack and in the heap. */
static inline bool smp_chunks_is_yield(const struct smp_chunks *chunks, uint64_t id)
{
    return id != 0 && (id == chunks->yields[0] || id == chunks->yields[1]);
}

/* Finds how references are compressed; false with some collectors. exports: NULL, or a test's. */
bool smp_chunks_find_references(const struct smp_exports *exports, struct smp_chunks *out,
                                char reason[SMP_CHUNKS_REASON_BYTES]);
/*
 * Finds at which offset a chunk's frames begin. References and the other offsets must have been
 * found. handle: the address of a word that refers to the class StackChunk, such as a local
 * reference.
 */
bool smp_chunks_find_frames(const struct smp_layout *layout, uintptr_t handle,
                            struct smp_chunks *out);

#endif
