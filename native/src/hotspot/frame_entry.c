/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/frame_slots.h"
#include "hotspot/frame_walk.h"

/* On with the Java frame that called the native code which called this Java code. */
static bool go_to_anchor(struct smp_frame_walk *walk, uintptr_t anchor)
{
    uintptr_t sp = 0;
    uintptr_t fp = 0;
    uintptr_t pc = 0;

    if (anchor < walk->sp || !smp_frame_read(walk, anchor + walk->layout->anchor.sp, &sp) ||
        !smp_frame_read(walk, anchor + walk->layout->anchor.fp, &fp) ||
        !smp_frame_read(walk, anchor + walk->layout->anchor.pc, &pc))
        return smp_frame_end(walk, SMP_FRAMES_UNWALKABLE);
    if (sp == 0)
        return smp_frame_end(walk, SMP_FRAMES_ROOT);
    if (pc == 0 && !smp_frame_read(walk, sp - sizeof(uintptr_t), &pc))
        return smp_frame_end(walk, SMP_FRAMES_UNWALKABLE);
    return smp_frame_go(walk, sp, fp, pc);
}

bool smp_frame_step_entry(struct smp_frame_walk *walk)
{
    uintptr_t wrapper = 0;

    if (walk->fp < walk->sp ||
        !smp_frame_read(walk, smp_frame_slot(walk->fp, SMP_SLOT_CALL_WRAPPER), &wrapper))
        return smp_frame_end(walk, SMP_FRAMES_UNWALKABLE);
    return go_to_anchor(walk, wrapper + walk->layout->entry.anchor);
}

bool smp_frame_step_upcall(struct smp_frame_walk *walk, const struct smp_blob *blob)
{
    const uint32_t data = smp_load_u32(blob->start + walk->layout->upcall.anchor);

    return go_to_anchor(walk, walk->sp + data + walk->layout->upcall.frame_anchor);
}
