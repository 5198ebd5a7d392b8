/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_types.h - the input and the output of a walk; see frames.h.
 */
#ifndef SMP_HOTSPOT_FRAME_TYPES_H
#define SMP_HOTSPOT_FRAME_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hotspot/code.h"

enum {
    SMP_FRAMES_CACHE = 16384, /* return addresses; a power of two */
    SMP_FRAMES_MOST = 65536   /* physical frames of a walk: 1 to 2 ms */
};

struct smp_frames_cache;
struct smp_chunks;

/* The complete frame that a walk begins with, from an anchor or from the registers at a call. */
struct smp_frames_start {
    uintptr_t sp;
    uintptr_t fp;
    uintptr_t pc; /* 0: the word below sp */
    /* Not 0 for a compiled leaf that is not at a call, or whose call's line is recorded elsewhere:
     * the first record at or behind this address counts. 0: the record of exactly pc counts. */
    uintptr_t line_pc;
    /* Describes a virtual thread's frames in the heap. NULL: they are not read, because the
     * collector may move them now. */
    const struct smp_chunks *chunks;
    /* The byte code pointer in its register, if an interpreted leaf was interrupted. It counts if
     * it points into the leaf's method, because the frame's slot is written at calls only. 0: the
     * slot counts. */
    uintptr_t bcp;
};

enum smp_frames_end {
    SMP_FRAMES_ROOT,         /* the thread's first entry into Java has been reached */
    SMP_FRAMES_VIRTUAL_ROOT, /* a virtual thread's own first frame */
    SMP_FRAMES_BARRIER,      /* a virtual thread's other frames are in the heap, not read */
    SMP_FRAMES_FULL,         /* SMP_FRAMES_MOST, or no room for more words: the root is not known */
    SMP_FRAMES_UNWALKABLE
};

/* A word of the stack, as a walk has read it. */
struct smp_frames_word {
    uintptr_t address;
    uintptr_t value;
};

/* The words that a walk has read from the stack. A stack that still holds them has not changed. */
struct smp_frames_words {
    struct smp_frames_word *read;
    size_t capacity;
    size_t count; /* above capacity: the last ones were not kept */
};

/*
 * The stack that was read, leaf first. A stack deeper than capacity, or FULL, is cut as in
 * model/sample.h. raw and ids are the caller's, with room for capacity frames, at least 2.
 */
struct smp_frames {
    struct smp_raw_frame *raw;
    uint64_t *ids; /* each frame's method id; 0: it has none yet (frames.h) */
    /* The caller's room for names of methods without an id; NULL: none. The walk does not use
     * it. */
    char *names;
    size_t names_bytes;
    size_t capacity;
    size_t count;
    size_t leaf_count;
    size_t omitted;
    enum smp_frames_end end;
    struct smp_frames_words *words; /* the caller's; NULL: words are not kept */
    uint64_t safepoints;            /* the JVM's count before the walk; 0: not known */
    size_t unsure; /* methods that later walks need not check after smp_frames_confirm */
};

#endif
