/* SPDX-License-Identifier: Apache-2.0 */
/* Runs inside a signal handler; see stack_walk.h. Calls through pointers: AsyncGetCallTrace. */
#include "handler/stack_walk.h"

#include <stddef.h>

#include "handler/caller.h"
#include "handler/code_view.h"
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

/* The requester has read the frames last, on another CPU. Loads their memory while the walk
 * begins. */
static void prefetch_frames(struct smp_jvm_frame *frames, uint32_t capacity)
{
    enum { PER_LINE = 4 };

    for (uint32_t i = 0; i < SMP_WALK_PREFETCHED && i < capacity; i += PER_LINE)
        __builtin_prefetch(&frames[i], 1);
}

/* ---------------------------------------------------------------------------- in other handlers */

/* Continues with the registers that another handler has interrupted. Copies them, because the
 * kernel's frame is shorter than a ucontext_t. */
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

/* ------------------------------------------------------------------------- by AsyncGetCallTrace */

/* Leaves room for a leaf before the walked frames. */
static int32_t call_jvm_walk(struct smp_walk *walk)
{
    struct smp_jvm_trace trace = { .env = walk->target->env, .frames = walk->frames + 1 };

    walk->target->walk(&trace, (int32_t)walk->capacity - 1, walk->context);
    return trace.count;
}

/* Returns whether the trace reaches the root. AsyncGetCallTrace stops at a frame that will be
 * deoptimised. A single frame without a bci is one whose caller was not found. A full buffer
 * counts as whole, because it hides the root. */
static bool is_whole_trace(const struct smp_walk *walk, int32_t count)
{
    const struct smp_jvm_frame *frames = walk->frames + 1;
    const void *root = walk->target->root;

    if (count <= 0)
        return false;
    if ((uint32_t)count + 1 >= walk->capacity)
        return true;
    if (root != NULL)
        return frames[count - 1].method == root;
    return count > 1 || frames[0].bci != -1;
}

/* Returns AsyncGetCallTrace's code, or the number of frames. */
static int32_t walk_by_jvm(struct smp_walk *walk)
{
    struct smp_walk_answer *answer = walk->answer;
    const int32_t count = call_jvm_walk(walk);

    answer->answer = answer_of(count);
    answer->count = 0;
    answer->cut = (struct smp_stack_cut){ 0 };
    if (count == SMP_JVM_THREAD_EXIT)
        return count;
    walk->is_alive = true; /* or the code would be THREAD_EXIT */
    answer->state = smp_top_state(walk);
    if (count > 0 && (uint32_t)count + 1 < walk->capacity)
        answer->root = walk->frames[count].method;
    if (!is_whole_trace(walk, count))
        return count;
    answer->answer = SMP_ANSWER_WHOLE;
    answer->first = 1;
    answer->count = (uint32_t)count;
    if (answer->count + 1 >= walk->capacity)
        answer->cut.omitted = 1; /* perhaps; AsyncGetCallTrace does not report it */
    return count;
}

/* AsyncGetCallTrace reads the registers only of a thread in Java. */
static bool may_be_in_handler(const struct smp_walk *walk)
{
    const int32_t state = walk->answer->state;

    return !smp_code_is_near(walk->at.pc) &&
           (state == walk->target->layout.states.in_java || state == 0);
}

/* Walks, if needed again, from where a handler has interrupted the thread's own code. */
static void walk_without_layout(struct smp_walk *walk)
{
    if (walk_by_jvm(walk) != SMP_JVM_THREAD_EXIT && may_be_in_handler(walk) &&
        leave_handlers(walk, true))
        (void)walk_by_jvm(walk);
}

/* --------------------------------------------------------------------------------- our own walk */

/* Walks from foreign code that Java code has called as a leaf, such as the C library or a barrier.
 * Only for threads that certainly run Java, or the frames might be left over from earlier calls. */
static void walk_foreign(struct smp_walk *walk)
{
    const struct smp_jvm_states *states = &walk->target->layout.states;

    if (!walk->is_alive)
        walk->answer->answer = SMP_ANSWER_UNKNOWN_NOT_JAVA;
    else if (walk->answer->state != states->in_java || !smp_caller_walk_leaf_call(walk))
        walk->answer->answer = SMP_ANSWER_UNKNOWN_JAVA;
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

/* Our own walk requires the bounds of the stack. */
static void walk_by_engine(struct smp_walk *walk)
{
    const struct smp_walk_target *target = walk->target;

    (void)leave_handlers(walk, false);
    if (target->own == NULL && target->walk != NULL)
        walk_without_layout(walk);
    else if (target->own != NULL && target->stack_high != 0)
        walk_by_layout(walk);
}

static bool begin_answer(const struct smp_walk_target *target, struct smp_walk_answer *answer)
{
    const bool has_ended = smp_walk_target_has_ended(target);

    *answer = (struct smp_walk_answer){ .answer = has_ended ? SMP_ANSWER_THREAD_EXIT
                                                            : SMP_ANSWER_UNKNOWN_STATE };
    return !has_ended;
}

void smp_stack_walk(const struct smp_walk_target *target, ucontext_t *context,
                    struct smp_jvm_frame *frames, uint32_t capacity, struct smp_walk_answer *answer)
{
    ucontext_t copy; /* large, and only written if needed */

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
    walk_by_engine(&walk);
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
