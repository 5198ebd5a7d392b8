/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/call_renewal.h"

#include <stdbool.h>
#include <stddef.h>

#include "counting/call_arena.h"
#include "counting/call_shared.h"

#define RELAXED memory_order_relaxed
#define ACQUIRE memory_order_acquire

static void retire_tree(struct smp_call_tree *tree)
{
    atomic_store_explicit(&tree->status, SMP_TREE_RETIRED, memory_order_release);
}

/* Its thread may give it back itself meanwhile, and may have a new one already. */
static void take_from_state(struct smp_call_shared *shared, uint32_t index, uint32_t generation)
{
    uint32_t number = atomic_load(&shared->tree_of[index]);
    struct smp_call_tree *const tree = number == 0 ? NULL : &shared->trees[number - 1];

    if (tree == NULL || smp_call_tree_generation(tree) == generation ||
        atomic_load_explicit(&tree->session, RELAXED) != smp_call_session() ||
        atomic_load(&shared->states[index].position) != NULL)
        return;
    if (atomic_compare_exchange_strong(&shared->tree_of[index], &number, 0))
        retire_tree(tree);
}

/* Trees of virtual threads, of which some may be new already. */
static void take_from_pool(_Atomic uint64_t *pool, uint32_t generation)
{
    _Atomic uint64_t kept = 0;
    struct smp_call_tree *tree = smp_call_tree_pop(pool);

    for (; tree != NULL; tree = smp_call_tree_pop(pool)) {
        if (smp_call_tree_generation(tree) == generation)
            smp_call_tree_push(&kept, tree);
        else
            retire_tree(tree);
    }
    for (tree = smp_call_tree_pop(&kept); tree != NULL; tree = smp_call_tree_pop(&kept))
        smp_call_tree_push(pool, tree);
}

void smp_call_renewal_begin(void)
{
    struct smp_call_shared *const shared = smp_call_shared_memory();
    struct smp_call_arena *const arena = atomic_load_explicit(&shared->arena, ACQUIRE);

    if (arena == NULL)
        return;
    smp_call_arena_renew();
    const uint32_t generation = smp_call_generation();
    const uint32_t count = smp_call_fence_all() ? atomic_load(&shared->state_count) : 0;
    for (uint32_t i = 0; i < count; i++)
        take_from_state(shared, i, generation);
    for (uint32_t i = 0; i < SMP_CALL_POOLS; i++)
        take_from_pool(&arena->pools[i], generation);
}

static void visit_chunk(const struct smp_call_chunk *chunk, void (*found)(void *self, int32_t id),
                        void *self)
{
    uint32_t at = chunk->first_ordinal == 0 ? SMP_CALL_FIRST_NODE : 0;

    while (at < chunk->units) {
        const struct smp_call_node *const node = smp_call_node_at(chunk, at);
        if (smp_call_parent(node) == NULL)
            return;
        found(self, smp_call_method(node));
        at = smp_call_unit_behind(chunk, at);
    }
}

void smp_call_renewal_each(void (*found)(void *self, int32_t id), void *self)
{
    struct smp_call_shared *const shared = smp_call_shared_memory();
    const uint32_t session = smp_call_session();
    const uint32_t count = atomic_load_explicit(&shared->supply.made, ACQUIRE);

    for (uint32_t i = 0; i < count; i++) {
        const struct smp_call_tree *const tree = &shared->trees[i];
        const struct smp_call_chunk *chunk = NULL;

        if (smp_call_tree_status(tree, session) == SMP_TREE_FREE)
            continue;
        chunk = atomic_load_explicit(&tree->first, ACQUIRE);
        for (; chunk != NULL; chunk = atomic_load_explicit(&chunk->next, ACQUIRE))
            visit_chunk(chunk, found, self);
    }
}
