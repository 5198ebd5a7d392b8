/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/call_arena.h"

#include <time.h>

#include "counting/call_shared.h"

#define RELAXED memory_order_relaxed
#define ACQUIRE memory_order_acquire
#define RELEASE memory_order_release

enum { FIRST_NODE = 2, ROOT_UNITS = 2, TAG_SHIFT = 32, CLOSE_SLEEP_NS = 20000 };

/* Grows with each change of the layout that the sizes do not show. */
#define STAMP_VERSION UINT64_C(3)

static struct smp_call_shared own;
static struct smp_call_shared *shared = &own;

static uint64_t stamp_of_layout(void)
{
    return STAMP_VERSION << 48 ^ (uint64_t)sizeof(struct smp_call_shared) << 16 ^
           (uint64_t)sizeof(struct smp_call_tree) << 8 ^ sizeof(struct smp_call_arena);
}

struct smp_call_shared *smp_call_shared_memory(void)
{
    return shared;
}

struct smp_call_addresses smp_call_arena_addresses(void)
{
    shared->stamp = stamp_of_layout();
    return (struct smp_call_addresses){ .slots = (void *)shared->slots,
                                        .shared = shared,
                                        .reflected = shared->reflected };
}

bool smp_call_arena_adopt(struct smp_call_shared *other)
{
    if (other->stamp != stamp_of_layout())
        return false;
    shared = other;
    return true;
}

uint32_t smp_call_session(void)
{
    return atomic_load_explicit(&shared->session, memory_order_seq_cst);
}

uint32_t smp_call_epoch(void)
{
    return atomic_load_explicit(&shared->epoch, RELAXED);
}

/* ---- stacks of trees; the tag counts changes, so that an old head is never the same ---- */

static void push_tree(_Atomic uint64_t *stack, uint32_t index)
{
    uint64_t head = atomic_load_explicit(stack, RELAXED);
    uint64_t next = 0;

    do {
        atomic_store_explicit(&shared->trees[index].pool_next, (uint32_t)head, RELAXED);
        next = ((head >> TAG_SHIFT) + 1) << TAG_SHIFT | (index + 1);
    } while (!atomic_compare_exchange_weak_explicit(stack, &head, next, RELEASE, RELAXED));
}

/* NULL: it is empty. */
static struct smp_call_tree *pop_tree(_Atomic uint64_t *stack)
{
    uint64_t head = atomic_load_explicit(stack, ACQUIRE);
    struct smp_call_tree *tree = NULL;
    uint64_t next = 0;

    do {
        if ((uint32_t)head == 0)
            return NULL;
        tree = &shared->trees[(uint32_t)head - 1];
        next = ((head >> TAG_SHIFT) + 1) << TAG_SHIFT |
               atomic_load_explicit(&tree->pool_next, RELAXED);
    } while (!atomic_compare_exchange_weak_explicit(stack, &head, next, ACQUIRE, ACQUIRE));
    return tree;
}

/* ---- memory ---- */

static bool take_bytes(struct smp_call_arena *arena, size_t bytes)
{
    size_t used = atomic_load_explicit(&arena->bytes, RELAXED);

    do {
        if (bytes > arena->max_bytes - used)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&arena->bytes, &used, used + bytes, RELAXED,
                                                    RELAXED));
    return true;
}

static void give_bytes(struct smp_call_arena *arena, size_t bytes)
{
    atomic_fetch_sub_explicit(&arena->bytes, bytes, RELAXED);
}

void *smp_call_arena_take(struct smp_call_arena *arena, size_t bytes)
{
    void *piece = NULL;

    if (!take_bytes(arena, bytes))
        return NULL;
    piece = smp_alloc(arena->quota, bytes);
    if (piece == NULL)
        give_bytes(arena, bytes);
    return piece;
}

static size_t chunk_bytes(uint32_t units)
{
    return sizeof(struct smp_call_chunk) + SMP_CALL_UNIT - 1 + (size_t)units * SMP_CALL_UNIT;
}

static struct smp_call_chunk *create_chunk(struct smp_call_arena *arena, uint32_t units)
{
    struct smp_call_chunk *chunk = smp_call_arena_take(arena, chunk_bytes(units));

    if (chunk == NULL) {
        atomic_fetch_add_explicit(&arena->lost_chunks, 1, RELAXED);
        return NULL;
    }
    const uintptr_t behind = (uintptr_t)(chunk + 1) + SMP_CALL_UNIT - 1;
    chunk->nodes = (struct smp_call_node *)(behind & ~(uintptr_t)(SMP_CALL_UNIT - 1));
    chunk->units = units;
    return chunk;
}

/* Takes the memory off the arena's bytes only where that arena is still the open one. Runs in the
 * copy of the library that counts the chunks among its own, on a thread of any other. */
static void dispose_call_tree(struct smp_call_tree *tree)
{
    struct smp_call_arena *arena = atomic_load_explicit(&shared->arena, ACQUIRE);
    struct smp_call_chunk *chunk = atomic_load_explicit(&tree->first, RELAXED);
    size_t bytes = 0;

    while (chunk != NULL) {
        struct smp_call_chunk *next = atomic_load_explicit(&chunk->next, RELAXED);
        bytes += chunk_bytes(chunk->units);
        if (chunk->seen != NULL)
            bytes += chunk->units * sizeof(struct smp_call_seen);
        smp_free(tree->quota, chunk->seen);
        smp_free(tree->quota, chunk);
        chunk = next;
    }
    if (arena != NULL && arena->session == tree->session)
        give_bytes(arena, bytes);
    smp_quota_release(tree->quota);
    tree->quota = NULL;
    tree->last = NULL;
    atomic_store_explicit(&tree->first, NULL, RELAXED);
    atomic_store_explicit(&tree->status, SMP_TREE_FREE, RELEASE);
    push_tree(&shared->free_trees, (uint32_t)(tree - shared->trees));
}

void smp_call_tree_free(struct smp_call_tree *tree)
{
    tree->dispose(tree);
}

/* ---- trees ---- */

/* A tree that no other thread knows. NULL: the limit. */
static struct smp_call_tree *take_free_tree(void)
{
    struct smp_call_tree *tree = pop_tree(&shared->free_trees);
    uint32_t count = atomic_load_explicit(&shared->tree_count, RELAXED);

    if (tree != NULL)
        return tree;
    do {
        if (count == SMP_CALL_TREES)
            return NULL;
    } while (!atomic_compare_exchange_weak_explicit(&shared->tree_count, &count, count + 1, RELAXED,
                                                    RELAXED));
    return &shared->trees[count];
}

static void plant(struct smp_call_tree *tree, struct smp_call_chunk *chunk)
{
    struct smp_call_node *top = chunk->nodes;

    top[0].key = SMP_CALL_TOP;
    top[1].key = SMP_CALL_OVERFLOW;
    top[1].ordinal = 1;
    tree->last = chunk;
    tree->units = FIRST_NODE;
    tree->free = (char *)(top + FIRST_NODE);
    tree->free_end = (char *)(top + chunk->units);
    atomic_store_explicit(&tree->first, chunk, RELEASE);
}

static struct smp_call_tree *create_call_tree(struct smp_call_arena *arena, int64_t tid,
                                              uint32_t pool)
{
    struct smp_call_chunk *chunk = create_chunk(arena, SMP_CALL_LEAST_UNITS);
    struct smp_call_tree *tree = chunk == NULL ? NULL : take_free_tree();

    if (tree == NULL) {
        if (chunk != NULL)
            give_bytes(arena, chunk_bytes(chunk->units));
        smp_free(arena->quota, chunk);
        return NULL;
    }
    tree->session = arena->session;
    tree->tid = tid;
    tree->pool = pool;
    tree->serial = atomic_fetch_add_explicit(&shared->serials, 1, RELAXED) + 1;
    tree->quota = smp_quota_hold(arena->quota);
    tree->dispose = dispose_call_tree;
    plant(tree, chunk);
    return tree;
}

static struct smp_call_tree *tree_of_state(uint32_t index)
{
    const uint32_t tree = atomic_load_explicit(&shared->tree_of[index], RELAXED);

    return tree == 0 ? NULL : &shared->trees[tree - 1];
}

static void forget_tree(uint32_t index)
{
    atomic_store_explicit(&shared->tree_of[index], 0, RELAXED);
}

/* Of counting that was closed; either its thread or close frees it. */
static void free_abandoned(struct smp_call_tree *tree, uint32_t index)
{
    uint32_t expected = SMP_TREE_ABANDONED;

    if (!atomic_compare_exchange_strong(&tree->status, &expected, SMP_TREE_FREEING))
        return;
    forget_tree(index);
    smp_call_tree_free(tree);
}

/* ---- states ---- */

static uint32_t index_of_state(const struct smp_call_state *state)
{
    return (uint32_t)(state - shared->states);
}

static _Atomic(struct smp_call_state *) *slot_of(int64_t tid)
{
    return &shared->slots[(uint64_t)tid & (SMP_CALL_SLOTS - 1)];
}

struct smp_call_state *smp_call_state_find(int64_t tid)
{
    struct smp_call_state *state = atomic_load_explicit(slot_of(tid), ACQUIRE);

    while (state != NULL && atomic_load_explicit(&state->tid, ACQUIRE) != tid)
        state = state->next;
    return state;
}

/* One of this slot's chain that is free; else a new one at the chain's beginning. */
static struct smp_call_state *claim_state(int64_t tid)
{
    _Atomic(struct smp_call_state *) *slot = slot_of(tid);
    uint32_t count = atomic_load_explicit(&shared->state_count, RELAXED);
    struct smp_call_state *state = atomic_load_explicit(slot, ACQUIRE);

    for (; state != NULL; state = state->next) {
        int64_t expected = 0;
        if (atomic_compare_exchange_strong(&state->tid, &expected, tid))
            return state;
    }
    do {
        if (count == SMP_CALL_STATES)
            return NULL;
    } while (!atomic_compare_exchange_weak_explicit(&shared->state_count, &count, count + 1,
                                                    RELAXED, RELAXED));
    state = &shared->states[count];
    atomic_store_explicit(&state->tid, tid, RELAXED);
    struct smp_call_state *head = atomic_load_explicit(slot, RELAXED);
    do {
        state->next = head;
    } while (!atomic_compare_exchange_weak_explicit(slot, &head, state, RELEASE, RELAXED));
    return state;
}

static void free_state(struct smp_call_state *state)
{
    atomic_store_explicit(&state->session, 0, RELAXED);
    atomic_store_explicit(&state->tid, 0, RELEASE);
}

/* The state's tree of this session, or a new one, or one of the pool. */
static struct smp_call_tree *own_tree(struct smp_call_arena *arena, uint32_t index, int64_t tid,
                                      bool is_virtual, uint32_t pool)
{
    struct smp_call_tree *tree = tree_of_state(index);

    if (tree != NULL && tree->session == arena->session)
        return tree;
    if (tree != NULL)
        free_abandoned(tree, index);
    tree = is_virtual ? pop_tree(&arena->pools[pool % SMP_CALL_POOLS]) : NULL;
    if (tree == NULL)
        tree = create_call_tree(arena, is_virtual ? 0 : tid, pool);
    return tree;
}

static bool prepare_state(struct smp_call_arena *arena, struct smp_call_state *state, int64_t tid,
                          bool is_virtual, uint32_t pool)
{
    const uint32_t index = index_of_state(state);
    struct smp_call_tree *tree = own_tree(arena, index, tid, is_virtual, pool);

    if (tree == NULL)
        return false;
    tree->state_index = index;
    state->top = atomic_load_explicit(&tree->first, RELAXED)->nodes;
    state->free = tree->free;
    state->free_end = tree->free_end;
    state->units = tree->units;
    state->is_exact = arena->is_exact;
    state->is_virtual = is_virtual;
    state->is_full = false;
    state->depth_limit = arena->depth;
    atomic_store_explicit(&shared->tree_of[index], (uint32_t)(tree - shared->trees) + 1, RELEASE);
    atomic_store(&tree->status, SMP_TREE_OWNED);
    atomic_store_explicit(&state->session, arena->session, RELEASE);
    return true;
}

/* ---- what threads do; close waits until none is in here with the arena ---- */

static struct smp_call_arena *enter_arena(void)
{
    atomic_fetch_add(&shared->inside, 1);
    return atomic_load(&shared->arena);
}

static void leave_arena(void)
{
    atomic_fetch_sub(&shared->inside, 1);
}

struct smp_call_state *smp_call_begin(int64_t tid, bool is_virtual, uint32_t pool)
{
    struct smp_call_arena *arena = enter_arena();
    struct smp_call_state *state = arena == NULL ? NULL : smp_call_state_find(tid);

    if (arena != NULL && state == NULL)
        state = claim_state(tid);
    if (state != NULL && !prepare_state(arena, state, tid, is_virtual, pool)) {
        if (is_virtual)
            free_state(state);
        state = NULL;
    }
    if (arena != NULL && state == NULL)
        atomic_fetch_add_explicit(&arena->lost_roots, 1, RELAXED);
    leave_arena();
    return state;
}

static void pool_tree(struct smp_call_arena *arena, struct smp_call_state *state,
                      struct smp_call_tree *tree, uint32_t index)
{
    tree->free = state->free;
    tree->free_end = state->free_end;
    tree->units = state->units;
    forget_tree(index);
    atomic_store_explicit(&tree->status, SMP_TREE_POOLED, RELEASE);
    push_tree(&arena->pools[tree->pool % SMP_CALL_POOLS], (uint32_t)(tree - shared->trees));
}

void smp_call_leave(struct smp_call_state *state)
{
    struct smp_call_arena *arena = enter_arena();
    const uint32_t index = index_of_state(state);
    struct smp_call_tree *tree = tree_of_state(index);

    if (tree != NULL && (arena == NULL || tree->session != arena->session))
        free_abandoned(tree, index);
    else if (tree != NULL && state->is_virtual)
        pool_tree(arena, state, tree, index);
    if (state->is_virtual)
        free_state(state);
    leave_arena();
}

static uint32_t next_units(const struct smp_call_arena *arena, uint32_t units)
{
    uint32_t next = units < SMP_CALL_MOST_UNITS ? units : SMP_CALL_MOST_UNITS;
    const uint32_t left = units < arena->nodes ? arena->nodes - units : 0;

    return next < left ? next : left;
}

enum smp_call_room smp_call_grow(struct smp_call_state *state)
{
    struct smp_call_arena *arena = enter_arena();
    struct smp_call_tree *tree = tree_of_state(index_of_state(state));
    struct smp_call_chunk *chunk = NULL;
    enum smp_call_room room = SMP_CALL_NO_MEMORY;

    if (arena != NULL && tree != NULL && tree->session == arena->session) {
        const uint32_t units = next_units(arena, state->units);
        if (units >= ROOT_UNITS)
            chunk = create_chunk(arena, units);
        else
            room = SMP_CALL_OVER_NODES;
        state->is_full = room == SMP_CALL_OVER_NODES;
    }
    if (chunk != NULL) {
        chunk->first_ordinal = state->units;
        state->free = (char *)chunk->nodes;
        state->free_end = (char *)(chunk->nodes + chunk->units);
        atomic_store_explicit(&tree->last->next, chunk, RELEASE);
        tree->last = chunk;
        room = SMP_CALL_HAS_ROOM;
    }
    leave_arena();
    return room;
}

void smp_call_arena_mark_seen(int32_t id)
{
    if (id < 0 || id >= SMP_CALL_METHODS || atomic_load_explicit(&shared->seen[id], RELAXED) != 0)
        return;
    if (atomic_exchange_explicit(&shared->seen[id], 1, RELAXED) == 0)
        atomic_fetch_add_explicit(&shared->news, 1, RELEASE);
}

/* ---- what the library's own threads do ---- */

static enum smp_status check_options(const struct smp_call_options *options)
{
    if (options->nodes < SMP_CALL_LEAST_UNITS || options->nodes > INT32_MAX)
        return SMP_EINVAL;
    if (options->depth < 1 || options->depth > SMP_CALL_DEPTH_LIMIT)
        return SMP_EINVAL;
    return options->max_bytes == 0 ? SMP_EINVAL : SMP_OK;
}

static void free_arena(struct smp_call_arena *arena)
{
    struct smp_quota *quota = arena->quota;

    smp_free(quota, arena);
    smp_quota_release(quota);
}

enum smp_status smp_call_arena_open(const struct smp_call_options *options)
{
    struct smp_call_arena *none = NULL;
    struct smp_call_arena *arena = NULL;

    if (check_options(options) != SMP_OK)
        return SMP_EINVAL;
    if (smp_call_arena_is_open())
        return SMP_ESTATE;
    arena = smp_alloc(options->quota, sizeof(*arena));
    if (arena == NULL)
        return SMP_ENOMEM;
    arena->quota = smp_quota_hold(options->quota);
    arena->max_bytes = options->max_bytes;
    arena->nodes = options->nodes;
    arena->depth = options->depth;
    arena->is_exact = options->is_exact;
    shared->sessions += shared->sessions == UINT32_MAX ? 2 : 1; /* 0 says that counting is off */
    arena->session = shared->sessions;
    smp_call_clock_start(&arena->clock);
    atomic_fetch_add_explicit(&shared->epoch, 1, RELAXED);
    /* Another core may have opened one since it was looked at. */
    if (!atomic_compare_exchange_strong(&shared->arena, &none, arena)) {
        free_arena(arena);
        return SMP_ESTATE;
    }
    atomic_store(&shared->session, arena->session);
    return SMP_OK;
}

/* Its thread may be inside of a root: then it frees the tree when it leaves. */
static void abandon(struct smp_call_tree *tree)
{
    const struct smp_call_state *state = &shared->states[tree->state_index];

    atomic_store(&tree->status, SMP_TREE_ABANDONED);
    if (atomic_load(&state->position) == NULL)
        free_abandoned(tree, tree->state_index);
}

/* Those of sessions before are abandoned, or free. */
static void close_tree(struct smp_call_tree *tree)
{
    const uint32_t status = atomic_load_explicit(&tree->status, ACQUIRE);

    if (status == SMP_TREE_OWNED)
        abandon(tree);
    else if (status == SMP_TREE_POOLED || status == SMP_TREE_RETIRED)
        smp_call_tree_free(tree);
}

void smp_call_arena_close(void)
{
    const struct timespec moment = { .tv_nsec = CLOSE_SLEEP_NS };
    struct smp_call_arena *arena = atomic_load(&shared->arena);

    if (arena == NULL)
        return;
    atomic_store(&shared->session, 0);
    atomic_store(&shared->arena, NULL);
    while (atomic_load(&shared->inside) != 0)
        (void)nanosleep(&moment, NULL);
    const uint32_t count = atomic_load_explicit(&shared->tree_count, ACQUIRE);
    for (uint32_t i = 0; i < count; i++)
        close_tree(&shared->trees[i]);
    free_arena(arena);
}

bool smp_call_arena_is_open(void)
{
    return atomic_load_explicit(&shared->arena, ACQUIRE) != NULL;
}

struct smp_call_losses smp_call_arena_losses(void)
{
    const struct smp_call_arena *arena = atomic_load_explicit(&shared->arena, ACQUIRE);

    if (arena == NULL)
        return (struct smp_call_losses){ 0 };
    return (struct smp_call_losses){
        .roots = atomic_load_explicit(&arena->lost_roots, RELAXED),
        .chunks = atomic_load_explicit(&arena->lost_chunks, RELAXED),
    };
}

size_t smp_call_arena_bytes(void)
{
    const struct smp_call_arena *arena = atomic_load_explicit(&shared->arena, ACQUIRE);

    return arena == NULL ? 0 : atomic_load_explicit(&arena->bytes, RELAXED);
}

uint32_t smp_call_arena_news(void)
{
    return atomic_load_explicit(&shared->news, ACQUIRE);
}

bool smp_call_arena_is_seen(int32_t id)
{
    return id >= 0 && id < SMP_CALL_METHODS &&
           atomic_load_explicit(&shared->seen[id], RELAXED) != 0;
}

/* Not written where it is 0 already: pages that were never written take no memory. */
void smp_call_arena_forget_seen(void)
{
    for (uint32_t id = 0; id < SMP_CALL_METHODS; id++) {
        if (atomic_load_explicit(&shared->seen[id], RELAXED) != 0)
            atomic_store_explicit(&shared->seen[id], 0, RELAXED);
    }
}

void smp_call_arena_retire(int64_t tid)
{
    const struct smp_call_arena *arena = atomic_load_explicit(&shared->arena, ACQUIRE);
    struct smp_call_state *state = smp_call_state_find(tid);

    if (state == NULL || state->is_virtual)
        return;
    const uint32_t index = index_of_state(state);
    struct smp_call_tree *tree = tree_of_state(index);
    if (tree != NULL && arena != NULL && tree->session == arena->session) {
        forget_tree(index);
        atomic_store_explicit(&tree->status, SMP_TREE_RETIRED, RELEASE);
    } else if (tree != NULL) {
        free_abandoned(tree, index);
    }
    atomic_store_explicit(&state->position, NULL, RELAXED);
    free_state(state);
}
