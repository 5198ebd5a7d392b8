/* SPDX-License-Identifier: Apache-2.0 */
/*
 * room.h - one maximum shared by the several arenas and tables a module is made of.
 *
 * The module sums what it holds; what is left of its maximum is the room it passes on here.
 *
 * Owns     nothing.
 * Threads  as the arena.
 * Errors   NULL or false where the room, the quota or the system says no; nothing has changed then.
 * Cost     as smp_arena_alloc.
 */
#ifndef SMP_MODEL_ROOM_H
#define SMP_MODEL_ROOM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* What is left of max_bytes. */
static inline size_t smp_room_left(size_t max_bytes, size_t used_bytes)
{
    return used_bytes < max_bytes ? max_bytes - used_bytes : 0;
}

/* Would handing out size bytes commit at most room_bytes? */
static inline bool smp_room_fits(const struct smp_arena *arena, size_t size, size_t align,
                                 size_t room_bytes)
{
    const size_t step = SMP_ARENA_STEP;
    const size_t needed = smp_arena_used(arena) + size + align;
    const size_t committed = smp_arena_committed(arena);

    return needed <= committed || (needed - committed + step - 1) / step * step <= room_bytes;
}

static inline void *smp_room_alloc(struct smp_arena *arena, size_t size, size_t align,
                                   size_t room_bytes)
{
    return smp_room_fits(arena, size, align, room_bytes) ? smp_arena_alloc(arena, size, align)
                                                         : NULL;
}

/* Makes sure that the next size bytes are committed, so that handing them out cannot fail. */
static inline bool smp_room_reserve(struct smp_arena *arena, size_t size, size_t align,
                                    size_t room_bytes)
{
    if (smp_arena_used(arena) + size + align <= smp_arena_committed(arena))
        return true;

    const size_t mark = smp_arena_mark(arena);
    const bool reserved = smp_room_alloc(arena, size, align, room_bytes) != NULL;

    smp_arena_rewind(arena, mark);
    return reserved;
}

#endif
