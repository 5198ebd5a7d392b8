/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/super_call.h"

#include "classfile/opcodes.h"
#include "classfile/stack_map.h"

enum { EXCEPTION_ROW = 8, CALL_BYTES = 3, NO_CALL = -1 };

static bool is_init(const struct smp_class_file *file, const uint8_t *call,
                    struct smp_class_member *member)
{
    return call[0] == SMP_OP_INVOKESPECIAL &&
           smp_class_file_member(file, smp_class_u2(call + 1), member) &&
           smp_class_text_is(member->name, "<init>");
}

static bool names_own_class(const struct smp_class_file *file, struct smp_class_text owner)
{
    return smp_class_text_equals(owner, file->name) ||
           smp_class_text_equals(owner, file->super_name);
}

/* Returns the offset of the call. NO_CALL: there is none, it is of another class, or a jump leads
 * past it. */
static int64_t find_super_call(const struct smp_class_file *file, const struct smp_class_code *code)
{
    const uint8_t *const bytes = file->bytes + code->bytes;
    struct smp_instruction instruction;
    struct smp_class_member member;
    uint32_t made = 0;    /* objects made by "new" and not initialised yet */
    int64_t furthest = 0; /* target of a jump */

    for (uint32_t pc = 0; pc < code->length; pc += instruction.length) {
        instruction = smp_opcode_at(bytes, code->length, pc);
        if (instruction.length == 0)
            return NO_CALL;
        const struct smp_jumps jumps = smp_opcode_jumps(bytes, pc, instruction.kind);
        for (uint32_t i = 0; i < jumps.count; i++) {
            const int64_t target = pc + smp_jump_distance(&jumps, i);
            furthest = target > furthest ? target : furthest;
        }
        if (instruction.kind == SMP_OPCODE_NEW)
            made++;
        else if (is_init(file, bytes + pc, &member) && made-- == 0)
            return furthest <= pc && names_own_class(file, member.owner) ? (int64_t)pc : NO_CALL;
    }
    return NO_CALL;
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

/* Counts "this" and the parameters, each of which is one entry in a frame. */
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
    const int64_t call = find_super_call(file, &method->code);
    const int64_t end = call + CALL_BYTES;

    return call == NO_CALL || end >= method->code.length ||
                   has_handler_past(file, &method->code, (uint32_t)call) ||
                   !frames_agree(file, method, (uint32_t)end)
               ? 0
               : (uint32_t)end;
}
