/* SPDX-License-Identifier: Apache-2.0 */
/* registers_aarch64.h - see registers.h, which includes it. */
#ifndef SMP_HANDLER_REGISTERS_AARCH64_H
#define SMP_HANDLER_REGISTERS_AARCH64_H

#include <string.h>
#include <ucontext.h>

enum {
    SMP_RETURN_ON_STACK = 0, /* a call leaves its return address in the link register */
    SMP_AARCH64_FP = 29,
    SMP_AARCH64_LINK = 30,
    /* The kernel's frame of a handler: siginfo, ucontext, space for more registers. */
    SMP_SIGNAL_INFO_BYTES = 128,
    SMP_SIGNAL_FRAME_BYTES = SMP_SIGNAL_INFO_BYTES + 4560,
    SMP_SIGNAL_FRAME_ALIGNED = 16,
    SMP_SIGNAL_FRAME_MISALIGNED = 0,
    SMP_RESTORER_BYTES = 8
};

static inline struct smp_registers smp_registers_get(const ucontext_t *context)
{
    return (struct smp_registers){ .pc = (uintptr_t)context->uc_mcontext.pc,
                                   .sp = (uintptr_t)context->uc_mcontext.sp,
                                   .fp = (uintptr_t)context->uc_mcontext.regs[SMP_AARCH64_FP] };
}

static inline uintptr_t smp_registers_link(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.regs[SMP_AARCH64_LINK];
}

/* The interpreter's pointer to the current byte code. Outside the interpreter any value. */
static inline uintptr_t smp_registers_bcp(const ucontext_t *context)
{
    enum { BCP = 22 };

    return (uintptr_t)context->uc_mcontext.regs[BCP];
}

/* Returns unknown registers, because on this processor JDKs use different ones. */
static inline struct smp_entry_registers smp_registers_entry(const ucontext_t *context)
{
    const struct smp_entry_registers unknown = { 0 };

    (void)context;
    return unknown;
}

/* Returns unknown registers, for the same reason. */
static inline struct smp_left_registers smp_registers_left(const ucontext_t *context, int way)
{
    const struct smp_left_registers unknown = { 0 };

    (void)context;
    (void)way;
    return unknown;
}

/* Not read on this processor. */
static inline struct smp_exception_registers smp_registers_exception(const ucontext_t *context)
{
    const struct smp_exception_registers unknown = { 0 };

    (void)context;
    return unknown;
}

/* mov x8, #139; svc #0. The bytes must be readable. */
static inline bool smp_registers_is_restorer(uintptr_t address)
{
    static const uint32_t text[] = { 0xd2801168U, 0xd4000001U };

    return address % sizeof(text[0]) == 0 &&
           memcmp((const void *)address, text, sizeof(text)) == 0; /* NOLINT */
}

/* Returns the address of the kernel's frame if its handler has just been entered or has just
 * returned to its restorer, or else 0. */
static inline uintptr_t smp_registers_frame_at(struct smp_registers now, uintptr_t link,
                                               uintptr_t restorer)
{
    const bool returns = now.pc >= restorer && now.pc < restorer + SMP_RESTORER_BYTES;

    return returns || link == restorer ? now.sp : 0;
}

/* Returns the signal number in a kernel frame. */
SMP_READS_STACKS static inline int smp_registers_frame_signal(const ucontext_t *saved)
{
    int number = 0;

    memcpy(&number, (const char *)saved - SMP_SIGNAL_INFO_BYTES, sizeof(number));
    return number;
}

/* Returns the registers in a kernel frame, or NULL if it is not one. All of it must be readable. */
SMP_READS_STACKS static inline const ucontext_t *smp_registers_in_frame(uintptr_t at)
{
    enum { SIGNALS = 64 };
    const ucontext_t *context = (const ucontext_t *)(at + SMP_SIGNAL_INFO_BYTES); /* NOLINT */
    const int number = smp_registers_frame_signal(context);

    if (context->uc_flags != 0 || context->uc_link != NULL || number < 1 || number > SIGNALS ||
        context->uc_mcontext.pc == 0)
        return NULL;
    return context;
}

/* Copies only what a walk reads. */
static inline void smp_registers_copy(ucontext_t *to, const ucontext_t *from)
{
    memcpy(to->uc_mcontext.regs, from->uc_mcontext.regs, sizeof(to->uc_mcontext.regs));
    to->uc_mcontext.sp = from->uc_mcontext.sp;
    to->uc_mcontext.pc = from->uc_mcontext.pc;
}

#endif
