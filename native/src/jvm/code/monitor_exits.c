/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/code/monitor_exits.h"

#include <stdbool.h>
#include <stdint.h>

#include "classfile/opcodes.h"
#include "hotspot/machine_code.h"
#include "jvm/check/inline_record.h"
#include "jvm/code/code_map.h"

enum { ACC_SYNCHRONIZED = 0x20, NONE = -1 };

/* Finds the byte code that ends the lock held at bci: the next monitorexit, if a lock begins before
 * bci. */
static jint find_monitorexit(const unsigned char *codes, uint32_t count, jint bci)
{
    struct smp_instruction instruction;
    bool has_begun = false;

    for (uint32_t at = 0; at < count; at += instruction.length) {
        instruction = smp_opcode_at(codes, count, at);
        if (instruction.length == 0)
            return NONE;
        if (codes[at] == SMP_OP_MONITORENTER && (jint)at <= bci)
            has_begun = true;
        if (codes[at] == SMP_OP_MONITOREXIT && (jint)at >= bci)
            return has_begun ? (jint)at : NONE;
    }
    return NONE;
}

/* A method has no index before its first byte code. */
static jint known_bci(jint bci)
{
    return bci < 0 ? 0 : bci;
}

/* Finds the byte code index at which the frame's lock ends; for a synchronized method, returns the
 * frame's own. Returns NONE if the frame holds no lock. */
static jint find_end(jvmtiEnv *jvmti, jmethodID method, jint bci)
{
    unsigned char *codes = NULL;
    jint modifiers = 0;
    jint count = 0;

    if ((*jvmti)->GetMethodModifiers(jvmti, method, &modifiers) != JVMTI_ERROR_NONE)
        return NONE;
    if ((modifiers & ACC_SYNCHRONIZED) != 0)
        return bci;
    if ((*jvmti)->GetBytecodes(jvmti, method, &count, &codes) != JVMTI_ERROR_NONE)
        return NONE;
    const jint end = count > 0 ? find_monitorexit(codes, (uint32_t)count, bci) : NONE;
    (void)(*jvmti)->Deallocate(jvmti, codes);
    return end;
}

/* A frame that holds a lock, and the end of the lock. */
struct holder {
    const PCStackInfo *info; /* of code under the lock */
    jint frame;              /* NONE: no frame holds it */
    jint end_bci;
};

/* Finds the innermost frame that holds a lock, after skipping `inner` such frames. */
static struct holder find_holder(jvmtiEnv *jvmti, const PCStackInfo *info, jint inner)
{
    struct holder holder = { .info = info, .frame = NONE, .end_bci = NONE };

    for (jint i = 0; i < info->numstackframes && holder.frame == NONE; i++) {
        holder.end_bci = find_end(jvmti, info->methods[i], known_bci(info->bcis[i]));
        if (holder.end_bci != NONE && inner-- == 0)
            holder.frame = i;
    }
    return holder;
}

/* Returns whether the innermost frame of info is the holder's, at any byte code of its method. */
static bool is_holders(const PCStackInfo *info, const struct holder *holder)
{
    const PCStackInfo *held = holder->info;
    const jint first = holder->frame;
    const jint count = held->numstackframes - first;

    if (info->numstackframes != count || info->methods[0] != held->methods[first])
        return false;
    for (jint i = 1; i < count; i++) {
        if (info->methods[i] != held->methods[first + i] || info->bcis[i] != held->bcis[first + i])
            return false;
    }
    return true;
}

/* Returns whether bci is nearer to the end than the one found before. */
static bool is_nearer(jint bci, jint found, jint end)
{
    if (found == NONE)
        return true;
    return bci <= end ? bci > found || found > end : bci < found;
}

/* Returns 0 if there is no record of that frame without callees. */
static uintptr_t find_pc(const jvmtiCompiledMethodLoadInlineRecord *record,
                         const struct holder *holder)
{
    uintptr_t pc = 0;
    jint found = NONE;

    for (jint i = 0; i < record->numpcs; i++) {
        const PCStackInfo *info = &record->pcinfo[i];
        if (!is_holders(info, holder) ||
            !is_nearer(known_bci(info->bcis[0]), found, holder->end_bci))
            continue;
        found = known_bci(info->bcis[0]);
        pc = smp_inline_record_pc(record, i);
    }
    return pc;
}

static bool is_recorded_at(const jvmtiCompiledMethodLoadInlineRecord *record, uintptr_t back)
{
    const jint next = smp_inline_record_first_at(record, back);

    return next < record->numpcs && smp_inline_record_pc(record, next) == back;
}

void smp_monitor_exits_make(jvmtiEnv *jvmti, const void *start, size_t size, const void *info)
{
    const jvmtiCompiledMethodLoadInlineRecord *record = smp_inline_record_find(info);
    struct smp_outlined_call call = { 0 };
    uintptr_t first = 0; /* the first exit: all lie behind the method's own code */
    jint last = NONE;
    jint inner = 0;

    if (record == NULL)
        return;
    for (size_t at = smp_machine_code_next_outlined_call(start, size, 0, &call); at != 0;
         at = smp_machine_code_next_outlined_call(start, size, at + 1, &call)) {
        const uintptr_t back = (uintptr_t)start + at;
        if (!smp_code_map_is_stub(call.target, "monitorexit") || is_recorded_at(record, back))
            continue;
        first = first == 0 ? back : first;
        if (call.continues_at > first) /* where an exception leaves a method */
            continue;
        const jint end = smp_inline_record_first_at(record, call.continues_at);
        inner = end == last ? inner + 1 : 0;
        last = end;
        if (end == 0)
            continue;
        const struct holder holder = find_holder(jvmti, &record->pcinfo[end - 1], inner);
        const uintptr_t pc = holder.frame != NONE ? find_pc(record, &holder) : 0;
        if (pc != 0)
            smp_code_map_add_call_site(back, pc);
    }
}
