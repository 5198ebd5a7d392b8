/* SPDX-License-Identifier: Apache-2.0 */
/*
 *  base          used             committed                     max
 *   | handed out | zero, poisoned |   PROT_NONE, costs nothing   |
 *
 * Invariant: every byte from used to committed is zero, so alloc never has to clear. rewind
 * clears the bytes above the new used while they are still in the cache.
 */
#include "base/arena.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SMP_ARENA_POISONS 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SMP_ARENA_POISONS 1
#endif

#if defined(SMP_ARENA_POISONS)
#include <sanitizer/asan_interface.h>
#define POISON(at, bytes) ASAN_POISON_MEMORY_REGION(at, bytes)
#define UNPOISON(at, bytes) ASAN_UNPOISON_MEMORY_REGION(at, bytes)
#else
#define POISON(at, bytes) ((void)(at), (void)(bytes))
#define UNPOISON(at, bytes) ((void)(at), (void)(bytes))
#endif

enum { SMP_ARENA_MAX_ALIGN = 64 };

struct smp_arena {
    char *base;
    size_t used;
    size_t committed; /* a multiple of SMP_ARENA_STEP */
    size_t max_bytes; /* a multiple of SMP_ARENA_STEP */
    struct smp_quota *quota;
    struct smp_memory_budget *budget; /* NULL: none */
};

/* bytes <= SIZE_MAX - SMP_ARENA_STEP */
static size_t round_up(size_t bytes)
{
    return (bytes + SMP_ARENA_STEP - 1) / SMP_ARENA_STEP * SMP_ARENA_STEP;
}

static enum smp_status create_arena(struct smp_quota *quota, struct smp_memory_budget *budget,
                                    size_t max_bytes, struct smp_arena **out)
{
    struct smp_arena *arena = NULL;

    if (max_bytes == 0 || max_bytes > SIZE_MAX - SMP_ARENA_STEP)
        return SMP_EINVAL;
    arena = smp_alloc(quota, sizeof(*arena));
    if (arena == NULL)
        return SMP_ENOMEM;
    arena->quota = quota;
    arena->budget = budget;
    arena->max_bytes = round_up(max_bytes);
    arena->base = smp_map_reserve(arena->max_bytes);
    if (arena->base == NULL) {
        smp_free(quota, arena);
        return SMP_ENOMEM;
    }
    *out = arena;
    return SMP_OK;
}

enum smp_status smp_arena_create(struct smp_quota *quota, size_t max_bytes, struct smp_arena **out)
{
    return create_arena(quota, NULL, max_bytes, out);
}

enum smp_status smp_arena_create_within(struct smp_memory_budget *budget, size_t max_bytes,
                                        struct smp_arena **out)
{
    return create_arena(budget->quota, budget, max_bytes, out);
}

void smp_arena_destroy(struct smp_arena *arena)
{
    if (arena == NULL)
        return;
    UNPOISON(arena->base, arena->committed); /* these addresses may be mapped again */
    smp_map_release(arena->quota, arena->base, arena->max_bytes, arena->committed);
    smp_free(arena->quota, arena);
}

/* Makes size bytes at the offset usable. Not inlined: it runs once per step. */
__attribute__((noinline)) static bool extend(struct smp_arena *arena, size_t at, size_t size)
{
    if (size > arena->max_bytes - at)
        return false;

    const size_t committed = round_up(at + size);
    const size_t more = committed - arena->committed;
    if (arena->budget != NULL && more > smp_memory_budget_left(arena->budget))
        return false;
    if (!smp_map_commit(arena->quota, arena->base + arena->committed, more))
        return false;
    POISON(arena->base + arena->committed, more);
    arena->committed = committed;
    if (arena->budget != NULL)
        arena->budget->used_bytes += more;
    return true;
}

/* Never beyond committed, which is a multiple of every align allowed. */
static size_t next_offset(const struct smp_arena *arena, size_t align)
{
    return (arena->used + align - 1) & ~(align - 1);
}

void *smp_arena_alloc(struct smp_arena *arena, size_t size, size_t align)
{
    assert(align > 0 && align <= SMP_ARENA_MAX_ALIGN && (align & (align - 1)) == 0);

    const size_t at = next_offset(arena, align);
    if (__builtin_expect(size > arena->committed - at, 0) && !extend(arena, at, size))
        return NULL;
    UNPOISON(arena->base + at, size);
    arena->used = at + size;
    return arena->base + at;
}

bool smp_arena_reserve(struct smp_arena *arena, size_t size, size_t align)
{
    const size_t at = next_offset(arena, align);

    return size <= arena->committed - at || extend(arena, at, size);
}

void *smp_arena_base(const struct smp_arena *arena)
{
    return arena->base;
}

size_t smp_arena_used(const struct smp_arena *arena)
{
    return arena->used;
}

size_t smp_arena_committed(const struct smp_arena *arena)
{
    return arena->committed;
}

void smp_arena_rewind(struct smp_arena *arena, size_t mark)
{
    const size_t forgotten = arena->used - mark;

    assert(mark <= arena->used);
    /* The gaps between pieces are poisoned, too. */
    UNPOISON(arena->base + mark, forgotten);
    memset(arena->base + mark, 0, forgotten);
    POISON(arena->base + mark, forgotten);
    arena->used = mark;
}

void smp_arena_give_back(struct smp_arena *arena)
{
    const size_t kept = round_up(arena->used);
    const size_t unused = arena->committed - kept;

    if (unused == 0)
        return;
    UNPOISON(arena->base + kept, unused);
    if (smp_map_decommit(arena->quota, arena->base + kept, unused))
        arena->committed = kept;
    else
        POISON(arena->base + kept, unused);
}
