/* SPDX-License-Identifier: Apache-2.0 */
/* machine_code_x86_64.h - see machine_code.h, which includes it. */
#ifndef SMP_HOTSPOT_MACHINE_CODE_X86_64_H
#define SMP_HOTSPOT_MACHINE_CODE_X86_64_H

#include <string.h>

enum {
    SMP_SLOTS_ARE_EXPORTED = 1, /* libjvm exports the slots of entries and of senders */
    SMP_SLOT_SENDER_SP = -1,    /* interpreted: the caller's sp, before it was extended */
    SMP_SLOT_METHOD = -3,       /* interpreted */
    SMP_SLOT_BCP = -8,          /* interpreted: the byte code, as saved at the last call */
    SMP_SLOT_CALL_WRAPPER = -6  /* entry */
};

/* Returns the caller's sp; kept: the word in its slot. */
static inline uintptr_t smp_frame_slots_caller_sp(uintptr_t kept, uintptr_t fp)
{
    (void)fp;
    return kept;
}

enum {
    SMP_PROLOGUE_BYTES = 96, /* the frame is made within so many bytes, or not understood */
    SMP_CALL_LONGEST = 16,   /* bytes read before a return address */
    SMP_LEAVE_BEFORE = 7,    /* bytes read before an instruction that may leave the method, */
    SMP_LEAVE_BEHIND = 3,    /* and from it on */
    SMP_PUSHED_BEFORE = 7,   /* likewise, for an instruction between pushes and pops */
    SMP_PUSHED_BEHIND = 16,
    SMP_ADD_LONGEST = 9 /* bytes that show that a frame says its size */
};

/* sub $imm, %rsp. Returns its length, or 0. */
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

/* mov %eax, -bang(%rsp): touches the end of the stack, seven bytes before push %rbp. */
static inline bool smp_x86_bangs(const uint8_t *code)
{
    return code[0] == 0x89 && code[1] == 0x84 && code[2] == 0x24 && code[6] == 0xff;
}

/*
 * Both compilers of HotSpot begin a method in one of these ways. In methods with a receiver a check
 * of the receiver's class comes before:
 *
 *   push %rbp; [mov %rsp, %rbp;] sub $n, %rsp
 *   sub $n, %rsp; mov %rbp, m(%rsp)
 *   (touch of the stack's end) push %rbp; [mov %rsp, %rbp;] and nothing more
 */
static inline struct smp_code_frame smp_machine_code_frame(const void *start, size_t size)
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

/* cmp disp(%r15), %rsp: checks for a thread that waits for this return. The length, or 0. */
static inline size_t smp_x86_polls(const uint8_t *code)
{
    if (code[0] != 0x49 || (code[1] != 0x3b && code[1] != 0x39))
        return 0;
    return code[2] == 0x67 ? 4 : code[2] == 0xa7 ? 7 : 0;
}

/* Returns the target of the five-byte jump or call at this address, or 0. */
static inline uintptr_t smp_machine_code_jump_target(uintptr_t address)
{
    const uint8_t *code = (const uint8_t *)address; /* NOLINT(performance-no-int-to-ptr) */
    int32_t distance = 0;

    if (code[0] != 0xe9 && code[0] != 0xe8)
        return 0;
    memcpy(&distance, code + 1, sizeof(distance));
    return address + 5 + (uintptr_t)(intptr_t)distance;
}

/* Returns the target of the jump at code, short or long, or 0. */
static inline uintptr_t smp_x86_jumps_to(const uint8_t *code)
{
    enum { SHORT_BYTES = 2 };

    if (code[0] == 0xeb)
        return (uintptr_t)code + SHORT_BYTES + (uintptr_t)(intptr_t)(int8_t)code[1];
    return code[0] == 0xe9 ? smp_machine_code_jump_target((uintptr_t)code) : 0;
}

/*
 * pop %rbp; jmp to a stub: a method that throws ends like this. A jump inside the method does not
 * count, because the byte before may look like pop %rbp.
 */
static inline bool smp_x86_jumps_out(uintptr_t pc, uintptr_t start, uintptr_t end)
{
    const uint8_t *code = (const uint8_t *)pc; /* NOLINT(performance-no-int-to-ptr) */

    if (code[0] != 0xe9 || code[-1] != 0x5d || end - pc < 5)
        return false;
    return smp_machine_code_jump_target(pc) - start >= end - start;
}

/*
 * Both compilers end a method in one of these ways; ja leads to a safepoint:
 *
 *   add $n, %rsp; pop %rbp; [cmp disp(%r15), %rsp; ja ...;] ret
 *   add $n, %rsp; pop %rbp; jmp to a stub
 *
 * start, end: the method. Bytes from SMP_LEAVE_BEFORE before pc up to SMP_LEAVE_BEHIND behind it
 * must be readable.
 */
static inline enum smp_code_rest smp_machine_code_rest(uintptr_t pc, uintptr_t start, uintptr_t end)
{
    const uint8_t *code = (const uint8_t *)pc; /* NOLINT(performance-no-int-to-ptr) */
    const bool is_jump = code[0] == 0x0f && (code[1] == 0x87 || code[1] == 0x82);

    if (code[0] == 0x5d)
        return SMP_REST_POINTER;
    if (code[0] == 0xc3 || smp_x86_polls(code) > 0 || smp_x86_jumps_out(pc, start, end) ||
        (is_jump && (smp_x86_polls(code - 4) == 4 || smp_x86_polls(code - 7) == 7)))
        return SMP_REST_RETURN;
    return SMP_REST_FRAME;
}

/* pop of any register but those of stack and frame. Returns its length, or 0. */
static inline size_t smp_x86_pops(const uint8_t *code)
{
    if (code[0] == 0x41 && code[1] >= 0x58 && code[1] <= 0x5f)
        return 2;
    return code[0] >= 0x58 && code[0] <= 0x5f && code[0] != 0x5c && code[0] != 0x5d ? 1 : 0;
}

/*
 * The barriers of ZGC in C1's code pass both arguments on the stack, and keep %rax there if it does
 * not get the result:
 *
 *   [push %rax]; sub $16, %rsp; ...; call stub; add $16, %rsp; [mov %rax, %reg; [pop %rax]]; jmp
 *
 * code: the return address. Returns the bytes up to the jump; 0: it is no barrier. *pushed: the
 * words.
 */
static inline size_t smp_x86_ends_barrier(const uint8_t *code, size_t *pushed)
{
    enum { MOV_BYTES = 3, POP = 0x58 };
    static const uint8_t add[] = { 0x48, 0x83, 0xc4, 0x10 };
    size_t bytes = sizeof(add);

    if (memcmp(code, add, sizeof(add)) != 0)
        return 0;
    const uint8_t *mov = code + bytes;
    if ((mov[0] & 0xfb) == 0x48 && mov[1] == 0x8b && (mov[2] & 0xc7) == 0xc0)
        bytes += MOV_BYTES;
    const bool is_kept = bytes > sizeof(add) && code[bytes] == POP;
    bytes += is_kept ? 1 : 0;
    *pushed = is_kept ? 3 : 2;
    return code[bytes] == 0xe9 || code[bytes] == 0xeb ? bytes : 0;
}

/* If a barrier's call returns to this address, returns where its method continues, else 0. */
static inline uintptr_t smp_machine_code_behind_barrier(uintptr_t address)
{
    const uint8_t *code = (const uint8_t *)address; /* NOLINT(performance-no-int-to-ptr) */
    size_t pushed = 0;
    const size_t bytes = smp_x86_ends_barrier(code, &pushed);

    return bytes > 0 ? smp_x86_jumps_to(code + bytes) : 0;
}

/* C1 pushes both arguments of a type check's stub, and pops them behind the call. */
static inline size_t smp_machine_code_pushed(uintptr_t address)
{
    const uint8_t *code = (const uint8_t *)address; /* NOLINT(performance-no-int-to-ptr) */
    const size_t first = smp_x86_pops(code);
    size_t pushed = 0;

    if (smp_x86_ends_barrier(code, &pushed) > 0)
        return pushed;
    return first > 0 && smp_x86_pops(code + first) > 0 ? 2 : 0;
}

/* push of any register but those of stack and frame. Returns its length, or 0. */
static inline size_t smp_x86_pushes(const uint8_t *code)
{
    if (code[0] == 0x41 && code[1] >= 0x50 && code[1] <= 0x57)
        return 2;
    return code[0] >= 0x50 && code[0] <= 0x57 && code[0] != 0x54 && code[0] != 0x55 ? 1 : 0;
}

/*
 * Returns how many of the type check's arguments are on the stack before the instruction at pc:
 *
 *   push; push; call stub; pop; pop
 *   0     1     2          2    1
 *
 * Bytes from SMP_PUSHED_BEFORE before pc up to SMP_PUSHED_BEHIND behind it must be readable.
 */
static inline size_t smp_machine_code_pushed_at(uintptr_t pc)
{
    enum { CALL = 0xe8, CALL_BYTES = 5 };
    const uint8_t *code = (const uint8_t *)pc; /* NOLINT(performance-no-int-to-ptr) */
    const size_t push = smp_x86_pushes(code);

    const size_t called = code[0] == CALL ? smp_machine_code_pushed(pc + CALL_BYTES) : 0;
    if (called > 0)
        return called;
    if (push > 0 && code[push] == CALL && smp_machine_code_pushed(pc + push + CALL_BYTES) > 0)
        return 1;
    if (smp_x86_pops(code) == 0)
        return 0;
    if (code[-CALL_BYTES] == CALL && smp_machine_code_pushed(pc) > 0)
        return 2;
    for (int pop = 1; pop <= 2; pop++) {
        if (code[-pop - CALL_BYTES] == CALL && smp_x86_pops(code - pop) == (size_t)pop)
            return 1;
    }
    return 0;
}

/* push %rsi; push %rcx, then a load of the class of the object in %rsi. */
static inline bool smp_x86_keeps_arrays(const uint8_t *code)
{
    static const uint8_t load[] = { 0x8b, 0x76, 0x08 };

    return code[0] == 0x56 && code[1] == 0x51 &&
           memcmp(code + (code[2] == 0x48 ? 3 : 2), load, sizeof(load)) == 0;
}

/* The arrays are popped behind the pops of the type check's arguments. */
static inline size_t smp_x86_kept_behind(const uint8_t *pushes, const uint8_t *code,
                                         const uint8_t *end)
{
    enum { PUSHES_BYTES = 2, CALL = 0xe8, CALL_BYTES = 5, MOST_BYTES = 112 };
    const uint8_t *pops = pushes + PUSHES_BYTES + CALL_BYTES;

    if (code == pushes + 1)
        return 1;
    for (; pops + 1 < end && pops - pushes < MOST_BYTES; pops++) {
        if (pops[0] == 0x59 && pops[1] == 0x5e && pops[-CALL_BYTES] != CALL)
            return code <= pops ? 2 : code == pops + 1 ? 1 : 0;
    }
    return 0;
}

/*
 * C1's copy of an array of objects keeps both arrays on the stack while it compares their classes,
 * at last by a type check as above:
 *
 *   push %rsi; push %rcx; mov 8(%rsi), %esi; ...; push; push; call stub; pop; pop; ...; pop; pop
 *   0          1          2                       2     3     4          4    3    2    2    1
 *
 * Returns how many of the arrays lie there at pc, without the arguments of the check. start, end:
 * the method.
 */
static inline size_t smp_machine_code_kept_at(uintptr_t pc, uintptr_t start, uintptr_t end)
{
    enum { BACK_BYTES = 96, READ_BYTES = 6 };
    const uint8_t *code = (const uint8_t *)pc;  /* NOLINT(performance-no-int-to-ptr) */
    const uint8_t *last = (const uint8_t *)end; /* NOLINT(performance-no-int-to-ptr) */
    const uint8_t *at = code - (pc - start < BACK_BYTES ? pc - start : BACK_BYTES);

    if (end < pc || end - pc < READ_BYTES)
        return 0;
    for (; at < code && (at = memchr(at, 0x56, (size_t)(code - at))) != NULL; at++) {
        if (smp_x86_keeps_arrays(at))
            return smp_x86_kept_behind(at, code, last);
    }
    return 0;
}

/*
 * Most of the JVM's stubs begin with push %rbp; mov %rsp, %rbp and end with leave; ret. Returns the
 * address of the return address, with pc in the stub that begins at start; 0: the code does not
 * show it. If the stub keeps another value in %rbp meanwhile, the result is wrong.
 */
static inline uintptr_t smp_machine_code_stub_return(uintptr_t pc, uintptr_t start, uintptr_t sp,
                                                     uintptr_t fp)
{
    enum { RET = 0xc3, PUSH_BYTES = 1 };
    static const uint8_t enter[] = { 0x55, 0x48, 0x8b, 0xec };
    const uint8_t *code = (const uint8_t *)start; /* NOLINT(performance-no-int-to-ptr) */
    const uintptr_t offset = pc - start;

    if (memcmp(code, enter, sizeof(enter)) != 0)
        return 0;
    if (offset == 0 || code[offset] == RET)
        return sp;
    return (offset == PUSH_BYTES ? sp : fp) + sizeof(uintptr_t);
}

/* mov $target, %r10; call *%r10: a call of code that is not compiled Java. */
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
 * Returns whether a call precedes this address. SMP_CALL_LONGEST bytes before it must be readable.
 */
static inline bool smp_machine_code_follows_call(uintptr_t address, struct smp_call *call)
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

/* Returns whether there is a call of a known target at pc. The code must be readable up to end. */
static inline bool smp_machine_code_is_direct_call(uintptr_t pc, uintptr_t end,
                                                   struct smp_call *call)
{
    enum { BYTES = 5 };
    const uint8_t *code = (const uint8_t *)pc; /* NOLINT(performance-no-int-to-ptr) */
    int32_t distance = 0;

    if (end - pc < BYTES || code[0] != 0xe8)
        return false;
    memcpy(&distance, code + 1, sizeof(distance));
    *call = (struct smp_call){ .start = pc, .target = pc + BYTES + (uintptr_t)(intptr_t)distance };
    return true;
}

/* jmp *%rcx: C1's stub continues at the handler of an exception. */
static inline bool smp_machine_code_jumps_to_handler(uintptr_t pc)
{
    const uint8_t *code = (const uint8_t *)pc; /* NOLINT(performance-no-int-to-ptr) */

    return code[0] == 0xff && code[1] == 0xe1;
}

/* Returns whether these are the bytes at pc. */
static inline bool smp_x86_is(uintptr_t pc, const uint8_t *bytes, size_t count)
{
    return memcmp((const void *)pc, bytes, count) == 0; /* NOLINT */
}

/*
 * Returns whether a callee has just returned to the interpreter. The interpreter's frame is
 * complete then, and registers hold the callee's values until the stack pointer is restored:
 *
 *   until JDK 20   mov -16(%rbp), %rsp
 *   from 21 on     mov -16(%rbp), %rcx; lea (%rbp, %rcx, 8), %rsp
 *   from 26 on     mov -16(%rbp), %r10; lea (%rbp, %r10, 8), %rsp
 */
static inline bool smp_machine_code_returns_to_frame(uintptr_t pc)
{
    enum { LOAD = 4, LEA = 5 };
    static const uint8_t to_rsp[LOAD] = { 0x48, 0x8b, 0x65, 0xf0 };
    static const uint8_t by_rcx[LOAD + LEA] = {
        0x48, 0x8b, 0x4d, 0xf0, 0x48, 0x8d, 0x64, 0xcd, 0x00
    };
    static const uint8_t by_r10[LOAD + LEA] = {
        0x4c, 0x8b, 0x55, 0xf0, 0x4a, 0x8d, 0x64, 0xd5, 0x00
    };

    return smp_x86_is(pc, to_rsp, sizeof(to_rsp)) || smp_x86_is(pc, by_rcx, sizeof(by_rcx)) ||
           smp_x86_is(pc, by_r10, sizeof(by_r10)) || smp_x86_is(pc, by_rcx + LOAD, LEA) ||
           smp_x86_is(pc, by_r10 + LOAD, LEA);
}

/* Skips the eight bytes behind a call by which JDK 21 and later find the caller's blob. */
static inline uintptr_t smp_machine_code_behind_call(uintptr_t address, uintptr_t end)
{
    enum { BYTES = 8 };
    static const uint8_t nop[] = { 0x0f, 0x1f, 0x84, 0x00 }; /* and four bytes of data */
    const uint8_t *code = (const uint8_t *)address;          /* NOLINT(performance-no-int-to-ptr) */

    return end - address >= BYTES && memcmp(code, nop, sizeof(nop)) == 0 ? address + BYTES
                                                                         : address;
}

/* test %eax, (%reg); four bytes must be readable. */
static inline bool smp_x86_tests_at(const uint8_t *code, unsigned reg)
{
    enum { R12 = 12, R13 = 13, RBP = 5, RSP = 4 };
    const unsigned has_byte = reg == RBP || reg == R13 ? 0x40 : 0; /* these need a distance */

    if (reg >= 8 && *code++ != 0x41)
        return false;
    return code[0] == 0x85 && code[1] == (has_byte | (reg & 0x07)) &&
           ((reg != RSP && reg != R12) || code[2] == 0x24);
}

/*
 * mov disp(%r15), %reg; ...; test %eax, (%reg): a poll of the safepoint's page, with its address
 * from the thread's object. A few instructions may lie between the two if the register needs a
 * prefix: then no part of another instruction is likely to look like the test. Returns the distance
 * of the two; 0: there is no poll at pc. The code must be readable up to end.
 */
static inline uint32_t smp_machine_code_poll_load(uintptr_t pc, uintptr_t end)
{
    enum { LOAD_BYTES = 7, TEST_BYTES = 4, BETWEEN = 16 };
    const uint8_t *code = (const uint8_t *)pc; /* NOLINT(performance-no-int-to-ptr) */

    if (end < pc || end - pc < LOAD_BYTES + TEST_BYTES || (code[0] & 0xfb) != 0x49 ||
        code[1] != 0x8b)
        return 0;
    const uint32_t length = (code[2] & 0xc7) == 0x47 ? 4 : (code[2] & 0xc7) == 0x87 ? 7 : 0;
    const unsigned reg = (unsigned)((code[0] & 0x04) << 1 | (code[2] >> 3 & 0x07));
    const uint32_t last = length + (reg >= 8 ? BETWEEN : 0);
    if (length == 0)
        return 0;
    for (uint32_t at = length; at <= last && end - pc >= at + TEST_BYTES; at++) {
        if (smp_x86_tests_at(code + at, reg))
            return at;
    }
    return 0;
}

/* Returns the first call of code other than compiled Java that returns at or behind from, or 0. */
static inline size_t smp_machine_code_next_leaf_call(const void *start, size_t size, size_t from,
                                                     struct smp_call *call)
{
    const uint8_t *code = start;
    size_t at = from < SMP_CALL_LONGEST ? SMP_CALL_LONGEST : from;

    for (; at <= size; at++) {
        if (code[at - 1] != 0xd2 || code[at - 2] != 0xff || code[at - 3] != 0x41)
            continue;
        if (smp_machine_code_follows_call((uintptr_t)(code + at), call) && call->target != 0)
            return at;
    }
    return 0;
}

/* call rel32; jmp rel8 or rel32. Returns the first that returns at or behind from, or 0. */
static inline size_t smp_machine_code_next_outlined_call(const void *start, size_t size,
                                                         size_t from,
                                                         struct smp_outlined_call *call)
{
    enum { CALL_BYTES = 5, SHORT_BYTES = 2, JUMP_BYTES = 5 };
    const uint8_t *code = start;
    size_t at = from < CALL_BYTES ? CALL_BYTES : from;

    for (; at + SHORT_BYTES <= size; at++) {
        const uintptr_t back = (uintptr_t)(code + at);
        if (code[at - CALL_BYTES] != 0xe8 || (code[at] != 0xeb && at + JUMP_BYTES > size))
            continue;
        const uintptr_t to = smp_x86_jumps_to(code + at);
        if (to - (uintptr_t)start >= size)
            continue;
        *call =
            (struct smp_outlined_call){ .target = smp_machine_code_jump_target(back - CALL_BYTES),
                                        .continues_at = to };
        return at;
    }
    return 0;
}

/*
 * add disp(%rsp), %rsp; pop %rbp: value classes that came as references were spread on the stack
 * below the caller's frame. The frame then keeps its real size, without the caller's frame pointer
 * and the return address, in the word below those of a frame that was not made larger.
 */
static inline enum smp_frame_size smp_machine_code_frame_size(const void *start, size_t size,
                                                              uint32_t frame_bytes)
{
    static const uint8_t add[] = { 0x48, 0x03 };
    const uint8_t *code = start;
    const uint8_t *end = code + size;

    while (size > SMP_ADD_LONGEST &&
           (code = memmem(code, (size_t)(end - code), add, sizeof(add))) != NULL &&
           end - code > SMP_ADD_LONGEST) {
        const bool is_narrow = code[2] == 0x64 && code[3] == 0x24 && code[5] == 0x5d;
        const bool is_wide = code[2] == 0xa4 && code[3] == 0x24 && code[8] == 0x5d;
        uint32_t slot = code[4];
        if (is_wide)
            memcpy(&slot, code + 4, sizeof(slot));
        if (is_narrow || is_wide)
            return slot + SMP_SAID_SIZE_BYTES == frame_bytes ? SMP_FRAME_SAYS_SIZE
                                                             : SMP_FRAME_NOT_KNOWN;
        code += sizeof(add);
    }
    return SMP_FRAME_FIXED;
}

#endif
