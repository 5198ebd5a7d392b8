/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/moved_tables.h"

#include "classfile/stack_map.h"

enum {
    EXCEPTION_TABLE_ROW = 8,
    ATTRIBUTE_HEAD = 6,
    HANDLER_FRAME = 10, /* type, distance, no locals, one value: its type and class */
    COUNT_BYTES = 2,
    MOST_ROWS = 65535,
    FRAME_GROWTH = 2 /* a distance in the type becomes one of 16 bits */
};

/* What each function here works on. */
struct moving {
    const struct smp_class_file *file;
    const struct smp_class_code *code;
    const struct smp_moved_code *moved;
    const struct smp_probe *probe;
    const struct smp_moved_names *names;
    struct smp_byte_writer *writer;
    bool has_stack_map; /* one has been written */
};

/* What becomes of an attribute of Code. Those that are not listed have no place in the code, and
 * are copied. */
struct table_rule {
    const char *name;
    enum { COPIED, LEFT_OUT, FRAMES, ROWS } kind;
    uint32_t row_bytes; /* ROWS: a count, then rows that begin with a place in the code */
    bool has_range;     /* which a length follows */
};

static const struct table_rule *rule_of(struct smp_class_text name)
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
        if (smp_class_text_is(name, rules[i].name))
            return &rules[i];
    }
    return &others;
}

size_t smp_moved_tables_growth(const struct smp_class_file *file, const struct smp_class_code *code)
{
    struct smp_class_attributes list = smp_class_file_code_attributes(file, code);
    struct smp_class_attribute attribute;
    size_t bytes = EXCEPTION_TABLE_ROW + ATTRIBUTE_HEAD + COUNT_BYTES + HANDLER_FRAME;

    while (smp_class_file_next_attribute(file, &list, &attribute)) {
        if (rule_of(attribute.name)->kind == FRAMES && attribute.length >= COUNT_BYTES)
            bytes += FRAME_GROWTH * (size_t)smp_class_u2(file->bytes + attribute.bytes);
    }
    return bytes;
}

static enum smp_rewrite write_exception_row(const struct moving *moving, const uint8_t *row)
{
    const uint32_t end = smp_class_u2(row + 2);
    const uint32_t moved_start = smp_moved_target(moving->moved, smp_class_u2(row));
    const uint32_t moved_end = end <= moving->code->length ? moving->moved->map[end] : 0;
    const uint32_t moved_handler = smp_moved_target(moving->moved, smp_class_u2(row + 4));

    if (moved_start == 0 || moved_end == 0 || moved_handler == 0)
        return SMP_REWRITE_UNKNOWN_CODE;
    smp_byte_writer_u2(moving->writer, moved_start);
    smp_byte_writer_u2(moving->writer, moved_end);
    smp_byte_writer_u2(moving->writer, moved_handler);
    smp_byte_writer_put(moving->writer, row + 6, 2);
    return SMP_REWRITE_DONE;
}

static enum smp_rewrite write_exceptions(const struct moving *moving)
{
    const struct smp_moved_code *moved = moving->moved;
    const uint32_t added = moved->handler_from != 0 ? 1 : 0;
    const uint8_t *row = moving->file->bytes + moving->code->exceptions;
    enum smp_rewrite result = SMP_REWRITE_DONE;

    if (moving->code->exception_count + added > MOST_ROWS)
        return SMP_REWRITE_TOO_LARGE;
    smp_byte_writer_u2(moving->writer, moving->code->exception_count + added);
    for (uint32_t i = 0; i < moving->code->exception_count && result == SMP_REWRITE_DONE; i++)
        result = write_exception_row(moving, row + (size_t)i * EXCEPTION_TABLE_ROW);
    if (added > 0) {
        smp_byte_writer_u2(moving->writer, moved->handler_from);
        smp_byte_writer_u2(moving->writer, moved->body_end);
        smp_byte_writer_u2(moving->writer, moved->body_end);
        smp_byte_writer_u2(moving->writer, 0); /* every exception */
    }
    return result;
}

/* Copies the attribute as it is. */
static uint8_t *copy_attribute(const struct moving *moving,
                               const struct smp_class_attribute *attribute)
{
    const size_t bytes = ATTRIBUTE_HEAD + (size_t)attribute->length;
    uint8_t *const copy = smp_byte_writer_take(moving->writer, bytes);

    if (copy != NULL)
        memcpy(copy, moving->file->bytes + attribute->start, bytes);
    return copy;
}

/* The rows of a table for debuggers are changed in the copy. */
static enum smp_rewrite move_rows(const struct moving *moving,
                                  const struct smp_class_attribute *attribute,
                                  const struct table_rule *rule)
{
    const uint32_t count =
        attribute->length < COUNT_BYTES ? 0 : smp_class_u2(moving->file->bytes + attribute->bytes);

    if (attribute->length != COUNT_BYTES + (size_t)count * rule->row_bytes)
        return SMP_REWRITE_UNKNOWN_CODE;
    uint8_t *const copy = copy_attribute(moving, attribute);
    for (uint32_t i = 0; copy != NULL && i < count; i++) {
        uint8_t *const row = copy + ATTRIBUTE_HEAD + COUNT_BYTES + (size_t)i * rule->row_bytes;
        const uint32_t start = smp_class_u2(row);
        const uint32_t end = start + (rule->has_range ? smp_class_u2(row + 2) : 1u);
        if (end > moving->code->length)
            return SMP_REWRITE_UNKNOWN_CODE;
        const uint32_t moved_start = smp_moved_place(moving->moved, start);
        smp_byte_writer_set_u2(row, moved_start);
        if (rule->has_range)
            smp_byte_writer_set_u2(row + 2, smp_moved_place(moving->moved, end) - moved_start);
    }
    return copy != NULL ? SMP_REWRITE_DONE : SMP_REWRITE_UNKNOWN_CODE;
}

/* Where a frame's bytes are copied from and to. */
struct frame_copy {
    const struct moving *moving;
    const uint8_t *from;
    uint8_t *to;
};

static bool move_new(void *self, const uint8_t *place)
{
    const struct frame_copy *copy = self;
    const struct smp_moved_code *moved = copy->moving->moved;
    const uint32_t pc = smp_class_u2(place);
    const bool is_code = smp_moved_target(moved, pc) != 0;

    if (is_code)
        smp_byte_writer_set_u2(copy->to + (place - copy->from),
                               smp_moved_instruction(moved, copy->moving->probe, pc));
    return is_code;
}

static void write_distance(const struct moving *moving, uint8_t type, uint32_t distance)
{
    if (type > SMP_FRAME_STACK_1_MOST) {
        smp_byte_writer_u1(moving->writer, type);
        smp_byte_writer_u2(moving->writer, distance);
    } else if (distance <= SMP_FRAME_SAME_MOST) {
        smp_byte_writer_u1(moving->writer,
                           (type > SMP_FRAME_SAME_MOST ? SMP_FRAME_STACK_1 : 0) + distance);
    } else {
        smp_byte_writer_u1(moving->writer, type > SMP_FRAME_SAME_MOST ? SMP_FRAME_STACK_1_EXTENDED
                                                                      : SMP_FRAME_SAME_EXTENDED);
        smp_byte_writer_u2(moving->writer, distance);
    }
}

/* previous: new offset of the frame before, -1 for the first. */
static bool move_frame(const struct moving *moving, const struct smp_frame *frame,
                       int64_t *previous)
{
    const uint32_t target = smp_moved_target(moving->moved, frame->pc);
    const size_t types = (size_t)(frame->end - frame->types);

    if (target == 0)
        return false;
    smp_byte_writer_put(moving->writer, frame->start, (size_t)(frame->base - frame->start));
    write_distance(moving, frame->type, (uint32_t)(target - *previous - 1));
    *previous = target;
    uint8_t *to = smp_byte_writer_take(moving->writer, types);
    if (to == NULL)
        return false;
    if (types > 0)
        memcpy(to, frame->types, types);
    struct frame_copy copy = { .moving = moving, .from = frame->types, .to = to };
    return !frame->has_uninitialized || smp_stack_map_each_new(frame, move_new, &copy);
}

static void write_handler_frame(const struct moving *moving, int64_t previous)
{
    smp_byte_writer_u1(moving->writer, SMP_FRAME_FULL);
    smp_byte_writer_u2(moving->writer, (uint32_t)(moving->moved->body_end - previous - 1));
    smp_byte_writer_u2(moving->writer, 0); /* no locals: those of every place go with it */
    smp_byte_writer_u2(moving->writer, 1);
    smp_byte_writer_u1(moving->writer, SMP_TYPE_OBJECT);
    smp_byte_writer_u2(moving->writer, moving->names->throwable);
}

/* attribute NULL: there was none, and the handler needs one. */
static enum smp_rewrite move_stack_map(struct moving *moving,
                                       const struct smp_class_attribute *attribute)
{
    struct smp_byte_writer *writer = moving->writer;
    const uint8_t *bytes = moving->file->bytes;
    const uint8_t no_frames[COUNT_BYTES] = { 0 };
    const size_t start = writer->length;
    int64_t previous = -1;
    struct smp_stack_map map;
    struct smp_frame frame;

    smp_stack_map_init(&map, attribute != NULL ? bytes + attribute->bytes : no_frames,
                       attribute != NULL ? attribute->length : COUNT_BYTES, 0);
    const uint32_t count = map.left + (moving->moved->handler_from != 0 ? 1 : 0);
    smp_byte_writer_u2(writer, attribute != NULL ? smp_class_u2(bytes + attribute->start)
                                                 : moving->names->stack_map);
    smp_byte_writer_u4(writer, 0); /* the length comes last */
    smp_byte_writer_u2(writer, count);
    while (smp_stack_map_next(&map, &frame)) {
        if (!move_frame(moving, &frame, &previous))
            return SMP_REWRITE_UNKNOWN_CODE;
    }
    if (map.is_broken || count > MOST_ROWS)
        return map.is_broken ? SMP_REWRITE_UNKNOWN_CODE : SMP_REWRITE_TOO_LARGE;
    if (moving->moved->handler_from != 0)
        write_handler_frame(moving, previous);
    if (writer->is_full)
        return SMP_REWRITE_UNKNOWN_CODE;
    smp_byte_writer_set_u4(writer->bytes + start + 2,
                           (uint32_t)(writer->length - start - ATTRIBUTE_HEAD));
    moving->has_stack_map = true;
    return SMP_REWRITE_DONE;
}

/* written: one more where it was not left out. */
static enum smp_rewrite move_attribute(struct moving *moving,
                                       const struct smp_class_attribute *attribute,
                                       uint32_t *written)
{
    const bool has_stack_maps = moving->file->major >= SMP_CLASS_STACK_MAPS_MAJOR;
    const struct table_rule *const rule = rule_of(attribute->name);

    /* The verifier of old class files does not read stack maps. */
    if (rule->kind == LEFT_OUT || (rule->kind == FRAMES && !has_stack_maps))
        return SMP_REWRITE_DONE;
    ++*written;
    if (rule->kind == ROWS)
        return move_rows(moving, attribute, rule);
    if (rule->kind == FRAMES)
        return moving->has_stack_map ? SMP_REWRITE_UNKNOWN_CODE : move_stack_map(moving, attribute);
    return copy_attribute(moving, attribute) != NULL ? SMP_REWRITE_DONE : SMP_REWRITE_UNKNOWN_CODE;
}

static enum smp_rewrite move_attributes(struct moving *moving)
{
    struct smp_class_attributes list = smp_class_file_code_attributes(moving->file, moving->code);
    struct smp_class_attribute attribute;
    uint32_t written = 0;
    uint8_t *count = smp_byte_writer_take(moving->writer, COUNT_BYTES);
    enum smp_rewrite result = count != NULL ? SMP_REWRITE_DONE : SMP_REWRITE_UNKNOWN_CODE;

    while (result == SMP_REWRITE_DONE &&
           smp_class_file_next_attribute(moving->file, &list, &attribute))
        result = move_attribute(moving, &attribute, &written);
    if (result == SMP_REWRITE_DONE && !moving->has_stack_map && moving->moved->handler_from != 0 &&
        moving->file->major >= SMP_CLASS_STACK_MAPS_MAJOR) {
        result = move_stack_map(moving, NULL);
        written++;
    }
    if (result != SMP_REWRITE_DONE)
        return result;
    if (written > MOST_ROWS)
        return SMP_REWRITE_TOO_LARGE;
    smp_byte_writer_set_u2(count, written);
    return SMP_REWRITE_DONE;
}

enum smp_rewrite
smp_moved_tables_write(const struct smp_class_file *file, const struct smp_class_code *code,
                       const struct smp_moved_code *moved, const struct smp_probe *probe,
                       const struct smp_moved_names *names, struct smp_byte_writer *writer)
{
    struct moving moving = {
        .file = file, .code = code, .moved = moved, .probe = probe, .names = names, .writer = writer
    };
    const enum smp_rewrite result = write_exceptions(&moving);

    return result == SMP_REWRITE_DONE ? move_attributes(&moving) : result;
}
