/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/opcodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* From the specification, 16 opcodes per row; 0: variable length or unknown. */
static const char *const lengths = "1111111111111111"
                                   "2323322222111111"
                                   "1111111111111111"
                                   "1111112222211111"
                                   "1111111111111111"
                                   "1111111111111111"
                                   "1111111111111111"
                                   "1111111111111111"
                                   "1111311111111111"
                                   "1111111113333333"
                                   "3333333332001111"
                                   "1133333335532311"
                                   "3311043355000000"
                                   "0000000000000000"
                                   "0000000000000000"
                                   "0000000000000000";

static void each_opcode_has_its_length(void **state)
{
    uint8_t code[8] = { 0 };

    (void)state;
    assert_int_equal(strlen(lengths), 256);
    for (uint32_t opcode = 0; opcode < 256; opcode++) {
        const uint32_t length = (uint32_t)(lengths[opcode] - '0');
        code[0] = (uint8_t)opcode;
        if (opcode != SMP_OP_TABLESWITCH && opcode != SMP_OP_LOOKUPSWITCH)
            assert_int_equal(smp_opcode_at(code, sizeof(code), 0).length, length);
        /* Cuts the code at each place before its end. */
        for (uint32_t cut = 1; cut < length; cut++)
            assert_int_equal(smp_opcode_at(code, cut, 0).length, 0);
    }
}

static void opcodes_have_their_kind(void **state)
{
    uint8_t code[8] = { 0 };

    (void)state;
    for (uint32_t opcode = 0; opcode < 256; opcode++) {
        enum smp_opcode_kind kind = SMP_OPCODE_PLAIN;
        if ((opcode >= 153 && opcode <= 167) || opcode == 198 || opcode == 199)
            kind = SMP_OPCODE_JUMP;
        else if (opcode == 200)
            kind = SMP_OPCODE_WIDE_JUMP;
        else if (opcode == 168 || opcode == 169 || opcode == 201)
            kind = SMP_OPCODE_SUBROUTINE;
        else if (opcode >= 172 && opcode <= 177)
            kind = SMP_OPCODE_RETURN;
        else if (opcode >= 182 && opcode <= 186)
            kind = SMP_OPCODE_INVOKE;
        else if (opcode >= 18 && opcode <= 20)
            kind = SMP_OPCODE_CONSTANT;
        else if (opcode == 178 || opcode == 179)
            kind = SMP_OPCODE_STATIC_FIELD;
        else if (opcode == 187)
            kind = SMP_OPCODE_NEW;
        else if (opcode == 58 || (opcode >= 75 && opcode <= 78) || opcode == 87)
            kind = SMP_OPCODE_TAKE;
        code[0] = (uint8_t)opcode;
        assert_int_equal(smp_opcode_at(code, sizeof(code), 0).kind, kind);
        if (smp_opcode_at(code, sizeof(code), 0).length > 0)
            assert_int_equal(smp_opcode_jumps(code, 0, kind).count,
                             kind == SMP_OPCODE_JUMP || kind == SMP_OPCODE_WIDE_JUMP ? 1 : 0);
    }
}

static void jumps_may_be_negative(void **state)
{
    const uint8_t near[] = { 167, 0xff, 0xfe };
    const uint8_t far[] = { 200, 0xff, 0xff, 0, 0 };
    const struct smp_jumps narrow = smp_opcode_jumps(near, 0, SMP_OPCODE_JUMP);
    const struct smp_jumps wide = smp_opcode_jumps(far, 0, SMP_OPCODE_WIDE_JUMP);

    (void)state;
    assert_int_equal(smp_jump_distance(&narrow, 0), -2);
    assert_int_equal(smp_jump_distance(&wide, 0), -65536);
}

static void wide_widens_loads_stores_and_iinc(void **state)
{
    uint8_t code[6] = { 196 };

    (void)state;
    for (uint32_t opcode = 0; opcode < 256; opcode++) {
        const bool is_load = (opcode >= 21 && opcode <= 25) || (opcode >= 54 && opcode <= 58);
        const uint32_t length = opcode == 132 ? 6 : (is_load || opcode == 169 ? 4 : 0);
        code[1] = (uint8_t)opcode;
        const struct smp_instruction wide = smp_opcode_at(code, sizeof(code), 0);
        assert_int_equal(wide.length, length);
        if (length > 0)
            assert_int_equal(wide.kind, opcode == 169 ? SMP_OPCODE_SUBROUTINE : SMP_OPCODE_PLAIN);
        if (length > 0)
            assert_int_equal(smp_opcode_at(code, length - 1, 0).length, 0);
    }
    assert_int_equal(smp_opcode_at(code, 1, 0).length, 0);
}

/* Writes a switch with this many rows. Returns its length. */
static uint32_t make_switch(uint8_t *code, uint32_t pc, uint8_t opcode, uint32_t rows)
{
    const bool is_table = opcode == SMP_OP_TABLESWITCH;
    uint8_t *head = code + pc + 1 + smp_opcode_padding(pc);

    memset(code, 0, 128);
    code[pc] = opcode;
    head[7] = is_table ? 5 : (uint8_t)rows;
    if (is_table)
        head[11] = (uint8_t)(5 + rows - 1);
    return 1 + smp_opcode_padding(pc) + (is_table ? 12 + 4 * rows : 8 + 8 * rows);
}

static void the_length_of_a_switch_follows_from_its_table(void **state)
{
    uint8_t code[128];

    (void)state;
    for (uint32_t pc = 0; pc < 8; pc++) {
        for (uint32_t rows = 0; rows < 5; rows++) {
            for (uint8_t opcode = SMP_OP_TABLESWITCH; opcode <= SMP_OP_LOOKUPSWITCH; opcode++) {
                const uint32_t length = make_switch(code, pc, opcode, rows);
                const struct smp_instruction one = smp_opcode_at(code, pc + length, pc);
                if (opcode == SMP_OP_TABLESWITCH && rows == 0) {
                    assert_int_equal(one.length, 0);
                    continue;
                }
                assert_int_equal(one.length, length);
                assert_int_equal(one.kind, SMP_OPCODE_SWITCH);
                const struct smp_jumps jumps = smp_opcode_jumps(code, pc, one.kind);
                assert_int_equal(jumps.count, 1 + rows);
                assert_ptr_equal(jumps.rows + rows * jumps.row_bytes, code + pc + length);
                if (rows > 0)
                    assert_ptr_equal(smp_jump_at(&jumps, rows) + 4, code + pc + length);
                for (uint32_t cut = pc + 1; cut < pc + length; cut++)
                    assert_int_equal(smp_opcode_at(code, cut, pc).length, 0);
            }
        }
    }
}

static void absurd_switches_are_unknown(void **state)
{
    uint8_t table[64] = { SMP_OP_TABLESWITCH };
    uint8_t lookup[64] = { SMP_OP_LOOKUPSWITCH };

    (void)state;
    table[8] = 0x80; /* from the lowest number to the highest */
    memset(table + 12, 0xff, 4);
    table[12] = 0x7f;
    assert_int_equal(smp_opcode_at(table, sizeof(table), 0).length, 0);
    lookup[8] = 0x80; /* fewer than none */
    assert_int_equal(smp_opcode_at(lookup, sizeof(lookup), 0).length, 0);
    lookup[8] = 0x7f;
    assert_int_equal(smp_opcode_at(lookup, sizeof(lookup), 0).length, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_opcode_has_its_length),
        cmocka_unit_test(opcodes_have_their_kind),
        cmocka_unit_test(jumps_may_be_negative),
        cmocka_unit_test(wide_widens_loads_stores_and_iinc),
        cmocka_unit_test(the_length_of_a_switch_follows_from_its_table),
        cmocka_unit_test(absurd_switches_are_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
