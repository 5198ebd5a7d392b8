/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/opcodes.h"

#define ROW(kind, length) (uint8_t)(SMP_OPCODE_##kind << 4 | (length))

enum {
    WIDE_LOAD_BYTES = 4,
    WIDE_IINC_BYTES = 6,
    OP_IINC = 132,
    OP_RET = 169,
    OP_WIDE = 196,
    TABLE_HEAD = 12, /* default, low, high */
    TABLE_ROW = 4,
    LOOKUP_HEAD = 8, /* default, number of pairs */
    LOOKUP_ROW = 8
};

const uint8_t smp_opcode_table[256] = {
    [0 ... 15] = ROW(PLAIN, 1),           /* nop, constants */
    [16] = ROW(PLAIN, 2),                 /* bipush */
    [17] = ROW(PLAIN, 3),                 /* sipush */
    [18] = ROW(CONSTANT, 2),              /* ldc */
    [19 ... 20] = ROW(CONSTANT, 3),       /* ldc_w, ldc2_w */
    [21 ... 25] = ROW(PLAIN, 2),          /* iload ... aload */
    [26 ... 53] = ROW(PLAIN, 1),          /* iload_0 ... saload */
    [54 ... 57] = ROW(PLAIN, 2),          /* istore ... dstore */
    [58] = ROW(TAKE, 2),                  /* astore */
    [59 ... 74] = ROW(PLAIN, 1),          /* istore_0 ... dstore_3 */
    [75 ... 78] = ROW(TAKE, 1),           /* astore_0 ... astore_3 */
    [79 ... 86] = ROW(PLAIN, 1),          /* iastore ... sastore */
    [87] = ROW(TAKE, 1),                  /* pop */
    [88 ... 131] = ROW(PLAIN, 1),         /* pop2 ... lxor */
    [132] = ROW(PLAIN, 3),                /* iinc */
    [133 ... 152] = ROW(PLAIN, 1),        /* i2l ... dcmpg */
    [153 ... 167] = ROW(JUMP, 3),         /* ifeq ... goto */
    [168] = ROW(SUBROUTINE, 3),           /* jsr */
    [169] = ROW(SUBROUTINE, 2),           /* ret */
    [170 ... 171] = ROW(SWITCH, 0),       /* tableswitch, lookupswitch */
    [172 ... 177] = ROW(RETURN, 1),       /* ireturn ... return */
    [178 ... 179] = ROW(STATIC_FIELD, 3), /* getstatic, putstatic */
    [180 ... 181] = ROW(PLAIN, 3),        /* getfield, putfield */
    [182 ... 184] = ROW(INVOKE, 3),       /* invokevirtual, invokespecial, invokestatic */
    [185 ... 186] = ROW(INVOKE, 5),       /* invokeinterface, invokedynamic */
    [187] = ROW(NEW, 3),                  /* new */
    [188] = ROW(PLAIN, 2),                /* newarray */
    [189] = ROW(PLAIN, 3),                /* anewarray */
    [190 ... 191] = ROW(PLAIN, 1),        /* arraylength, athrow */
    [192 ... 193] = ROW(PLAIN, 3),        /* checkcast, instanceof */
    [194 ... 195] = ROW(PLAIN, 1),        /* monitorenter, monitorexit */
    [196] = ROW(WIDE, 0),                 /* wide */
    [197] = ROW(PLAIN, 4),                /* multianewarray */
    [198 ... 199] = ROW(JUMP, 3),         /* ifnull, ifnonnull */
    [200] = ROW(WIDE_JUMP, 5),            /* goto_w */
    [201] = ROW(SUBROUTINE, 5),           /* jsr_w */
};

/* Returns false if the operands are invalid or cut off. */
static bool read_switch(const uint8_t *code, uint32_t length, uint32_t pc, struct smp_jumps *out)
{
    const bool is_table = code[pc] == SMP_OP_TABLESWITCH;
    const uint32_t head = is_table ? TABLE_HEAD : LOOKUP_HEAD;
    const uint32_t row_bytes = is_table ? TABLE_ROW : LOOKUP_ROW;
    const uint64_t first = (uint64_t)pc + 1 + smp_opcode_padding(pc);

    if (first + head > length)
        return false;
    const uint8_t *const at = code + first;
    const int64_t low = (int32_t)smp_class_u4(at + 4); /* of lookupswitch: the number of pairs */
    const int64_t rows = is_table ? (int32_t)smp_class_u4(at + 8) - low + 1 : low;
    if (rows < (is_table ? 1 : 0) || first + head + (uint64_t)rows * row_bytes > length)
        return false;
    *out = (struct smp_jumps){ .count = 1 + (uint32_t)rows,
                               .is_wide = true,
                               .first = at,
                               .rows = at + head,
                               .row_bytes = row_bytes };
    return true;
}

static struct smp_instruction switch_at(const uint8_t *code, uint32_t length, uint32_t pc)
{
    struct smp_jumps jumps;

    if (!read_switch(code, length, pc, &jumps))
        return (struct smp_instruction){ 0 };
    const uint8_t *const end = jumps.rows + (size_t)(jumps.count - 1) * jumps.row_bytes;
    return (struct smp_instruction){ .length = (uint32_t)(end - code) - pc,
                                     .kind = SMP_OPCODE_SWITCH };
}

static struct smp_instruction wide_at(const uint8_t *code, uint32_t length, uint32_t pc)
{
    const uint32_t left = length - pc;
    const uint8_t opcode = left > 1 ? code[pc + 1] : 0;
    struct smp_instruction wide = { .length = WIDE_LOAD_BYTES, .kind = SMP_OPCODE_PLAIN };

    if (opcode == OP_IINC)
        wide.length = WIDE_IINC_BYTES;
    else if (opcode == OP_RET)
        wide.kind = SMP_OPCODE_SUBROUTINE;
    else if (!(opcode >= 21 && opcode <= 25) && !(opcode >= 54 && opcode <= 58))
        wide.length = 0; /* neither loads nor stores */
    if (wide.length > left)
        wide.length = 0;
    return wide;
}

struct smp_instruction smp_opcode_variable(const uint8_t *code, uint32_t length, uint32_t pc)
{
    switch (code[pc]) {
    case SMP_OP_TABLESWITCH:
    case SMP_OP_LOOKUPSWITCH:
        return switch_at(code, length, pc);
    case OP_WIDE:
        return wide_at(code, length, pc);
    default:
        return (struct smp_instruction){ 0 };
    }
}

struct smp_jumps smp_opcode_jumps(const uint8_t *code, uint32_t pc, enum smp_opcode_kind kind)
{
    struct smp_jumps jumps = { .count =
                                   kind == SMP_OPCODE_JUMP || kind == SMP_OPCODE_WIDE_JUMP ? 1 : 0,
                               .is_wide = kind != SMP_OPCODE_JUMP,
                               .first = code + pc + 1 };

    if (kind == SMP_OPCODE_SWITCH)
        (void)read_switch(code, UINT32_MAX, pc, &jumps);
    return jumps;
}
