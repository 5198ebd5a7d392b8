/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - grow-only memory that never moves: one reserved address range, committed as it fills.
 *
 * Because nothing moves, a reader on another thread may keep pointers and indices to pieces that
 * were complete when it got them, while the owner continues to append. A piece type that is the
 * only one in its arena forms an array. ASan builds poison all bytes that are not handed out, so a
 * stale pointer is caught where it is used.
 *
 * Owns     its range. Pieces live until rewind or destroy.
 * Threads  one writer; readers see what was published to them by other means (a mutex).
 * Errors   NULL at the maximum of the arena or of its budget, at the quota's limit, or if the
 *          system refuses; nothing has changed then.
 * Cost     alloc: a bump (2 ns); every SMP_ARENA_STEP bytes one mprotect. rewind: a memset of the
 *          bytes forgotten, a third of the cost of returning the pages and faulting them in again.
 */
#ifndef SMP_BASE_ARENA_H
#define SMP_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/memory_budget.h"
#include "base/status.h"

struct smp_arena;

enum { SMP_ARENA_STEP = 64 * 1024 }; /* bytes committed at a time */

/* max_bytes is rounded up to SMP_ARENA_STEP. Commits nothing yet. SMP_EINVAL: max_bytes is 0 or
 * cannot be rounded. SMP_ENOMEM: refused. */
SMP_CHECKED enum smp_status smp_arena_create(struct smp_quota *quota, size_t max_bytes,
                                             struct smp_arena **out);
/* As create. Committed bytes also count in the budget; destroy does not return them to it. */
SMP_CHECKED enum smp_status smp_arena_create_within(struct smp_memory_budget *budget,
                                                    size_t max_bytes, struct smp_arena **out);
void smp_arena_destroy(struct smp_arena *arena);

/* Returns zeroed memory. align is a power of two up to 64. */
void *smp_arena_alloc(struct smp_arena *arena, size_t size, size_t align);

/* Commits the next size bytes, so that allocating them cannot fail. Returns false without
 * memory. */
bool smp_arena_reserve(struct smp_arena *arena, size_t size, size_t align);

void *smp_arena_base(const struct smp_arena *arena);
size_t smp_arena_used(const struct smp_arena *arena);
size_t smp_arena_committed(const struct smp_arena *arena);

/* Frees what was allocated since smp_arena_used was mark; those bytes are zeroed before reuse. */
void smp_arena_rewind(struct smp_arena *arena, size_t mark);
/* Returns the steps behind the last piece to the system and to the quota, but not to a budget. */
void smp_arena_give_back(struct smp_arena *arena);

#endif
