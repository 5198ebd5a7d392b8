/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_walk.h - hotspot/frames.h for the handler: frames with method ids, up to the thread's root.
 *
 * If a method has no id yet, its names and line are copied to the end of the frames' memory, and
 * the frame gets the mark of the copy (hotspot/frames.h), or NULL if there is no room. The
 * sampler thread completes both.
 *
 * Threads  the interrupted thread: no lock, no allocation, no call into the JVM.
 * Errors   see struct smp_own_walk.
 * Cost     that of smp_frames_walk; 5 to 10 us more for each method without an id.
 */
#ifndef SMP_HANDLER_OWN_WALK_H
#define SMP_HANDLER_OWN_WALK_H

#include "handler/walk_data.h"

/* layout and cache outlive it. virtual_root: the id of Continuation.enterSpecial; 0: not known. */
struct smp_own_walk smp_own_walk_make(const struct smp_layout *layout,
                                      struct smp_frames_cache *cache, uint64_t virtual_root);

#endif
