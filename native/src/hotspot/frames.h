/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.h - walks a stack from a complete frame to the thread's first entry into Java.
 *
 *   sp, fp, pc ─► compiled · native · interpreted · stub · entry (by its call wrapper's anchor)
 *                 deoptimised · return barrier ─► caller's sp, fp, pc ─► ...
 *
 * Every compiled caller's return address has a record of exactly this pc, every interpreted frame a
 * valid Method* with the byte code pointer inside its code; otherwise the walk ends as UNWALKABLE.
 * A cache holds what a return address means. At each hit the blob must still be in use, with the
 * same compile id.
 *
 * Owns     the cache, made once at create; walks allocate nothing.
 * Threads  walk: any, signal handlers included; a cache is filled by one thread at a time, and a
 *          walk that finds it busy does without.
 * Errors   see smp_frames_end.
 * Cost     warm about 10 ns a frame of the stack (from JDK 26 on an interpreted one 2.3 us, once
 *          after each safepoint, or each time where those are not counted). A return address that
 *          is seen first: where debug data lie in the code heap (to JDK 21) no system call, else
 *          mostly one, three for a method with much inlining. A method that is seen first: none if
 *          method_table.h knows it, one or two if its byte codes are wanted, else five or six.
 */
#ifndef SMP_HOTSPOT_FRAMES_H
#define SMP_HOTSPOT_FRAMES_H

#include <stdint.h>

#include "base/status.h"
#include "hotspot/frame_types.h"
#include "hotspot/layout.h"

SMP_CHECKED enum smp_status smp_frames_cache_create(struct smp_frames_cache **out);
void smp_frames_cache_destroy(struct smp_frames_cache *cache);
/* After a class has been unloaded: entries from before are checked once more. */
void smp_frames_cache_renew(struct smp_frames_cache *cache);

/* The id of Continuation.enterSpecial, in which virtual threads end; 0: it is not known. */
void smp_frames_set_virtual_root(uint64_t id);

/*
 * Reads only words in [start.sp - 16, stack_high), and what layout says is code or method. cache
 * may be NULL.
 */
void smp_frames_walk(const struct smp_layout *layout, struct smp_frames_cache *cache,
                     struct smp_frames_start start, uintptr_t stack_high, struct smp_frames *out);

/*
 * After a walk of which it is proven that these frames were on the stack all the while: its methods
 * were alive then. Until the next safepoint they need no further check.
 */
void smp_frames_confirm(struct smp_frames_cache *cache, const struct smp_frames *frames);

#endif
