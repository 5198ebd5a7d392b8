/* SPDX-License-Identifier: Apache-2.0 */
/* Runs inside a signal handler; see top.h. */
#include "handler/top.h"

#include <stddef.h>

#include "handler/caller.h"
#include "handler/code_view.h"
#include "handler/exception.h"
#include "handler/registers.h"
#include "hotspot/machine_code.h"
#include "hotspot/memory.h"

/* The part of a method's frame that is on the stack. */
enum part {
    COMPLETE,
    RETURN_ONLY, /* only the return address */
    POINTER_TOO, /* and the caller's frame pointer */
    UNFINISHED,  /* one of these two */
    LEFT,        /* removed again, except for the return address */
    POINTER_LEFT
};

static bool answer_as(struct smp_walk *walk, enum smp_answer answer, bool is_walked)
{
    if (is_walked)
        walk->answer->answer = answer;
    return is_walked;
}

/* --------------------------------------------------------------- in compiled and native methods */

static enum part part_at_entry(const struct smp_blob *blob, uintptr_t offset)
{
    const struct smp_code_frame frame =
        smp_machine_code_frame((const void *)blob->code, blob->end - blob->code); /* NOLINT */

    if (frame.bytes == 0 || frame.bytes != blob->frame_bytes)
        return blob->frame_complete > 0 && offset < (uintptr_t)blob->frame_complete ? UNFINISHED
                                                                                    : COMPLETE;
    if (offset < frame.pushed_at)
        return RETURN_ONLY;
    return offset < frame.lowered_at ? POINTER_TOO : COMPLETE;
}

static enum part part_at(const struct smp_blob *blob, uintptr_t pc)
{
    const uintptr_t offset = pc - blob->code;
    enum part part = COMPLETE;

    if (offset < SMP_PROLOGUE_BYTES)
        part = part_at_entry(blob, offset);
    if (part != COMPLETE || pc < blob->code + SMP_LEAVE_BEFORE || blob->end - pc < SMP_LEAVE_BEHIND)
        return part;
    switch (smp_machine_code_rest(pc, blob->code, blob->end)) {
    case SMP_REST_RETURN:
        return LEFT;
    case SMP_REST_POINTER:
        return POINTER_LEFT;
    default:
        return COMPLETE;
    }
}

/* If the caller's frames were walked, adds the method as leaf. */
static bool put_before_caller(struct smp_walk *walk, uintptr_t method, enum smp_answer answer,
                              bool is_walked)
{
    if (is_walked)
        smp_caller_put_method(walk, method);
    return answer_as(walk, answer, is_walked);
}

/* Walks from the caller, whose return address is in slot. */
static bool enter_at(struct smp_walk *walk, const struct smp_blob *blob, uintptr_t slot)
{
    return put_before_caller(walk, blob->method, SMP_ANSWER_AT_ENTRY,
                             smp_caller_walk_return(walk, slot));
}

/* Walks from the method's own frame. The line is recorded at or after the pc. */
static bool walk_frame_at(struct smp_walk *walk, const struct smp_blob *blob, uintptr_t sp)
{
    return smp_caller_walk(walk,
                           (struct smp_frames_start){
                               .pc = walk->at.pc,
                               .sp = sp,
                               .fp = walk->at.fp,
                               .line_pc = blob->kind == SMP_BLOB_COMPILED ? walk->at.pc + 1 : 0,
                           });
}

/* Walks from the former place of the method's frame, of which only the return address, and perhaps
 * the caller's frame pointer, are left. */
static bool return_at(struct smp_walk *walk, const struct smp_blob *blob, uintptr_t slot)
{
    const uintptr_t sp = slot + sizeof(uintptr_t) - blob->frame_bytes;

    return blob->frame_bytes > 0 &&
           answer_as(walk, SMP_ANSWER_AT_RETURN, walk_frame_at(walk, blob, sp));
}

/* Walks from the caller's frame instead, if the method's own lines are unknown. */
static bool return_to(struct smp_walk *walk, const struct smp_blob *blob, uintptr_t slot)
{
    return put_before_caller(walk, blob->method, SMP_ANSWER_AT_RETURN,
                             smp_caller_walk_return(walk, slot));
}

/* For processors whose calls leave the return address in a register. */
static bool walk_by_link(struct smp_walk *walk, const struct smp_blob *blob, enum smp_answer answer)
{
    const uintptr_t link = smp_registers_link(walk->context);
    const struct smp_frames_start from = { .pc = link, .sp = walk->at.sp, .fp = walk->at.fp };

    return put_before_caller(walk, blob->method, answer, link != 0 && smp_caller_walk(walk, from));
}

/* Walks from a frame that is above some temporarily pushed registers. */
static bool walk_above(struct smp_walk *walk, const struct smp_blob *blob, uintptr_t pushed)
{
    const uintptr_t sp = walk->at.sp + pushed * sizeof(uintptr_t);

    return smp_caller_is_at(walk, sp + blob->frame_bytes - sizeof(uintptr_t)) &&
           answer_as(walk, SMP_ANSWER_PUSHED, walk_frame_at(walk, blob, sp));
}

static bool with_pushed(struct smp_walk *walk, const struct smp_blob *blob)
{
    for (uintptr_t pushed = 1; pushed <= SMP_WALK_PUSHED_WORDS; pushed++) {
        if (walk_above(walk, blob, pushed))
            return true;
    }
    return false;
}

/* If the code shows that words are pushed, tries the frame above them first. Without them, the
 * place of the return address may contain an old one that leads to a complete old stack. */
static bool walk_whole(struct smp_walk *walk, const struct smp_blob *blob)
{
    const uintptr_t pc = walk->at.pc;
    size_t pushed = 0;

    if (blob->kind == SMP_BLOB_COMPILED && pc - blob->code >= SMP_PUSHED_BEFORE &&
        blob->end - pc >= SMP_PUSHED_BEHIND)
        pushed =
            smp_machine_code_pushed_at(pc) + smp_machine_code_kept_at(pc, blob->code, blob->end);
    return (pushed > 0 && walk_above(walk, blob, pushed)) ||
           answer_as(walk, SMP_ANSWER_WHOLE, walk_frame_at(walk, blob, walk->at.sp));
}

/* Tries all places of the return address, because the code does not show the frame. */
static bool search_frame(struct smp_walk *walk, const struct smp_blob *blob)
{
    const uintptr_t word = sizeof(uintptr_t);
    const uintptr_t sp = walk->at.sp;
    const uintptr_t bottom = sp + blob->frame_bytes - word;

    if (!SMP_RETURN_ON_STACK || blob->frame_bytes == 0)
        return false;
    for (uintptr_t slot = sp; slot <= sp + word; slot += word) {
        if (smp_caller_is_at(walk, slot) && return_at(walk, blob, slot))
            return true;
    }
    if (with_pushed(walk, blob))
        return true;
    /* The pc may be in a stub after the method's code, or the caller does not expect this frame. */
    if (smp_caller_is_at(walk, bottom) && enter_at(walk, blob, bottom))
        return true;
    return smp_caller_is_at(walk, sp) && return_to(walk, blob, sp);
}

static bool walk_part(struct smp_walk *walk, const struct smp_blob *blob, enum part part)
{
    const uintptr_t sp = walk->at.sp;
    const uintptr_t above = sp + sizeof(uintptr_t);

    switch (part) {
    case RETURN_ONLY:
        return SMP_RETURN_ON_STACK ? enter_at(walk, blob, sp)
                                   : walk_by_link(walk, blob, SMP_ANSWER_AT_ENTRY);
    case POINTER_TOO:
        return enter_at(walk, blob, above);
    case UNFINISHED:
        return SMP_RETURN_ON_STACK
                   ? (smp_caller_is_at(walk, sp) && enter_at(walk, blob, sp)) ||
                         (smp_caller_is_at(walk, above) && enter_at(walk, blob, above))
                   : walk_by_link(walk, blob, SMP_ANSWER_AT_ENTRY);
    case LEFT:
        return SMP_RETURN_ON_STACK ? return_at(walk, blob, sp) || return_to(walk, blob, sp)
                                   : walk_by_link(walk, blob, SMP_ANSWER_AT_RETURN);
    case POINTER_LEFT:
        return return_at(walk, blob, above) || return_to(walk, blob, above);
    default:
        return walk_whole(walk, blob);
    }
}

/*
 * Method handle linkers (such as linkToStatic) jump to a method without a frame of their own. A
 * collector's barrier in them temporarily saves registers on the stack.
 */
static bool walk_frameless(struct smp_walk *walk, const struct smp_blob *blob)
{
    if (!SMP_RETURN_ON_STACK)
        return walk_by_link(walk, blob, SMP_ANSWER_AT_ENTRY);
    return put_before_caller(walk, blob->method, SMP_ANSWER_AT_ENTRY,
                             smp_caller_walk_above_kept(walk));
}

static bool walk_method(struct smp_walk *walk, const struct smp_blob *blob)
{
    if (blob->kind == SMP_BLOB_NATIVE && blob->frame_bytes == 0)
        return walk_frameless(walk, blob);
    if (blob->kind == SMP_BLOB_COMPILED &&
        answer_as(walk, SMP_ANSWER_WHOLE, smp_exception_walk_at_call(walk, blob)))
        return true;
    return walk_part(walk, blob, part_at(blob, walk->at.pc)) || search_frame(walk, blob);
}

/* ----------------------------------------------------------------------- in interpreted methods */

/* Walks from the caller of a method that the interpreter enters. */
static bool enter_interpreted(struct smp_walk *walk, const struct smp_entry_registers *entry,
                              uintptr_t return_address, uintptr_t fp)
{
    const struct smp_frames_start from = { .pc = return_address, .sp = entry->sender_sp, .fp = fp };

    return put_before_caller(walk, entry->method, SMP_ANSWER_AT_ENTRY,
                             return_address != 0 && smp_caller_walk(walk, from));
}

/* Returns a word of the stack, or 0 if the address is not on it. */
static uintptr_t stack_word(const struct smp_walk *walk, uintptr_t address)
{
    return smp_caller_on_stack(walk, address) ? smp_load_word(address) : 0;
}

static bool has_begun_frame(const struct smp_walk *walk)
{
    const uintptr_t sp = walk->at.sp;
    const uintptr_t fp = walk->at.fp;

    return fp >= sp && fp - sp < SMP_WALK_ENTRY_WORDS * sizeof(uintptr_t);
}

static bool is_method(const struct smp_walk *walk, uintptr_t method)
{
    const struct smp_own_walk *own = walk->target->own;
    uint64_t id = 0;

    return method != 0 && own->id_of(own, method, walk->frames + 1, walk->capacity - 1, &id);
}

/*
 * Returns whether the frame at fp is incomplete because its method is being entered. The frame's
 * first word is the caller's stack pointer. The register with that value gets the byte code
 * pointer long before the frame is complete; from then on the size of the frame and the method's
 * register show it. When a frame has been left, the method's register has a stack pointer.
 */
static bool find_sender_sp(const struct smp_walk *walk, struct smp_entry_registers *entry)
{
    const uintptr_t in_register = entry->sender_sp;
    const uintptr_t fp = walk->at.fp;

    if (walk->at.sp < fp)
        entry->sender_sp =
            stack_word(walk, fp + (uintptr_t)(SMP_SLOT_SENDER_SP * (int)sizeof(uintptr_t)));
    return smp_caller_on_stack(walk, entry->sender_sp) &&
           entry->sender_sp > fp + sizeof(uintptr_t) &&
           (entry->sender_sp == in_register ||
            (!smp_caller_on_stack(walk, in_register) && is_method(walk, entry->method)));
}

/*
 * Tries the three places of the return address: on top of the stack; above the pushed frame
 * pointer of the caller; in a register, while the method's locals are pushed in its place. Words
 * at or above the caller's stack pointer belong to the caller, even if they are return addresses.
 */
static bool walk_without_frame(struct smp_walk *walk, const struct smp_entry_registers *entry)
{
    const uintptr_t sp = walk->at.sp;
    const uintptr_t above = sp + sizeof(uintptr_t);
    const uintptr_t fp = walk->at.fp;

    if (!smp_caller_on_stack(walk, entry->sender_sp) || entry->sender_sp < sp)
        return false;
    return (entry->sender_sp > sp && enter_interpreted(walk, entry, stack_word(walk, sp), fp)) ||
           (entry->sender_sp > above &&
            enter_interpreted(walk, entry, stack_word(walk, above), stack_word(walk, sp))) ||
           enter_interpreted(walk, entry, entry->return_address, fp);
}

static bool walk_entry(struct smp_walk *walk)
{
    const struct smp_entry_registers entry = smp_registers_entry(walk->context);
    const uintptr_t fp = walk->at.fp;
    struct smp_entry_registers begun = entry;

    if (has_begun_frame(walk) && find_sender_sp(walk, &begun))
        return enter_interpreted(walk, &begun, stack_word(walk, fp + sizeof(uintptr_t)),
                                 stack_word(walk, fp));
    return walk_without_frame(walk, &entry);
}

static bool return_interpreted(struct smp_walk *walk, struct smp_left_registers left)
{
    const struct smp_frames_start from = { .pc = left.return_address,
                                           .sp = left.sender_sp,
                                           .fp = walk->at.fp };

    return answer_as(walk, SMP_ANSWER_AT_RETURN, smp_caller_walk(walk, from));
}

/*
 * Walks after the frame was removed. The return address is on top of the stack, later in a
 * register. The frame pointer is not used: in a compiled caller it may be an outer frame's.
 */
static bool walk_left(struct smp_walk *walk)
{
    const uintptr_t sp = walk->at.sp;

    for (int way = 0; way < SMP_LEFT_REGISTERS; way++) {
        const struct smp_left_registers left = smp_registers_left(walk->context, way);
        struct smp_left_registers top = left;
        if (!smp_caller_on_stack(walk, left.sender_sp) || left.sender_sp < sp)
            continue;
        top.return_address = smp_load_word(sp);
        if ((left.sender_sp > sp && smp_caller_is_at(walk, sp) && return_interpreted(walk, top)) ||
            return_interpreted(walk, left))
            return true;
    }
    return false;
}

static bool walk_interpreted(struct smp_walk *walk)
{
    const struct smp_registers at = walk->at;
    const struct smp_frames_start frame = {
        .pc = at.pc, .sp = at.sp, .fp = at.fp, .bcp = smp_registers_bcp(walk->context)
    };

    if (smp_machine_code_returns_to_frame(at.pc)) {
        const struct smp_frames_start returned = { .pc = at.pc, .sp = at.sp, .fp = at.fp };
        if (answer_as(walk, SMP_ANSWER_WHOLE, smp_caller_walk(walk, returned)))
            return true;
    }
    if (walk_entry(walk) || walk_left(walk))
        return true;
    if (at.fp >= at.sp && !has_begun_frame(walk) &&
        answer_as(walk, SMP_ANSWER_WHOLE, smp_caller_walk(walk, frame)))
        return true;
    /* The frame was removed, and the caller is compiled. */
    return SMP_RETURN_ON_STACK &&
           answer_as(walk, SMP_ANSWER_AT_RETURN, smp_caller_try_return(walk, at.sp));
}

/* ------------------------------------------------------------------------------ from the anchor */

int32_t smp_top_state(const struct smp_walk *walk)
{
    const struct smp_walk_target *target = walk->target;

    if (!walk->is_alive || target->java_thread == 0 || target->layout.state == 0)
        return 0;
    return (int32_t)smp_load_u32(target->java_thread + target->layout.state);
}

static struct smp_registers load_anchor(const struct smp_walk *walk)
{
    const struct smp_jvm_layout *layout = &walk->target->layout;
    const uintptr_t thread = walk->target->java_thread;
    struct smp_registers anchor = { 0 };

    if (!walk->is_alive || thread == 0 || layout->last_sp == 0)
        return anchor;
    anchor.sp = smp_load_word(thread + layout->last_sp);
    anchor.pc = smp_load_word(thread + layout->last_pc);
    anchor.fp = smp_load_word(thread + layout->last_fp);
    return anchor;
}

static bool replaces_frames(const struct smp_walk *walk, uintptr_t pc)
{
    const struct smp_own_walk *own = walk->target->own;
    struct smp_blob blob;

    return own->find(own, pc, &blob) && blob.kind == SMP_BLOB_DEOPT;
}

/* Returns false if the anchor leads to no whole stack. */
static bool walk_anchor_frame(struct smp_walk *walk, struct smp_registers anchor)
{
    const struct smp_frames_start from = { .pc = anchor.pc, .sp = anchor.sp, .fp = anchor.fp };

    if (!replaces_frames(walk, anchor.pc))
        return smp_caller_walk(walk, from) || smp_caller_walk_runtime_stub(walk, anchor);
    walk->answer->answer = SMP_ANSWER_DEOPT;
    return smp_caller_walk(walk, from);
}

enum smp_top smp_top_walk_anchor(struct smp_walk *walk)
{
    struct smp_registers anchor = load_anchor(walk);
    const uintptr_t below = anchor.sp - sizeof(uintptr_t);

    if (anchor.sp == 0)
        return SMP_TOP_FOREIGN;
    walk->answer->answer = SMP_ANSWER_NOT_WALKABLE_NOT_JAVA;
    if (!smp_caller_on_stack(walk, anchor.sp) || !smp_caller_on_stack(walk, below))
        return SMP_TOP_FAILED;
    if (anchor.pc == 0)
        anchor.pc = smp_load_word(below);
    return answer_as(walk, SMP_ANSWER_WHOLE, walk_anchor_frame(walk, anchor)) ? SMP_TOP_WALKED
                                                                              : SMP_TOP_FAILED;
}

/* Outside of Java a thread without an anchor has no Java frames, or the JVM has just removed it. */
static enum smp_top walk_outside_java(struct smp_walk *walk)
{
    const struct smp_jvm_states *states = &walk->target->layout.states;
    const int32_t state = smp_top_state(walk);
    const enum smp_top top = smp_top_walk_anchor(walk);

    if (top == SMP_TOP_WALKED)
        return top;
    if (state == states->in_java && walk->answer->answer != SMP_ANSWER_DEOPT)
        return SMP_TOP_FOREIGN;
    if (top == SMP_TOP_FOREIGN && state != 0) {
        walk->answer->answer =
            state == states->in_native ? SMP_ANSWER_EMPTY : SMP_ANSWER_UNKNOWN_NOT_JAVA;
        return SMP_TOP_FAILED;
    }
    return top;
}

/* ------------------------------------------------------------------------------------------ all */

/* Returns the stub that contains the pc, or NULL. */
static const struct smp_code_piece *find_stub(const struct smp_walk *walk)
{
    const struct smp_code_piece *piece = smp_code_find(walk->code, walk->at.pc);

    return piece != NULL && piece->kind != SMP_CODE_METHOD ? piece : NULL;
}

static bool walk_stub(struct smp_walk *walk)
{
    const struct smp_code_piece *stub = find_stub(walk);

    return (stub != NULL && smp_exception_walk_in_stub(walk, stub)) ||
           smp_caller_search(walk, stub);
}

static bool walk_java(struct smp_walk *walk, const struct smp_blob *blob)
{
    switch (blob->kind) {
    case SMP_BLOB_COMPILED:
    case SMP_BLOB_NATIVE:
        return walk_method(walk, blob);
    case SMP_BLOB_INTERPRETER:
        return walk_interpreted(walk) || smp_caller_search(walk, find_stub(walk));
    default:
        return walk_stub(walk);
    }
}

/* Native code calls some stubs to read fields of objects. Such a stub has no Java caller. */
static bool is_called_by_native_code(const struct smp_walk *walk, const struct smp_blob *blob)
{
    return blob->kind == SMP_BLOB_STUB &&
           smp_top_state(walk) == walk->target->layout.states.in_native;
}

enum smp_top smp_top_walk(struct smp_walk *walk)
{
    const struct smp_own_walk *own = walk->target->own;
    struct smp_blob blob;

    if (!own->find(own, walk->at.pc, &blob))
        return walk_outside_java(walk);
    if (blob.kind == SMP_BLOB_DEOPT) {
        walk->answer->answer = SMP_ANSWER_DEOPT;
        return SMP_TOP_FAILED;
    }
    if (is_called_by_native_code(walk, &blob))
        return walk_outside_java(walk);
    if (smp_caller_on_stack(walk, walk->at.sp) && walk_java(walk, &blob))
        return SMP_TOP_WALKED;
    /* The stub or wrapper has left Java, or is about to return to it. */
    if (smp_top_walk_anchor(walk) == SMP_TOP_WALKED)
        return SMP_TOP_WALKED;
    walk->answer->answer = blob.kind == SMP_BLOB_STUB || blob.kind == SMP_BLOB_BARRIER
                               ? SMP_ANSWER_UNKNOWN_JAVA
                               : SMP_ANSWER_NOT_WALKABLE_JAVA;
    return SMP_TOP_FAILED;
}
