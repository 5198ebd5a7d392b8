/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opcodes.h - the instructions of byte code: how long they are, and which of them a rewriter or a
 * search for calls has to look at.
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

#include <stdint.h>

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
    SMP_OP_INVOKEINTERFACE = 185,
    SMP_OP_INVOKEDYNAMIC = 186,
    SMP_OP_NEW = 187,
    SMP_OP_ATHROW = 191,
    SMP_OP_MONITORENTER = 194,
    SMP_OP_MONITOREXIT = 195
};

enum smp_opcode_kind {
    SMP_OPCODE_PLAIN,
    SMP_OPCODE_JUMP,      /* 16 bits, behind the opcode */
    SMP_OPCODE_WIDE_JUMP, /* 32 bits: goto_w */
    SMP_OPCODE_RETURN,
    SMP_OPCODE_SWITCH,
    SMP_OPCODE_SUBROUTINE, /* jsr, jsr_w, ret: of old class files */
    SMP_OPCODE_WIDE,
    SMP_OPCODE_INVOKE,
    SMP_OPCODE_CONSTANT /* ldc, ldc_w, ldc2_w */
};

/* length 0: unknown, or it does not end within the code. */
struct smp_instruction {
    uint32_t length;
    enum smp_opcode_kind kind;
};

/* By opcode: the length in the low 4 bits (0: unknown, or not the same for all), then the kind. */
extern const uint8_t smp_opcode_table[256];

/* Those that smp_opcode_table has no length of. */
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

/* The operands of a switch that smp_opcode_at has accepted. */
struct smp_switch {
    const uint8_t *head; /* the default, then low and high, or the number of pairs */
    uint32_t head_bytes;
    const uint8_t *rows;
    uint32_t row_count;
    uint32_t row_bytes; /* the jump is the last 4 of them */
};

struct smp_switch smp_opcode_switch(const uint8_t *code, uint32_t pc);

/* Zero bytes between the opcode of a switch and its operands. */
static inline uint32_t smp_opcode_padding(uint32_t pc)
{
    return 3 - (pc & 3);
}

#endif
