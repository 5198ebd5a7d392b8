/* SPDX-License-Identifier: Apache-2.0 */
/* registers_x86_64.h - see registers.h, which includes it. */
#ifndef SMP_JVM_WALK_HANDLER_REGISTERS_X86_64_H
#define SMP_JVM_WALK_HANDLER_REGISTERS_X86_64_H

#include <string.h>
#include <ucontext.h>

enum {
    SMP_PROLOGUE_BYTES = 96, /* the frame is made within so many bytes, or not understood */
    SMP_RETURN_ON_STACK = 1, /* a call leaves its return address on the stack */
    SMP_CALL_LONGEST = 16,   /* bytes looked at before a return address */
    /* The kernel's frame of a handler: restorer, ucontext, siginfo; state of the FPU above. */
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

static inline void smp_registers_set(ucontext_t *context, struct smp_registers value)
{
    greg_t *registers = context->uc_mcontext.gregs;

    registers[REG_RIP] = (greg_t)value.pc;
    registers[REG_RSP] = (greg_t)value.sp;
    registers[REG_RBP] = (greg_t)value.fp;
}

/* Where the return address is not on the stack. */
static inline uintptr_t smp_registers_link(const ucontext_t *context)
{
    (void)context;
    return 0;
}

/* mov $15, %rax; syscall. At least so many bytes can be read. */
static inline bool smp_registers_is_restorer(uintptr_t address)
{
    static const uint8_t text[SMP_RESTORER_BYTES] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

    return memcmp((const void *)address, text, sizeof(text)) == 0; /* NOLINT */
}

/*
 * Where the frame begins whose handler has just been entered, or has just returned to its restorer;
 * 0: neither.
 */
static inline uintptr_t smp_registers_frame_at(struct smp_registers now, uintptr_t link,
                                               uintptr_t restorer)
{
    const uintptr_t word = sizeof(uintptr_t);

    (void)link;
    if (now.pc >= restorer && now.pc < restorer + SMP_RESTORER_BYTES)
        return now.sp - word;
    return *(const uintptr_t *)now.sp == restorer ? now.sp : 0; /* NOLINT */
}

/* The signal of a frame of the kernel's. */
SMP_READS_STACKS static inline int smp_registers_frame_signal(const ucontext_t *saved)
{
    int number = 0;

    memcpy(&number, (const char *)saved + SMP_SIGNAL_CONTEXT_BYTES, sizeof(number));
    return number;
}

/* The registers in a frame of the kernel's; NULL: it is none. It can be read whole. */
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

/* Only what a walk reads: of a frame of the kernel's no more is there. */
static inline void smp_registers_copy(ucontext_t *to, const ucontext_t *from)
{
    memcpy(to->uc_mcontext.gregs, from->uc_mcontext.gregs, sizeof(to->uc_mcontext.gregs));
}

/* sub $imm, %rsp at code; its length, or 0. */
static inline size_t smp_x86_lowers_sp(const uint8_t *code, uint32_t *bytes)
{
    int32_t wide = 0;

    if (code[0] != 0x48 || code[2] != 0xec)
        return 0;
    if (code[1] == 0x83 && code[3] < 0x80) {
        *bytes = code[3];
        return 4;
    }
    if (code[1] != 0x81)
        return 0;
    memcpy(&wide, code + 3, sizeof(wide));
    if (wide <= 0)
        return 0;
    *bytes = (uint32_t)wide;
    return 7;
}

/* mov %rbp, disp(%rsp) */
static inline bool smp_x86_saves_fp(const uint8_t *code)
{
    return code[0] == 0x48 && code[1] == 0x89 && (code[2] == 0x6c || code[2] == 0xac) &&
           code[3] == 0x24;
}

/* mov %eax, -bang(%rsp): a look at the stack's end, seven bytes before push %rbp. */
static inline bool smp_x86_bangs(const uint8_t *code)
{
    return code[0] == 0x89 && code[1] == 0x84 && code[2] == 0x24 && code[6] == 0xff;
}

/*
 * Both compilers of HotSpot begin a method in one of these ways, after the check of the receiver's
 * class that methods with a receiver have:
 *
 *   push %rbp; [mov %rsp, %rbp;] sub $n, %rsp
 *   sub $n, %rsp; mov %rbp, m(%rsp)
 *   (look at the stack's end) push %rbp; [mov %rsp, %rbp;] and nothing more
 */
static inline struct smp_code_frame smp_registers_decode_frame(const void *start, size_t size)
{
    const struct smp_code_frame unknown = { 0 };
    const uint8_t *code = start;
    const size_t end = size < SMP_PROLOGUE_BYTES ? size : SMP_PROLOGUE_BYTES;
    const size_t word = sizeof(uintptr_t);
    uint32_t bytes = 0;

    for (size_t i = 0; i + 16 < end; i++) {
        size_t length = smp_x86_lowers_sp(code + i, &bytes);
        if (length > 0 && smp_x86_saves_fp(code + i + length))
            return (struct smp_code_frame){ .bytes = bytes + (uint32_t)word,
                                            .pushed_at = (uint16_t)(i + length),
                                            .lowered_at = (uint16_t)(i + length) };
        if (code[i] != 0x55)
            continue;
        size_t next = i + 1;
        if (code[next] == 0x48 && code[next + 1] == 0x8b && code[next + 2] == 0xec)
            next += 3;
        length = smp_x86_lowers_sp(code + next, &bytes);
        if (length > 0)
            return (struct smp_code_frame){ .bytes = bytes + 2 * (uint32_t)word,
                                            .pushed_at = (uint16_t)(i + 1),
                                            .lowered_at = (uint16_t)(next + length) };
        if (i >= 7 && smp_x86_bangs(code + i - 7))
            return (struct smp_code_frame){ .bytes = 2 * (uint32_t)word,
                                            .pushed_at = (uint16_t)(i + 1),
                                            .lowered_at = (uint16_t)(i + 1) };
    }
    return unknown;
}

/* mov $target, %r10; call *%r10: how compiled code calls what is not compiled. */
static inline bool smp_x86_calls_r10(const uint8_t *code, struct smp_call *call)
{
    int64_t target = 0;

    if (code[-3] != 0x41 || code[-2] != 0xff || code[-1] != 0xd2)
        return false;
    if (code[-13] == 0x49 && code[-12] == 0xba) {
        memcpy(&target, code - 11, sizeof(target));
        call->target = (uintptr_t)target;
        call->start -= 13;
    } else {
        call->start -= 3;
    }
    return true;
}

/*
 * Is the instruction before this address a call? At least SMP_CALL_LONGEST bytes before it can be
 * read.
 */
static inline bool smp_registers_follows_call(uintptr_t address, struct smp_call *call)
{
    const uint8_t *code = (const uint8_t *)address; /* NOLINT(performance-no-int-to-ptr) */
    int32_t distance = 0;
    bool is_call = true;

    *call = (struct smp_call){ .start = address };
    if (code[-5] == 0xe8) {
        memcpy(&distance, code - 4, sizeof(distance));
        call->target = address + (uintptr_t)(intptr_t)distance;
        call->start -= 5;
    } else if (!smp_x86_calls_r10(code, call)) {
        is_call = false;
        for (unsigned length = 2; length < 8 && !is_call; length++) { /* call *reg or *mem */
            is_call = code[-(int)length] == 0xff && (code[1 - (int)length] & 0x38) == 0x10;
            call->start = address - length;
        }
    }
    code = (const uint8_t *)call->start; /* NOLINT(performance-no-int-to-ptr) */
    if (code[-3] == 0xc5 && code[-2] == 0xf8 && code[-1] == 0x77) /* vzeroupper belongs to it */
        call->start -= 3;
    return is_call;
}

/* The first call of what is not compiled whose return address lies at or after from; 0: none. */
static inline size_t smp_registers_next_leaf_call(const void *start, size_t size, size_t from,
                                                  struct smp_call *call)
{
    const uint8_t *code = start;
    size_t at = from < SMP_CALL_LONGEST ? SMP_CALL_LONGEST : from;

    for (; at <= size; at++) {
        if (code[at - 1] != 0xd2 || code[at - 2] != 0xff || code[at - 3] != 0x41)
            continue;
        if (smp_registers_follows_call((uintptr_t)(code + at), call) && call->target != 0)
            return at;
    }
    return 0;
}

#endif
