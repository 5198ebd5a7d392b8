/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs inside a signal handler: see stack_walk.h. Calls through pointers: AsyncGetCallTrace.
 */
#include "jvm/walk/handler/stack_walk.h"

#include <stddef.h>

#include "jvm/code/code_view.h"
#include "jvm/walk/handler/heap_end.h"
#include "jvm/walk/handler/one_walk.h"
#include "jvm/walk/handler/recovery.h"
#include "jvm/walk/handler/registers.h"
#include "jvm/walk/handler/signal_frame.h"

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

static int32_t state_of(const struct smp_walk *walk)
{
    const struct smp_walk_target *target = walk->target;

    if (target->java_thread == 0 || target->layout.state == 0)
        return 0;
    return *(const volatile int32_t *)(target->java_thread + target->layout.state); /* NOLINT */
}

/* Keeps the walk with the registers as interrupted. A single frame without a byte code index is not
 * kept: its leaf is not known. */
static void keep_rootless(struct smp_walk *walk)
{
    const int32_t count = smp_walk_call_jvm(walk);

    if (count > 1 || (count == 1 && walk->frames[1].bci != -1))
        walk->answer->rootless = (uint32_t)count;
}

/* The requester has read them last, on another CPU: their memory arrives while the walk begins. */
static void prefetch_frames(struct smp_jvm_frame *frames, uint32_t capacity)
{
    enum { PER_LINE = 4 };

    for (uint32_t i = 0; i < SMP_WALK_PREFETCHED && i < capacity; i += PER_LINE)
        __builtin_prefetch(&frames[i], 1);
}

/* ---------------------------------------------------------------------------- in other handlers */

/* Continues with the registers that another handler has interrupted. Copies them: walks change the
 * context for a moment, and that handler's frame must not change. */
static bool leave_handlers(struct smp_walk *walk, ucontext_t *copy, bool is_deep)
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
    smp_registers_copy(copy, walk->handler);
    walk->context = copy;
    if (!walk->answer->in_handler)
        smp_signal_frame_count();
    walk->answer->in_handler = true;
    walk->answer->sp = walk->at.sp;
    return true;
}

/* In any other state AsyncGetCallTrace does not read the registers. */
static bool may_be_in_handler(const struct smp_walk *walk)
{
    const int32_t state = walk->answer->state;

    return !smp_code_is_near(walk->at.pc) &&
           (state == walk->target->layout.states.in_java || state == 0);
}

/* AsyncGetCallTrace alone, from where the thread's own code was interrupted. */
static int32_t walk_first(struct smp_walk *walk)
{
    ucontext_t *copy = &walk->copy;
    int32_t code = 0;

    (void)leave_handlers(walk, copy, false);
    code = smp_walk_call_jvm(walk);
    if (code == SMP_JVM_THREAD_EXIT)
        return code; /* the JVM's thread object may have been freed */
    walk->answer->state = state_of(walk);
    if (!may_be_in_handler(walk))
        return code;
    walk->answer->lacks_stack = walk->target->stack_high == 0;
    return leave_handlers(walk, copy, true) ? smp_walk_call_jvm(walk) : code;
}

void smp_stack_walk(const struct smp_walk_target *target, ucontext_t *context,
                    struct smp_jvm_frame *frames, uint32_t capacity, struct smp_walk_answer *answer)
{
    struct smp_walk walk; /* its copy of a context is large, and written only where it is needed */

    walk.target = target;
    walk.code = NULL;
    walk.context = context;
    walk.handler = NULL;
    walk.frames = frames;
    walk.capacity = capacity;
    walk.at = smp_registers_get(context);
    walk.answer = answer;
    *answer =
        (struct smp_walk_answer){ .sp = smp_signal_frame_on_alternate(context) ? 0 : walk.at.sp };
    prefetch_frames(frames, capacity);
    const int32_t code = walk_first(&walk);
    answer->raw = code;
    if (code > 0 && (uint32_t)code + 1 < capacity)
        answer->root = frames[code].method;
    if (smp_walk_is_whole(&walk, code)) {
        answer->answer = SMP_ANSWER_WHOLE;
        answer->first = 1;
        answer->count = (uint32_t)code;
        smp_heap_end_add(&walk);
        return;
    }
    answer->answer = answer_of(code);
    walk.code = smp_code_enter();
    smp_recovery_run(&walk, code);
    smp_code_leave();
    if (code > 0 && answer->count == 0)
        keep_rootless(&walk);
}
