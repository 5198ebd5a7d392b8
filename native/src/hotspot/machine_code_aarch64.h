/* SPDX-License-Identifier: Apache-2.0 */
/* machine_code_aarch64.h - see machine_code.h, which includes it. */
#ifndef SMP_HOTSPOT_MACHINE_CODE_AARCH64_H
#define SMP_HOTSPOT_MACHINE_CODE_AARCH64_H

#include <string.h>

enum {
    SMP_SLOTS_ARE_EXPORTED = 0, /* libjvm exports the slots of entries and of senders */
    SMP_SLOT_SENDER_SP = -1,    /* interpreted: the caller's sp, before it was extended */
    SMP_SLOT_METHOD = -3,       /* interpreted */
    SMP_SLOT_BCP = -9,          /* interpreted: the byte code, as saved at the last call */
    SMP_SLOT_CALL_WRAPPER = -8  /* entry */
};

/*
 * Returns the caller's sp; kept: the word in its slot. An interpreted caller keeps its sp low, so
 * that its expression stack can grow, and raises it for a call. The slot holds the low one. If that
 * is below this very frame, the caller's frame begins right above this frame's return address.
 */
static inline uintptr_t smp_frame_slots_caller_sp(uintptr_t kept, uintptr_t fp)
{
    const uintptr_t raised = fp + 2 * sizeof(uintptr_t);

    return kept < raised ? raised : kept;
}

enum {
    SMP_PROLOGUE_BYTES = 96,
    SMP_CALL_LONGEST = 4,
    SMP_LEAVE_BEFORE = 0,
    SMP_LEAVE_BEHIND = 4,
    SMP_PUSHED_BEFORE = 4, /* one instruction; none is read */
    SMP_PUSHED_BEHIND = 4
};

/*
 * A frame of up to 512 bytes: sub sp, sp, #n; stp x29, x30, [sp, #n - 16]. Up to 4 KB: stp x29,
 * x30, [sp, #-16]!; sub sp, sp, #n - 16, perhaps with mov x29, sp in between. Larger frames, which
 * are made with a register, are not understood.
 */
static inline struct smp_code_frame smp_machine_code_frame(const void *start, size_t size)
{
    const struct smp_code_frame unknown = { 0 };
    const size_t end = size < SMP_PROLOGUE_BYTES ? size : SMP_PROLOGUE_BYTES;

    for (size_t i = 0; i + 8 <= end; i += 4) {
        uint32_t first = 0;
        uint32_t second = 0;
        memcpy(&first, (const char *)start + i, sizeof(first));
        memcpy(&second, (const char *)start + i + 4, sizeof(second));
        if ((first & 0xffc003ffU) == 0xd10003ffU && (second & 0xffc07fffU) == 0xa9007bfdU)
            return (struct smp_code_frame){ .bytes = (first >> 10) & 0xfffU,
                                            .pushed_at = (uint16_t)(i + 8),
                                            .lowered_at = (uint16_t)(i + 8) };
        if (first != 0xa9bf7bfdU)
            continue;
        const size_t sub_at = second == 0x910003fdU ? i + 8 : i + 4; /* mov x29, sp */
        if (sub_at + 4 > end)
            break;
        memcpy(&second, (const char *)start + sub_at, sizeof(second));
        if ((second & 0xffc003ffU) == 0xd10003ffU)
            return (struct smp_code_frame){ .bytes = ((second >> 10) & 0xfffU) + 16,
                                            .pushed_at = (uint16_t)(i + 4),
                                            .lowered_at = (uint16_t)(sub_at + 4) };
    }
    return unknown;
}

/* Recognizes only the ret instruction itself. */
static inline enum smp_code_rest smp_machine_code_rest(uintptr_t pc, uintptr_t start, uintptr_t end)
{
    uint32_t code = 0;

    (void)start;
    (void)end;
    memcpy(&code, (const void *)pc, sizeof(code)); /* NOLINT(performance-no-int-to-ptr) */
    return code == 0xd65f03c0U ? SMP_REST_RETURN : SMP_REST_FRAME;
}

/* On this processor no call of a stub pushes its arguments. */
static inline size_t smp_machine_code_pushed(uintptr_t address)
{
    (void)address;
    return 0;
}

static inline uintptr_t smp_machine_code_behind_barrier(uintptr_t address)
{
    (void)address;
    return 0;
}

static inline size_t smp_machine_code_pushed_at(uintptr_t pc)
{
    return smp_machine_code_pushed(pc);
}

static inline size_t smp_machine_code_kept_at(uintptr_t pc, uintptr_t start, uintptr_t end)
{
    (void)start;
    (void)end;
    return smp_machine_code_pushed(pc);
}

/* A call sets a register to its return address, and most stubs leave it there. */
static inline uintptr_t smp_machine_code_stub_return(uintptr_t pc, uintptr_t start, uintptr_t sp,
                                                     uintptr_t fp)
{
    (void)pc;
    (void)start;
    (void)sp;
    (void)fp;
    return 0;
}

static inline bool smp_machine_code_follows_call(uintptr_t address, struct smp_call *call)
{
    uint32_t code = 0;

    memcpy(&code, (const void *)(address - 4),
           sizeof(code)); /* NOLINT(performance-no-int-to-ptr) */
    *call = (struct smp_call){ .start = address - 4 };
    if ((code & 0xfc000000U) == 0x94000000U) { /* bl */
        const int64_t distance = (int64_t)((uint64_t)(code & 0x03ffffffU) << 38) >> 36;
        call->target = address - 4 + (uintptr_t)distance;
        return true;
    }
    return (code & 0xfffffc1fU) == 0xd63f0000U; /* blr */
}

/* Returns the target of the branch at this address, or 0 if it is not a branch. */
static inline uintptr_t smp_machine_code_jump_target(uintptr_t address)
{
    uint32_t code = 0;

    if (address % sizeof(code) != 0)
        return 0;
    memcpy(&code, (const void *)address, sizeof(code)); /* NOLINT(performance-no-int-to-ptr) */
    if ((code & 0x7c000000U) != 0x14000000U)            /* b, bl */
        return 0;
    return address + (uintptr_t)((int64_t)((uint64_t)(code & 0x03ffffffU) << 38) >> 36);
}

/* Not recognized on this processor; neither are methods that an exception passes. */
static inline bool smp_machine_code_is_direct_call(uintptr_t pc, uintptr_t end,
                                                   struct smp_call *call)
{
    (void)pc;
    (void)end;
    (void)call;
    return false;
}

static inline bool smp_machine_code_jumps_to_handler(uintptr_t pc)
{
    (void)pc;
    return false;
}

/* Not recognized: a callee's return address is in a register here, and its code is not known. */
static inline bool smp_machine_code_returns_to_frame(uintptr_t pc)
{
    (void)pc;
    return false;
}

/* Finds none on this processor. */
static inline size_t smp_machine_code_next_leaf_call(const void *start, size_t size, size_t from,
                                                     struct smp_call *call)
{
    (void)start;
    (void)size;
    (void)from;
    (void)call;
    return 0;
}

/* bl; b. Returns the first that returns at or behind from, or 0. */
static inline size_t smp_machine_code_next_outlined_call(const void *start, size_t size,
                                                         size_t from,
                                                         struct smp_outlined_call *call)
{
    const uint32_t is_call = 0x80000000U;
    uint32_t code[2];
    size_t at = (from + 3) & ~(size_t)3;

    for (at = at < 4 ? 4 : at; at + 4 <= size; at += 4) {
        const uintptr_t back = (uintptr_t)start + at;
        const uintptr_t target = smp_machine_code_jump_target(back - 4);
        const uintptr_t to = smp_machine_code_jump_target(back);
        memcpy(code, (const char *)start + at - 4, sizeof(code));
        if (target == 0 || (code[0] & is_call) == 0 || to - (uintptr_t)start >= size ||
            (code[1] & is_call) != 0)
            continue;
        *call = (struct smp_outlined_call){ .target = target, .continues_at = to };
        return at;
    }
    return 0;
}

/* Calls of code that is not compiled Java are not looked for. */
static inline uintptr_t smp_machine_code_behind_call(uintptr_t address, uintptr_t end)
{
    (void)end;
    return address;
}

/*
 * ldr reg, [x28, #n]; ldr wzr, [reg]: a poll of the safepoint's page, with its address from the
 * thread's object. Returns their distance; 0: no poll at pc. Code must be readable up to end.
 */
static inline uint32_t smp_machine_code_poll_load(uintptr_t pc, uintptr_t end)
{
    uint32_t code[2];

    if (end < pc || end - pc < sizeof(code) || pc % sizeof(code[0]) != 0)
        return 0;
    memcpy(code, (const void *)pc, sizeof(code)); /* NOLINT(performance-no-int-to-ptr) */
    if ((code[0] & 0xffc003e0U) != 0xf9400380U || code[1] != (0xb940001fU | (code[0] & 0x1fU) << 5))
        return 0;
    return sizeof(code[0]);
}

/* Not known on this processor. */
static inline enum smp_frame_size smp_machine_code_frame_size(const void *start, size_t size,
                                                              uint32_t frame_bytes)
{
    (void)start;
    (void)size;
    (void)frame_bytes;
    return SMP_FRAME_NOT_KNOWN;
}

#endif
