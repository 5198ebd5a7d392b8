/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs inside a signal handler: see stack_walk.h. Calls through pointers: AsyncGetCallTrace.
 */
#include "handler/stack_walk.h"

#include <stddef.h>

#include "handler/caller.h"
#include "handler/code_view.h"
#include "handler/heap_end.h"
#include "handler/one_walk.h"
#include "handler/registers.h"
#include "handler/signal_frame.h"
#include "handler/top.h"

/* -------------------------------------------------------------------------------------- answers */

static enum smp_answer answer_of(int32_t code)
{
    switch (code) {
    case SMP_JVM_NO_JAVA_FRAME:
        return SMP_ANSWER_EMPTY;
    case SMP_JVM_GC_ACTIVE:
        return SMP_ANSWER_GC_ACTIVE;
    case SMP_JVM_UNKNOWN_NOT_JAVA:
        return SMP_ANSWER_UNKNOWN_NOT_JAVA;
    case SMP_JVM_NOT_WALKABLE_NOT_JAVA:
        return SMP_ANSWER_NOT_WALKABLE_NOT_JAVA;
    case SMP_JVM_UNKNOWN_JAVA:
        return SMP_ANSWER_UNKNOWN_JAVA;
    case SMP_JVM_NOT_WALKABLE_JAVA:
        return SMP_ANSWER_NOT_WALKABLE_JAVA;
    case SMP_JVM_THREAD_EXIT:
        return SMP_ANSWER_THREAD_EXIT;
    case SMP_JVM_DEOPT:
        return SMP_ANSWER_DEOPT;
    default:
        return code > 0 ? SMP_ANSWER_NOT_WALKABLE_JAVA : SMP_ANSWER_UNKNOWN_STATE;
    }
}

/* The requester has read them last, on another CPU: their memory arrives while the walk begins. */
static void prefetch_frames(struct smp_jvm_frame *frames, uint32_t capacity)
{
    enum { PER_LINE = 4 };

    for (uint32_t i = 0; i < SMP_WALK_PREFETCHED && i < capacity; i += PER_LINE)
        __builtin_prefetch(&frames[i], 1);
}

/* ---------------------------------------------------------------------------- in other handlers */

/* Continues with the registers that another handler has interrupted. Copies them: the kernel's
 * frame has no room for all of a context. */
static bool leave_handlers(struct smp_walk *walk, bool is_deep)
{
    const struct smp_signal_stack thread = { walk->target->stack_low, walk->target->stack_high };
    bool left = false;

    for (int i = 0; i < SMP_SIGNAL_FRAMES_NESTED && !smp_code_is_near(walk->at.pc); i++) {
        const ucontext_t *now = walk->handler != NULL ? walk->handler : walk->context;
        const ucontext_t *saved = smp_signal_frame_at(thread, now);
        if (saved == NULL && is_deep)
            saved = smp_signal_frame_above(thread, now);
        if (saved == NULL)
            break;
        walk->handler = saved;
        walk->at = smp_registers_get(saved);
        left = true;
    }
    if (!left)
        return false;
    smp_registers_copy(walk->copy, walk->handler);
    walk->context = walk->copy;
    if (!walk->answer->in_handler)
        smp_signal_frame_count();
    walk->answer->in_handler = true;
    return true;
}

/* --------------------------------------------------------------------------------- by the JVM */

/* A single frame without a byte code index is not kept: its leaf is not known. */
static void keep_rootless(struct smp_walk *walk, int32_t count)
{
    if (count > 1 || (count == 1 && walk->frames[1].bci != -1))
        walk->answer->rootless = (uint32_t)count;
}

/* False: it has no whole stack; *code says why not. */
static bool walk_by_jvm(struct smp_walk *walk, int32_t *code)
{
    struct smp_walk_answer *answer = walk->answer;
    const int32_t count = smp_walk_call_jvm(walk);

    *code = count;
    answer->answer = answer_of(count);
    answer->count = 0;
    answer->cut = (struct smp_stack_cut){ 0 };
    if (count == SMP_JVM_THREAD_EXIT)
        return false;
    walk->is_alive = true; /* or it would have said so */
    answer->state = smp_top_state(walk);
    if (count > 0 && (uint32_t)count + 1 < walk->capacity)
        answer->root = walk->frames[count].method;
    if (!smp_walk_is_whole(walk, count))
        return false;
    answer->answer = SMP_ANSWER_WHOLE;
    answer->first = 1;
    answer->count = (uint32_t)count;
    if (answer->count + 1 >= walk->capacity)
        answer->cut.omitted = 1; /* perhaps: it does not say */
    smp_heap_end_add(walk);
    return true;
}

/* In any other state it does not read the registers. */
static bool may_be_in_handler(const struct smp_walk *walk)
{
    const int32_t state = walk->answer->state;

    return !smp_code_is_near(walk->at.pc) &&
           (state == walk->target->layout.states.in_java || state == 0);
}

/* AsyncGetCallTrace alone, from where the thread's own code was interrupted. */
static void walk_without_layout(struct smp_walk *walk)
{
    int32_t code = 0;
    bool is_whole = walk_by_jvm(walk, &code);

    if (code == SMP_JVM_THREAD_EXIT)
        return;
    if (may_be_in_handler(walk) && leave_handlers(walk, true))
        is_whole = walk_by_jvm(walk, &code);
    if (!is_whole)
        keep_rootless(walk, code);
}

/* --------------------------------------------------------------------------------- by ourselves */

/* Only a thread that surely runs Java code: elsewhere its frames may be left from before. */
static bool walk_proven_leaf_call(struct smp_walk *walk)
{
    const struct smp_jvm_states *states = &walk->target->layout.states;

    return walk->is_alive && walk->answer->state == states->in_java &&
           smp_caller_walk_leaf_call(walk);
}

/* Code of the C library, say, or of a barrier, that Java code has called as a leaf. The JVM follows
 * frame pointers there, too, but takes the line of what is behind the call; what it does not find
 * is searched for on the stack. */
static void walk_foreign(struct smp_walk *walk)
{
    int32_t code = SMP_JVM_UNKNOWN_JAVA;
    const bool is_proven = walk->is_alive;

    if (walk_proven_leaf_call(walk))
        return;
    walk->answer->answer = answer_of(code);
    if (walk->target->walk != NULL && walk_by_jvm(walk, &code))
        return;
    if (code == SMP_JVM_THREAD_EXIT)
        return;
    if (!is_proven && walk->is_alive && smp_top_walk_anchor(walk) == SMP_TOP_WALKED)
        return;
    const bool is_java =
        code > 0 || code == SMP_JVM_UNKNOWN_JAVA || code == SMP_JVM_NOT_WALKABLE_JAVA;
    if (is_java && smp_caller_search(walk, NULL))
        return;
    walk->answer->answer = answer_of(code);
    if (code > 0) /* the search has used its memory */
        keep_rootless(walk, smp_walk_call_jvm(walk));
}

static void walk_by_layout(struct smp_walk *walk)
{
    enum smp_top top = SMP_TOP_FOREIGN;

    walk->answer->state = smp_top_state(walk);
    walk->code = smp_code_enter();
    top = smp_top_walk(walk);
    if (top == SMP_TOP_FOREIGN && leave_handlers(walk, true))
        top = smp_top_walk(walk);
    if (top == SMP_TOP_FOREIGN)
        walk_foreign(walk);
    smp_code_leave();
    if (top == SMP_TOP_WALKED && walk->answer->count == 0)
        walk->answer->answer = SMP_ANSWER_EMPTY;
}

static void walk_as_possible(struct smp_walk *walk)
{
    const struct smp_walk_target *target = walk->target;

    (void)leave_handlers(walk, false);
    if (target->own != NULL && target->stack_high != 0)
        walk_by_layout(walk);
    else if (target->walk != NULL)
        walk_without_layout(walk);
}

static bool begin_answer(const struct smp_walk_target *target, struct smp_walk_answer *answer)
{
    const bool has_ended = target->thread != NULL && target->thread->ended_ns != 0;

    *answer = (struct smp_walk_answer){ .answer = has_ended ? SMP_ANSWER_THREAD_EXIT
                                                            : SMP_ANSWER_UNKNOWN_STATE };
    return !has_ended;
}

void smp_stack_walk(const struct smp_walk_target *target, ucontext_t *context,
                    struct smp_jvm_frame *frames, uint32_t capacity, struct smp_walk_answer *answer)
{
    ucontext_t copy; /* large, and written only where it is needed */

    if (!begin_answer(target, answer))
        return;
    struct smp_walk walk = { .target = target,
                             .context = context,
                             .frames = frames,
                             .capacity = capacity,
                             .at = smp_registers_get(context),
                             .is_alive = target->was_alive,
                             .answer = answer,
                             .copy = &copy };
    prefetch_frames(frames, capacity);
    walk_as_possible(&walk);
}

void smp_stack_walk_anchor(const struct smp_walk_target *target, ucontext_t *context,
                           struct smp_jvm_frame *frames, uint32_t capacity,
                           struct smp_walk_answer *answer)
{
    struct smp_walk walk = { .target = target,
                             .context = context,
                             .frames = frames,
                             .capacity = capacity,
                             .is_alive = target->was_alive,
                             .answer = answer };

    if (!begin_answer(target, answer))
        return;
    answer->state = smp_top_state(&walk);
    if (target->own != NULL && answer->state != 0 &&
        answer->state == target->layout.states.in_native) {
        walk.code = smp_code_enter();
        (void)smp_top_walk_anchor(&walk);
        smp_code_leave();
    }
    if (answer->count == 0)
        answer->answer = SMP_ANSWER_FOREIGN_STACK;
}
