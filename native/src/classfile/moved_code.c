/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/moved_code.h"

#include "classfile/class_file.h"
#include "classfile/opcodes.h"

enum { ATHROW_BYTES = 1, NOP_BYTES = 1 };

/* pc is that of a switch; its padding follows from where it is. */
static uint32_t moved_switch_length(uint32_t pc, uint32_t moved_pc, uint32_t length)
{
    return length - smp_opcode_padding(pc) + smp_opcode_padding(moved_pc);
}

static bool is_point(enum smp_opcode_kind kind)
{
    return kind >= SMP_OPCODE_JUMP && kind <= SMP_OPCODE_SWITCH;
}

enum smp_rewrite smp_moved_code_measure(struct smp_moved_code *moved, const struct smp_probe *probe)
{
    uint32_t position = moved->entry == 0 ? probe->enter_length : NOP_BYTES;
    uint32_t pc = 0;
    uint32_t points = 0;
    uint32_t catches = 0;

    while (pc < moved->length) {
        const struct smp_instruction instruction = smp_opcode_at(moved->code, moved->length, pc);
        const bool is_catch = catches < moved->catch_count && moved->catches[catches].pc == pc;
        uint32_t length = instruction.length;

        if (length == 0 || instruction.kind == SMP_OPCODE_SUBROUTINE)
            return SMP_REWRITE_UNKNOWN_CODE;
        if (pc == moved->entry && pc != 0)
            position += probe->enter_length;
        moved->map[pc] = (uint16_t)position;
        if (is_catch) {
            catches++;
            position += probe->caught_length;
        }
        if (is_catch || is_point(instruction.kind)) {
            moved->points[points++] = (uint16_t)pc;
            if (instruction.kind == SMP_OPCODE_RETURN)
                length += probe->exit_length;
            else if (instruction.kind == SMP_OPCODE_SWITCH)
                length = moved_switch_length(pc, position, length);
        }
        position += length;
        pc += instruction.length;
    }
    if (catches < moved->catch_count)
        return SMP_REWRITE_UNKNOWN_CODE; /* amid an instruction */
    /* What did not fit in 16 bits above is not looked at then. */
    if (position > SMP_CLASS_MAX_CODE)
        return SMP_REWRITE_TOO_LARGE;
    moved->map[pc] = (uint16_t)position;
    moved->point_count = points;
    moved->body_end = position;
    return SMP_REWRITE_DONE;
}

uint32_t smp_moved_code_size(const struct smp_moved_code *moved, const struct smp_probe *probe)
{
    return moved->body_end + (moved->handler_from != 0 ? probe->exit_length + ATHROW_BYTES : 0);
}

uint32_t smp_moved_place(const struct smp_moved_code *moved, uint32_t pc)
{
    if (pc == 0)
        return 0;
    while (moved->map[pc] == 0)
        pc--; /* ends at 0 at the latest */
    return moved->map[pc];
}

uint32_t smp_moved_instruction(const struct smp_moved_code *moved, const struct smp_probe *probe,
                               uint32_t pc)
{
    for (uint32_t i = 0; i < moved->catch_count && moved->catches[i].pc <= pc; i++) {
        if (moved->catches[i].pc == pc)
            return moved->map[pc] + probe->caught_length;
    }
    return moved->map[pc];
}

/* The old offset of a jump or switch, and the new one. */
struct jump_place {
    uint32_t old;
    uint32_t new;
};

/* An instruction that jumps, with its distances made right again. */
static enum smp_rewrite write_jumps(const struct smp_moved_code *moved, struct jump_place place,
                                    struct smp_instruction instruction,
                                    struct smp_byte_writer *writer)
{
    static const uint8_t padding[3] = { 0 };
    const struct smp_jumps jumps = smp_opcode_jumps(moved->code, place.old, instruction.kind);
    const uint8_t *const end = moved->code + place.old + instruction.length;

    smp_byte_writer_u1(writer, moved->code[place.old]);
    if (instruction.kind == SMP_OPCODE_SWITCH)
        smp_byte_writer_put(writer, padding, smp_opcode_padding(place.new));
    uint8_t *const copy = smp_byte_writer_take(writer, (size_t)(end - jumps.first));
    if (copy == NULL)
        return SMP_REWRITE_UNKNOWN_CODE;
    memcpy(copy, jumps.first, (size_t)(end - jumps.first));
    for (uint32_t i = 0; i < jumps.count; i++) {
        uint8_t *const at = copy + (smp_jump_at(&jumps, i) - jumps.first);
        const uint32_t target = smp_moved_target(moved, place.old + smp_jump_distance(&jumps, i));
        const int64_t distance = (int64_t)target - place.new;
        if (target == 0)
            return SMP_REWRITE_UNKNOWN_CODE;
        if (!jumps.is_wide && (distance < INT16_MIN || distance > INT16_MAX))
            return SMP_REWRITE_JUMP_TOO_FAR;
        if (jumps.is_wide)
            smp_byte_writer_set_u4(at, (uint32_t)distance);
        else
            smp_byte_writer_set_u2(at, (uint32_t)distance);
    }
    return SMP_REWRITE_DONE;
}

/* What is at a jump, switch or return, or where a catch begins; next: the first old offset that is
 * still to be copied. */
static enum smp_rewrite write_point(const struct smp_moved_code *moved, struct jump_place place,
                                    const struct smp_probe *probe, struct smp_byte_writer *writer,
                                    uint32_t *next)
{
    const struct smp_instruction instruction = smp_opcode_at(moved->code, moved->length, place.old);

    *next = place.old; /* a return, or what follows a catch: copied with what comes behind */
    if (instruction.kind == SMP_OPCODE_RETURN)
        smp_byte_writer_put(writer, probe->exit, probe->exit_length);
    if (instruction.kind == SMP_OPCODE_RETURN || !is_point(instruction.kind))
        return SMP_REWRITE_DONE;
    *next += instruction.length;
    return write_jumps(moved, place, instruction, writer);
}

/* With the probe of the entry where that stands in between, or at the end. */
static void copy_up_to(const struct smp_moved_code *moved, const struct smp_probe *probe,
                       uint32_t from, uint32_t pc, struct smp_byte_writer *writer)
{
    if (from < moved->entry && moved->entry <= pc) {
        smp_byte_writer_put(writer, moved->code + from, moved->entry - from);
        smp_byte_writer_put(writer, probe->enter, probe->enter_length);
        from = moved->entry;
    }
    smp_byte_writer_put(writer, moved->code + from, pc - from);
}

enum smp_rewrite smp_moved_code_write(const struct smp_moved_code *moved,
                                      const struct smp_probe *probe, struct smp_byte_writer *writer)
{
    uint32_t next_catch = 0;
    uint32_t copied = 0;

    if (moved->entry == 0)
        smp_byte_writer_put(writer, probe->enter, probe->enter_length);
    else
        smp_byte_writer_u1(writer, SMP_OP_NOP);
    for (uint32_t i = 0; i < moved->point_count; i++) {
        struct jump_place place = { .old = moved->points[i], .new = moved->map[moved->points[i]] };
        copy_up_to(moved, probe, copied, place.old, writer);
        if (next_catch < moved->catch_count && moved->catches[next_catch].pc == place.old) {
            smp_probe_caught_write(probe, moved->catches[next_catch++].has_exception, writer);
            place.new += probe->caught_length;
        }
        const enum smp_rewrite result = write_point(moved, place, probe, writer, &copied);
        if (result != SMP_REWRITE_DONE)
            return result;
    }
    copy_up_to(moved, probe, copied, moved->length, writer);
    if (moved->handler_from != 0) {
        smp_byte_writer_put(writer, probe->exit, probe->exit_length);
        smp_byte_writer_u1(writer, SMP_OP_ATHROW);
    }
    return SMP_REWRITE_DONE;
}
