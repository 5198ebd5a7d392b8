/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opcodes.h - the instructions of byte code: their lengths, the kinds that matter here, and the
 * targets of their jumps.
 *
 *   for (uint32_t pc = 0; pc < length; pc += instruction.length) {
 *       instruction = smp_opcode_at(code, length, pc);
 *       if (instruction.length == 0)
 *           return;  unknown, or cut off
 *
 * Threads  any.
 * Cost     a load; a few for switches.
 */
#ifndef SMP_CLASSFILE_OPCODES_H
#define SMP_CLASSFILE_OPCODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classfile/class_bytes.h"

enum {
    SMP_OP_NOP = 0,
    SMP_OP_ACONST_NULL = 1,
    SMP_OP_ICONST_0 = 3,
    SMP_OP_BIPUSH = 16,
    SMP_OP_SIPUSH = 17,
    SMP_OP_LDC = 18,
    SMP_OP_LDC_W = 19,
    SMP_OP_ILOAD = 21,
    SMP_OP_ALOAD = 25,
    SMP_OP_ILOAD_0 = 26,
    SMP_OP_ALOAD_0 = 42,
    SMP_OP_ALOAD_1 = 43,
    SMP_OP_ALOAD_3 = 45,
    SMP_OP_DUP = 89,
    SMP_OP_TABLESWITCH = 170,
    SMP_OP_LOOKUPSWITCH = 171,
    SMP_OP_IRETURN = 172,
    SMP_OP_ARETURN = 176,
    SMP_OP_RETURN = 177,
    SMP_OP_GETSTATIC = 178,
    SMP_OP_PUTSTATIC = 179,
    SMP_OP_GETFIELD = 180,
    SMP_OP_PUTFIELD = 181,
    SMP_OP_INVOKEVIRTUAL = 182,
    SMP_OP_INVOKESPECIAL = 183,
    SMP_OP_INVOKESTATIC = 184,
    SMP_OP_INVOKEDYNAMIC = 186,
    SMP_OP_NEW = 187,
    SMP_OP_ATHROW = 191,
    SMP_OP_MONITORENTER = 194,
    SMP_OP_MONITOREXIT = 195
};

enum smp_opcode_kind {
    SMP_OPCODE_PLAIN,
    /* These jump: */
    SMP_OPCODE_JUMP,      /* 16 bits, behind the opcode */
    SMP_OPCODE_WIDE_JUMP, /* 32 bits: goto_w */
    SMP_OPCODE_SWITCH,
    SMP_OPCODE_RETURN,
    SMP_OPCODE_SUBROUTINE, /* jsr, jsr_w, ret, only in old class files */
    SMP_OPCODE_WIDE,
    SMP_OPCODE_TAKE, /* astore (not wide) and pop: takes a reference off the stack */
    /* From here on a constant follows: */
    SMP_OPCODE_INVOKE,
    SMP_OPCODE_CONSTANT,     /* ldc, ldc_w, ldc2_w */
    SMP_OPCODE_STATIC_FIELD, /* getstatic, putstatic */
    SMP_OPCODE_NEW
};

/* length 0: unknown, or it ends beyond the code. */
struct smp_instruction {
    uint32_t length;
    enum smp_opcode_kind kind;
};

/* By opcode: the length in the low 4 bits (0: unknown or variable), then the kind. */
extern const uint8_t smp_opcode_table[256];

/* For opcodes without a length in smp_opcode_table. */
struct smp_instruction smp_opcode_variable(const uint8_t *code, uint32_t length, uint32_t pc);

/* pc is below length. */
static inline struct smp_instruction smp_opcode_at(const uint8_t *code, uint32_t length,
                                                   uint32_t pc)
{
    const uint8_t row = smp_opcode_table[code[pc]];
    const struct smp_instruction fixed = { .length = row & 15u,
                                           .kind = (enum smp_opcode_kind)(row >> 4) };

    if (fixed.length == 0 || fixed.length > length - pc)
        return smp_opcode_variable(code, length, pc);
    return fixed;
}

/* The distances of an instruction's jumps: one of 16 or 32 bits, or several in a switch. */
struct smp_jumps {
    uint32_t count;       /* 0: it does not jump */
    bool is_wide;         /* 32 bits */
    const uint8_t *first; /* of a switch: its default; low and high or the number of pairs follow */
    const uint8_t *rows; /* of a switch: a row for each further jump, whose distance ends the row */
    uint32_t row_bytes;
};

/* smp_opcode_at has accepted the instruction at pc. */
struct smp_jumps smp_opcode_jumps(const uint8_t *code, uint32_t pc, enum smp_opcode_kind kind);

static inline const uint8_t *smp_jump_at(const struct smp_jumps *jumps, uint32_t i)
{
    return i == 0 ? jumps->first : jumps->rows + (size_t)i * jumps->row_bytes - 4;
}

/* Returns the distance of a jump from the start of the instruction. */
static inline int64_t smp_jump_distance(const struct smp_jumps *jumps, uint32_t i)
{
    const uint8_t *at = smp_jump_at(jumps, i);

    return jumps->is_wide ? (int32_t)smp_class_u4(at) : (int16_t)smp_class_u2(at);
}

/* Returns the number of zero bytes between the opcode of a switch and its operands. */
static inline uint32_t smp_opcode_padding(uint32_t pc)
{
    return 3 - (pc & 3);
}

#endif
