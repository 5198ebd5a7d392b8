/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.h - walks a stack from a complete frame to the thread's first entry into Java.
 *
 *   sp, fp, pc ─► compiled · native · interpreted · stub · entry (by its call wrapper's anchor)
 *                 deoptimised · return barrier ─► caller's sp, fp, pc ─► ...
 *
 * Every compiled caller must have a record of exactly its return address, and every interpreted
 * frame a valid Method* with the byte code pointer inside its code; otherwise the walk ends as
 * UNWALKABLE. A cache holds the frames of return addresses. At each hit the blob must still be in
 * use, with the same compile id.
 *
 * Owns     the cache, allocated once by create; walks allocate nothing.
 * Threads  walk: any, signal handlers included. One thread at a time fills a cache; a walk that
 *          finds it busy keeps nothing.
 * Errors   see smp_frames_end.
 * Cost     warm, about 10 ns a frame of the stack; from JDK 26 on 2.3 us an interpreted frame, once
 *          after each safepoint, or each time if the JVM does not count them. A new return address:
 *          no system call if debug data lie in the code heap (to JDK 21), else mostly one, three
 *          for a method with much inlining. A new method: none if method_table.h knows it, one or
 *          two if its byte codes are needed, else five or six.
 */
#ifndef SMP_HOTSPOT_FRAMES_H
#define SMP_HOTSPOT_FRAMES_H

#include <stdint.h>

#include "base/status.h"
#include "hotspot/frame_types.h"
#include "hotspot/layout.h"

SMP_CHECKED enum smp_status smp_frames_cache_create(struct smp_frames_cache **out);
void smp_frames_cache_destroy(struct smp_frames_cache *cache);
/* After a class has been unloaded: older entries are checked once more before they are used. */
void smp_frames_cache_renew(struct smp_frames_cache *cache);

/* The id of Continuation.enterSpecial, on which a virtual thread's frames stand; 0: not known. */
void smp_frames_set_virtual_root(uint64_t id);

/*
 * Reads words in [start.sp - 16, stack_high), code and methods, and nothing else. cache may be
 * NULL.
 */
void smp_frames_walk(const struct smp_layout *layout, struct smp_frames_cache *cache,
                     struct smp_frames_start start, uintptr_t stack_high, struct smp_frames *out);

/*
 * To be called if it is proven that the frames were on the stack during the whole walk: then their
 * methods were alive. Until the next safepoint they need no further check.
 */
void smp_frames_confirm(struct smp_frames_cache *cache, const struct smp_frames *frames);

#endif
