/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs inside a signal handler: see recovery.h.
 */
#include "jvm/walk/handler/recovery.h"

#include <stddef.h>

#include "jvm/code/code_view.h"
#include "jvm/hotspot/machine_code.h"
#include "jvm/hotspot/memory.h"
#include "jvm/walk/handler/registers.h"
#include "jvm/walk/handler/signal_frame.h"

/* --------------------------------------------------------------------------- words of the stack */

/* Of a stack whose bounds are not known, only the page of the stack pointer is surely mapped. */
static struct smp_signal_stack known_stack(const struct smp_walk *walk)
{
    const uintptr_t page = walk->at.sp - walk->at.sp % SMP_WALK_PAGE_BYTES;

    if (walk->target->stack_high == 0)
        return (struct smp_signal_stack){ page, page + SMP_WALK_PAGE_BYTES };
    return (struct smp_signal_stack){ walk->target->stack_low, walk->target->stack_high };
}

static bool on_stack(const struct smp_walk *walk, uintptr_t address)
{
    const struct smp_signal_stack stack = known_stack(walk);

    return address >= stack.low && address < stack.high - sizeof(uintptr_t) &&
           address % sizeof(uintptr_t) == 0;
}

/* ---------------------------------------------------------------------------------- the walk */

/* From a complete frame. line_pc: where the record of its line is, or the first one behind; 0:
 * at exactly its pc. */
static bool walk_from(struct smp_walk *walk, struct smp_registers from, uintptr_t line_pc)
{
    const struct smp_frames_start start = { .sp = from.sp,
                                            .fp = from.fp,
                                            .pc = from.pc,
                                            .line_pc = line_pc,
                                            .chunks = smp_walk_chunks(walk) };
    const struct smp_own_walk *own = walk->target->own;
    uint32_t count = 0;

    if (on_stack(walk, from.sp))
        count = own->walk(own, start, known_stack(walk).high, walk->frames + 1, walk->capacity - 1);
    /* Our walk of a virtual thread's stack does not go on to its carrier's root. */
    if (count == 0 ||
        ((own->virtual_root == NULL || walk->frames[count].method != own->virtual_root) &&
         !smp_walk_is_whole(walk, (int32_t)count)))
        return false;
    walk->answer->first = 1;
    walk->answer->count = count;
    return true;
}

static void put_leaf(struct smp_walk *walk, uint64_t method, bool is_pseudo)
{
    walk->frames[0] =
        (struct smp_jvm_frame){ .bci = 0, .method = (void *)(uintptr_t)method }; /* NOLINT */
    walk->answer->has_leaf = true;
    walk->answer->is_pseudo = is_pseudo;
    walk->answer->first = 0;
    walk->answer->count++;
}

/* ------------------------------------------------------------------------------------- callers */

struct caller {
    uintptr_t address; /* the return address */
    bool is_method;    /* else the interpreter */
    uintptr_t line_pc; /* where the call's line is recorded instead; 0: at the call */
    struct smp_call call;
};

/* Reads a return address; false where the word there is none. */
static bool read_caller(const struct smp_walk *walk, uintptr_t slot, struct caller *caller)
{
    if (!on_stack(walk, slot))
        return false;
    const uintptr_t address = smp_load_word(slot);
    const struct smp_code_piece *piece = smp_code_find(walk->code, address - 1);

    *caller = (struct caller){ .address = address };
    if (piece != NULL && piece->kind == SMP_CODE_CALL_SITE) {
        caller->line_pc = (uintptr_t)piece->id;
        piece = smp_code_find(walk->code, address - 2);
    }
    if (piece == NULL) { /* perhaps of a method whose event has not come yet: the JVM knows */
        caller->is_method = true;
        caller->call.start = address;
        return smp_code_is_near(address);
    }
    if (piece->kind == SMP_CODE_STUB)
        return false;
    caller->is_method = piece->kind == SMP_CODE_METHOD;
    return !caller->is_method || (address - piece->start >= SMP_CALL_LONGEST &&
                                  smp_machine_code_follows_call(address, &caller->call));
}

/* The line of a call of other code than Java's is recorded at its beginning, or elsewhere. The
 * line of a call of Java code is recorded at the return address: 0. */
static uintptr_t leaf_call_line(const struct caller *caller)
{
    if (!caller->is_method)
        return 0;
    return caller->line_pc != 0 ? caller->line_pc : caller->call.start;
}

/*
 * Walks from the caller whose return address is in slot. The caller's frame pointer is still in its
 * register, or lies below the return address: an interpreted caller needs the right one.
 */
static bool walk_caller(struct smp_walk *walk, uintptr_t slot, const struct caller *caller,
                        uintptr_t line_pc)
{
    struct smp_registers from = { .pc = caller->address,
                                  .sp = slot + sizeof(uintptr_t),
                                  .fp = walk->at.fp };
    const uintptr_t saved = slot - sizeof(uintptr_t);

    if (walk_from(walk, from, line_pc))
        return true;
    if (saved < walk->at.sp || !on_stack(walk, saved) || !on_stack(walk, smp_load_word(saved)) ||
        smp_load_word(saved) <= slot)
        return false;
    from.fp = smp_load_word(saved);
    return walk_from(walk, from, line_pc);
}

/* -------------------------------------------------------------------------- in compiled methods */

static bool enter_at(struct smp_walk *walk, const struct smp_code_piece *method, uintptr_t slot)
{
    struct caller caller;

    if (!read_caller(walk, slot, &caller) || !walk_caller(walk, slot, &caller, 0))
        return false;
    put_leaf(walk, method->id, false);
    walk->answer->answer = SMP_ANSWER_AT_ENTRY;
    return true;
}

/* The frame has been taken down, or all of it but the caller's frame pointer. */
static bool return_at(struct smp_walk *walk, const struct smp_code_piece *method, uintptr_t slot)
{
    struct caller caller;
    struct smp_registers from = walk->at;

    if (!read_caller(walk, slot, &caller))
        return false;
    from.sp = slot + sizeof(uintptr_t) - method->frame.bytes;
    if (!walk_from(walk, from, walk->at.pc + 1))
        return false;
    walk->answer->answer = SMP_ANSWER_AT_RETURN;
    return true;
}

/* Some instructions keep registers on the stack meanwhile: the frame is where it always is, above
 * them. */
static bool with_pushed(struct smp_walk *walk, const struct smp_code_piece *method, uintptr_t bytes)
{
    struct caller caller;
    struct smp_registers from = walk->at;

    from.sp += bytes;
    if (!read_caller(walk, from.sp + method->frame.bytes - sizeof(uintptr_t), &caller) ||
        !walk_from(walk, from, walk->at.pc + 1))
        return false;
    walk->answer->answer = SMP_ANSWER_PUSHED;
    return true;
}

static bool recover_in_method(struct smp_walk *walk, const struct smp_code_piece *method)
{
    const struct smp_code_frame *frame = &method->frame;
    const uintptr_t offset = walk->at.pc - method->start;
    const uintptr_t sp = walk->at.sp;
    const uintptr_t word = sizeof(uintptr_t);
    struct caller caller = { 0 };

    if (!SMP_RETURN_ON_STACK)
        return false;
    if (frame->bytes == 0)
        return enter_at(walk, method, sp) || enter_at(walk, method, sp + word);
    if (offset < frame->pushed_at)
        return enter_at(walk, method, sp);
    if (offset < frame->lowered_at)
        return enter_at(walk, method, sp + word);
    if (return_at(walk, method, sp) || return_at(walk, method, sp + word))
        return true;
    for (uintptr_t pushed = 1; pushed <= SMP_WALK_PUSHED_WORDS; pushed++) {
        if (with_pushed(walk, method, pushed * word))
            return true;
    }
    /* A complete frame that the JVM does not accept as one yet. */
    if (enter_at(walk, method, sp + frame->bytes - word))
        return true;
    /* At the very return, where the caller does not expect this frame: it counts as left. */
    if (!read_caller(walk, sp, &caller) || !walk_caller(walk, sp, &caller, 0))
        return false;
    put_leaf(walk, method->id, false);
    walk->answer->answer = SMP_ANSWER_AT_RETURN;
    return true;
}

/* ----------------------------------------------------------------- in stubs and in foreign code */

static bool is_called(const struct smp_code_piece *stub, const struct caller *caller)
{
    return stub == NULL || (caller->call.target != 0 && smp_code_holds(stub, caller->call.target));
}

/* sure: only callers that surely called this stub. */
static bool scan_for_caller(struct smp_walk *walk, const struct smp_code_piece *stub, bool sure)
{
    struct caller caller;

    for (uintptr_t i = 0; i < SMP_WALK_SCAN_WORDS; i++) {
        const uintptr_t slot = walk->at.sp + i * sizeof(uintptr_t);
        if (!on_stack(walk, slot))
            return false;
        if (!read_caller(walk, slot, &caller) || (sure && !is_called(stub, &caller)))
            continue;
        if (walk_caller(walk, slot, &caller, leaf_call_line(&caller)))
            return true;
    }
    return false;
}

/*
 * Frames larger than what is scanned, or several: each begins with the frame pointer of its caller,
 * as the JVM's own functions do it, and its stubs that call them. *stub: the one that is passed.
 */
static bool by_frame_pointers(struct smp_walk *walk, const struct smp_code_piece **stub)
{
    uintptr_t fp = walk->at.fp;
    uintptr_t below = walk->at.sp;
    struct caller caller;

    for (int i = 0; i < SMP_WALK_FOREIGN_FRAMES && fp >= below && on_stack(walk, fp); i++) {
        const uintptr_t slot = fp + sizeof(uintptr_t);
        if (!on_stack(walk, slot))
            break;
        if (read_caller(walk, slot, &caller))
            return walk_caller(walk, slot, &caller, leaf_call_line(&caller));
        const struct smp_code_piece *piece = smp_code_find(walk->code, smp_load_word(slot) - 1);
        if (piece != NULL && piece->kind == SMP_CODE_STUB)
            *stub = piece;
        below = slot;
        fp = smp_load_word(fp);
    }
    return false;
}

static bool by_link(struct smp_walk *walk)
{
    const uintptr_t link = smp_registers_link(walk->context);
    const struct smp_code_piece *piece = smp_code_find(walk->code, link - 1);
    struct smp_registers from = walk->at;

    if (link == 0 || piece == NULL || piece->kind == SMP_CODE_STUB)
        return false;
    from.pc = link;
    return walk_from(walk, from, piece->kind == SMP_CODE_METHOD ? link : 0);
}

static bool recover_from_caller(struct smp_walk *walk, const struct smp_code_piece *stub)
{
    const struct smp_code_piece *passed = stub;

    /* Frame pointers last: compiled Java code keeps anything in that register, an outer frame's
     * pointer too; unless a function above has made a frame, the inner ones would be skipped. */
    if (!by_link(walk) && !(stub != NULL && scan_for_caller(walk, stub, true)) &&
        !scan_for_caller(walk, stub, false) && !by_frame_pointers(walk, &passed))
        return false;
    walk->answer->answer = SMP_ANSWER_FROM_CALLER;
    if (passed != NULL) {
        put_leaf(walk, passed->id, true);
        walk->answer->answer = SMP_ANSWER_IN_STUB;
    }
    return true;
}

static bool recover_in_java(struct smp_walk *walk)
{
    const struct smp_code_piece *piece = smp_code_find(walk->code, walk->at.pc);

    if (!on_stack(walk, walk->at.sp))
        return false;
    if (piece != NULL && piece->kind == SMP_CODE_METHOD)
        return recover_in_method(walk, piece);
    return recover_from_caller(walk, piece);
}

/* ----------------------------------------------------------------------------------- in the JVM */

static uintptr_t field_of(const struct smp_walk *walk, uint32_t offset)
{
    return smp_load_word(walk->target->java_thread + offset);
}

/* The anchor's frame, or that of its caller, if it is one of a runtime stub whose size is not
 * known. */
static bool walk_anchor(struct smp_walk *walk, struct smp_registers anchor)
{
    const uintptr_t word = sizeof(uintptr_t);
    struct caller caller;

    if (walk_from(walk, anchor, 0))
        return true;
    if (anchor.fp >= anchor.sp && read_caller(walk, anchor.fp + word, &caller) &&
        walk_caller(walk, anchor.fp + word, &caller, 0))
        return true;
    for (uintptr_t i = 0; i < SMP_WALK_RUNTIME_WORDS; i++) {
        const uintptr_t slot = anchor.sp + i * word;
        if (!on_stack(walk, slot))
            return false;
        if (read_caller(walk, slot, &caller) && walk_caller(walk, slot, &caller, 0))
            return true;
    }
    return false;
}

/* The thread is in native code or in the JVM itself, and has recorded its last Java frame. */
static bool recover_in_vm(struct smp_walk *walk)
{
    const struct smp_jvm_layout *layout = &walk->target->layout;
    struct smp_registers anchor = { 0 };

    if (layout->last_sp == 0 || walk->target->java_thread == 0)
        return false;
    anchor.sp = field_of(walk, layout->last_sp);
    anchor.pc = field_of(walk, layout->last_pc);
    anchor.fp = field_of(walk, layout->last_fp);
    if (anchor.sp == 0 || !on_stack(walk, anchor.sp) ||
        !on_stack(walk, anchor.sp - sizeof(uintptr_t)))
        return false;
    if (anchor.pc == 0)
        anchor.pc = smp_load_word(anchor.sp - sizeof(uintptr_t));
    if (!walk_anchor(walk, anchor))
        return false;
    walk->answer->answer = SMP_ANSWER_FROM_CALLER;
    return true;
}

void smp_recovery_run(struct smp_walk *walk, int32_t code)
{
    if (walk->target->own == NULL || walk->target->own->walk == NULL)
        return;
    switch (code) {
    case SMP_JVM_UNKNOWN_NOT_JAVA:
    case SMP_JVM_NOT_WALKABLE_NOT_JAVA:
        (void)recover_in_vm(walk);
        break;
    case SMP_JVM_GC_ACTIVE:
    case SMP_JVM_DEOPT:
    case SMP_JVM_THREAD_EXIT:
    case SMP_JVM_NO_JAVA_FRAME:
    case SMP_JVM_NO_CLASS_LOAD:
    case SMP_JVM_UNKNOWN_STATE:
        break;
    default: /* one of the two "Java" codes, or a stack without its root */
        (void)recover_in_java(walk);
        break;
    }
}
