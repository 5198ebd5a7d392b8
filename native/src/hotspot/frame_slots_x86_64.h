/* SPDX-License-Identifier: Apache-2.0 */
/* frame_slots_x86_64.h - see frame_slots.h, which includes it. */
#ifndef SMP_HOTSPOT_FRAME_SLOTS_X86_64_H
#define SMP_HOTSPOT_FRAME_SLOTS_X86_64_H

enum {
    SMP_SLOTS_ARE_EXPORTED = 1, /* does libjvm export those of entries and of senders? */
    SMP_SLOT_SENDER_SP = -1,    /* interpreted: the caller's sp, before it was extended */
    SMP_SLOT_METHOD = -3,       /* interpreted */
    SMP_SLOT_BCP = -8,          /* interpreted: the byte code, as saved at the last call */
    SMP_SLOT_CALL_WRAPPER = -6  /* entry */
};

/* The caller's sp; kept: the word in its slot. */
static inline uintptr_t smp_frame_slots_caller_sp(uintptr_t kept, uintptr_t fp)
{
    (void)fp;
    return kept;
}

#endif
