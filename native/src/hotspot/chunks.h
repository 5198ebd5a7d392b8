/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunks.h - where the frames of a mounted virtual thread lie that the JVM has not brought back to
 * its carrier's stack since it parked: in objects of the Java heap.
 *
 *   ContinuationEntry (on the stack) ─► Continuation.tail ─► StackChunk: newest frames
 *                                                              └─ parent ─► StackChunk: older ones
 *
 * The JDK gives the offsets of these classes' fields (Unsafe.objectFieldOffset), and libjvm exports
 * how a reference is compressed. What is not exported is checked at each use: a chunk must refer
 * to its Continuation.
 *
 * Used only where no object moves while a thread runs Java code: with the collectors Serial,
 * Parallel and G1. From JDK 21 on.
 *
 * Threads  find: an attached one. The result is a value: any, signal handlers included.
 * Errors   find: false, with the reason.
 * Cost     find: a pass over some thousand names and some calls of JNI.
 */
#ifndef SMP_HOTSPOT_CHUNKS_H
#define SMP_HOTSPOT_CHUNKS_H

#include <jni.h>
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
    /* Offsets in bytes: in a Continuation, */
    uint32_t tail;
    /* and in a chunk. Its sizes are in words. */
    uint32_t parent;
    uint32_t size;
    uint32_t sp;
    uint32_t bottom;
    bool is_bottom_from_end; /* JDK 21: the field says how many words lie behind the bottom */
    uint32_t frames;         /* where its words begin */
    /* Ids of the methods in which a thread parks: while it copies its frames. 0: none. */
    uint64_t yields[SMP_CHUNKS_YIELDS];
};

/* A thread that has this method among its two newest frames parks: frames may be in both places. */
static inline bool smp_chunks_is_yield(const struct smp_chunks *chunks, uint64_t id)
{
    return id != 0 && (id == chunks->yields[0] || id == chunks->yields[1]);
}

/* exports: NULL, or a test's. */
bool smp_chunks_find(const struct smp_exports *exports, const struct smp_layout *layout,
                     JNIEnv *env, struct smp_chunks *out, char reason[SMP_CHUNKS_REASON_BYTES]);

/* The part of find that needs no JNI: references, and the collector. */
bool smp_chunks_find_references(const struct smp_exports *exports, struct smp_chunks *out,
                                char reason[SMP_CHUNKS_REASON_BYTES]);

#endif
