/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.h - walks a stack from a complete frame to the thread's first entry into Java, and copies
 * the names of methods that have no id yet.
 *
 *   sp, fp, pc ─► compiled · native · interpreted · stub · entry (by its call wrapper's anchor)
 *                 deoptimised · return barrier ─► caller's sp, fp, pc ─► ...
 *
 *   frames with id 0 ─► copies of their names in room ─► the id becomes a mark with the copy's
 *                                                        address
 *
 * Every compiled caller must have a record of exactly its return address, and every interpreted
 * frame a valid Method* with the byte code pointer inside its code; otherwise the walk ends as
 * UNWALKABLE. A cache holds the frames of return addresses. At each hit the blob must still be in
 * use, with the same compile id.
 *
 * The sampler thread turns each copy into a key (code/named_methods.h) before the room is used
 * again. The frames of a recursion share a copy.
 *
 * Owns     the cache, allocated once by create; walks allocate nothing.
 * Threads  walk, copy: any, signal handlers included. copy: the frames must still be alive, so in
 *          the handler of their thread, or inside the proof that it has not run. One thread at a
 *          time fills a cache; a walk that finds it busy keeps nothing.
 * Errors   see smp_frames_end. If there is no room, or beyond SMP_FRAME_NAMES_MOST copies, a frame
 *          keeps id 0.
 * Cost     warm, about 10 ns a frame of the stack; from JDK 26 on 2.3 us an interpreted frame, once
 *          after each safepoint, or each time if the JVM does not count them. A new return address:
 *          no system call if debug data lie in the code heap (to JDK 21), else mostly one, three
 *          for a method with much inlining. A new method: none if method_table.h knows it, one or
 *          two if its byte codes are needed, else five or six. A copy: as smp_method_copy.
 */
#ifndef SMP_HOTSPOT_FRAMES_H
#define SMP_HOTSPOT_FRAMES_H

#include <stdint.h>

#include "base/status.h"
#include "hotspot/frame_types.h"
#include "hotspot/layout.h"
#include "hotspot/method.h"

SMP_CHECKED enum smp_status smp_frames_cache_create(struct smp_frames_cache **out);
void smp_frames_cache_destroy(struct smp_frames_cache *cache);
/* Called after a class was unloaded: older entries are checked again before they are used. */
void smp_frames_cache_renew(struct smp_frames_cache *cache);

/* Sets the id of Continuation.enterSpecial, the frame below a virtual thread's; 0: not known. */
void smp_frames_set_virtual_root(uint64_t id);

/*
 * Reads words in [start.sp - 16, stack_high), code and methods, and nothing else. cache may be
 * NULL.
 */
void smp_frames_walk(const struct smp_layout *layout, struct smp_frames_cache *cache,
                     struct smp_frames_start start, uintptr_t stack_high, struct smp_frames *out);

/*
 * The caller has proven that the frames were on the stack during the whole walk, so their methods
 * were alive. Until the next safepoint they then need no further check.
 */
void smp_frames_confirm(struct smp_frames_cache *cache, const struct smp_frames *frames);

enum {
    SMP_FRAME_NAMES_MOST = 64,     /* copies of one walk: together below a millisecond */
    SMP_FRAME_NAMES_LOOK_BACK = 64 /* frames that are searched for an equal one */
};

/* No id has this bit: up to JDK 25 one is an address, from 26 on a number that counts from 1. */
#define SMP_FRAME_NAME_BIT (UINT64_C(1) << 62)

/* room: aligned to 8. */
void smp_frame_names_copy(const struct smp_layout *layout, struct smp_frames *frames, char *room,
                          size_t bytes);

/* Returns NULL if this is not a mark of a copy in room. */
static inline const struct smp_method_copy *smp_frame_name_of(uint64_t id, const void *room,
                                                              size_t bytes)
{
    const uint64_t at = (id ^ SMP_FRAME_NAME_BIT) - (uintptr_t)room;

    if ((id & SMP_FRAME_NAME_BIT) == 0 || at >= bytes)
        return NULL;
    return (const struct smp_method_copy *)(const void *)((const char *)room + at);
}

#endif
