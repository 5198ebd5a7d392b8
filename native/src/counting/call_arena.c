/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/call_arena.h"

#include <string.h>

#include "base/backoff.h"
#include "base/hash_map.h"
#include "base/process_barrier.h"
#include "counting/call_shared.h"
#include "model/name_rule.h"

#define RELAXED memory_order_relaxed
#define ACQUIRE memory_order_acquire
#define RELEASE memory_order_release

enum { FIRST_DEEP = 255, TAG_SHIFT = 32, NO_THREAD = -1 /* of a state that is being returned */ };

/* Must be incremented with each change of the layout that keeps all sizes. */
#define STAMP_VERSION UINT64_C(9)

static struct smp_call_shared own;
struct smp_call_shared *smp_call_memory = &own;

static const struct smp_call_view blind;
const struct smp_call_view *_Atomic smp_call_view_now = &blind;

static uint64_t stamp_of_layout(void)
{
    return STAMP_VERSION << 56 ^ (uint64_t)sizeof(struct smp_call_shared) << 16 ^
           (uint64_t)sizeof(struct smp_call_tree) << 8 ^ sizeof(struct smp_call_arena);
}

struct smp_call_shared *smp_call_arena_share(void)
{
    smp_call_memory->stamp = stamp_of_layout();
    return smp_call_memory;
}

bool smp_call_arena_adopt(struct smp_call_shared *other)
{
    if (other->stamp != stamp_of_layout())
        return false;
    smp_call_memory = other;
    return true;
}

uint32_t smp_call_session(void)
{
    return atomic_load_explicit(&smp_call_memory->session, memory_order_seq_cst);
}

/* ---- stacks of trees; a tag in the head counts changes, against ABA ---- */

static void push_tree(_Atomic uint64_t *stack, struct smp_call_tree *tree)
{
    const uint32_t number = (uint32_t)(tree - smp_call_memory->trees) + 1;
    uint64_t head = atomic_load_explicit(stack, RELAXED);
    uint64_t next = 0;

    do {
        atomic_store_explicit(&tree->pool_next, (uint32_t)head, RELAXED);
        next = ((head >> TAG_SHIFT) + 1) << TAG_SHIFT | number;
    } while (!atomic_compare_exchange_weak_explicit(stack, &head, next, RELEASE, RELAXED));
}

static struct smp_call_tree *pop_tree(_Atomic uint64_t *stack)
{
    uint64_t head = atomic_load_explicit(stack, ACQUIRE);
    struct smp_call_tree *tree = NULL;
    uint64_t next = 0;

    do {
        if ((uint32_t)head == 0)
            return NULL;
        tree = &smp_call_memory->trees[(uint32_t)head - 1];
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

static void *take_piece(struct smp_call_arena *arena, size_t bytes)
{
    void *piece = NULL;

    if (!take_bytes(arena, bytes))
        return NULL;
    piece = smp_alloc(arena->quota, bytes);
    if (piece == NULL)
        give_bytes(arena, bytes);
    return piece;
}

/* Includes the reader's seen counts of each unit. If a read allocated them, nodes that have taken
 * the last memory could never be read. */
static size_t chunk_bytes(uint32_t units, size_t unit_bytes, size_t before)
{
    return sizeof(struct smp_call_chunk) + SMP_CALL_UNIT - 1 + before +
           (size_t)units * (unit_bytes + sizeof(struct smp_call_seen));
}

/* before: bytes before the nodes. */
static struct smp_call_chunk *create_chunk(struct smp_call_arena *arena, uint32_t units,
                                           size_t before)
{
    const size_t unit_bytes = smp_call_unit_bytes(arena->is_exact);
    const size_t bytes = chunk_bytes(units, unit_bytes, before);
    struct smp_call_chunk *chunk = take_piece(arena, bytes);

    if (chunk == NULL)
        return NULL;
    const uintptr_t behind = (uintptr_t)(chunk + 1) + before + SMP_CALL_UNIT - 1;
    chunk->nodes = (char *)(behind & ~(uintptr_t)(SMP_CALL_UNIT - 1));
    chunk->bytes = bytes;
    chunk->units = units;
    chunk->unit_bytes = (uint32_t)unit_bytes;
    chunk->seen = (struct smp_call_seen *)(void *)(chunk->nodes + units * unit_bytes);
    return chunk;
}

/* Includes the number that holds the capacity. */
static size_t deep_bytes(const int32_t *deep)
{
    return deep == NULL ? 0 : ((size_t)-deep[0] + 1) * sizeof(*deep);
}

static bool is_of(const struct smp_call_tree *tree, const struct smp_call_arena *arena)
{
    return arena != NULL && atomic_load_explicit(&tree->session, RELAXED) == arena->session;
}

/* Subtracts the memory from the arena's bytes only if that arena is still open. The copy of the
 * library that allocated the chunks has this function; threads of any copy call it. */
static void dispose_call_tree(struct smp_call_tree *tree)
{
    struct smp_call_arena *arena = atomic_load_explicit(&smp_call_memory->arena, ACQUIRE);
    struct smp_call_chunk *chunk = atomic_load_explicit(&tree->first, RELAXED);
    int32_t *const deep = smp_call_overflow_node(smp_call_node_at(chunk, 0))->deep;
    size_t bytes = deep_bytes(deep);

    smp_free(tree->quota, deep);
    while (chunk != NULL) {
        struct smp_call_chunk *next = atomic_load_explicit(&chunk->next, RELAXED);
        bytes += chunk->bytes;
        smp_free(tree->quota, chunk);
        chunk = next;
    }
    if (is_of(tree, arena))
        give_bytes(arena, bytes);
    smp_quota_release(tree->quota);
    tree->quota = NULL;
    tree->last = NULL;
    atomic_store_explicit(&tree->first, NULL, RELAXED);
    atomic_store_explicit(&tree->status, SMP_TREE_FREE, RELEASE);
    push_tree(&smp_call_memory->supply.unused, tree);
}

/* ---- trees ---- */

/* Returns a tree that no other thread knows, or NULL at the limit. */
static struct smp_call_tree *take_free_tree(void)
{
    struct smp_call_tree *tree = pop_tree(&smp_call_memory->supply.unused);
    uint32_t count = atomic_load_explicit(&smp_call_memory->supply.made, RELAXED);

    if (tree != NULL)
        return tree;
    do {
        if (count == SMP_CALL_TREES)
            return NULL;
    } while (!atomic_compare_exchange_weak_explicit(&smp_call_memory->supply.made, &count,
                                                    count + 1, RELAXED, RELAXED));
    return &smp_call_memory->trees[count];
}

static void plant(struct smp_call_tree *tree, struct smp_call_chunk *chunk)
{
    struct smp_call_node *const top = smp_call_node_at(chunk, 0);
    struct smp_call_node *const overflow = smp_call_overflow_node(top);

    top->key = SMP_CALL_TOP;
    overflow->key = SMP_CALL_OVERFLOW;
    overflow->ordinal = SMP_CALL_OVERFLOW_NODE;
    tree->last = chunk;
    tree->units = SMP_CALL_FIRST_NODE;
    tree->free = (char *)smp_call_node_at(chunk, SMP_CALL_FIRST_NODE);
    tree->free_end = (char *)smp_call_node_at(chunk, chunk->units);
    atomic_store_explicit(&tree->first, chunk, RELEASE);
}

static struct smp_call_tree *create_call_tree(struct smp_call_arena *arena, uint32_t generation,
                                              int64_t tid, uint32_t pool)
{
    const struct smp_call_view *const view = smp_call_view();
    const uint32_t units = arena->is_exact ? SMP_CALL_FIRST_WIDE_UNITS : SMP_CALL_FIRST_UNITS;
    struct smp_call_chunk *chunk = create_chunk(arena, units, SMP_CALL_HINT_BYTES);
    struct smp_call_tree *tree = chunk == NULL ? NULL : take_free_tree();

    if (tree == NULL) {
        if (chunk != NULL)
            give_bytes(arena, chunk->bytes);
        smp_free(arena->quota, chunk);
        return NULL;
    }
    atomic_store_explicit(&tree->session, arena->session, RELEASE); /* it is FREE */
    atomic_store_explicit(&tree->generation, generation, RELAXED);
    tree->tid = tid;
    tree->thread_serial = tid == 0 || view->serial_of == NULL ? 0 : view->serial_of(tid);
    tree->pool = pool;
    tree->serial = atomic_fetch_add_explicit(&smp_call_memory->supply.serials, 1, RELAXED) + 1;
    tree->quota = smp_quota_hold(arena->quota);
    tree->dispose = dispose_call_tree;
    plant(tree, chunk);
    return tree;
}

/* Takes the tree of a state. Returns NULL if it has none, or another thread has just taken it. */
static struct smp_call_tree *take_tree(uint32_t index)
{
    const uint32_t tree = atomic_exchange(&smp_call_memory->tree_of[index], 0);

    return tree == 0 ? NULL : &smp_call_memory->trees[tree - 1];
}

static void retire_tree(struct smp_call_tree *tree)
{
    atomic_store_explicit(&tree->status, SMP_TREE_RETIRED, RELEASE);
}

/* Retires a taken tree of this session, which is then read once more; frees any other. */
static void return_tree(const struct smp_call_arena *arena, struct smp_call_tree *tree)
{
    if (is_of(tree, arena))
        retire_tree(tree);
    else
        tree->dispose(tree);
}

/* ---- states ---- */

static uint32_t index_of_state(const struct smp_call_state *state)
{
    return (uint32_t)(state - smp_call_memory->states);
}

static _Atomic(struct smp_call_state *) *slot_of(int64_t tid)
{
    return &smp_call_memory->slots[(uint64_t)tid & (SMP_CALL_SLOTS - 1)];
}

/* Takes a free state in the chain of this slot, or adds a new one to the chain. */
static struct smp_call_state *claim_state(int64_t tid)
{
    _Atomic(struct smp_call_state *) *slot = slot_of(tid);
    uint32_t count = atomic_load_explicit(&smp_call_memory->state_count, RELAXED);
    struct smp_call_state *state = atomic_load_explicit(slot, ACQUIRE);

    for (; state != NULL; state = state->next) {
        int64_t expected = 0;
        if (atomic_compare_exchange_strong(&state->tid, &expected, tid)) {
            smp_call_memory->clean_as_of[index_of_state(state)] = 0;
            return state;
        }
    }
    do {
        if (count == SMP_CALL_STATES)
            return NULL;
    } while (!atomic_compare_exchange_weak_explicit(&smp_call_memory->state_count, &count,
                                                    count + 1, RELAXED, RELAXED));
    state = &smp_call_memory->states[count];
    atomic_store_explicit(&state->tid, tid, RELAXED);
    struct smp_call_state *head = atomic_load_explicit(slot, RELAXED);
    do {
        state->next = head;
    } while (!atomic_compare_exchange_weak_explicit(slot, &head, state, RELEASE, RELAXED));
    return state;
}

static void free_state(struct smp_call_state *state)
{
    atomic_store_explicit(&state->generation, 0, RELAXED);
    atomic_store_explicit(&state->tid, 0, RELEASE);
}

/* Returns a tree of the pool with this generation, or NULL. Frees or retires older ones. */
static struct smp_call_tree *pop_pooled(struct smp_call_arena *arena, uint32_t generation,
                                        uint32_t pool)
{
    struct smp_call_tree *tree = pop_tree(&arena->pools[pool % SMP_CALL_POOLS]);

    while (tree != NULL && tree->generation != generation) {
        return_tree(arena, tree);
        tree = pop_tree(&arena->pools[pool % SMP_CALL_POOLS]);
    }
    return tree;
}

/* Gives the state a tree of this generation, and gives back its older one. */
static bool prepare_state(struct smp_call_arena *arena, uint32_t generation,
                          struct smp_call_state *state, int64_t tid, bool is_virtual, uint32_t pool)
{
    const uint32_t index = index_of_state(state);
    struct smp_call_tree *tree = take_tree(index);

    if (tree != NULL)
        return_tree(arena, tree);
    tree = is_virtual ? pop_pooled(arena, generation, pool) : NULL;
    if (tree == NULL)
        tree = create_call_tree(arena, generation, is_virtual ? 0 : tid, pool);
    if (tree == NULL)
        return false;
    state->top = smp_call_node_at(atomic_load_explicit(&tree->first, RELAXED), 0);
    state->is_exact = arena->is_exact;
    state->is_virtual = is_virtual;
    state->is_full = false;
    state->depth_limit = arena->depth;
    atomic_store_explicit(&tree->status, SMP_TREE_OWNED, RELEASE);
    atomic_store(&smp_call_memory->tree_of[index], (uint32_t)(tree - smp_call_memory->trees) + 1);
    atomic_store_explicit(&state->generation, generation, RELEASE);
    return true;
}

/* ---- counted threads; close waits until each has left the arena ---- */

static struct smp_call_arena *enter_arena(void)
{
    atomic_fetch_add(&smp_call_memory->inside, 1);
    return atomic_load(&smp_call_memory->arena);
}

static void leave_arena(void)
{
    atomic_fetch_sub(&smp_call_memory->inside, 1);
}

struct smp_call_state *smp_call_begin(int64_t tid, bool is_virtual, uint32_t pool)
{
    /* The generation is read before the arena. Otherwise a tree of an arena that is being closed
     * could get generation 0 or the next arena's, and its thread would count in it. */
    const uint32_t generation = smp_call_generation();
    struct smp_call_arena *arena = generation == 0 ? NULL : enter_arena();
    struct smp_call_state *state = arena == NULL ? NULL : smp_call_state_find(tid);

    if (generation == 0)
        return NULL;
    if (arena != NULL && state == NULL)
        state = claim_state(tid);
    if (state != NULL && !prepare_state(arena, generation, state, tid, is_virtual, pool)) {
        if (is_virtual)
            free_state(state);
        state = NULL;
    }
    if (arena != NULL && state == NULL)
        atomic_fetch_add_explicit(&arena->lost_roots, 1, RELAXED);
    leave_arena();
    return state;
}

static void pool_tree(struct smp_call_arena *arena, struct smp_call_tree *tree)
{
    atomic_store_explicit(&tree->status, SMP_TREE_POOLED, RELEASE);
    push_tree(&arena->pools[tree->pool % SMP_CALL_POOLS], tree);
}

void smp_call_leave(struct smp_call_state *state)
{
    struct smp_call_arena *arena = enter_arena();
    struct smp_call_tree *tree = take_tree(index_of_state(state));

    if (tree != NULL && is_of(tree, arena) && state->is_virtual &&
        tree->generation == smp_call_generation())
        pool_tree(arena, tree);
    else if (tree != NULL)
        return_tree(arena, tree);
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
    struct smp_call_tree *tree = smp_call_tree_of(state);
    struct smp_call_chunk *chunk = NULL;
    enum smp_call_room room = SMP_CALL_NO_MEMORY;

    if (tree != NULL && is_of(tree, arena)) {
        const uint32_t units = next_units(arena, tree->units);
        if (units * smp_call_unit_bytes(arena->is_exact) >= sizeof(struct smp_call_wide_node))
            chunk = create_chunk(arena, units, 0);
        else
            room = SMP_CALL_OVER_NODES;
        state->is_full = room == SMP_CALL_OVER_NODES;
    }
    if (chunk != NULL) {
        chunk->first_ordinal = tree->units;
        tree->free = chunk->nodes;
        tree->free_end = (char *)smp_call_node_at(chunk, chunk->units);
        atomic_store_explicit(&tree->last->next, chunk, RELEASE);
        tree->last = chunk;
        room = SMP_CALL_HAS_ROOM;
    }
    leave_arena();
    return room;
}

bool smp_call_deepen(struct smp_call_state *state)
{
    struct smp_call_arena *arena = enter_arena();
    const struct smp_call_tree *tree = smp_call_tree_of(state);
    struct smp_call_node *const overflow = smp_call_overflow_node(state->top);
    const int32_t room = overflow->deep == NULL ? 0 : -overflow->deep[0];
    const int32_t more = room == 0 ? FIRST_DEEP : 2 * room;
    int32_t *deep = NULL;

    if (tree != NULL && is_of(tree, arena) && more <= SMP_CALL_DEEP)
        deep = take_piece(arena, ((size_t)more + 1) * sizeof(*deep));
    if (deep != NULL) {
        if (room > 0)
            memcpy(deep, overflow->deep, deep_bytes(overflow->deep));
        deep[0] = -more;
        give_bytes(arena, deep_bytes(overflow->deep));
        smp_free(tree->quota, overflow->deep);
        overflow->deep = deep;
    }
    leave_arena();
    return deep != NULL;
}

void smp_call_arena_mark_seen(int32_t id)
{
    if (id < 0 || id >= SMP_CALL_METHODS ||
        atomic_load_explicit(&smp_call_memory->seen[id], RELAXED) != 0)
        return;
    if (atomic_exchange_explicit(&smp_call_memory->seen[id], 1, RELAXED) == 0)
        atomic_fetch_add_explicit(&smp_call_memory->news, 1, RELEASE);
}

/* ---- the library's own threads ---- */

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

/* Returns the next number. Skips 0, which means that counting is off. */
static uint32_t next_number(void)
{
    smp_call_memory->numbers += smp_call_memory->numbers == UINT32_MAX ? 2 : 1;
    return smp_call_memory->numbers;
}

/* Called while no other thread opens or closes, because close goes through the trees one by one,
 * and none of them may belong to the next session yet. */
static enum smp_status open_taken(const struct smp_call_options *options)
{
    struct smp_call_arena *arena = smp_alloc(options->quota, sizeof(*arena));

    if (arena == NULL)
        return SMP_ENOMEM;
    arena->quota = smp_quota_hold(options->quota);
    arena->max_bytes = options->max_bytes;
    arena->nodes = options->nodes;
    arena->depth = options->depth;
    arena->is_exact = options->is_exact;
    arena->session = next_number();
    smp_call_clock_start(&arena->clock);
    atomic_store(&smp_call_memory->needs_fence, !smp_process_barrier_prepare());
    atomic_fetch_add_explicit(&smp_call_memory->epoch, 1, RELAXED);
    atomic_store(&smp_call_memory->arena, arena);
    atomic_store(&smp_call_memory->session, arena->session);
    atomic_store(&smp_call_memory->generation, arena->session);
    return SMP_OK;
}

enum smp_status smp_call_arena_open(const struct smp_call_options *options)
{
    enum smp_status status = SMP_OK;

    if (check_options(options) != SMP_OK)
        return SMP_EINVAL;
    if (atomic_exchange(&smp_call_memory->is_taken, true))
        return SMP_ESTATE;
    status = open_taken(options);
    if (status != SMP_OK)
        atomic_store(&smp_call_memory->is_taken, false);
    return status;
}

bool smp_call_fence_all(void)
{
    if (atomic_load(&smp_call_memory->needs_fence))
        return true;
    if (smp_process_barrier_run())
        return true;
    /* A seccomp filter has been installed meanwhile. From now on each thread runs its own fence. */
    atomic_store(&smp_call_memory->needs_fence, true);
    return false;
}

/* Retires an older tree if its thread is outside of all roots. The exchange fails if the thread
 * has given the tree back meanwhile. */
static void retire_tree_of(const struct smp_call_arena *arena, uint32_t index, uint32_t generation)
{
    uint32_t number = atomic_load(&smp_call_memory->tree_of[index]);
    struct smp_call_tree *const tree = number == 0 ? NULL : &smp_call_memory->trees[number - 1];

    if (tree == NULL || tree->generation == generation || !is_of(tree, arena) ||
        atomic_load(&smp_call_memory->states[index].position) != NULL)
        return;
    if (atomic_compare_exchange_strong(&smp_call_memory->tree_of[index], &number, 0))
        retire_tree(tree);
}

/* Retires the trees of a pool, except those that have the new generation already. */
static void retire_pooled(_Atomic uint64_t *pool, uint32_t generation)
{
    _Atomic uint64_t kept = 0;
    struct smp_call_tree *tree = pop_tree(pool);

    for (; tree != NULL; tree = pop_tree(pool)) {
        if (tree->generation == generation)
            push_tree(&kept, tree);
        else
            retire_tree(tree);
    }
    for (tree = pop_tree(&kept); tree != NULL; tree = pop_tree(&kept))
        push_tree(pool, tree);
}

void smp_call_arena_renew(void)
{
    struct smp_call_arena *const arena = atomic_load_explicit(&smp_call_memory->arena, ACQUIRE);

    if (arena == NULL)
        return;
    atomic_store(&smp_call_memory->generation, next_number());
    const uint32_t generation = smp_call_generation();
    const uint32_t count = smp_call_fence_all() ? atomic_load(&smp_call_memory->state_count) : 0;
    for (uint32_t i = 0; i < count; i++)
        retire_tree_of(arena, i, generation);
    for (uint32_t i = 0; i < SMP_CALL_POOLS; i++)
        retire_pooled(&arena->pools[i], generation);
}

/* Frees the tree of a state. A thread inside of a root frees it itself when it leaves, and so does
 * a thread that has just taken it. */
static void abandon(const struct smp_call_arena *arena, uint32_t index, bool is_fenced)
{
    const uint32_t number = atomic_load(&smp_call_memory->tree_of[index]);
    struct smp_call_tree *const tree = number == 0 ? NULL : &smp_call_memory->trees[number - 1];
    uint32_t expected = SMP_TREE_OWNED;

    if (tree == NULL || !is_of(tree, arena))
        return;
    (void)atomic_compare_exchange_strong(&tree->status, &expected, SMP_TREE_ABANDONED);
    if (is_fenced && atomic_load(&smp_call_memory->states[index].position) == NULL &&
        take_tree(index) != NULL)
        tree->dispose(tree);
}

/* Frees the tree if no thread counts in it, because it is pooled or retired. */
static void close_tree(const struct smp_call_arena *arena, struct smp_call_tree *tree)
{
    const uint32_t status = atomic_load_explicit(&tree->status, ACQUIRE);

    if ((status == SMP_TREE_POOLED || status == SMP_TREE_RETIRED) && is_of(tree, arena))
        tree->dispose(tree);
}

void smp_call_arena_close(void)
{
    struct smp_call_arena *arena = atomic_load(&smp_call_memory->arena);

    if (arena == NULL)
        return;
    atomic_store(&smp_call_memory->session, 0);
    atomic_store(&smp_call_memory->generation, 0);
    atomic_store(&smp_call_memory->arena, NULL);
    for (unsigned round = 0; atomic_load(&smp_call_memory->inside) != 0; round++)
        smp_backoff(round);
    const bool is_fenced = smp_call_fence_all();
    const uint32_t states = atomic_load_explicit(&smp_call_memory->state_count, ACQUIRE);
    for (uint32_t i = 0; i < states; i++)
        abandon(arena, i, is_fenced);
    const uint32_t trees = atomic_load_explicit(&smp_call_memory->supply.made, ACQUIRE);
    for (uint32_t i = 0; i < trees; i++)
        close_tree(arena, &smp_call_memory->trees[i]);
    free_arena(arena);
    atomic_store(&smp_call_memory->is_taken, false);
}

uint64_t smp_call_arena_lost_roots(void)
{
    const struct smp_call_arena *arena = atomic_load_explicit(&smp_call_memory->arena, ACQUIRE);

    return arena == NULL ? 0 : atomic_load_explicit(&arena->lost_roots, RELAXED);
}

uint32_t smp_call_arena_news(void)
{
    return atomic_load_explicit(&smp_call_memory->news, ACQUIRE);
}

bool smp_call_arena_is_seen(int32_t id)
{
    return id >= 0 && id < SMP_CALL_METHODS &&
           atomic_load_explicit(&smp_call_memory->seen[id], RELAXED) != 0;
}

/* Writes only where the value changes, because pages that were never written take no memory. */
void smp_call_arena_forget_seen(void)
{
    for (uint32_t id = 0; id < SMP_CALL_METHODS; id++) {
        if (atomic_load_explicit(&smp_call_memory->seen[id], RELAXED) != 0)
            smp_call_arena_forget_method((int32_t)id);
    }
}

void smp_call_arena_forget_method(int32_t id)
{
    if (id < 0 || id >= SMP_CALL_METHODS)
        return;
    atomic_store_explicit(&smp_call_memory->seen[id], 0, RELAXED);
    atomic_store_explicit(&smp_call_memory->methods[id], 0, RELAXED);
}

void smp_call_arena_retire(int64_t tid)
{
    struct smp_call_arena *arena = enter_arena();
    struct smp_call_state *state = smp_call_state_find(tid);
    int64_t expected = tid;

    /* Only one caller succeeds, because after free_state the state may be another thread's. */
    if (state != NULL && !state->is_virtual &&
        atomic_compare_exchange_strong(&state->tid, &expected, NO_THREAD)) {
        struct smp_call_tree *tree = take_tree(index_of_state(state));
        if (tree != NULL)
            return_tree(arena, tree);
        atomic_store_explicit(&state->position, NULL, RELAXED);
        free_state(state);
    }
    leave_arena();
}

/* ---- groups of virtual threads ---- */

/* States of a pool's name. */
enum { POOL_FREE, POOL_BEING_NAMED, POOL_NAMED, MOST_PROBES = 16 };

static bool is_pool_of(const struct smp_call_pool *pool, const char *group)
{
    return atomic_load_explicit(&pool->status, memory_order_acquire) == POOL_NAMED &&
           strcmp(pool->name, group) == 0;
}

/* Fails if the pool has a name already, or is getting one. */
static bool name_pool(struct smp_call_pool *pool, const char *group, size_t length)
{
    uint32_t expected = POOL_FREE;

    if (!atomic_compare_exchange_strong(&pool->status, &expected, POOL_BEING_NAMED))
        return false;
    memcpy(pool->name, group, length + 1);
    atomic_store_explicit(&pool->status, POOL_NAMED, memory_order_release);
    return true;
}

uint32_t smp_call_pool_find(const char *name)
{
    struct smp_call_pool *const pools = smp_call_memory->pools;
    char group[SMP_CALL_POOL_NAME_BYTES];

    if (name == NULL || name[0] == '\0')
        return 0;
    const size_t length = smp_name_rule_apply(name, strlen(name), group, sizeof(group));
    const uint32_t hash = smp_hash_bytes(SMP_HASH_START, group, length);
    for (uint32_t i = 0; i < MOST_PROBES; i++) {
        const uint32_t pool = 1 + (hash + i) % (SMP_CALL_POOLS - 1);
        if (is_pool_of(&pools[pool], group) || name_pool(&pools[pool], group, length))
            return pool;
    }
    return 0;
}

const char *smp_call_pool_name(uint32_t pool)
{
    const struct smp_call_pool *const pools = smp_call_memory->pools;

    if (pool == 0 || pool >= SMP_CALL_POOLS ||
        atomic_load_explicit(&pools[pool].status, memory_order_acquire) != POOL_NAMED)
        return NULL;
    return pools[pool].name;
}
