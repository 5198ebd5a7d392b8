/* SPDX-License-Identifier: Apache-2.0 */
/* frame_slots_aarch64.h - see frame_slots.h, which includes it. */
#ifndef SMP_HOTSPOT_FRAME_SLOTS_AARCH64_H
#define SMP_HOTSPOT_FRAME_SLOTS_AARCH64_H

enum {
    SMP_SLOTS_ARE_EXPORTED = 0, /* does libjvm export those of entries and of senders? */
    SMP_SLOT_SENDER_SP = -1,    /* interpreted: the caller's sp, before it was extended */
    SMP_SLOT_METHOD = -3,       /* interpreted */
    SMP_SLOT_BCP = -9,          /* interpreted: the byte code, as saved at the last call */
    SMP_SLOT_CALL_WRAPPER = -8  /* entry */
};

/*
 * The caller's sp; kept: the word in its slot. An interpreted caller keeps its sp low, so that its
 * expression stack can grow, and raises it for a call. The slot holds the low one, which may lie
 * below this very frame; then the caller's frame begins right above this frame's return address.
 */
static inline uintptr_t smp_frame_slots_caller_sp(uintptr_t kept, uintptr_t fp)
{
    const uintptr_t raised = fp + 2 * sizeof(uintptr_t);

    return kept < raised ? raised : kept;
}

#endif
