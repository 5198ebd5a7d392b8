/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/call_reader.h"

#include <stddef.h>

#include "counting/call_arena.h"
#include "counting/call_shared.h"

#define RELAXED memory_order_relaxed
#define ACQUIRE memory_order_acquire

enum { TRIES = 4 };

struct read {
    struct smp_call_arena *arena;
    const struct smp_call_visitor *visitor; /* NULL: a reset */
    bool tells_kept;                        /* the ids of the tree that is read */
    double tick_ns;
    uint32_t epoch; /* the one that has just ended */
};

static int64_t to_ns(const struct read *read, int64_t ticks)
{
    return smp_call_clock_to_ns(ticks, read->tick_ns);
}

/* Reads the time of ended calls and their number, and returns that time plus the running call's.
 * Calls may end between the two reads, so the try during which fewest calls ended counts, and a
 * preempted one does no harm. If each try was disturbed, the running call is left out. */
static int64_t time_of(const struct smp_call_node *node, struct smp_call_seen *now)
{
    uint32_t fewest = UINT32_MAX;

    for (int i = 0; i < TRIES; i++) {
        const uint32_t exits = atomic_load_explicit(&node->exits, ACQUIRE);
        const int64_t entered = atomic_load_explicit(&node->entered, ACQUIRE);
        const int64_t time = atomic_load_explicit(&node->time, ACQUIRE);
        const int64_t entered_after = atomic_load_explicit(&node->entered, ACQUIRE);
        const uint32_t ended = atomic_load_explicit(&node->exits, ACQUIRE) - exits;
        if (ended <= fewest) {
            fewest = ended;
            now->ended_time = time;
            now->exits = exits;
        }
        if (ended == 0 && entered_after == entered) {
            const int64_t running = entered == 0 ? 0 : smp_call_clock_ticks() - entered;
            return running > 0 ? time + running : time;
        }
    }
    return now->ended_time;
}

static void add_epoch(const struct read *read, const struct smp_call_wide_node *node,
                      uint32_t epoch, struct smp_counted_call *call)
{
    const unsigned half = epoch % 2;

    if (atomic_load_explicit(&node->epoch[half], ACQUIRE) != epoch)
        return;
    const int64_t least_ns = to_ns(read, atomic_load_explicit(&node->least[half], RELAXED));
    const int64_t most_ns = to_ns(read, atomic_load_explicit(&node->most[half], RELAXED));
    if (call->most_ns == 0 || least_ns < call->least_ns)
        call->least_ns = least_ns;
    if (most_ns > call->most_ns)
        call->most_ns = most_ns;
}

/* Adds the extremes of the ended epoch, and of the new one, because a call that has ended in it
 * may be among the calls of this read. Must come after the number of calls was read. */
static void add_extremes(const struct read *read, const struct smp_call_node *node,
                         struct smp_counted_call *call)
{
    const struct smp_call_wide_node *const wide = (const struct smp_call_wide_node *)node;

    add_epoch(read, wide, read->epoch, call);
    add_epoch(read, wide, read->epoch + 1, call);
}

static void read_node(struct read *read, const struct smp_call_tree *tree,
                      const struct smp_call_node *node, struct smp_call_seen *seen, bool is_new)
{
    const int64_t count = atomic_load_explicit(&node->count, RELAXED);
    struct smp_call_seen now = { 0 };
    int64_t time = time_of(node, &now);
    struct smp_call_delta delta = {
        .tree = tree->serial,
        .tid = tree->tid,
        .thread_serial = tree->thread_serial,
        .pool = tree->pool,
        .is_new = is_new,
        .call = { .ordinal = node->ordinal,
                  .parent = smp_call_parent(node)->ordinal,
                  .method = smp_call_method(node),
                  .is_root = smp_call_is_root(node) },
    };
    struct smp_counted_call *const call = &delta.call;

    /* The last read may have seen more time of a running call than the ended call has now. */
    if (time < seen->time)
        time = seen->time;
    call->calls = count - seen->count;
    call->time_ns = to_ns(read, time - seen->time);
    call->ended = now.exits - seen->exits; /* unsigned, as exits wraps around */
    call->ended_ns = to_ns(read, now.ended_time - seen->ended_time);
    seen->count = count;
    seen->time = time;
    seen->ended_time = now.ended_time;
    seen->exits = now.exits;
    if (read->visitor == NULL ||
        (!is_new && call->calls == 0 && call->time_ns == 0 && call->ended == 0))
        return;
    if (call->ended > 0)
        add_extremes(read, node, call);
    read->visitor->on_delta(read->visitor->self, &delta);
}

/* count: all calls without a node for this reason so far. */
static void read_uncounted(const struct read *read, const struct smp_call_tree *tree,
                           enum smp_call_loss loss, int64_t count, int64_t *seen)
{
    const struct smp_call_delta delta = {
        .tree = tree->serial,
        .tid = tree->tid,
        .thread_serial = tree->thread_serial,
        .pool = tree->pool,
        .call = { .ordinal = SMP_CALL_OVERFLOW_NODE,
                  .method = SMP_METHOD_UNCOUNTED,
                  .loss = loss,
                  .calls = count - *seen },
    };

    *seen = count;
    if (read->visitor != NULL && delta.call.calls != 0)
        read->visitor->on_delta(read->visitor->self, &delta);
}

static void read_overflow(const struct read *read, const struct smp_call_tree *tree,
                          const struct smp_call_node *overflow, struct smp_call_seen *seen)
{
    read_uncounted(read, tree, SMP_LOST_OVER_NODES, atomic_load_explicit(&overflow->time, RELAXED),
                   &seen->count);
    read_uncounted(read, tree, SMP_LOST_OVER_DEPTH,
                   atomic_load_explicit(&overflow->entered, RELAXED), &seen->time);
    read_uncounted(read, tree, SMP_LOST_OVER_MEMORY,
                   atomic_load_explicit(&overflow->over_memory, RELAXED), &seen->ended_time);
}

static void read_nodes(struct read *read, const struct smp_call_tree *tree,
                       struct smp_call_chunk *chunk)
{
    uint32_t at = 0;

    if (chunk->first_ordinal == 0) {
        read_overflow(read, tree, smp_call_overflow_node(smp_call_node_at(chunk, 0)),
                      &chunk->seen[SMP_CALL_OVERFLOW_NODE]);
        at = SMP_CALL_FIRST_NODE;
    }
    while (at < chunk->units) {
        const struct smp_call_node *const node = smp_call_node_at(chunk, at);
        if (smp_call_parent(node) == NULL)
            break;
        const bool is_new = at >= chunk->known && read->visitor != NULL;
        if (read->tells_kept)
            read->visitor->on_kept(read->visitor->self, smp_call_method(node));
        read_node(read, tree, node, &chunk->seen[at], is_new);
        at = smp_call_unit_behind(chunk, at);
        if (is_new)
            chunk->known = at;
    }
}

static void read_chunks(struct read *read, const struct smp_call_tree *tree)
{
    struct smp_call_chunk *chunk = atomic_load_explicit(&tree->first, ACQUIRE);

    for (; chunk != NULL; chunk = atomic_load_explicit(&chunk->next, ACQUIRE))
        read_nodes(read, tree, chunk);
}

static void end_tree(const struct read *read, struct smp_call_tree *tree)
{
    if (read->visitor->on_end != NULL)
        read->visitor->on_end(read->visitor->self, tree->serial);
    tree->dispose(tree);
}

/* Begins a new epoch for the extremes, and returns the ended one. Without the barrier the extremes
 * may miss a call that ends just now. */
static uint32_t end_epoch(void)
{
    const uint32_t ended = atomic_fetch_add(&smp_call_memory->epoch, 1);

    (void)smp_call_fence_all();
    return ended;
}

/* visitor NULL: a reset. */
static void read_trees(const struct smp_call_visitor *visitor)
{
    struct smp_call_shared *shared = smp_call_memory;
    struct read read = {
        .arena = atomic_load_explicit(&shared->arena, ACQUIRE),
        .visitor = visitor,
    };

    if (read.arena == NULL)
        return;
    read.tick_ns = smp_call_clock_tick_ns(&read.arena->clock);
    read.epoch = end_epoch();
    const uint32_t count = atomic_load_explicit(&shared->supply.made, ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        struct smp_call_tree *tree = &shared->trees[i];
        const uint32_t status = smp_call_tree_status(tree, read.arena->session);
        if (status == SMP_TREE_FREE)
            continue;
        read.tells_kept = visitor != NULL && visitor->on_kept != NULL && status != SMP_TREE_RETIRED;
        read_chunks(&read, tree);
        if (status == SMP_TREE_RETIRED && visitor != NULL)
            end_tree(&read, tree);
    }
}

void smp_call_read(const struct smp_call_visitor *visitor)
{
    read_trees(visitor);
}

void smp_call_reset(void)
{
    read_trees(NULL);
}

/* Returns false if the thread is outside of all roots, or if the state belongs to another thread by
 * now, whose tree may be freed at any time. */
static bool read_position(const struct smp_call_state *state, int64_t tid,
                          struct smp_call_position *out)
{
    const bool is_its_own = atomic_load_explicit(&state->tid, ACQUIRE) == tid;
    const struct smp_call_tree *const tree = is_its_own ? smp_call_tree_of(state) : NULL;

    if (tree == NULL || atomic_load_explicit(&tree->session, RELAXED) != smp_call_session())
        return false;
    *out = (struct smp_call_position){ .tree = tree->serial,
                                       .thread_serial = tree->thread_serial,
                                       .pool = tree->pool };
    const uint8_t before = atomic_load_explicit(&state->phase, ACQUIRE);
    const struct smp_call_node *node = atomic_load_explicit(&state->position, ACQUIRE);
    /* The hook in Java stores the parent without a barrier, so it may still be NULL here. */
    if (node != NULL && node->key == SMP_CALL_OVERFLOW)
        node = smp_call_parent(node);
    if (node == NULL)
        return false;
    out->ordinal = node->ordinal;
    out->method = node->key == SMP_CALL_TOP ? (int32_t)SMP_METHOD_UNCOUNTED : smp_call_method(node);
    out->is_root = smp_call_is_root(node);
    const uint8_t after = atomic_load_explicit(&state->phase, ACQUIRE);
    out->is_in_hook = before != SMP_CALL_NO_HOOK || after != SMP_CALL_NO_HOOK;
    out->is_between_stamps =
        (after == SMP_CALL_NO_HOOK ? before : after) == SMP_CALL_BETWEEN_STAMPS;
    return smp_call_tree_of(state) == tree && tree->serial == out->tree &&
           atomic_load_explicit(&state->tid, ACQUIRE) == tid;
}

bool smp_call_position_of(int64_t tid, struct smp_call_position *out)
{
    const struct smp_call_state *const state = smp_call_state_find(tid);

    return state != NULL && read_position(state, tid, out);
}

struct smp_call_spot smp_call_spot_of(const void *state, int64_t java_id)
{
    struct smp_call_position position;

    if (!read_position(state, java_id, &position))
        return (struct smp_call_spot){ 0 };
    return (struct smp_call_spot){ .tree = position.tree,
                                   .ordinal = position.ordinal,
                                   .is_in_hook = position.is_in_hook };
}
