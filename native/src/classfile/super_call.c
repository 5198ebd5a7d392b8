/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/super_call.h"

#include "classfile/opcodes.h"
#include "classfile/stack_map.h"

enum { EXCEPTION_ROW = 8, CALL_BYTES = 3 };

/* What a pass over the code has seen so far. */
struct super_search {
    const struct smp_class_file *file;
    const uint8_t *code;
    uint32_t length;
    uint32_t unaccounted; /* objects made by "new" and not initialised yet */
    int64_t furthest;     /* where a jump leads */
};

static void note_jumps(struct super_search *search, uint32_t pc, enum smp_opcode_kind kind)
{
    const struct smp_jumps jumps = smp_opcode_jumps(search->code, pc, kind);

    for (uint32_t i = 0; i < jumps.count; i++) {
        const int64_t target = pc + smp_jump_distance(&jumps, i);
        if (target > search->furthest)
            search->furthest = target;
    }
}

static bool is_init(const struct smp_class_file *file, const uint8_t *call,
                    struct smp_class_member *member)
{
    return call[0] == SMP_OP_INVOKESPECIAL &&
           smp_class_file_member(file, smp_class_u2(call + 1), member) &&
           smp_class_text_is(member->name, "<init>");
}

static bool names_own_class(const struct smp_class_file *file, struct smp_class_text owner)
{
    return smp_class_text_equals(owner, smp_class_file_this_name(file)) ||
           smp_class_text_equals(owner, smp_class_file_super_name(file));
}

/* Of the call itself; -1: there is none, or it is of another class. */
static int64_t find_super_call(struct super_search *search)
{
    struct smp_instruction instruction = { 0 };
    struct smp_class_member member;

    for (uint32_t pc = 0; pc < search->length; pc += instruction.length) {
        const uint8_t *at = search->code + pc;
        instruction = smp_opcode_at(search->code, search->length, pc);
        if (instruction.length == 0)
            return -1;
        note_jumps(search, pc, instruction.kind);
        if (instruction.kind == SMP_OPCODE_NEW)
            search->unaccounted++;
        if (!is_init(search->file, at, &member))
            continue;
        if (search->unaccounted == 0)
            return names_own_class(search->file, member.owner) ? (int64_t)pc : -1;
        search->unaccounted--;
    }
    return -1;
}

/* Does an exception before the call, or in it, lead behind it? */
static bool has_handler_past(const struct smp_class_file *file, const struct smp_class_code *code,
                             uint32_t call)
{
    const uint8_t *row = file->bytes + code->exceptions;

    for (uint32_t i = 0; i < code->exception_count; i++, row += EXCEPTION_ROW) {
        if (smp_class_u2(row) <= call && smp_class_u2(row + 4) > call)
            return true;
    }
    return false;
}

/* "this" and the parameters, each of which is one entry in a frame. */
static uint32_t constructor_locals(struct smp_class_text descriptor)
{
    uint32_t count = 1;

    for (size_t i = 1; i < descriptor.length && descriptor.bytes[i] != ')'; i++, count++) {
        while (i < descriptor.length && descriptor.bytes[i] == '[')
            i++;
        if (i < descriptor.length && descriptor.bytes[i] == 'L') {
            while (i < descriptor.length && descriptor.bytes[i] != ';')
                i++;
        }
    }
    return count;
}

static bool frames_agree(const struct smp_class_file *file, const struct smp_class_method *method,
                         uint32_t from)
{
    struct smp_class_attributes list = smp_class_file_code_attributes(file, &method->code);
    struct smp_class_attribute attribute;
    struct smp_stack_map map;
    struct smp_frame frame;

    while (smp_class_file_next_attribute(file, &list, &attribute)) {
        if (!smp_class_text_is(attribute.name, "StackMapTable"))
            continue;
        smp_stack_map_init(&map, file->bytes + attribute.bytes, attribute.length,
                           constructor_locals(method->descriptor));
        while (smp_stack_map_next(&map, &frame)) {
            if (frame.pc >= from && frame.is_this_uninitialized)
                return false;
        }
        if (map.is_broken)
            return false;
    }
    return true;
}

uint32_t smp_super_call_end(const struct smp_class_file *file,
                            const struct smp_class_method *method)
{
    struct super_search search = { .file = file,
                                   .code = file->bytes + method->code.bytes,
                                   .length = method->code.length };
    const int64_t call = find_super_call(&search);

    if (call < 0 || search.furthest > call || call + CALL_BYTES >= search.length)
        return 0;
    const uint32_t end = (uint32_t)call + CALL_BYTES;
    if (has_handler_past(file, &method->code, (uint32_t)call) || !frames_agree(file, method, end))
        return 0;
    return end;
}
