/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/moved_code.h"

#include <string.h>

#include "classfile/opcodes.h"
#include "classfile/stack_map.h"

enum {
    ATTRIBUTE_HEAD = 6,
    COUNT_BYTES = 2,
    MOST_ROWS = 65535,
    PROBE_STACK = 1, /* stack entries that a probe needs in addition */
    CATCH_STACK = 2,
    LEAST_STACK = 2, /* exception and id in the handler, or the two objects handed out */
    MOST_STACK = 65535,
    MOST_COMPILED = 8000 /* most bytes of code that the JIT compilers accept (HugeMethodLimit) */
};

static const uint8_t *old_code(const struct smp_moved_code *moved)
{
    return moved->file->bytes + moved->code->bytes;
}

static uint32_t written_length(const struct smp_moved_code *moved)
{
    return (uint32_t)(moved->out->length - moved->start);
}

/* --- catches --- */

/* Marks in the map, until the instruction is written. */
enum { CATCH_WITH_EXCEPTION = 1, CATCH_UNKNOWN, NO_PLACE = -1 };

/* Returns whether this handler, or one before it in the code, covers the place. */
static bool is_sent_back(const struct smp_moved_code *moved, uint32_t place, uint32_t handler)
{
    for (uint32_t i = 0; i < moved->code->exception_count; i++) {
        const struct smp_class_exception row =
            smp_class_file_exception(moved->file, moved->code, i);
        if (row.start <= place && place < row.end && row.handler <= handler)
            return true;
    }
    return false;
}

static int64_t place_of_handler(const struct smp_moved_code *moved, uint32_t handler)
{
    const uint32_t length = moved->code->length;

    if (handler >= length)
        return NO_PLACE;
    if (!is_sent_back(moved, handler, handler))
        return handler;
    const struct smp_instruction first = smp_opcode_at(old_code(moved), length, handler);
    const uint32_t behind = handler + first.length;
    return first.kind != SMP_OPCODE_TAKE || behind >= length || is_sent_back(moved, behind, handler)
               ? NO_PLACE
               : (int64_t)behind;
}

/* Marks the places in the map, and returns their number. In a constructor they pass no exception,
 * so that the hook searches for the call: a call of the same constructor that failed before
 * super() may have been left in the tree. */
static uint32_t mark_catches(const struct smp_moved_code *moved)
{
    const uint32_t rows = moved->probe->push_length > 0 ? smp_moved_catch_rows(moved->code) : 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t handler = smp_class_file_exception(moved->file, moved->code, i).handler;
        const int64_t place = place_of_handler(moved, handler);
        if (place == NO_PLACE)
            continue;
        count += moved->map[place] == 0 ? 1 : 0;
        if (place != handler || moved->is_constructor)
            moved->map[place] = CATCH_UNKNOWN;
        else if (moved->map[place] == 0)
            moved->map[place] = CATCH_WITH_EXCEPTION;
    }
    return count;
}

/* --- instructions --- */

/* Copies old code up to pc. */
static void copy_up_to(const struct smp_moved_code *moved, uint32_t *copied, uint32_t pc)
{
    smp_class_put(moved->out, old_code(moved) + *copied, pc - *copied);
    *copied = pc;
}

/* The padding of a switch depends on its offset. */
static void write_padding(const struct smp_moved_code *moved, uint32_t *copied, uint32_t pc)
{
    const uint32_t moved_pc = written_length(moved) + pc - *copied;

    copy_up_to(moved, copied, pc + 1);
    smp_bytes_fill(moved->out, 0, smp_opcode_padding(moved_pc));
    *copied += smp_opcode_padding(pc);
}

/* catches: the number of catch probes still to be written. */
static void write_probes(const struct smp_moved_code *moved, uint32_t *copied, uint32_t pc,
                         enum smp_opcode_kind kind, uint32_t *catches)
{
    const uint16_t mark = moved->map[pc];

    if (pc == moved->entry && pc != 0) {
        copy_up_to(moved, copied, pc);
        smp_probe_enter_write(moved->probe, moved->out);
    }
    moved->map[pc] = (uint16_t)(written_length(moved) + pc - *copied);
    if (mark != 0) {
        copy_up_to(moved, copied, pc);
        smp_probe_caught_write(moved->probe, mark == CATCH_WITH_EXCEPTION, moved->out);
        --*catches;
    }
    if (kind == SMP_OPCODE_RETURN) {
        copy_up_to(moved, copied, pc);
        smp_probe_exit_write(moved->probe, moved->out);
    }
}

static enum smp_rewrite write_instructions(struct smp_moved_code *moved, uint32_t catches)
{
    const uint32_t length = moved->code->length;
    struct smp_instruction instruction;
    uint32_t copied = 0;
    uint32_t pc = 0;

    if (moved->entry == 0)
        smp_probe_enter_write(moved->probe, moved->out);
    else
        smp_class_put_u1(moved->out, SMP_OP_NOP);
    for (; pc < length; pc += instruction.length) {
        instruction = smp_opcode_at(old_code(moved), length, pc);
        if (instruction.length == 0 || instruction.kind == SMP_OPCODE_SUBROUTINE)
            return SMP_REWRITE_UNKNOWN_CODE;
        write_probes(moved, &copied, pc, instruction.kind, &catches);
        if (instruction.kind == SMP_OPCODE_SWITCH)
            write_padding(moved, &copied, pc);
    }
    copy_up_to(moved, &copied, length);
    moved->body_end = written_length(moved);
    moved->map[length] = (uint16_t)moved->body_end;
    /* A place that is left lies within an instruction. */
    return catches == 0 ? SMP_REWRITE_DONE : SMP_REWRITE_UNKNOWN_CODE;
}

/* --- jumps --- */

/* Returns where a jump to an old offset lands; 0: no instruction begins there. */
static uint32_t moved_target(const struct smp_moved_code *moved, int64_t pc)
{
    return pc >= 0 && pc < moved->code->length ? moved->map[pc] : 0;
}

/* Returns where an instruction is now, behind a catch probe if it has one. Such a probe begins
 * with dup or aconst_null, so the instruction must be neither. */
static uint32_t moved_instruction(const struct smp_moved_code *moved, uint32_t pc)
{
    const uint8_t *const code = smp_class_written(moved->out, moved->start);
    const uint32_t at = moved->map[pc];

    return code[at] == old_code(moved)[pc] ? at : at + smp_probe_caught_length(moved->probe);
}

/* Replaces the old distances in the copy by the new ones. */
static enum smp_rewrite aim_jumps(const struct smp_moved_code *moved, uint32_t pc,
                                  enum smp_opcode_kind kind)
{
    uint8_t *const code = smp_class_written(moved->out, moved->start);
    const uint32_t moved_pc = moved_instruction(moved, pc);
    const struct smp_jumps jumps = smp_opcode_jumps(code, moved_pc, kind);

    for (uint32_t i = 0; i < jumps.count; i++) {
        uint8_t *const at = code + (smp_jump_at(&jumps, i) - code);
        const uint32_t target = moved_target(moved, pc + smp_jump_distance(&jumps, i));
        const int64_t distance = (int64_t)target - moved_pc;
        if (target == 0)
            return SMP_REWRITE_UNKNOWN_CODE;
        if (!jumps.is_wide && (distance < INT16_MIN || distance > INT16_MAX))
            return SMP_REWRITE_JUMP_TOO_FAR;
        if (jumps.is_wide)
            smp_class_set_u4(at, (uint32_t)distance);
        else
            smp_class_set_u2(at, (uint32_t)distance);
    }
    return SMP_REWRITE_DONE;
}

static enum smp_rewrite aim_all_jumps(const struct smp_moved_code *moved)
{
    const uint32_t length = moved->code->length;
    struct smp_instruction instruction;
    enum smp_rewrite result = SMP_REWRITE_DONE;

    for (uint32_t pc = 0; pc < length && result == SMP_REWRITE_DONE; pc += instruction.length) {
        instruction = smp_opcode_at(old_code(moved), length, pc);
        if (instruction.kind >= SMP_OPCODE_JUMP && instruction.kind <= SMP_OPCODE_SWITCH)
            result = aim_jumps(moved, pc, instruction.kind);
    }
    return result;
}

/* A method that grows beyond the limit of the JIT compilers would be interpreted from then on. */
static bool fits(uint32_t before, uint32_t after)
{
    return after <= SMP_CLASS_MAX_CODE && (after <= MOST_COMPILED || before > MOST_COMPILED);
}

static enum smp_rewrite write_body(struct smp_moved_code *moved)
{
    const struct smp_class_code *const code = moved->code;
    enum smp_rewrite result = SMP_REWRITE_DONE;

    memset(moved->map, 0, (code->length + 1) * sizeof(*moved->map));
    const uint32_t catches = mark_catches(moved);
    const uint32_t stack = code->max_stack + (catches > 0 ? (uint32_t)CATCH_STACK : PROBE_STACK);
    if (stack > MOST_STACK)
        return SMP_REWRITE_TOO_LARGE;
    smp_class_put_u2(moved->out, stack < LEAST_STACK ? LEAST_STACK : stack);
    smp_class_put_u2(moved->out, code->max_locals);
    smp_class_put_u4(moved->out, 0); /* the length is set at the end */
    moved->start = moved->out->length;
    result = write_instructions(moved, catches);
    if (result != SMP_REWRITE_DONE)
        return result;
    if (moved->has_handler) {
        smp_probe_exit_write(moved->probe, moved->out);
        smp_class_put_u1(moved->out, SMP_OP_ATHROW);
    }
    uint8_t *const start = smp_class_written(moved->out, moved->start);
    if (start == NULL || !fits(code->length, written_length(moved)))
        return SMP_REWRITE_TOO_LARGE;
    smp_class_set_u4(start - 4, written_length(moved));
    return aim_all_jumps(moved);
}

/* --- tables --- */

static enum smp_rewrite write_exceptions(const struct smp_moved_code *moved)
{
    const struct smp_class_code *const code = moved->code;
    const uint32_t count = code->exception_count + (moved->has_handler ? 1u : 0u);

    if (count > MOST_ROWS)
        return SMP_REWRITE_TOO_LARGE;
    smp_class_put_u2(moved->out, count);
    for (uint32_t i = 0; i < code->exception_count; i++) {
        const struct smp_class_exception row = smp_class_file_exception(moved->file, code, i);
        const uint32_t places[] = { moved_target(moved, row.start),
                                    row.end <= code->length ? moved->map[row.end] : 0,
                                    moved_target(moved, row.handler) };
        for (size_t p = 0; p < sizeof(places) / sizeof(places[0]); p++) {
            if (places[p] == 0)
                return SMP_REWRITE_UNKNOWN_CODE;
            smp_class_put_u2(moved->out, places[p]);
        }
        smp_class_put_u2(moved->out, row.type);
    }
    if (moved->has_handler) {
        smp_class_put_u2(moved->out, moved->map[moved->covered_from]);
        smp_class_put_u2(moved->out, moved->body_end);
        smp_class_put_u2(moved->out, moved->body_end);
        smp_class_put_u2(moved->out, 0); /* every exception */
    }
    return SMP_REWRITE_DONE;
}

/* Says how an attribute of Code is moved. Attributes without a rule refer to no place in the code,
 * and are copied. */
struct table_rule {
    const char *name;
    enum { COPIED, LEFT_OUT, FRAMES, ROWS } kind;
    uint32_t row_bytes; /* ROWS: a count, then rows that begin with a place in the code */
    bool has_range;     /* a length follows that place */
};

static const struct table_rule *rule_of(struct smp_slice name)
{
    static const struct table_rule rules[] = {
        { "LineNumberTable", ROWS, 4, false },
        { "LocalVariableTable", ROWS, 10, true },
        { "LocalVariableTypeTable", ROWS, 10, true },
        { "StackMapTable", FRAMES, 0, false },
        { "RuntimeVisibleTypeAnnotations", LEFT_OUT, 0, false },
        { "RuntimeInvisibleTypeAnnotations", LEFT_OUT, 0, false },
    };
    static const struct table_rule others = { "", COPIED, 0, false };

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (smp_slice_is(name, rules[i].name))
            return &rules[i];
    }
    return &others;
}

/* Moves an offset, at most the code's length, of a table for debuggers. Offset 0 stays, so that
 * the entry probe belongs to the first line and its variables. An offset within an instruction
 * counts as its start. */
static uint32_t moved_place(const struct smp_moved_code *moved, uint32_t pc)
{
    if (pc == 0)
        return 0;
    while (moved->map[pc] == 0)
        pc--; /* ends at 0 at the latest, because an instruction begins there */
    return moved->map[pc];
}

/* Moves the rows of a table in the copy. */
static enum smp_rewrite move_rows(const struct smp_moved_code *moved, uint8_t *rows,
                                  uint32_t length, const struct table_rule *rule)
{
    const uint32_t count = length < COUNT_BYTES ? 0 : smp_class_u2(rows);

    if (length != COUNT_BYTES + (size_t)count * rule->row_bytes)
        return SMP_REWRITE_UNKNOWN_CODE;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *const row = rows + COUNT_BYTES + (size_t)i * rule->row_bytes;
        const uint32_t start = smp_class_u2(row);
        const uint32_t end = start + (rule->has_range ? smp_class_u2(row + 2) : 1u);
        if (end > moved->code->length)
            return SMP_REWRITE_UNKNOWN_CODE;
        smp_class_set_u2(row, moved_place(moved, start));
        if (rule->has_range)
            smp_class_set_u2(row + 2, moved_place(moved, end) - moved_place(moved, start));
    }
    return SMP_REWRITE_DONE;
}

/* --- frames --- */

/* place lies in the copy. The verifier refuses an offset without a "new" instruction. */
static bool move_new(void *self, uint8_t *place)
{
    const struct smp_moved_code *const moved = self;
    const uint32_t pc = smp_class_u2(place);
    const bool is_new =
        moved_target(moved, pc) != 0 && moved->file->bytes[moved->code->bytes + pc] == SMP_OP_NEW;

    if (is_new)
        smp_class_set_u2(place, moved_instruction(moved, pc));
    return is_new;
}

static void write_distance(struct smp_bytes *out, uint8_t type, uint32_t distance)
{
    const bool has_value = type > SMP_FRAME_SAME_MOST;

    if (type <= SMP_FRAME_STACK_1_MOST && distance <= SMP_FRAME_SAME_MOST) {
        smp_class_put_u1(out, (has_value ? SMP_FRAME_STACK_1 : 0) + distance);
        return;
    }
    if (type <= SMP_FRAME_STACK_1_MOST)
        type = has_value ? SMP_FRAME_STACK_1_EXTENDED : SMP_FRAME_SAME_EXTENDED;
    smp_class_put_u1(out, type);
    smp_class_put_u2(out, distance);
}

/* previous: the new offset of the frame before, or -1. */
static bool move_frame(struct smp_moved_code *moved, const struct smp_frame *frame,
                       int64_t *previous)
{
    const uint32_t target = moved_target(moved, frame->pc);

    if (target == 0)
        return false;
    smp_class_put(moved->out, frame->start, (size_t)(frame->base - frame->start));
    write_distance(moved->out, frame->type, (uint32_t)(target - *previous - 1));
    *previous = target;
    const size_t start = moved->out->length;
    smp_class_put(moved->out, frame->types, (size_t)(frame->end - frame->types));
    uint8_t *const types = smp_class_written(moved->out, start);
    return types != NULL &&
           (!frame->has_uninitialized || smp_stack_map_each_new(frame, types, move_new, moved));
}

static void write_handler_frame(const struct smp_moved_code *moved, int64_t previous)
{
    smp_class_put_u1(moved->out, SMP_FRAME_FULL);
    smp_class_put_u2(moved->out, (uint32_t)(moved->body_end - previous - 1));
    smp_class_put_u2(moved->out, 0); /* no locals: this fits the locals of every place */
    smp_class_put_u2(moved->out, 1);
    smp_class_put_u1(moved->out, SMP_TYPE_OBJECT);
    smp_class_put_u2(moved->out, moved->pool->throwable);
}

static enum smp_rewrite move_stack_map(struct smp_moved_code *moved, uint32_t name,
                                       const uint8_t *bytes, uint32_t length)
{
    const size_t start = moved->out->length;
    int64_t previous = -1;
    struct smp_stack_map map;
    struct smp_frame frame;

    smp_stack_map_init(&map, bytes, length, 0);
    const uint32_t count = map.left + (moved->has_handler ? 1 : 0);
    smp_class_put_u2(moved->out, name);
    smp_class_put_u4(moved->out, 0); /* the length is set at the end */
    smp_class_put_u2(moved->out, count);
    while (smp_stack_map_next(&map, &frame)) {
        if (!move_frame(moved, &frame, &previous))
            return SMP_REWRITE_UNKNOWN_CODE;
    }
    if (map.is_broken || count > MOST_ROWS)
        return map.is_broken ? SMP_REWRITE_UNKNOWN_CODE : SMP_REWRITE_TOO_LARGE;
    if (moved->has_handler)
        write_handler_frame(moved, previous);
    uint8_t *const written = smp_class_written(moved->out, start);
    if (written != NULL)
        smp_class_set_u4(written + 2, (uint32_t)(moved->out->length - start - ATTRIBUTE_HEAD));
    return SMP_REWRITE_DONE;
}

/* --- attributes --- */

static enum smp_rewrite move_attribute(struct smp_moved_code *moved,
                                       const struct smp_class_attribute *attribute,
                                       const struct table_rule *rule)
{
    const uint8_t *const bytes = moved->file->bytes;
    const size_t start = moved->out->length;

    if (rule->kind == FRAMES)
        return move_stack_map(moved, smp_class_u2(bytes + attribute->start),
                              bytes + attribute->bytes, attribute->length);
    smp_class_put(moved->out, bytes + attribute->start, ATTRIBUTE_HEAD + (size_t)attribute->length);
    uint8_t *const copy = smp_class_written(moved->out, start);
    return copy == NULL || rule->kind == COPIED
               ? SMP_REWRITE_DONE
               : move_rows(moved, copy + ATTRIBUTE_HEAD, attribute->length, rule);
}

static enum smp_rewrite move_attributes(struct smp_moved_code *moved)
{
    static const uint8_t no_frames[COUNT_BYTES] = { 0 };
    struct smp_class_attributes list = smp_class_file_code_attributes(moved->file, moved->code);
    /* The verifier of old class files does not read stack maps. */
    const bool has_frames = moved->file->major >= SMP_CLASS_STACK_MAPS_MAJOR;
    const size_t start = moved->out->length;
    struct smp_class_attribute attribute;
    enum smp_rewrite result = SMP_REWRITE_DONE;
    uint32_t stack_maps = 0;
    uint32_t count = 0;

    smp_class_put_u2(moved->out, 0); /* the count is set at the end */
    while (result == SMP_REWRITE_DONE &&
           smp_class_file_next_attribute(moved->file, &list, &attribute)) {
        const struct table_rule *const rule = rule_of(attribute.name);
        if (rule->kind == LEFT_OUT || (rule->kind == FRAMES && !has_frames))
            continue;
        count++;
        stack_maps += rule->kind == FRAMES ? 1 : 0;
        result =
            stack_maps > 1 ? SMP_REWRITE_UNKNOWN_CODE : move_attribute(moved, &attribute, rule);
    }
    if (result == SMP_REWRITE_DONE && stack_maps == 0 && moved->has_handler && has_frames) {
        count++;
        result = move_stack_map(moved, moved->pool->stack_map, no_frames, COUNT_BYTES);
    }
    uint8_t *const written = smp_class_written(moved->out, start);
    if (written != NULL)
        smp_class_set_u2(written, count);
    return result == SMP_REWRITE_DONE && count > MOST_ROWS ? SMP_REWRITE_TOO_LARGE : result;
}

enum smp_rewrite smp_moved_code_write(struct smp_moved_code *moved)
{
    enum smp_rewrite result = write_body(moved);

    if (result == SMP_REWRITE_DONE)
        result = write_exceptions(moved);
    return result == SMP_REWRITE_DONE ? move_attributes(moved) : result;
}
