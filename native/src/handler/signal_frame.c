/* SPDX-License-Identifier: Apache-2.0 */
/* Runs inside a signal handler; see signal_frame.h. */
#include "handler/signal_frame.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "handler/registers.h"

static _Atomic uintptr_t restorer;
static _Atomic uint64_t walks;

void smp_signal_frame_learn(uintptr_t return_address)
{
    if (atomic_load_explicit(&restorer, memory_order_relaxed) == 0 &&
        smp_registers_is_restorer(return_address))
        atomic_store_explicit(&restorer, return_address, memory_order_relaxed);
}

uintptr_t smp_signal_frame_restorer(void)
{
    return atomic_load_explicit(&restorer, memory_order_relaxed);
}

void smp_signal_frame_count(void)
{
    atomic_fetch_add_explicit(&walks, 1, memory_order_relaxed);
}

uint64_t smp_signal_frame_walks(void)
{
    return atomic_load_explicit(&walks, memory_order_relaxed);
}

static bool stack_holds(struct smp_signal_stack stack, uintptr_t address)
{
    return address >= stack.low && address < stack.high;
}

/* Returns the thread's alternate stack, which the kernel writes into each frame. */
static struct smp_signal_stack alternate_of(const ucontext_t *context)
{
    const uintptr_t low = (uintptr_t)context->uc_stack.ss_sp;
    const struct smp_signal_stack none = { 0 };

    if ((context->uc_stack.ss_flags & SS_DISABLE) != 0 || low == 0)
        return none;
    return (struct smp_signal_stack){ low, low + context->uc_stack.ss_size };
}

/* Checks the alternate stack first, which may be a part of the thread's own. */
struct smp_signal_stack smp_signal_frame_stack(struct smp_signal_stack thread,
                                               const ucontext_t *context, uintptr_t address)
{
    const struct smp_signal_stack alternate = alternate_of(context);
    const struct smp_signal_stack none = { 0 };

    if (stack_holds(alternate, address))
        return alternate;
    return stack_holds(thread, address) ? thread : none;
}

/* If the stack is unknown, only a frame that begins at sp can be read. */
static struct smp_signal_stack stack_of(struct smp_signal_stack thread, const ucontext_t *context)
{
    return smp_signal_frame_stack(thread, context, smp_registers_get(context).sp);
}

/* A handler runs with its own signal blocked. If context does not block the signal, the frame is
 * left over from a handler that has returned. */
static bool blocks_signal(const ucontext_t *context, int number)
{
    uint64_t mask = 0;

    memcpy(&mask, &context->uc_sigmask, sizeof(mask));
    return (mask >> (number - 1) & 1) != 0;
}

/*
 * Returns the registers in the frame at `at`, or NULL if the kernel cannot have made the frame for
 * a handler that runs in context. on is the stack of the frame, or (0, 0) if it is unknown; the
 * caller has then checked that the frame can be read.
 */
static const ucontext_t *check_signal_frame(const ucontext_t *context, uintptr_t at,
                                            struct smp_signal_stack on,
                                            struct smp_signal_stack thread)
{
    const ucontext_t *saved = NULL;

    if (at % SMP_SIGNAL_FRAME_ALIGNED != SMP_SIGNAL_FRAME_MISALIGNED)
        return NULL;
    if (on.high != 0 && (at < on.low || at + SMP_SIGNAL_FRAME_BYTES > on.high))
        return NULL;
    saved = smp_registers_in_frame(at);
    if (saved == NULL || !blocks_signal(context, smp_registers_frame_signal(saved)))
        return NULL;
    const uintptr_t sp = smp_registers_get(saved).sp;
    const bool is_above = sp >= at + SMP_SIGNAL_FRAME_BYTES;
    const bool may_be = thread.high == 0 || stack_holds(thread, sp);
    /* On the same stack, the interrupted code is above its handler. */
    const bool is_other = on.high != 0 && !stack_holds(on, sp);
    return may_be && (is_above || is_other) && sp % sizeof(uintptr_t) == 0 ? saved : NULL;
}

const ucontext_t *smp_signal_frame_at(struct smp_signal_stack thread, const ucontext_t *context)
{
    const uintptr_t known = smp_signal_frame_restorer();
    const struct smp_registers now = smp_registers_get(context);
    uintptr_t at = 0;

    if (known == 0 || now.sp % sizeof(uintptr_t) != 0)
        return NULL;
    at = smp_registers_frame_at(now, smp_registers_link(context), known);
    return at != 0 ? check_signal_frame(context, at, stack_of(thread, context), thread) : NULL;
}

SMP_READS_STACKS static uintptr_t frame_word(uintptr_t address)
{
    return *(const uintptr_t *)address; /* NOLINT(performance-no-int-to-ptr) */
}

const ucontext_t *smp_signal_frame_above(struct smp_signal_stack thread, const ucontext_t *context)
{
    const uintptr_t known = smp_signal_frame_restorer();
    const uintptr_t sp = smp_registers_get(context).sp;
    const struct smp_signal_stack on = stack_of(thread, context);
    const uintptr_t end = sp + SMP_SIGNAL_FRAME_WORDS * sizeof(uintptr_t);

    if (!SMP_RETURN_ON_STACK || known == 0 || on.high == 0 || sp % sizeof(uintptr_t) != 0)
        return NULL;
    for (uintptr_t at = sp; at < end && at + SMP_SIGNAL_FRAME_BYTES <= on.high;
         at += sizeof(uintptr_t)) {
        if (frame_word(at) != known)
            continue;
        const ucontext_t *saved = check_signal_frame(context, at, on, thread);
        if (saved != NULL)
            return saved;
    }
    return NULL;
}
