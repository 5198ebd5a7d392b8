/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.h - walks a stack from a complete frame to the thread's first entry into Java.
 *
 *   sp, fp, pc ─► compiled · native · interpreted · stub · entry (back by its call wrapper's anchor)
 *                 deoptimised · return barrier ─► caller's sp, fp, pc ─► ...
 *
 * Every compiled caller's return address has a record of exactly this pc, every interpreted frame a
 * valid Method* with the byte code pointer inside its code; otherwise the walk ends as UNWALKABLE.
 * A cache holds what a return address means. An entry is checked by the blob's compile id at each hit.
 *
 * Owns     the cache, made once at create; walks allocate nothing.
 * Threads  walk: any, signal handlers included; a cache is filled by one thread at a time, and a walk
 *          that finds it busy does without.
 * Errors   see smp_frames_end.
 * Cost     warm about 15 ns a frame; a return address that is not cached: about 150 ns.
 */
#ifndef SMP_JVM_HOTSPOT_FRAMES_H
#define SMP_JVM_HOTSPOT_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "jvm/hotspot/code.h"
#include "jvm/hotspot/layout.h"

enum { SMP_FRAMES_CACHE = 16384 /* return addresses; a power of two */ };

struct smp_frames_cache;

/* Where a walk begins: a complete frame, as an anchor or the registers at a call give it. */
struct smp_frames_start {
    uintptr_t sp;
    uintptr_t fp;
    uintptr_t pc; /* 0: the word below sp */
    uintptr_t
        line_pc; /* 0: the record of exactly pc; else the first one at or behind this address in
                          the same method, for the leaf: it need not be at a call, or its call's line
                          is recorded elsewhere */
};

enum smp_frames_end {
    SMP_FRAMES_ROOT,         /* the thread's first entry into Java has been reached */
    SMP_FRAMES_VIRTUAL_ROOT, /* a virtual thread's own first frame */
    SMP_FRAMES_BARRIER,      /* the rest of a virtual thread lies in the heap */
    SMP_FRAMES_FULL,         /* more physical frames than any stack has */
    SMP_FRAMES_UNWALKABLE
};

/*
 * The stack that was read, leaf first. Deeper than capacity: both ends, as in model/sample.h. raw and
 * words are the caller's.
 */
struct smp_frames {
    struct smp_raw_frame *raw;
    uint64_t *ids; /* of each frame: its method id, or 0 where it has none yet */
    size_t capacity;
    size_t count;
    size_t leaf_count;
    size_t omitted;
    enum smp_frames_end end;
    uint64_t
        proof; /* a hash over all that was read of the stack: two equal walks have equal ones */
};

SMP_CHECKED enum smp_status smp_frames_cache_create(struct smp_frames_cache **out);
void smp_frames_cache_destroy(struct smp_frames_cache *cache);
/* After events that end code or classes: entries from before are checked once more. */
void smp_frames_cache_renew(struct smp_frames_cache *cache);

/*
 * Reads only words in [start.sp - 16, stack_high), and what layout says is code or method. cache may be
 * NULL.
 */
void smp_frames_walk(const struct smp_layout *layout, struct smp_frames_cache *cache,
                     struct smp_frames_start start, uintptr_t stack_high, struct smp_frames *out);

#endif
