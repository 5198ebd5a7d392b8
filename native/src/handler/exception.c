/* SPDX-License-Identifier: Apache-2.0 */
/* Runs inside a signal handler; see exception.h. */
#include "handler/exception.h"

#include <stddef.h>

#include "handler/caller.h"
#include "handler/code_view.h"
#include "handler/registers.h"
#include "hotspot/machine_code.h"
#include "hotspot/memory.h"

static bool is_exception_stub(const struct smp_code_piece *piece)
{
    const uint64_t key = atomic_load_explicit(&smp_code_table.exception_stub, memory_order_relaxed);

    return piece != NULL && piece->kind == SMP_CODE_STUB && key != 0 && piece->id == key;
}

/* Returns the pc that the stub has stored, perhaps for an earlier exception; 0: unknown. */
static uintptr_t noted_pc(const struct smp_walk *walk)
{
    const struct smp_walk_target *target = walk->target;

    if (!walk->is_alive || target->java_thread == 0 || target->layout.exception_pc == 0)
        return 0;
    return smp_load_word(target->java_thread + target->layout.exception_pc);
}

/* Walks from the exception's pc, if it is in this method. */
static bool walk_thrown(struct smp_walk *walk, const struct smp_blob *method, uintptr_t pc,
                        uintptr_t sp)
{
    const struct smp_frames_start from = { .pc = pc, .sp = sp, .fp = walk->at.fp };

    return pc - method->code < method->end - method->code && smp_caller_walk(walk, from);
}

/* Walks with the line of the first record at or after pc, if the line of the call is unknown. */
static bool walk_near(struct smp_walk *walk, uintptr_t pc, uintptr_t sp)
{
    const struct smp_frames_start from = { .pc = pc, .sp = sp, .fp = walk->at.fp, .line_pc = pc };

    return smp_caller_walk(walk, from);
}

static bool find_compiled(const struct smp_walk *walk, uintptr_t pc, struct smp_blob *out)
{
    const struct smp_own_walk *own = walk->target->own;

    return own->find(own, pc, out) && out->kind == SMP_BLOB_COMPILED;
}

static bool calls_stub(const struct smp_blob *method, uintptr_t return_address,
                       const struct smp_code_piece *stub)
{
    struct smp_call call;

    return return_address - method->code >= SMP_CALL_LONGEST &&
           smp_machine_code_follows_call(return_address, &call) && call.target != 0 &&
           smp_code_holds(stub, call.target);
}

/* Walks if the stub's return address is in slot. */
static bool walk_at_slot(struct smp_walk *walk, const struct smp_code_piece *stub, uintptr_t slot)
{
    const uintptr_t sp = slot + sizeof(uintptr_t);
    struct smp_blob method;

    if (slot < walk->at.sp || !smp_caller_on_stack(walk, slot))
        return false;
    const uintptr_t address = smp_load_word(slot);
    if (!find_compiled(walk, address, &method))
        return false;
    if (calls_stub(&method, address, stub))
        return walk_thrown(walk, &method, smp_registers_exception(walk->context).pc, sp);
    return walk_thrown(walk, &method, noted_pc(walk), sp) || walk_near(walk, address, sp);
}

/* Walks from a frame on top, while the handler's address is in its register. */
static bool walk_at_jump(struct smp_walk *walk)
{
    const uintptr_t handler = smp_registers_exception(walk->context).handler;
    struct smp_blob method;

    return find_compiled(walk, handler, &method) &&
           (walk_thrown(walk, &method, noted_pc(walk), walk->at.sp) ||
            walk_near(walk, handler, walk->at.sp));
}

bool smp_exception_walk_at_call(struct smp_walk *walk, const struct smp_blob *method)
{
    struct smp_call call;
    const uintptr_t pc = walk->at.pc;

    if (!smp_machine_code_is_direct_call(pc, method->end, &call) ||
        !is_exception_stub(smp_code_find(walk->code, call.target)))
        return false;
    return walk_thrown(walk, method, smp_registers_exception(walk->context).pc, walk->at.sp);
}

bool smp_exception_walk_in_stub(struct smp_walk *walk, const struct smp_code_piece *stub)
{
    const uintptr_t word = sizeof(uintptr_t);
    const uintptr_t sp = walk->at.sp;
    bool is_walked;

    if (!SMP_RETURN_ON_STACK || !is_exception_stub(stub))
        return false;
    if (smp_machine_code_jumps_to_handler(walk->at.pc))
        is_walked = walk_at_jump(walk);
    else
        is_walked = walk_at_slot(walk, stub, sp) || walk_at_slot(walk, stub, sp + word) ||
                    walk_at_slot(walk, stub, walk->at.fp + word);
    if (!is_walked)
        return false;
    smp_caller_put_leaf(walk, stub->id, true);
    walk->answer->answer = SMP_ANSWER_IN_STUB;
    return true;
}
