/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_names.h - copies the names of methods that have no id yet, after a walk has met them.
 *
 *   frames with id 0 ─► copies in room ─► the id becomes a mark with the address of the copy
 *
 * The sampler thread turns each copy into a key (code/named_methods.h) before the room is used
 * again. The frames of a recursion share a copy.
 *
 * Threads  any, signal handlers included. The frames must still be alive: in the handler of their
 *          thread, or inside the proof that it has not run.
 * Errors   if there is no room, or beyond SMP_FRAME_NAMES_MOST, a frame keeps id 0.
 * Cost     nothing if all frames have ids; else that of smp_method_copy for each method.
 */
#ifndef SMP_HOTSPOT_FRAME_NAMES_H
#define SMP_HOTSPOT_FRAME_NAMES_H

#include "hotspot/frame_types.h"
#include "hotspot/layout.h"
#include "hotspot/method_copy.h"

enum {
    SMP_FRAME_NAMES_MOST = 64,     /* copies of one walk: together below a millisecond */
    SMP_FRAME_NAMES_LOOK_BACK = 64 /* frames that are searched for an equal one */
};

/* No id has this bit: up to JDK 25 one is an address, from 26 on a number that counts from 1. */
#define SMP_FRAME_NAME_BIT (UINT64_C(1) << 62)

/* room: aligned to 8. */
void smp_frame_names_copy(const struct smp_layout *layout, struct smp_frames *frames, char *room,
                          size_t bytes);

/* NULL: not a mark of a copy inside of room. */
static inline const struct smp_method_copy *smp_frame_name_of(uint64_t id, const void *room,
                                                              size_t bytes)
{
    const uint64_t at = (id ^ SMP_FRAME_NAME_BIT) - (uintptr_t)room;

    if ((id & SMP_FRAME_NAME_BIT) == 0 || at >= bytes)
        return NULL;
    return (const struct smp_method_copy *)(const void *)((const char *)room + at);
}

#endif
