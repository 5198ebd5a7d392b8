/* SPDX-License-Identifier: Apache-2.0 */
/* Runs inside a signal handler; see guarded_walk.h. */
#include "handler/guarded_walk.h"

#include <stdbool.h>

#include "handler/code_view.h"
#include "handler/registers.h"
#include "handler/signal_frame.h"
#include "handler/stack_walk.h"

enum place { ON_OWN_STACK, ON_OTHER_STACK, NO_ROOM };

static bool has_walk_room(const struct smp_walk_target *target, struct smp_signal_stack on,
                          uintptr_t here)
{
    const bool is_own = on.low == target->stack_low;
    const uintptr_t low = is_own && target->guard_end != 0 ? target->guard_end : on.low;

    return here > low && here - low >= SMP_WALK_ROOM_BYTES;
}

/* If the bounds of the thread's own stack are unknown, only the JVM's code certainly runs on it. */
static enum place interrupted_place(const struct smp_walk_target *target, const ucontext_t *context,
                                    uintptr_t here)
{
    const struct smp_signal_stack own = { target->stack_low, target->stack_high };
    const struct smp_signal_stack on = smp_signal_frame_stack(own, context, here);
    const struct smp_registers at = smp_registers_get(context);

    if (on.high != 0 ? !has_walk_room(target, on, here) : own.high != 0)
        return NO_ROOM;
    if (smp_signal_frame_stack(own, context, at.sp).high != 0)
        return ON_OWN_STACK; /* or on the alternate stack, in another handler */
    return own.high == 0 && (on.high == 0 || smp_code_is_near(at.pc)) ? ON_OWN_STACK
                                                                      : ON_OTHER_STACK;
}

static void walk_from_place(const struct smp_walk_target *target, ucontext_t *context,
                            struct smp_jvm_frame *frames, uint32_t capacity,
                            struct smp_walk_answer *answer)
{
    switch (interrupted_place(target, context, (uintptr_t)__builtin_frame_address(0))) {
    case ON_OWN_STACK:
        smp_stack_walk(target, context, frames, capacity, answer);
        return;
    case ON_OTHER_STACK:
        smp_stack_walk_anchor(target, context, frames, capacity, answer);
        return;
    default:
        *answer = (struct smp_walk_answer){ .answer = SMP_ANSWER_FOREIGN_STACK };
    }
}

void smp_guarded_walk(const struct smp_walk_target *target, ucontext_t *context,
                      struct smp_jvm_frame *frames, uint32_t capacity,
                      struct smp_walk_answer *answer)
{
    const struct smp_walk_calls *const calls = &target->calls;

    walk_from_place(target, context, frames, capacity, answer);
    if (calls->state != NULL)
        answer->spot = calls->spot_of(calls->state, calls->java_id);
}
