/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/call_path.h"

#include <stddef.h>

#include "counting/call_arena.h"
#include "counting/call_clock.h"
#include "counting/call_shared.h"
#include "model/counting_account.h"

#define RELAXED memory_order_relaxed
#define RELEASE memory_order_release

static struct smp_call_node *overflow_of(const struct smp_call_state *state)
{
    return state->top + 1;
}

static struct smp_call_node *position_of(const struct smp_call_state *state)
{
    return atomic_load_explicit(&state->position, RELAXED);
}

static void move_position(struct smp_call_state *state, struct smp_call_node *node)
{
    atomic_store_explicit(&state->position, node, RELEASE);
}

static void set_phase(struct smp_call_state *state, enum smp_call_phase phase)
{
    atomic_store_explicit(&state->phase, (uint8_t)phase, RELAXED);
}

/* One thread adds. */
static void add(_Atomic int64_t *number, int64_t amount)
{
    atomic_store_explicit(number, atomic_load_explicit(number, RELAXED) + amount, RELAXED);
}

static int64_t level_of(const struct smp_call_node *overflow)
{
    return atomic_load_explicit(&overflow->count, RELAXED);
}

/* The overflow node has no time stamps: its exits are the roots among the calls it stands for. */
static void set_overflow(struct smp_call_node *overflow, int64_t level, uint32_t roots)
{
    atomic_store_explicit(&overflow->count, level, RELAXED);
    atomic_store_explicit(&overflow->exits, roots, RELAXED);
}

static void link_child(struct smp_call_node *at, struct smp_call_node *node)
{
    if (at->child == NULL) {
        node->next = node;
    } else {
        node->next = at->child->next;
        at->child->next = node;
    }
    at->child = node;
}

/* NULL: a limit, which one is in *limit, unless it is that of nodes. The chunk's bytes are zero. */
static struct smp_call_node *make_node(struct smp_call_state *state, struct smp_call_node *at,
                                       int32_t key, enum smp_counting *limit)
{
    const bool is_root = key < 0;
    const size_t size = is_root ? sizeof(struct smp_call_root) : sizeof(struct smp_call_node);

    if (at->depth >= state->depth_limit) {
        *limit = SMP_COUNTING_OVER_DEPTH_LIMIT;
        return NULL;
    }
    if (state->is_full)
        return NULL;
    if ((size_t)(state->free_end - state->free) < size) {
        const enum smp_call_room room = smp_call_grow(state);
        *limit = room == SMP_CALL_OVER_NODES ? SMP_COUNTING_OVER_NODE_LIMIT
                                             : SMP_COUNTING_OVER_MEMORY_LIMIT;
        if (room != SMP_CALL_HAS_ROOM)
            return NULL;
    }
    struct smp_call_node *node = (struct smp_call_node *)(void *)state->free;
    node->key = key;
    node->ordinal = state->units;
    node->depth = at->depth + 1;
    state->free += size;
    state->units += (uint32_t)(size / SMP_CALL_UNIT);
    link_child(at, node);
    atomic_store_explicit(&node->parent, at, RELEASE);
    smp_call_arena_mark_seen(key & INT32_MAX);
    return node;
}

static struct smp_call_node *find_callee(struct smp_call_node *at, int32_t key)
{
    struct smp_call_node *child = at->child;

    if (child == NULL)
        return NULL;
    do {
        if (child->key == key) {
            at->child = child;
            return child;
        }
        child = child->next;
    } while (child != at->child);
    return NULL;
}

/* A call that the overflow node stands for: the limit is that of the first one. */
static void add_uncounted(struct smp_call_node *overflow)
{
    if (overflow->depth == SMP_COUNTING_OVER_DEPTH_LIMIT)
        add(&overflow->entered, 1);
    else if (overflow->depth == SMP_COUNTING_OVER_MEMORY_LIMIT)
        add(&overflow->over_memory, 1);
    else
        add(&overflow->time, 1);
}

struct smp_call_node *smp_call_child(struct smp_call_state *state, struct smp_call_node *at,
                                     int32_t key)
{
    struct smp_call_node *overflow = overflow_of(state);
    enum smp_counting limit = SMP_COUNTING_OVER_NODE_LIMIT;
    struct smp_call_node *child = at == overflow ? NULL : find_callee(at, key);

    if (child == NULL && at != overflow)
        child = make_node(state, at, key, &limit);
    if (child != NULL)
        return child;
    if (at != overflow) {
        set_overflow(overflow, 0, 0);
        overflow->depth = (int32_t)limit;
        atomic_store_explicit(&overflow->parent, at, RELEASE);
    }
    add_uncounted(overflow);
    if (key < 0)
        atomic_fetch_add_explicit(&overflow->exits, 1, RELAXED);
    return overflow;
}

static void enter_call(struct smp_call_state *state, int32_t key)
{
    struct smp_call_node *node = NULL;

    set_phase(state, SMP_CALL_IN_HOOK);
    node = smp_call_child(state, position_of(state), key);
    move_position(state, node);
    add(&node->count, 1);
    if (node->key != SMP_CALL_OVERFLOW && (state->is_exact || key < 0))
        atomic_store_explicit(&node->entered, smp_call_clock_ticks(), RELEASE);
    set_phase(state, key < 0 ? SMP_CALL_NO_HOOK : SMP_CALL_BETWEEN_STAMPS);
}

/* Of this call since the reset, so that a reader takes it or leaves it. */
static void note_root_call(struct smp_call_root *root, int64_t ticks)
{
    const uint32_t epoch = smp_call_epoch();

    if (atomic_load_explicit(&root->epoch, RELAXED) != epoch) {
        atomic_store_explicit(&root->least, ticks, RELAXED);
        atomic_store_explicit(&root->most, ticks, RELAXED);
        atomic_store_explicit(&root->epoch, epoch, RELEASE);
        return;
    }
    if (ticks < atomic_load_explicit(&root->least, RELAXED))
        atomic_store_explicit(&root->least, ticks, RELAXED);
    if (ticks > atomic_load_explicit(&root->most, RELAXED))
        atomic_store_explicit(&root->most, ticks, RELAXED);
}

/* In this order: a reader that sees the new time also sees that the call does not run. */
static void end_call(struct smp_call_node *node, int64_t now)
{
    const int64_t entered = atomic_load_explicit(&node->entered, RELAXED);
    const int64_t ticks = now > entered ? now - entered : 0;

    if (entered == 0)
        return;
    atomic_store_explicit(&node->entered, 0, RELAXED);
    atomic_store_explicit(&node->time, atomic_load_explicit(&node->time, RELAXED) + ticks, RELEASE);
    atomic_store_explicit(&node->exits, atomic_load_explicit(&node->exits, RELAXED) + 1, RELEASE);
    if (smp_call_is_root(node))
        note_root_call((struct smp_call_root *)node, ticks);
}

static void end_through(struct smp_call_node *at, const struct smp_call_node *last, int64_t now)
{
    struct smp_call_node *node = at;

    for (; node != last; node = smp_call_parent(node))
        end_call(node, now);
    end_call(node, now);
}

/* The outermost: what is loaded after it is loaded later, as close sees it (call_arena.h). Whether
 * that needs a fence is read behind the store: a thread that has just missed a change of it can be
 * stopped before what it loads next only by a switch of the CPU, which is a fence, too. */
static void publish_position(struct smp_call_state *state, struct smp_call_node *node)
{
    move_position(state, node);
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&smp_call_shared_memory()->needs_fence, RELAXED))
        atomic_store(&state->position, node);
}

/* False: its tree is to be given back. Counting may be off. */
static bool is_current(const struct smp_call_state *state)
{
    return atomic_load_explicit(&state->generation, RELAXED) == smp_call_generation();
}

/* Its thread goes outside. Stored before close's mark is read: see call_arena.h. */
static void leave_outermost(struct smp_call_state *state)
{
    set_overflow(overflow_of(state), 0, 0);
    set_phase(state, SMP_CALL_NO_HOOK);
    publish_position(state, NULL);
    if (state->is_virtual || !is_current(state))
        smp_call_leave(state);
}

/* The thread is outside of all roots. NULL: it cannot be counted. A renewal that comes just now
 * takes the tree away: then once more, with another. */
static struct smp_call_state *begin_outermost(struct smp_call_state *known, int64_t tid,
                                              bool is_virtual, uint32_t pool)
{
    struct smp_call_state *state = known;
    uint32_t generation = 0;

    while ((generation = smp_call_generation()) != 0) {
        if (state == NULL || atomic_load_explicit(&state->generation, RELAXED) != generation)
            state = smp_call_begin(tid, is_virtual, pool);
        if (state == NULL)
            break;
        publish_position(state, state->top);
        if (is_current(state))
            return state;
        publish_position(state, NULL);
    }
    /* What it had got before counting ended. */
    state = smp_call_state_of(tid);
    if (state != NULL)
        smp_call_leave(state);
    return NULL;
}

/* Is its position in a tree of a counting that was closed? What runs there may never end. */
static bool is_left_over(const struct smp_call_state *state)
{
    const struct smp_call_tree *const tree = smp_call_tree_of(state);

    return position_of(state) != NULL &&
           (tree == NULL || atomic_load_explicit(&tree->session, RELAXED) != smp_call_session());
}

bool smp_call_begins(int64_t tid)
{
    const struct smp_call_state *const state = smp_call_state_of(tid);

    return state == NULL || position_of(state) == NULL || is_left_over(state);
}

void smp_call_enter_root(int64_t tid, bool is_virtual, uint32_t pool, int32_t id)
{
    struct smp_call_state *state = smp_call_state_of(tid);

    if (state != NULL && is_left_over(state)) {
        leave_outermost(state);
        state = smp_call_state_of(tid); /* a virtual thread has none any more */
    }
    if (state == NULL || position_of(state) == NULL)
        state = begin_outermost(state, tid, is_virtual, pool);
    if (state != NULL)
        enter_call(state, id | SMP_CALL_ROOT);
}

/* Of a call that the overflow node stands for. False: of a root above, so all of them are over. */
static bool exit_overflow(struct smp_call_state *state, struct smp_call_node *overflow,
                          bool is_root)
{
    const int64_t level = level_of(overflow) - 1;
    uint32_t roots = atomic_load_explicit(&overflow->exits, RELAXED);

    if (is_root && roots == 0)
        return false;
    if (is_root)
        roots--;
    set_overflow(overflow, level, roots);
    if (level <= 0)
        move_position(state, smp_call_parent(overflow));
    return true;
}

void smp_call_enter(struct smp_call_state *state, int32_t id)
{
    if (position_of(state) != NULL)
        enter_call(state, id);
}

void smp_call_exit(struct smp_call_state *state, int32_t id)
{
    const int64_t now = state->is_exact ? smp_call_clock_ticks() : 0;
    struct smp_call_node *at = position_of(state);
    struct smp_call_node *node = at;

    if (at == NULL)
        return;
    set_phase(state, SMP_CALL_IN_HOOK);
    if (at == overflow_of(state)) {
        (void)exit_overflow(state, at, false);
    } else {
        while (node->key >= 0 && node->key != id)
            node = smp_call_parent(node);
        if (node->key == id) {
            end_through(at, node, now);
            move_position(state, smp_call_parent(node));
        }
    }
}

void smp_call_exit_root(struct smp_call_state *state, int32_t id)
{
    const int64_t now = smp_call_clock_ticks();
    struct smp_call_node *at = position_of(state);
    struct smp_call_node *node = NULL;

    if (at == NULL)
        return;
    set_phase(state, SMP_CALL_IN_HOOK);
    if (at == overflow_of(state)) {
        if (exit_overflow(state, at, true)) {
            /* The outermost root may have had no node of its own. */
            if (position_of(state) == state->top)
                leave_outermost(state);
            else
                set_phase(state, SMP_CALL_NO_HOOK);
            return;
        }
        at = smp_call_parent(at);
    }
    node = at;
    while (node != state->top && node->key != (id | SMP_CALL_ROOT))
        node = smp_call_parent(node);
    if (node != state->top) {
        end_through(at, node, now);
        node = smp_call_parent(node);
        move_position(state, node);
        if (node == state->top) {
            leave_outermost(state);
            return;
        }
    }
    set_phase(state, SMP_CALL_NO_HOOK);
}
