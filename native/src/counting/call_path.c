/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/call_path.h"

#include <limits.h>
#include <stddef.h>

#include "base/clock.h"
#include "counting/call_arena.h"
#include "counting/call_clock.h"
#include "counting/call_shared.h"

#define RELAXED memory_order_relaxed
#define ACQUIRE memory_order_acquire
#define RELEASE memory_order_release

static struct smp_call_node *overflow_of(const struct smp_call_state *state)
{
    return smp_call_overflow_node(state->top);
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

/* Needs no atomic addition, because only one thread adds. */
static void add(_Atomic int64_t *number, int64_t amount)
{
    atomic_store_explicit(number, atomic_load_explicit(number, RELAXED) + amount, RELAXED);
}

static int64_t level_of(const struct smp_call_node *overflow)
{
    return atomic_load_explicit(&overflow->count, RELAXED);
}

/* Returns how many keys of the overflow node's calls can be stored; deeper calls are not known. */
static int64_t room_of(const struct smp_call_node *overflow)
{
    return overflow->deep == NULL ? 0 : -overflow->deep[0];
}

/* Stores the key of a call without a node. The caller adds 1 to the count. */
static void note_deep(struct smp_call_state *state, struct smp_call_node *overflow, int32_t key)
{
    const int64_t level = level_of(overflow) + 1;
    const int64_t room = room_of(overflow);

    if (level <= room || (level == room + 1 && smp_call_deepen(state)))
        overflow->deep[level] = key;
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

/* Returns NULL at a limit, and sets *limit unless it is the limit of nodes. Chunks are zeroed. */
static struct smp_call_node *make_node(struct smp_call_state *state, struct smp_call_node *at,
                                       int32_t key, enum smp_call_room *limit)
{
    const size_t size = smp_call_node_bytes(key, state->is_exact);
    struct smp_call_tree *const tree = smp_call_tree_of(state);

    if (at->depth >= state->depth_limit) {
        *limit = SMP_CALL_OVER_DEPTH;
        return NULL;
    }
    if (state->is_full || tree == NULL)
        return NULL;
    if ((size_t)(tree->free_end - tree->free) < size) {
        *limit = smp_call_grow(state);
        if (*limit != SMP_CALL_HAS_ROOM)
            return NULL;
    }
    struct smp_call_node *node = (struct smp_call_node *)(void *)tree->free;
    node->key = key;
    node->ordinal = tree->units;
    node->depth = at->depth + 1;
    tree->free += size;
    tree->units += (uint32_t)(size / smp_call_unit_bytes(state->is_exact));
    link_child(at, node);
    atomic_store_explicit(&node->parent, at, RELEASE);
    smp_call_arena_mark_seen(key & INT32_MAX);
    return node;
}

static struct smp_call_node *find_callee(const struct smp_call_state *state,
                                         struct smp_call_node *at, int32_t key)
{
    struct smp_call_node *child = at->child;

    if (child == NULL || child->key == key)
        return child;
    struct smp_call_node **const hint = smp_call_hint(state->top, at, key);
    if (*hint != NULL && (*hint)->key == key && smp_call_parent(*hint) == at)
        return *hint;
    for (child = child->next; child != at->child; child = child->next) {
        if (child->key == key) {
            at->child = child;
            *hint = child;
            return child;
        }
    }
    return NULL;
}

/* Counts a call without a node for the reason that the first such call had. */
static void add_uncounted(struct smp_call_node *overflow)
{
    if (overflow->depth == SMP_CALL_OVER_DEPTH)
        add(&overflow->entered, 1);
    else if (overflow->depth == SMP_CALL_NO_MEMORY)
        add(&overflow->over_memory, 1);
    else if (overflow->depth == SMP_CALL_BEGAN_BEFORE)
        atomic_fetch_add_explicit(&smp_call_memory->misplaced, 1, RELAXED);
    else
        add(&overflow->time, 1);
}

/* ---- calls that began before their methods had probes ---- */

/* Virtual threads are checked for so long after the last probes: nearly all others began later. */
#define VIRTUAL_NS INT64_C(10000000000)

/* While the number is odd, a stack that was clean may get replaced frames at any time. */
void smp_call_begin_probes(void)
{
    atomic_fetch_add(&smp_call_memory->probes, 1);
}

void smp_call_end_probes(void)
{
    atomic_store_explicit(&smp_call_memory->probed_ns, smp_clock_ns(), RELAXED);
    atomic_fetch_add(&smp_call_memory->probes, 1);
}

static uint32_t *clean_as_of(const struct smp_call_state *state)
{
    return &smp_call_memory->clean_as_of[state - smp_call_memory->states];
}

/* Notes how the JVM names the method, when a node for it was made. */
static void note_method(int32_t id, int32_t hook_frames)
{
    const struct smp_call_view *const view = smp_call_view();

    if (view->own_method == NULL || id < 0 || id >= SMP_CALL_METHODS ||
        atomic_load_explicit(&smp_call_memory->methods[id], RELAXED) != 0)
        return;
    atomic_store_explicit(&smp_call_memory->methods[id], view->own_method(hook_frames), RELAXED);
}

/* Returns whether the stack may have replaced code: not if it was checked after the last probes. */
static bool is_in_doubt(const struct smp_call_state *state, uint32_t probes)
{
    if (probes == 0 || *clean_as_of(state) == probes)
        return false;
    return !state->is_virtual ||
           smp_clock_ns() - atomic_load_explicit(&smp_call_memory->probed_ns, RELAXED) < VIRTUAL_NS;
}

/* Checks the stack from the frame of the call outwards. */
static enum smp_older_call find_older_below(const struct smp_call_view *view,
                                            const struct smp_call_state *state,
                                            const struct smp_call_node *at, int32_t hook_frames)
{
    uint64_t caller = 0;

    if (at == state->top)
        return view->find_older(hook_frames, 0);
    if (smp_call_method(at) < SMP_CALL_METHODS)
        caller = atomic_load_explicit(&smp_call_memory->methods[smp_call_method(at)], RELAXED);
    if (caller == 0)
        return SMP_MAYBE_OLDER_CALL;
    const enum smp_older_call seen = view->find_older(hook_frames, caller);
    /* Only the call of an outermost root shows the whole stack that matters. */
    return seen == SMP_NO_OLDER_CALL && smp_call_parent(at) != state->top ? SMP_MAYBE_OLDER_CALL
                                                                          : seen;
}

/* Returns whether a new node below this one would be wrong because of an older call. */
static bool is_wrong_place(const struct smp_call_state *state, const struct smp_call_node *at,
                           int32_t hook_frames)
{
    const struct smp_call_view *const view = smp_call_view();
    const uint32_t probes = atomic_load_explicit(&smp_call_memory->probes, ACQUIRE);

    if (view->find_older == NULL || !is_in_doubt(state, probes))
        return false;
    const enum smp_older_call seen = find_older_below(view, state, at, hook_frames);
    if (seen == SMP_NO_OLDER_CALL && probes % 2 == 0)
        *clean_as_of(state) = probes;
    return seen == SMP_HAS_OLDER_CALL;
}

uint64_t smp_call_misplaced(void)
{
    return atomic_load_explicit(&smp_call_memory->misplaced, RELAXED);
}

/* ---- entries and exits ---- */

/* As make_node; returns NULL also if the new node would be in the wrong place. */
static struct smp_call_node *place_call(struct smp_call_state *state, struct smp_call_node *at,
                                        int32_t key, int32_t hook_frames, enum smp_call_room *limit)
{
    struct smp_call_node *node = NULL;

    if (is_wrong_place(state, at, hook_frames)) {
        *limit = SMP_CALL_BEGAN_BEFORE;
        return NULL;
    }
    node = make_node(state, at, key, limit);
    if (node != NULL)
        note_method(smp_call_method(node), hook_frames);
    return node;
}

static struct smp_call_node *place_of_call(struct smp_call_state *state, struct smp_call_node *at,
                                           int32_t key, int32_t hook_frames)
{
    struct smp_call_node *overflow = overflow_of(state);
    enum smp_call_room limit = SMP_CALL_OVER_NODES;
    struct smp_call_node *child = at == overflow ? NULL : find_callee(state, at, key);

    if (child == NULL && at != overflow)
        child = place_call(state, at, key, hook_frames, &limit);
    if (child != NULL)
        return child;
    if (at != overflow) {
        atomic_store_explicit(&overflow->count, 0, RELAXED);
        overflow->depth = (int32_t)limit;
        atomic_store_explicit(&overflow->parent, at, RELEASE);
    }
    add_uncounted(overflow);
    note_deep(state, overflow, key);
    return overflow;
}

struct smp_call_node *smp_call_child(struct smp_call_state *state, struct smp_call_node *at,
                                     int32_t key)
{
    return place_of_call(state, at, key, SMP_CALL_HOOK_FRAMES);
}

static void enter_call(struct smp_call_state *state, int32_t key)
{
    struct smp_call_node *const at = position_of(state);
    struct smp_call_node *node = at->child;

    set_phase(state, SMP_CALL_IN_HOOK);
    /* In the overflow node this is the table of keys, which begins with a number that is no key. */
    if (node == NULL || node->key != key)
        node = place_of_call(state, at, key, SMP_CALL_NATIVE_HOOK_FRAMES);
    move_position(state, node);
    add(&node->count, 1);
    if (node->key != SMP_CALL_OVERFLOW && (state->is_exact || key < 0))
        atomic_store_explicit(&node->entered, smp_call_clock_ticks(), RELEASE);
    set_phase(state, key < 0 ? SMP_CALL_NO_HOOK : SMP_CALL_BETWEEN_STAMPS);
}

static void note_extremes(struct smp_call_wide_node *node, int64_t ticks, uint32_t epoch)
{
    const unsigned half = epoch % 2;

    if (atomic_load_explicit(&node->epoch[half], RELAXED) != epoch) {
        atomic_store_explicit(&node->least[half], ticks, RELAXED);
        atomic_store_explicit(&node->most[half], ticks, RELAXED);
        atomic_store_explicit(&node->epoch[half], epoch, RELEASE);
        return;
    }
    if (ticks < atomic_load_explicit(&node->least[half], RELAXED))
        atomic_store_explicit(&node->least[half], ticks, RELAXED);
    if (ticks > atomic_load_explicit(&node->most[half], RELAXED))
        atomic_store_explicit(&node->most[half], ticks, RELAXED);
}

/* If the epoch ends meanwhile, the reader may have read this node already, so the call is noted in
 * the next epoch as well. The reader's barrier orders the two loads. */
static void note_call(struct smp_call_wide_node *node, int64_t ticks)
{
    const uint32_t epoch = smp_call_epoch();

    note_extremes(node, ticks, epoch);
    atomic_signal_fence(memory_order_seq_cst);
    const uint32_t now = smp_call_epoch();
    if (now != epoch)
        note_extremes(node, ticks, now);
}

/* The order of stores matters: a reader that sees the new time also sees that the call has ended,
 * and a reader that sees one more call also sees its extremes. */
static void end_call(struct smp_call_node *node, int64_t now)
{
    const int64_t entered = atomic_load_explicit(&node->entered, RELAXED);
    const int64_t ticks = now > entered ? now - entered : 0;

    if (entered == 0)
        return;
    note_call((struct smp_call_wide_node *)node, ticks);
    atomic_store_explicit(&node->entered, 0, RELAXED);
    atomic_store_explicit(&node->time, atomic_load_explicit(&node->time, RELAXED) + ticks, RELEASE);
    atomic_store_explicit(&node->exits, atomic_load_explicit(&node->exits, RELAXED) + 1, RELEASE);
}

/* Stores the position of an outermost root before all later loads, as close requires
 * (call_arena.h). needs_fence is read after the store: if a thread misses a change of it, only a
 * context switch can delay its next load, and that is a fence, too. */
static void publish_position(struct smp_call_state *state, struct smp_call_node *node)
{
    move_position(state, node);
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&smp_call_memory->needs_fence, RELAXED))
        atomic_store(&state->position, node);
}

/* Returns whether the thread may count in its tree. Otherwise it must give it back. */
static bool is_current(const struct smp_call_state *state)
{
    return atomic_load_explicit(&state->generation, RELAXED) == smp_call_generation();
}

/* Leaves the outermost root. The thread stores that before it reads whether counting was closed
 * (call_arena.h). */
static void leave_outermost(struct smp_call_state *state)
{
    set_phase(state, SMP_CALL_NO_HOOK);
    publish_position(state, NULL);
    if (state->is_virtual || !is_current(state))
        smp_call_leave(state);
}

/* Begins an outermost root. Returns NULL if the thread cannot be counted. If a renewal takes the
 * tree away meanwhile, the thread tries again with a new tree. */
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
    /* Gives back a state from before counting ended. */
    state = smp_call_state_find(tid);
    if (state != NULL)
        smp_call_leave(state);
    return NULL;
}

/* Returns whether the position is in a tree of an earlier session, whose calls may never end. */
static bool is_left_over(const struct smp_call_state *state)
{
    const struct smp_call_tree *const tree = smp_call_tree_of(state);

    return position_of(state) != NULL &&
           (tree == NULL || atomic_load_explicit(&tree->session, RELAXED) != smp_call_session());
}

bool smp_call_begins(int64_t tid)
{
    const struct smp_call_state *const state = smp_call_state_find(tid);

    return state == NULL || position_of(state) == NULL || is_left_over(state);
}

void smp_call_enter_root(int64_t tid, bool is_virtual, uint32_t pool, int32_t id)
{
    struct smp_call_state *state = smp_call_state_find(tid);

    if (state != NULL && is_left_over(state)) {
        leave_outermost(state);
        state = smp_call_state_find(tid); /* a virtual thread has none any more */
    }
    if (state == NULL || position_of(state) == NULL)
        state = begin_outermost(state, tid, is_virtual, pool);
    if (state != NULL)
        enter_call(state, id | SMP_CALL_ROOT);
}

void smp_call_enter(struct smp_call_state *state, int32_t id)
{
    if (position_of(state) != NULL)
        enter_call(state, id);
}

/* A running call: one of the overflow node's if level is above 0, else the call of node. */
struct running {
    struct smp_call_node *node;
    int64_t level;
};

static struct running innermost(const struct smp_call_state *state)
{
    struct smp_call_node *const at = position_of(state);
    const bool is_deep = at == overflow_of(state);

    return (struct running){ .node = is_deep ? smp_call_parent(at) : at,
                             .level = is_deep ? level_of(at) : 0 };
}

static int64_t running_depth(const struct running *call)
{
    return call->node->depth + call->level;
}

static bool is_unknown(const struct smp_call_state *state, const struct running *call)
{
    return call->level > room_of(overflow_of(state));
}

static bool is_over(const struct smp_call_state *state, const struct running *call)
{
    return call->level == 0 && call->node == state->top;
}

/* The call is known. */
static int32_t running_key(const struct smp_call_state *state, const struct running *call)
{
    return call->level > 0 ? overflow_of(state)->deep[call->level] : call->node->key;
}

static void step_out(struct running *call)
{
    if (call->level > 0)
        call->level--;
    else
        call->node = smp_call_parent(call->node);
}

/* Ends all calls inside of this call. */
static void go_back(struct smp_call_state *state, const struct running *call, int64_t now)
{
    if (call->level > 0) {
        atomic_store_explicit(&overflow_of(state)->count, call->level, RELAXED);
        return;
    }
    for (struct smp_call_node *node = innermost(state).node; node != call->node;
         node = smp_call_parent(node))
        end_call(node, now);
    move_position(state, call->node);
}

/* Moves call outwards to the nearest running call of this key. An unknown call is taken for it,
 * unless key is a root's. Returns false if there is none: a root in between shows that it has
 * ended. */
static bool find_key(const struct smp_call_state *state, struct running *call, int32_t key)
{
    for (; !is_over(state, call); step_out(call)) {
        if (is_unknown(state, call)) {
            if (key >= 0)
                return true;
            continue;
        }
        const int32_t own = running_key(state, call);
        if (own == key)
            return true;
        if (own < 0 && key >= 0)
            return false;
    }
    return false;
}

/* Ends the nearest running call of this key, and all calls inside of it. */
static void exit_call(struct smp_call_state *state, int32_t key, int64_t now)
{
    struct running call = innermost(state);

    if (find_key(state, &call, key)) {
        step_out(&call);
        go_back(state, &call, now);
    }
}

void smp_call_exit(struct smp_call_state *state, int32_t id)
{
    const int64_t now = state->is_exact ? smp_call_clock_ticks() : 0;
    struct smp_call_node *const at = position_of(state);

    if (at == NULL)
        return;
    set_phase(state, SMP_CALL_IN_HOOK);
    if (at->key != id) {
        exit_call(state, id, now);
        return;
    }
    end_call(at, now);
    move_position(state, smp_call_parent(at));
}

void smp_call_exit_root(struct smp_call_state *state, int32_t id)
{
    const int64_t now = smp_call_clock_ticks();

    if (position_of(state) == NULL)
        return;
    set_phase(state, SMP_CALL_IN_HOOK);
    exit_call(state, id | SMP_CALL_ROOT, now);
    /* This is the outermost root even if it had no node of its own. */
    if (position_of(state) == state->top)
        leave_outermost(state);
    else
        set_phase(state, SMP_CALL_NO_HOOK);
}

/* ---- a method catches an exception ---- */

/* Moves call outwards to a call of this method. Returns false if there is none. */
static bool find_method(const struct smp_call_state *state, struct running *call, int32_t id)
{
    for (; !is_over(state, call); step_out(call)) {
        if (!is_unknown(state, call) && (running_key(state, call) & INT32_MAX) == id)
            return true;
    }
    return false;
}

static int32_t count_calls(const struct smp_call_state *state, struct running from, int32_t id)
{
    int32_t count = 0;

    while (find_method(state, &from, id) && count < INT32_MAX) {
        count++;
        step_out(&from);
    }
    return count;
}

/* Returns whether the exception's doubt is resolved, because it came to an inner call before.
 * Either the stack was walked then and calls have ended in order since, or it was too deep and is
 * still more than half as deep. */
static bool is_resolved(const struct smp_call_state *state, int32_t doubt, const struct running *at)
{
    const int64_t depth = atomic_load_explicit(&state->top->count, RELAXED);

    return doubt > 0 && atomic_load_explicit(&state->top->exits, RELAXED) == (uint32_t)doubt &&
           (depth >= 0 ? running_depth(at) < depth : running_depth(at) > -depth);
}

/* Notes the doubt as resolved. depth below 0: the stack is too deep while deeper than -depth. */
static void resolve_doubt(struct smp_call_state *state, int32_t doubt, int64_t depth)
{
    if (doubt <= 0)
        return;
    atomic_store_explicit(&state->top->exits, (uint32_t)doubt, RELAXED);
    atomic_store_explicit(&state->top->count, depth, RELAXED);
}

/* Finds the call that catches the exception. Returns false if it is not known. If the method has
 * several calls, the outer ones are running, as many as the thread's stack shows. */
static bool find_catching(struct smp_call_state *state, int32_t id, int32_t doubt,
                          struct running *call)
{
    const struct smp_call_view *const view = smp_call_view();
    const bool is_blind = is_unknown(state, call);
    const bool was_resolved = is_resolved(state, doubt, call);
    const bool is_in_doubt = is_blind || (doubt != 0 && !was_resolved);
    const int32_t count = is_in_doubt ? count_calls(state, *call, id) : 0;
    const bool is_looked_at = count > (is_blind ? 0 : 1) && view->count_calls != NULL;
    const int32_t real = is_looked_at ? view->count_calls() : 0;

    if (is_blind && real > count)
        return false;
    const bool is_too_deep = count > 1 && real <= 0;
    const int64_t half = running_depth(call) / 2;
    bool is_found = find_method(state, call, id);
    for (int32_t lost = real > 0 ? count - real : 0; is_found && lost > 0; lost--) {
        step_out(call);
        is_found = find_method(state, call, id);
    }
    if (is_too_deep)
        resolve_doubt(state, doubt, -half);
    else if (is_found && (!was_resolved || atomic_load_explicit(&state->top->count, RELAXED) >= 0))
        resolve_doubt(state, doubt, running_depth(call));
    return is_found;
}

void smp_call_caught(struct smp_call_state *state, int32_t id, int32_t doubt)
{
    if (position_of(state) == NULL)
        return;
    set_phase(state, SMP_CALL_IN_HOOK);
    struct running call = innermost(state);
    if (find_catching(state, id, doubt, &call))
        go_back(state, &call, smp_call_clock_ticks());
}
