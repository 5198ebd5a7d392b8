/* SPDX-License-Identifier: Apache-2.0 */
/* registers_x86_64.h - see registers.h, which includes it. */
#ifndef SMP_HANDLER_REGISTERS_X86_64_H
#define SMP_HANDLER_REGISTERS_X86_64_H

#include <string.h>
#include <ucontext.h>

enum {
    SMP_RETURN_ON_STACK = 1, /* a call leaves its return address on the stack */
    /* The kernel's frame of a handler: restorer, ucontext, siginfo, then the FPU state. */
    SMP_SIGNAL_CONTEXT_BYTES = 304,
    SMP_SIGNAL_FRAME_BYTES = 8 + SMP_SIGNAL_CONTEXT_BYTES + 128,
    SMP_SIGNAL_FRAME_ALIGNED = 16,
    SMP_SIGNAL_FRAME_MISALIGNED = 8,
    SMP_RESTORER_BYTES = 9
};

static inline struct smp_registers smp_registers_get(const ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;

    return (struct smp_registers){ .pc = (uintptr_t)registers[REG_RIP],
                                   .sp = (uintptr_t)registers[REG_RSP],
                                   .fp = (uintptr_t)registers[REG_RBP] };
}

/* The register with the return address of a call; 0 because this processor has none. */
static inline uintptr_t smp_registers_link(const ucontext_t *context)
{
    (void)context;
    return 0;
}

/* The interpreter's pointer to the current byte code. Outside the interpreter any value. */
static inline uintptr_t smp_registers_bcp(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.gregs[REG_R13];
}

/* In the interpreter r13 has the caller's stack pointer until that is the first word of the new
 * frame. Soon afterwards it has the byte code pointer, which is no stack address. rbx has the
 * method until the frame is complete. */
static inline struct smp_entry_registers smp_registers_entry(const ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;

    return (struct smp_entry_registers){ .method = (uintptr_t)registers[REG_RBX],
                                         .sender_sp = (uintptr_t)registers[REG_R13],
                                         .return_address = (uintptr_t)registers[REG_RAX] };
}

/* way 0: a Java method returns; 1: a native method returns; 2: an exception leaves the method. At
 * other places the values are arbitrary. */
static inline struct smp_left_registers smp_registers_left(const ucontext_t *context, int way)
{
    static const int used[SMP_LEFT_REGISTERS][2] = { { REG_RBX, REG_R13 },
                                                     { REG_R11, REG_RDI },
                                                     { REG_RBX, REG_RDX } };
    const greg_t *registers = context->uc_mcontext.gregs;

    return (struct smp_left_registers){ .sender_sp = (uintptr_t)registers[used[way][0]],
                                        .return_address = (uintptr_t)registers[used[way][1]] };
}

/* At other places the values are arbitrary. */
static inline struct smp_exception_registers smp_registers_exception(const ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;

    return (struct smp_exception_registers){ .pc = (uintptr_t)registers[REG_RDX],
                                             .handler = (uintptr_t)registers[REG_RCX] };
}

/* mov $15, %rax; syscall. The bytes must be readable. */
static inline bool smp_registers_is_restorer(uintptr_t address)
{
    static const uint8_t text[SMP_RESTORER_BYTES] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

    return memcmp((const void *)address, text, sizeof(text)) == 0; /* NOLINT */
}

/* Returns the address of the kernel's frame if its handler has just been entered or has just
 * returned to its restorer, or else 0. */
static inline uintptr_t smp_registers_frame_at(struct smp_registers now, uintptr_t link,
                                               uintptr_t restorer)
{
    const uintptr_t word = sizeof(uintptr_t);

    (void)link;
    if (now.pc >= restorer && now.pc < restorer + SMP_RESTORER_BYTES)
        return now.sp - word;
    return *(const uintptr_t *)now.sp == restorer ? now.sp : 0; /* NOLINT */
}

/* Returns the signal number in a kernel frame. */
SMP_READS_STACKS static inline int smp_registers_frame_signal(const ucontext_t *saved)
{
    int number = 0;

    memcpy(&number, (const char *)saved + SMP_SIGNAL_CONTEXT_BYTES, sizeof(number));
    return number;
}

/* Returns the registers in a kernel frame, or NULL if it is not one. All of it must be readable. */
SMP_READS_STACKS static inline const ucontext_t *smp_registers_in_frame(uintptr_t at)
{
    enum { FLAGS = 7, USER_CODE = 0x33, CODE_MASK = 0xffff, SIGNALS = 64 };
    const ucontext_t *context = (const ucontext_t *)(at + sizeof(uintptr_t)); /* NOLINT */
    const uintptr_t end = at + SMP_SIGNAL_FRAME_BYTES;
    const uintptr_t floats = (uintptr_t)context->uc_mcontext.fpregs;
    const int number = smp_registers_frame_signal(context);

    if (context->uc_flags > FLAGS || context->uc_link != NULL || number < 1 || number > SIGNALS ||
        (context->uc_mcontext.gregs[REG_CSGSFS] & CODE_MASK) != USER_CODE ||
        context->uc_mcontext.gregs[REG_RIP] == 0 || (floats != 0 && floats < end))
        return NULL;
    return context;
}

/* Copies only what a walk reads; a kernel frame is shorter than a ucontext_t. */
static inline void smp_registers_copy(ucontext_t *to, const ucontext_t *from)
{
    memcpy(to->uc_mcontext.gregs, from->uc_mcontext.gregs, sizeof(to->uc_mcontext.gregs));
}

#endif
