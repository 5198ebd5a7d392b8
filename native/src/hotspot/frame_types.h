/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_types.h - what a walk begins with, and what it fills in; see frames.h.
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

/* Where a walk begins: a complete frame, as an anchor or the registers at a call give it. */
struct smp_frames_start {
    uintptr_t sp;
    uintptr_t fp;
    uintptr_t pc; /* 0: the word below sp */
    /* Of a compiled leaf that is not at a call, or whose call's line is recorded elsewhere: the
     * first record at or behind this address counts. 0: that of exactly pc. */
    uintptr_t line_pc;
    /* How to read the frames of a virtual thread that lie in the heap. NULL: they are not read,
     * because the collector may move them now. */
    const struct smp_chunks *chunks;
    /* The frames above have been walked otherwise: one of them returns to pc. */
    bool has_callee;
    /* What the register of the byte code pointer holds, where an interpreted leaf was interrupted.
     * It counts where it lies in that method: its slot is only written at calls. 0: the slot. */
    uintptr_t bcp;
};

enum smp_frames_end {
    SMP_FRAMES_ROOT,         /* the thread's first entry into Java has been reached */
    SMP_FRAMES_VIRTUAL_ROOT, /* a virtual thread's own first frame */
    SMP_FRAMES_BARRIER,      /* the rest of a virtual thread lies in the heap, and was not read */
    SMP_FRAMES_FULL,         /* SMP_FRAMES_MOST, or no room for more words: the root is not known */
    SMP_FRAMES_UNWALKABLE
};

/* A word of the stack, as a walk has read it. */
struct smp_frames_word {
    uintptr_t address;
    uintptr_t value;
};

/* All words that a walk has read of the stack: a stack that still holds them is the one walked. */
struct smp_frames_words {
    struct smp_frames_word *read;
    size_t capacity;
    size_t count; /* above capacity: the last ones were not kept */
};

/*
 * The stack that was read, leaf first. Deeper than capacity, or FULL: cut as in model/sample.h.
 * raw and ids are the caller's, with room for capacity frames, at least 2.
 */
struct smp_frames {
    struct smp_raw_frame *raw;
    uint64_t *ids; /* of each frame: its method id, or 0 where it has none yet (frame_names.h) */
    /* The caller's, for those without an id; the walk itself does not use it. NULL: none. */
    char *names;
    size_t names_bytes;
    size_t capacity;
    size_t count;
    size_t leaf_count;
    size_t omitted;
    enum smp_frames_end end;
    struct smp_frames_words *words; /* the caller's; NULL: they are not kept */
    uint64_t safepoints;            /* their count before the walk; 0: not known */
    size_t unsure; /* methods that smp_frames_confirm would spare the next walks a check */
};

#endif
