/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/hotspot/frame_cache.h"
#include "jvm/hotspot/frame_slots.h"
#include "jvm/hotspot/frame_walk.h"
#include "jvm/hotspot/method.h"

enum { NOT_IN_METHOD = -2 };

/* By the register, where that is in the method. */
static int32_t leaf_or_slot_bci(const struct smp_method_code *code, uintptr_t leaf_bcp,
                                uintptr_t bcp)
{
    const int32_t bci =
        leaf_bcp != 0 ? smp_method_code_bci(code, leaf_bcp) : (int32_t)NOT_IN_METHOD;

    return bci != NOT_IN_METHOD ? bci : smp_method_code_bci(code, bcp);
}

/*
 * What was kept of the method may be that of another one that was there before: read it anew,
 * then.
 */
static bool find_bci(struct smp_frame_walk *walk, uintptr_t method, uintptr_t bcp,
                     struct smp_raw_frame *frame, uint64_t *id)
{
    const uintptr_t leaf_bcp = walk->leaf_bcp;
    struct smp_method_code code;

    walk->leaf_bcp = 0;
    frame->method = method;
    if (!smp_frame_cache_method(walk->cache, walk->layout, method, &code, id))
        return false;
    frame->bci = leaf_or_slot_bci(&code, leaf_bcp, bcp);
    walk->out->unsure += code.is_unsure ? 1 : 0;
    if (frame->bci != NOT_IN_METHOD)
        return true;
    if (!smp_method_code(walk->layout, method, &code))
        return false;
    *id = smp_method_code_id(&code);
    frame->bci = leaf_or_slot_bci(&code, leaf_bcp, bcp);
    return frame->bci != NOT_IN_METHOD;
}

/* Of the word in the frame. */
static uintptr_t find_caller_sp(const struct smp_frame_walk *walk, uintptr_t word)
{
    return walk->continuation != 0 ? smp_frame_pointer(walk, walk->fp, word)
                                   : smp_frame_slots_caller_sp(word, walk->fp);
}

bool smp_frame_step_interpreted(struct smp_frame_walk *walk)
{
    const uintptr_t fp = walk->fp;
    struct smp_raw_frame frame;
    uint64_t id = 0;
    uintptr_t method = 0;
    uintptr_t bcp = 0;
    uintptr_t caller_sp = 0;
    uintptr_t caller_fp = 0;
    uintptr_t caller_pc = 0;

    if (fp < walk->sp || !smp_frame_read(walk, smp_frame_slot(fp, SMP_SLOT_METHOD), &method) ||
        !smp_frame_read(walk, smp_frame_slot(fp, SMP_SLOT_BCP), &bcp) ||
        !smp_frame_read(walk, smp_frame_slot(fp, SMP_SLOT_SENDER_SP), &caller_sp) ||
        !smp_frame_read_pointer(walk, smp_frame_slot(fp, SMP_SLOT_CALLER_FP), fp, &caller_fp) ||
        !smp_frame_read(walk, smp_frame_slot(fp, SMP_SLOT_RETURN), &caller_pc) ||
        (caller_sp = find_caller_sp(walk, caller_sp)) <= fp ||
        !find_bci(walk, method, bcp, &frame, &id))
        return smp_frame_end(walk, SMP_FRAMES_UNWALKABLE);
    smp_frame_add(walk, frame, id);
    return smp_frame_go(walk, caller_sp, caller_fp, caller_pc);
}
