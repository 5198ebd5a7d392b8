/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/frame_cache.h"
#include "hotspot/frame_walk.h"
#include "hotspot/machine_code.h"
#include "hotspot/method.h"
#include "hotspot/method_table.h"

enum {
    NOT_IN_METHOD = -2,
    NATIVE_BCI = -1,
    WORD = (int)sizeof(uintptr_t),
    BYTES_BELOW = -SMP_SLOT_BCP * WORD, /* on both sides of a frame's frame pointer */
    BYTES_ABOVE = (SMP_SLOT_RETURN + 1) * WORD
};

_Static_assert(SMP_SLOT_BCP < SMP_SLOT_METHOD && SMP_SLOT_BCP < SMP_SLOT_SENDER_SP &&
                   (int)SMP_SLOT_SENDER_SP < (int)SMP_SLOT_RETURN,
               "the first slot and the last one bound the words that are read");

/* Uses the register if it points into the method, otherwise the slot. */
static int32_t leaf_or_slot_bci(const struct smp_method_code *code, uintptr_t leaf_bcp,
                                uintptr_t bcp)
{
    const int32_t bci =
        leaf_bcp != 0 ? smp_method_code_bci(code, leaf_bcp) : (int32_t)NOT_IN_METHOD;

    return bci != NOT_IN_METHOD ? bci : smp_method_code_bci(code, bcp);
}

/* If the byte code pointer is not in the method, the cache may hold another method that was at this
 * address before: then the method is read again. */
static bool read_bci(struct smp_frame_walk *walk, uintptr_t method, uintptr_t bcp,
                     struct smp_raw_frame *frame, uint64_t *id)
{
    const uintptr_t leaf_bcp = walk->leaf_bcp;
    struct smp_method_code code;

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

/* Handles most frames: those that are not the leaf and whose method is in the table. If it returns
 * false, call read_bci. */
static bool find_bci(const struct smp_frame_walk *walk, uintptr_t method, uintptr_t bcp,
                     struct smp_raw_frame *frame, uint64_t *id)
{
    struct smp_known_method known;

    if (walk->leaf_bcp != 0 || !smp_method_table_serves(walk->layout) ||
        !smp_method_table_find(method, &known) || known.const_method == 0)
        return false;
    const uintptr_t offset = bcp - known.const_method - walk->layout->const_method.bytes;
    if (!known.is_native && offset >= known.code_bytes)
        return false;
    frame->bci = known.is_native ? NATIVE_BCI : (int32_t)offset;
    *id = known.id;
    return true;
}

/* word: of the slot that holds the caller's sp. */
static uintptr_t find_caller_sp(const struct smp_frame_walk *walk, uintptr_t word)
{
    return walk->continuation != 0 ? smp_frame_pointer(walk, walk->fp, word)
                                   : smp_frame_slots_caller_sp(word, walk->fp);
}

/* Returns whether the walk may read all words of the frame. */
static bool is_frame_readable(const struct smp_frame_walk *walk, uintptr_t fp)
{
    return fp >= walk->sp && fp < walk->high && fp - walk->low >= BYTES_BELOW &&
           walk->high - fp >= BYTES_ABOVE && fp % WORD == 0;
}

static uintptr_t load_slot(const struct smp_frame_walk *walk, int slot)
{
    const uintptr_t address = smp_frame_slot(walk->fp, slot);
    const uintptr_t word = smp_load_word(address);

    smp_frame_keep_word(walk, address, word);
    return word;
}

bool smp_frame_step_interpreted(struct smp_frame_walk *walk)
{
    const uintptr_t fp = walk->fp;
    struct smp_raw_frame frame = { 0 };
    uint64_t id = 0;

    if (!is_frame_readable(walk, fp))
        return smp_frame_end(walk, SMP_FRAMES_UNWALKABLE);
    frame.method = load_slot(walk, SMP_SLOT_METHOD);
    const uintptr_t bcp = load_slot(walk, SMP_SLOT_BCP);
    const uintptr_t caller_sp = find_caller_sp(walk, load_slot(walk, SMP_SLOT_SENDER_SP));
    const uintptr_t caller_fp = smp_frame_pointer(walk, fp, load_slot(walk, SMP_SLOT_CALLER_FP));
    const uintptr_t caller_pc = load_slot(walk, SMP_SLOT_RETURN);
    if (caller_sp <= fp || (!find_bci(walk, frame.method, bcp, &frame, &id) &&
                            !read_bci(walk, frame.method, bcp, &frame, &id)))
        return smp_frame_end(walk, SMP_FRAMES_UNWALKABLE);
    walk->leaf_bcp = 0;
    smp_frame_add(walk, frame, id);
    return smp_frame_go(walk, caller_sp, caller_fp, caller_pc);
}
