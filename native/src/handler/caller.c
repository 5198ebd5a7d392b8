/* SPDX-License-Identifier: Apache-2.0 */
/* Runs inside a signal handler; see caller.h. */
#include "handler/caller.h"

#include <stddef.h>

#include "handler/code_view.h"
#include "handler/registers.h"
#include "hotspot/machine_code.h"
#include "hotspot/memory.h"

/* ------------------------------------------------------------------------------------- the walk */

bool smp_caller_on_stack(const struct smp_walk *walk, uintptr_t address)
{
    const struct smp_walk_target *target = walk->target;

    return address >= target->stack_low && address < target->stack_high &&
           target->stack_high - address > sizeof(uintptr_t) && address % sizeof(uintptr_t) == 0;
}

bool smp_caller_walk(struct smp_walk *walk, struct smp_frames_start from)
{
    const struct smp_own_walk *own = walk->target->own;
    struct smp_walk_answer *answer = walk->answer;
    int32_t count = SMP_OWN_WALK_FAILED;

    from.chunks = smp_walk_chunks(walk);
    if (smp_caller_on_stack(walk, from.sp))
        count = own->walk(own, from, walk->target->stack_high, walk->frames + 1, walk->capacity - 1,
                          &answer->cut);
    if (count == SMP_OWN_WALK_FAILED)
        return false;
    answer->first = 1;
    answer->count = (uint32_t)count;
    return true;
}

void smp_caller_put_leaf(struct smp_walk *walk, uint64_t method, bool is_pseudo)
{
    walk->frames[0] =
        (struct smp_jvm_frame){ .bci = 0, .method = (void *)(uintptr_t)method }; /* NOLINT */
    walk->answer->is_pseudo = is_pseudo;
    walk->answer->first = 0;
    walk->answer->count++;
}

void smp_caller_put_method(struct smp_walk *walk, uintptr_t method)
{
    const struct smp_own_walk *own = walk->target->own;
    uint64_t id = 0;

    if (own->id_of(own, method, walk->frames + 1, walk->capacity - 1, &id))
        smp_caller_put_leaf(walk, id, false);
}

/* -------------------------------------------------------------------------------------- callers */

struct caller {
    uintptr_t address; /* a return address */
    bool is_method;    /* false: in the interpreter */
    uintptr_t line_pc; /* pc of the record with the call's line; 0: the return address */
    struct smp_call call;
    size_t pushed; /* words that it pushed for its callee, above the return address */
};

/* Reads a return address. Returns false if the word is not one or slot is 0. */
static bool read_caller(const struct smp_walk *walk, uintptr_t slot, struct caller *caller)
{
    if (slot == 0 || !smp_caller_on_stack(walk, slot))
        return false;
    const uintptr_t address = smp_load_word(slot);
    const struct smp_code_piece *piece = smp_code_find(walk->code, address - 1);

    *caller = (struct caller){ .address = address };
    if (piece != NULL && piece->kind == SMP_CODE_CALL_SITE) {
        caller->line_pc = (uintptr_t)piece->id;
        piece = smp_code_find(walk->code, address - 2);
    }
    if (piece == NULL) { /* perhaps a method whose event is still to come */
        caller->is_method = true;
        return smp_code_is_near(address);
    }
    if (piece->kind == SMP_CODE_STUB)
        return false;
    const bool follows_call = address - piece->start >= SMP_CALL_LONGEST &&
                              smp_machine_code_follows_call(address, &caller->call);
    caller->is_method = piece->kind == SMP_CODE_METHOD;
    if (!caller->is_method)
        return true;
    caller->pushed = smp_machine_code_pushed(address);
    const uintptr_t end = piece->start + smp_code_size(piece);
    if (caller->line_pc == 0 && end - address >= SMP_PUSHED_BEHIND) /* a barrier has no record */
        caller->line_pc = smp_machine_code_behind_barrier(address);
    if (caller->pushed > 0)
        caller->pushed += smp_machine_code_kept_at(address, piece->start, end);
    return follows_call;
}

bool smp_caller_is_at(const struct smp_walk *walk, uintptr_t slot)
{
    struct caller caller;

    return read_caller(walk, slot, &caller);
}

/* Returns the pc of the record with the line of a call, or 0 for a call of Java code, which has
 * its record exactly at the return address. A call of foreign code has it at or after the return
 * address, or elsewhere; the record at the call itself belongs to the code before it. */
static uintptr_t leaf_call_line(const struct caller *caller)
{
    if (!caller->is_method)
        return 0;
    return caller->line_pc != 0 ? caller->line_pc : caller->address;
}

/* Walks from the caller whose return address is in slot. An interpreted caller needs its frame
 * pointer, which is still in the register or is saved below the return address. */
static bool walk_caller(struct smp_walk *walk, uintptr_t slot, uintptr_t line_pc, size_t pushed)
{
    struct smp_frames_start from = { .pc = smp_load_word(slot),
                                     .sp = slot + (1 + pushed) * sizeof(uintptr_t),
                                     .fp = walk->at.fp,
                                     .line_pc = line_pc };
    const uintptr_t saved = slot - sizeof(uintptr_t);

    if (smp_caller_walk(walk, from))
        return true;
    if (saved < walk->at.sp || !smp_caller_on_stack(walk, saved) ||
        !smp_caller_on_stack(walk, smp_load_word(saved)) || smp_load_word(saved) <= slot)
        return false;
    from.fp = smp_load_word(saved);
    return smp_caller_walk(walk, from);
}

bool smp_caller_walk_return(struct smp_walk *walk, uintptr_t slot)
{
    return smp_caller_on_stack(walk, slot) && walk_caller(walk, slot, 0, 0);
}

bool smp_caller_try_return(struct smp_walk *walk, uintptr_t slot)
{
    return smp_caller_is_at(walk, slot) && walk_caller(walk, slot, 0, 0);
}

/* --------------------------------------------------------- callers of stubs and of foreign code */

static bool is_called(const struct smp_code_piece *stub, const struct caller *caller)
{
    return stub == NULL || (caller->call.target != 0 && smp_code_holds(stub, caller->call.target));
}

/*
 * Uses the frame that the stub's code shows, so that no old return address further up is taken.
 * Does not check which stub was called: array copy stubs jump into each other.
 */
static bool by_frame(struct smp_walk *walk, const struct smp_code_piece *stub)
{
    const uintptr_t slot =
        smp_machine_code_stub_return(walk->at.pc, stub->start, walk->at.sp, walk->at.fp);
    struct caller caller;

    return slot >= walk->at.sp && read_caller(walk, slot, &caller) &&
           walk_caller(walk, slot, leaf_call_line(&caller), caller.pushed);
}

/* Returns the slot of the return address of a compiled frame at sp, or 0. */
static uintptr_t return_slot(const struct smp_blob *blob, uintptr_t sp)
{
    return blob->frame_bytes > 0 ? sp + blob->frame_bytes - sizeof(uintptr_t) : 0;
}

/* Returns whether target is certainly outside of the JVM's code. Also searches the code heaps,
 * because the event of a new method may still be to come. */
static bool is_foreign(const struct smp_own_walk *own, uintptr_t target)
{
    struct smp_blob blob;

    return target != 0 && !smp_code_is_near(target) && !own->find(own, target, &blob);
}

/*
 * Finds the method that a call of target enters. Fails if the call leads to a stub after the code
 * of the calling method: the callee was interpreted at that time, or on AArch64 is far away.
 */
static bool find_entered(const struct smp_own_walk *own, uintptr_t target, struct smp_blob *out)
{
    return target != 0 && own->find(own, target, out) && out->kind == SMP_BLOB_COMPILED &&
           out->frame_complete > 0 && target - out->code < (uintptr_t)out->frame_complete;
}

/* Finds the caller's own caller, by the size of the caller's frame. */
static bool read_outer(const struct smp_walk *walk, uintptr_t slot, const struct caller *caller,
                       struct smp_blob *method, struct caller *outer)
{
    const struct smp_own_walk *own = walk->target->own;
    const uintptr_t sp = slot + (1 + caller->pushed) * sizeof(uintptr_t);

    return own->find(own, caller->address, method) &&
           read_caller(walk, return_slot(method, sp), outer);
}

/*
 * Returns whether the return address in slot is left over from a dead frame, below the real one.
 * At the place of its caller's return address there may be the return address of a live frame, but
 * that frame has called another method or foreign code.
 */
static bool is_called_by_other(const struct smp_walk *walk, uintptr_t slot,
                               const struct caller *caller)
{
    const struct smp_own_walk *own = walk->target->own;
    struct smp_blob method;
    struct smp_blob called;
    struct caller outer;

    return read_outer(walk, slot, caller, &method, &outer) && method.kind == SMP_BLOB_COMPILED &&
           (is_foreign(own, outer.call.target) ||
            (find_entered(own, outer.call.target, &called) && called.method != method.method));
}

/* With sure, tries only callers that certainly called this stub. */
static bool scan_for_caller(struct smp_walk *walk, const struct smp_code_piece *stub, bool sure)
{
    struct caller caller;

    for (uintptr_t i = 0; i < SMP_WALK_SCAN_WORDS; i++) {
        const uintptr_t slot = walk->at.sp + i * sizeof(uintptr_t);
        if (!smp_caller_on_stack(walk, slot))
            return false;
        if (!read_caller(walk, slot, &caller) ||
            (sure ? !is_called(stub, &caller) : is_called_by_other(walk, slot, &caller)))
            continue;
        if (walk_caller(walk, slot, leaf_call_line(&caller), caller.pushed))
            return true;
    }
    return false;
}

/* Only return addresses in the interpreter lead to a frame; others may be saved registers. */
static bool is_kept_register(const struct caller *caller)
{
    return !caller->is_method && !smp_machine_code_returns_to_frame(caller->address);
}

bool smp_caller_walk_above_kept(struct smp_walk *walk)
{
    struct caller caller;

    for (uintptr_t i = 0; i <= SMP_WALK_KEPT_WORDS; i++) {
        const uintptr_t slot = walk->at.sp + i * sizeof(uintptr_t);
        if (!read_caller(walk, slot, &caller) ||
            (i > 0 && (is_kept_register(&caller) || is_called_by_other(walk, slot, &caller))))
            continue;
        if (walk_caller(walk, slot, 0, 0))
            return true;
    }
    return false;
}

/*
 * Follows frame pointers from fp, which is at or above `below`, to a caller in Java code. Frames
 * of the JVM's functions, and of its stubs that call them, begin with the caller's frame pointer.
 * *slot is where the caller's return address is, *stub the last stub on the way.
 */
static bool follow_frame_pointers(const struct smp_walk *walk, uintptr_t fp, uintptr_t below,
                                  struct caller *caller, uintptr_t *slot,
                                  const struct smp_code_piece **stub)
{
    for (int i = 0; i < SMP_WALK_FOREIGN_FRAMES && fp >= below && smp_caller_on_stack(walk, fp);
         i++) {
        *slot = fp + sizeof(uintptr_t);
        if (!smp_caller_on_stack(walk, *slot))
            break;
        if (read_caller(walk, *slot, caller))
            return true;
        const struct smp_code_piece *piece = smp_code_find(walk->code, smp_load_word(*slot) - 1);
        if (piece != NULL && piece->kind == SMP_CODE_STUB)
            *stub = piece;
        below = *slot;
        fp = smp_load_word(fp);
    }
    return false;
}

static bool by_frame_pointers(struct smp_walk *walk, const struct smp_code_piece **stub)
{
    struct caller caller;
    uintptr_t slot = 0;

    return follow_frame_pointers(walk, walk->at.fp, walk->at.sp, &caller, &slot, stub) &&
           walk_caller(walk, slot, leaf_call_line(&caller), caller.pushed);
}

static void put_passed(struct smp_walk *walk, const struct smp_code_piece *passed)
{
    if (passed != NULL)
        smp_caller_put_leaf(walk, passed->id, true);
}

/* Returns whether this caller has just called the stub. If the caller's own caller has called it,
 * the frame is left over from a method that has returned. */
static bool has_called(const struct smp_walk *walk, const struct smp_code_piece *stub,
                       uintptr_t slot, const struct caller *caller)
{
    struct smp_blob method;
    struct caller outer;

    return is_called(stub, caller) && !is_called_by_other(walk, slot, caller) &&
           !(read_outer(walk, slot, caller, &method, &outer) && is_called(stub, &outer));
}

/* Follows frame pointers to a caller that has certainly called foreign code, or the stub that
 * did. */
static bool walk_leaf_call(struct smp_walk *walk, uintptr_t fp, uintptr_t below,
                           const struct smp_code_piece **stub)
{
    struct caller caller;
    uintptr_t slot = 0;

    if (!follow_frame_pointers(walk, fp, below, &caller, &slot, stub))
        return false;
    const bool is_sure = *stub == NULL ? is_foreign(walk->target->own, caller.call.target)
                                       : has_called(walk, *stub, slot, &caller);
    return is_sure && walk_caller(walk, slot, leaf_call_line(&caller), caller.pushed);
}

/* Walks from the caller of a method that has a complete frame but has not run yet. slot has the
 * return address of its call of the barrier's stub; in_stub is a pc in that stub. */
static bool enter_behind_barrier(struct smp_walk *walk, uintptr_t slot, uintptr_t in_stub)
{
    const struct smp_own_walk *own = walk->target->own;
    struct smp_blob method;
    struct smp_blob stub;
    struct caller caller;

    if (!read_caller(walk, slot, &caller) || !own->find(own, caller.address, &method) ||
        (method.kind != SMP_BLOB_COMPILED && method.kind != SMP_BLOB_NATIVE) ||
        !own->find(own, caller.call.target, &stub) || stub.kind != SMP_BLOB_STUB ||
        in_stub - stub.code >= stub.end - stub.code)
        return false;
    const uintptr_t entered_from = return_slot(&method, slot + sizeof(uintptr_t));
    if (entered_from == 0 || !smp_caller_walk_return(walk, entered_from))
        return false;
    smp_caller_put_method(walk, method.method);
    walk->answer->answer = SMP_ANSWER_AT_ENTRY;
    return true;
}

/*
 * With some collectors a method calls a stub on entry, which calls the JVM. The stub's frame is
 * recognized by a word of -1, reserved for a stack pointer, between frame pointer and return
 * address:
 *
 *   sp ─► frames of the JVM ─► fp │ -1 │ return address │ frame of the method
 */
static bool walk_entry_barrier(struct smp_walk *walk)
{
    const uintptr_t word = sizeof(uintptr_t);
    uintptr_t fp = walk->at.fp;
    uintptr_t below = walk->at.sp;

    for (int i = 0; i < SMP_WALK_FOREIGN_FRAMES && fp >= below; i++) {
        if (!smp_caller_on_stack(walk, fp) || !smp_caller_on_stack(walk, fp + word))
            break;
        if (smp_load_word(fp + word) == UINTPTR_MAX)
            return enter_behind_barrier(walk, fp + 2 * word,
                                        i == 0 ? walk->at.pc : smp_load_word(below));
        below = fp + word;
        fp = smp_load_word(fp);
    }
    return false;
}

bool smp_caller_walk_leaf_call(struct smp_walk *walk)
{
    const struct smp_code_piece *passed = NULL;

    if (walk_entry_barrier(walk))
        return true;
    bool is_walked = walk_leaf_call(walk, walk->at.fp, walk->at.sp, &passed);

    for (uintptr_t i = 0; !is_walked && passed == NULL && i < SMP_WALK_SAVED_WORDS; i++) {
        const uintptr_t saved = walk->at.sp + i * sizeof(uintptr_t);
        if (!smp_caller_on_stack(walk, saved))
            break;
        is_walked = walk_leaf_call(walk, smp_load_word(saved), saved + sizeof(uintptr_t), &passed);
    }
    if (!is_walked)
        return false;
    walk->answer->answer = passed != NULL ? SMP_ANSWER_IN_STUB : SMP_ANSWER_WHOLE;
    put_passed(walk, passed);
    return true;
}

static bool by_link(struct smp_walk *walk)
{
    const uintptr_t link = smp_registers_link(walk->context);
    const struct smp_code_piece *piece = smp_code_find(walk->code, link - 1);

    if (link == 0 || piece == NULL || piece->kind == SMP_CODE_STUB)
        return false;
    const struct smp_frames_start from = { .pc = link,
                                           .sp = walk->at.sp,
                                           .fp = walk->at.fp,
                                           .line_pc = piece->kind == SMP_CODE_METHOD ? link : 0 };
    return smp_caller_walk(walk, from);
}

bool smp_caller_search(struct smp_walk *walk, const struct smp_code_piece *stub)
{
    const struct smp_code_piece *passed = stub;

    if (walk_entry_barrier(walk))
        return true;
    /* Frame pointers are the last try: compiled code may have any value in that register, even the
     * pointer of an outer frame, and the inner frames would be skipped. */
    if (!by_link(walk) &&
        !(stub != NULL && (by_frame(walk, stub) || scan_for_caller(walk, stub, true))) &&
        !scan_for_caller(walk, stub, false) && !by_frame_pointers(walk, &passed))
        return false;
    walk->answer->answer = passed != NULL ? SMP_ANSWER_IN_STUB : SMP_ANSWER_WHOLE;
    put_passed(walk, passed);
    return true;
}

bool smp_caller_walk_runtime_stub(struct smp_walk *walk, struct smp_registers anchor)
{
    const uintptr_t word = sizeof(uintptr_t);

    if (anchor.fp >= anchor.sp && smp_caller_try_return(walk, anchor.fp + word))
        return true;
    for (uintptr_t i = 0; i < SMP_WALK_RUNTIME_WORDS; i++) {
        const uintptr_t slot = anchor.sp + i * word;
        if (!smp_caller_on_stack(walk, slot))
            return false;
        if (smp_caller_try_return(walk, slot))
            return true;
    }
    return false;
}
