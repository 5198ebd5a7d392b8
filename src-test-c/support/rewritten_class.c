/* SPDX-License-Identifier: Apache-2.0 */
#include "support/rewritten_class.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classfile/moved_code.h"
#include "classfile/opcodes.h"
#include "classfile/stack_map.h"

enum { OFFSETS = 65537, ATHROW = 191, HANDLER_FRAME_BYTES = 10 };

/* A method in both files, and the new offsets of its instructions. */
struct pair {
    const struct smp_class_file *before;
    const struct smp_class_file *after;
    const struct smp_class_method *old;
    const struct smp_class_method *new;
    const struct smp_rewriter_method *plan;
    const struct smp_probe_hook *hook;
    int32_t land[OFFSETS];  /* by old offset: the new target of a jump to it; -1: no instruction */
    int32_t is_at[OFFSETS]; /* the new offset of the instruction itself */
};

static const uint8_t *old_code(const struct pair *pair)
{
    return pair->before->bytes + pair->old->code.bytes;
}

static const uint8_t *new_code(const struct pair *pair)
{
    return pair->after->bytes + pair->new->code.bytes;
}

/* Returns the length of a probe at pc that pushes an id, and the id; 0: there is no such probe. */
static uint32_t push_length(const struct pair *pair, uint32_t pc, const char *name,
                            const char *descriptor)
{
    const uint32_t length = pair->new->code.length;
    const uint8_t *at = new_code(pair) + pc;
    struct smp_class_member member;
    int32_t id = -1;
    uint32_t push = 1;

    if (pc + 4 > length)
        return 0;
    if (at[0] >= 3 && at[0] <= 8) {
        id = at[0] - 3;
    } else if (at[0] == 16) {
        id = (int8_t)at[1];
        push = 2;
    } else if (at[0] == 17) {
        id = (int16_t)smp_class_u2(at + 1);
        push = 3;
    } else if (at[0] == 19) {
        const uint16_t index = smp_class_u2(at + 1);
        if (smp_class_file_tag(pair->after, index) != SMP_CONSTANT_INTEGER)
            return 0;
        id = (int32_t)smp_class_u4(pair->after->bytes + pair->after->pool[index] + 1);
        push = 3;
    }
    if (id != pair->plan->id || pc + push + 3 > length || at[push] != SMP_OP_INVOKESTATIC ||
        !smp_class_file_member(pair->after, smp_class_u2(at + push + 1), &member) ||
        !smp_slice_is(member.owner, pair->hook->class_name) ||
        !smp_slice_is(member.descriptor, descriptor) || !smp_slice_is(member.name, name))
        return 0;
    return push + 3;
}

static uint32_t probe_length(const struct pair *pair, uint32_t pc, const char *name)
{
    return push_length(pair, pc, name, "(I)V");
}

/* Returns the length of a probe at pc that passes the arguments to the hook; 0: there is none. */
static uint32_t hand_length(const struct pair *pair, uint32_t pc)
{
    const uint8_t *at = new_code(pair) + pc;
    struct smp_class_member member;

    if (pc + 5 > pair->new->code.length || at[0] != SMP_OP_ALOAD_0 ||
        at[1] != (pair->plan->hands == SMP_HANDS_THIS ? 1 : SMP_OP_ALOAD_1) ||
        at[2] != SMP_OP_INVOKESTATIC ||
        !smp_class_file_member(pair->after, smp_class_u2(at + 3), &member) ||
        !smp_slice_is(member.owner, pair->hook->class_name) ||
        !smp_slice_is(member.descriptor, "(Ljava/lang/Object;Ljava/lang/Object;)V") ||
        !smp_slice_is(member.name, pair->hook->reflected))
        return 0;
    return 5;
}

static bool has_probes(const struct pair *pair)
{
    return pair->plan->id >= 0;
}

static bool is_covered(const struct pair *pair, uint32_t pc, uint32_t handler)
{
    const uint8_t *row = pair->before->bytes + pair->old->code.exceptions;

    for (uint32_t i = 0; i < pair->old->code.exception_count; i++, row += 8) {
        if (pc >= smp_class_u2(row) && pc < smp_class_u2(row + 2) &&
            smp_class_u2(row + 4) <= handler)
            return true;
    }
    return false;
}

enum catch_kind { NO_CATCH, CATCH_ON_STACK, CATCH_UNKNOWN };

/* Returns the kind of probe at pc that reports a caught exception. It is before the handler's
 * first instruction or, if the handler begins with a store that it covers itself, after this
 * store. */
static enum catch_kind catch_at(const struct pair *pair, uint32_t pc)
{
    const uint8_t *row = pair->before->bytes + pair->old->code.exceptions;
    enum catch_kind kind = NO_CATCH;

    if (!has_probes(pair) || pair->old->code.exception_count > SMP_CATCH_MOST_ROWS)
        return NO_CATCH;
    for (uint32_t i = 0; i < pair->old->code.exception_count; i++, row += 8) {
        const uint32_t handler = smp_class_u2(row + 4);
        const uint8_t first = old_code(pair)[handler];
        const bool is_wide_store = first == 58;
        const bool is_store = is_wide_store || first == 87 || (first >= 75 && first <= 78);
        if (handler == pc && !is_covered(pair, pc, handler) && kind == NO_CATCH)
            kind = CATCH_ON_STACK;
        if (handler < pc && is_store && handler + 1 + is_wide_store == pc &&
            is_covered(pair, handler, handler) && !is_covered(pair, pc, handler))
            kind = CATCH_UNKNOWN;
    }
    return kind == CATCH_ON_STACK && smp_slice_is(pair->old->name, "<init>") ? CATCH_UNKNOWN : kind;
}

/* Returns the length of the probe of a catch at this offset of the new code; 0: there is none. */
static uint32_t catch_length(const struct pair *pair, uint32_t at, enum catch_kind kind)
{
    const uint8_t first = kind == CATCH_ON_STACK ? SMP_OP_DUP : SMP_OP_ACONST_NULL;

    if (at >= pair->new->code.length || new_code(pair)[at] != first)
        return 0;
    const uint32_t push = push_length(pair, at + 1, pair->hook->caught, "(Ljava/lang/Object;I)V");
    return push == 0 ? 0 : push + 1;
}

static bool has_catches(const struct pair *pair)
{
    for (uint32_t pc = 0; pc < pair->old->code.length; pc++) {
        if (catch_at(pair, pc) != NO_CATCH)
            return true;
    }
    return false;
}

static const char *exit_name(const struct pair *pair)
{
    return pair->plan->is_root ? pair->hook->exit_root : pair->hook->exit;
}

static const char *enter_name(const struct pair *pair)
{
    return pair->plan->is_root ? pair->hook->enter_root : pair->hook->enter;
}

/* Returns the old instruction before which the entry probe must be. In a constructor that is a
 * root and whose super() call is known, that is the instruction after this call. */
static uint32_t entry_of(const struct pair *pair)
{
    return has_probes(pair) && pair->plan->is_root && pair->plan->hands == SMP_HANDS_NOTHING &&
                   smp_slice_is(pair->old->name, "<init>")
               ? smp_super_call_end(pair->before, pair->old)
               : 0;
}

/* Fills land and is_at. The instructions of both methods must be the same, in the same order. */
static const char *match_instructions(struct pair *pair)
{
    const uint8_t *from = old_code(pair);
    const uint8_t *to = new_code(pair);
    const uint32_t length = pair->old->code.length;
    const uint32_t new_length = pair->new->code.length;
    const uint32_t entry = entry_of(pair);
    struct smp_instruction before = { 0 };
    uint32_t at = entry == 0 ? probe_length(pair, 0, enter_name(pair)) : to[0] == SMP_OP_NOP;

    if ((at == 0) == has_probes(pair))
        return "no probe at the entry";
    if (pair->plan->hands != SMP_HANDS_NOTHING) {
        const uint32_t hand = hand_length(pair, at);
        if (hand == 0)
            return "the entry does not pass the arguments to the hook";
        at += hand;
    }
    memset(pair->land, -1, (length + 1) * sizeof(pair->land[0]));
    memset(pair->is_at, -1, (length + 1) * sizeof(pair->is_at[0]));
    for (uint32_t pc = 0; pc < length; pc += before.length) {
        before = smp_opcode_at(from, length, pc);
        if (pc == entry && pc != 0) {
            const uint32_t probe = probe_length(pair, at, enter_name(pair));
            if (probe == 0)
                return "no probe behind super()";
            at += probe;
        }
        pair->land[pc] = (int32_t)at;
        const enum catch_kind catch = catch_at(pair, pc);
        if (catch != NO_CATCH) {
            const uint32_t probe = catch_length(pair, at, catch);
            if (probe == 0)
                return "no probe where an exception is caught";
            at += probe;
        }
        if (before.kind == SMP_OPCODE_RETURN && has_probes(pair)) {
            const uint32_t probe = probe_length(pair, at, exit_name(pair));
            if (probe == 0)
                return "no probe before a return";
            at += probe;
        }
        if (at >= new_length)
            return "code is missing";
        const struct smp_instruction after = smp_opcode_at(to, new_length, at);
        pair->is_at[pc] = (int32_t)at;
        if (from[pc] != to[at] || after.length == 0)
            return "another instruction";
        if (before.kind != SMP_OPCODE_JUMP && before.kind != SMP_OPCODE_WIDE_JUMP &&
            before.kind != SMP_OPCODE_SWITCH && memcmp(from + pc, to + at, before.length) != 0)
            return "other operands";
        at += after.length;
    }
    pair->land[length] = (int32_t)at;
    if (pair->plan->has_handler) {
        const uint32_t probe = probe_length(pair, at, exit_name(pair));
        if (probe == 0 || at + probe + 1 != new_length || to[at + probe] != ATHROW)
            return "no handler at the end";
        at += probe + 1;
    }
    return at == new_length ? NULL : "code too long";
}

static const char *match_target(const struct pair *pair, uint32_t pc, int64_t distance,
                                int64_t new_distance)
{
    return pair->is_at[pc] + new_distance == pair->land[pc + distance]
               ? NULL
               : "a jump lands at the wrong place";
}

/* Compares a switch except for its jumps. */
static bool has_same_keys(const struct smp_jumps *from, const struct smp_jumps *to)
{
    const size_t head = (size_t)(from->rows - from->first);

    if (memcmp(from->first + 4, to->first + 4, head - 4) != 0)
        return false;
    for (uint32_t i = 0; i + 1 < from->count; i++) {
        if (memcmp(from->rows + i * from->row_bytes, to->rows + i * to->row_bytes,
                   from->row_bytes - 4) != 0)
            return false;
    }
    return true;
}

static const char *match_jumps_at(const struct pair *pair, uint32_t pc)
{
    const uint8_t *code = old_code(pair);
    const enum smp_opcode_kind kind = smp_opcode_at(code, pair->old->code.length, pc).kind;
    const struct smp_jumps from = smp_opcode_jumps(code, pc, kind);
    const struct smp_jumps to = smp_opcode_jumps(new_code(pair), (uint32_t)pair->is_at[pc], kind);
    const char *wrong = NULL;

    if (from.count != to.count || (kind == SMP_OPCODE_SWITCH && !has_same_keys(&from, &to)))
        return "another switch";
    for (uint32_t i = 0; i < from.count && wrong == NULL; i++)
        wrong = match_target(pair, pc, smp_jump_distance(&from, i), smp_jump_distance(&to, i));
    return wrong;
}

static const char *match_jumps(const struct pair *pair)
{
    const char *wrong = NULL;

    for (uint32_t pc = 0; pc < pair->old->code.length && wrong == NULL; pc++) {
        if (pair->is_at[pc] >= 0)
            wrong = match_jumps_at(pair, pc);
    }
    return wrong;
}

static const char *match_handler_row(const struct pair *pair, const uint8_t *row)
{
    const int32_t end = pair->land[pair->old->code.length];
    const int32_t start = smp_class_u2(row);
    const bool is_constructor = smp_slice_is(pair->old->name, "<init>");

    if (smp_class_u2(row + 2) != end || smp_class_u2(row + 4) != end || smp_class_u2(row + 6) != 0)
        return "the handler's row is wrong";
    if (!is_constructor)
        return start == pair->land[0] ? NULL : "the handler begins at the wrong place";
    for (uint32_t pc = 0; pc + 3 < pair->old->code.length; pc++) {
        if (pair->is_at[pc] >= 0 && old_code(pair)[pc] == SMP_OP_INVOKESPECIAL &&
            pair->land[pc + 3] == start)
            return NULL;
    }
    return "a constructor's handler does not begin behind a call";
}

static const char *match_exceptions(const struct pair *pair)
{
    const uint8_t *from = pair->before->bytes + pair->old->code.exceptions;
    const uint8_t *to = pair->after->bytes + pair->new->code.exceptions;
    const uint32_t count = pair->old->code.exception_count;

    if (pair->new->code.exception_count != count + (pair->plan->has_handler ? 1 : 0))
        return "another number of exception handlers";
    for (uint32_t i = 0; i < count; i++, from += 8, to += 8) {
        for (uint32_t k = 0; k < 6; k += 2) {
            if (pair->land[smp_class_u2(from + k)] != smp_class_u2(to + k))
                return "an exception handler has moved to the wrong place";
        }
        if (memcmp(from + 6, to + 6, 2) != 0)
            return "another exception";
    }
    return pair->plan->has_handler ? match_handler_row(pair, to) : NULL;
}

/* Compares the positions in tables for debuggers. */
static int32_t place(const struct pair *pair, uint32_t pc)
{
    if (pc == 0)
        return 0;
    while (pair->land[pc] < 0)
        pc--;
    return pair->land[pc];
}

static const char *match_lines(const struct pair *pair, const uint8_t *from, const uint8_t *to)
{
    for (uint32_t i = 0; i < smp_class_u2(from); i++) {
        const uint8_t *row = from + 2 + 4 * (size_t)i;
        const uint8_t *new_row = to + 2 + 4 * (size_t)i;
        if (place(pair, smp_class_u2(row)) != smp_class_u2(new_row) ||
            memcmp(row + 2, new_row + 2, 2) != 0)
            return "a line is at the wrong place";
    }
    return NULL;
}

static const char *match_variables(const struct pair *pair, const uint8_t *from, const uint8_t *to)
{
    for (uint32_t i = 0; i < smp_class_u2(from); i++) {
        const uint8_t *row = from + 2 + 10 * (size_t)i;
        const uint8_t *new_row = to + 2 + 10 * (size_t)i;
        const uint32_t start = smp_class_u2(row);
        const uint32_t new_start = smp_class_u2(new_row);
        if (place(pair, start) != (int32_t)new_start ||
            place(pair, start + smp_class_u2(row + 2)) !=
                (int32_t)(new_start + smp_class_u2(new_row + 2)) ||
            memcmp(row + 4, new_row + 4, 6) != 0)
            return "a variable is at the wrong place";
    }
    return NULL;
}

struct new_places {
    const struct pair *pair;
    const struct smp_frame *old;
    const struct smp_frame *new;
    bool is_wrong;
};

static bool match_new(void *self, uint8_t *at)
{
    struct new_places *places = self;
    const uint8_t *to = places->new->types + (at - places->old->types);

    if (places->pair->is_at[smp_class_u2(at)] != smp_class_u2(to))
        places->is_wrong = true;
    return true;
}

/* A frame type whose number includes the offset becomes the type that does not. */
static uint8_t plain_type(uint8_t type)
{
    return type <= 63 ? SMP_FRAME_SAME_EXTENDED : (type <= 127 ? SMP_FRAME_STACK_1_EXTENDED : type);
}

static const char *match_frame(const struct pair *pair, const struct smp_frame *old,
                               const struct smp_frame *new)
{
    struct new_places places = { .pair = pair, .old = old, .new = new };

    if (pair->land[old->pc] != (int32_t) new->pc)
        return "a frame is at the wrong place";
    if (plain_type(old->type) != plain_type(new->type) ||
        old->end - old->types != new->end - new->types ||
        old->base - old->start != new->base - new->start ||
        memcmp(old->start, new->start, (size_t)(old->base - old->start)) != 0)
        return "another frame";
    if (!old->has_uninitialized)
        return memcmp(old->types, new->types, (size_t)(old->end - old->types)) == 0
                   ? NULL
                   : "other types in a frame";
    (void)smp_stack_map_each_new(old, (uint8_t *)(uintptr_t)old->types, match_new, &places);
    return places.is_wrong ? "an uninitialised object was made elsewhere" : NULL;
}

static const char *match_handler_frame(const struct pair *pair, struct smp_stack_map *map)
{
    static const uint8_t types[] = { 0, 0, 0, 1, SMP_TYPE_OBJECT };
    struct smp_frame frame;

    if (!smp_stack_map_next(map, &frame) || frame.type != SMP_FRAME_FULL ||
        frame.end - frame.base != HANDLER_FRAME_BYTES ||
        (int32_t)frame.pc != pair->land[pair->old->code.length] ||
        memcmp(frame.types, types, sizeof(types)) != 0 ||
        !smp_slice_is(smp_class_file_class_name(pair->after, smp_class_u2(frame.types + 5)),
                      "java/lang/Throwable"))
        return "the handler's frame is wrong";
    return NULL;
}

static const char *match_stack_maps(const struct pair *pair, const struct smp_class_attribute *old,
                                    const struct smp_class_attribute *new)
{
    struct smp_stack_map from;
    struct smp_stack_map to;
    struct smp_frame old_frame;
    struct smp_frame new_frame;
    const uint8_t none[2] = { 0 };

    smp_stack_map_init(&from, old == NULL ? none : pair->before->bytes + old->bytes,
                       old == NULL ? 2 : old->length, 0);
    smp_stack_map_init(&to, pair->after->bytes + new->bytes, new->length, 0);
    while (smp_stack_map_next(&from, &old_frame)) {
        const char *wrong = smp_stack_map_next(&to, &new_frame)
                                ? match_frame(pair, &old_frame, &new_frame)
                                : "a frame is missing";
        if (wrong != NULL)
            return wrong;
    }
    if (pair->plan->has_handler) {
        const char *wrong = match_handler_frame(pair, &to);
        if (wrong != NULL)
            return wrong;
    }
    return to.left == 0 && !to.is_broken && to.reader.at == to.reader.end ? NULL : "more frames";
}

static bool is_dropped(const struct pair *pair, struct smp_slice name)
{
    return smp_slice_is(name, "RuntimeVisibleTypeAnnotations") ||
           smp_slice_is(name, "RuntimeInvisibleTypeAnnotations") ||
           (pair->before->major < 50 && smp_slice_is(name, "StackMapTable"));
}

static const char *match_attribute(const struct pair *pair, const struct smp_class_attribute *old,
                                   const struct smp_class_attribute *new)
{
    const uint8_t *from = pair->before->bytes + old->bytes;
    const uint8_t *to = pair->after->bytes + new->bytes;

    if (!smp_slice_equals(old->name, new->name))
        return "another attribute";
    if (smp_slice_is(old->name, "StackMapTable"))
        return match_stack_maps(pair, old, new);
    if (old->length != new->length)
        return "an attribute of another length";
    if (smp_slice_is(old->name, "LineNumberTable"))
        return match_lines(pair, from, to);
    if (smp_slice_is(old->name, "LocalVariableTable") ||
        smp_slice_is(old->name, "LocalVariableTypeTable"))
        return match_variables(pair, from, to);
    return memcmp(from, to, old->length) == 0 ? NULL : "an attribute has changed";
}

static const char *match_attributes(const struct pair *pair)
{
    struct smp_class_attributes from =
        smp_class_file_code_attributes(pair->before, &pair->old->code);
    struct smp_class_attributes to = smp_class_file_code_attributes(pair->after, &pair->new->code);
    struct smp_class_attribute old;
    struct smp_class_attribute new;
    const char *wrong = NULL;
    bool has_stack_map = false;

    while (wrong == NULL && smp_class_file_next_attribute(pair->before, &from, &old)) {
        if (is_dropped(pair, old.name))
            continue;
        has_stack_map = has_stack_map || smp_slice_is(old.name, "StackMapTable");
        wrong = smp_class_file_next_attribute(pair->after, &to, &new)
                    ? match_attribute(pair, &old, &new)
                    : "an attribute is missing";
    }
    if (wrong != NULL)
        return wrong;
    if (!has_stack_map && pair->plan->has_handler && pair->before->major >= 50) {
        if (!smp_class_file_next_attribute(pair->after, &to, &new) ||
            !smp_slice_is(new.name, "StackMapTable"))
            return "no frame for the handler";
        wrong = match_stack_maps(pair, NULL, &new);
    }
    return wrong != NULL || to.left == 0 ? wrong : "more attributes";
}

static const char *match_heads(const struct pair *pair)
{
    const struct smp_class_code *from = &pair->old->code;
    const struct smp_class_code *to = &pair->new->code;
    const uint32_t more = has_catches(pair) ? 2 : 1;
    const uint32_t stack = from->max_stack + more < 2 ? 2 : from->max_stack + more;

    if (to->max_stack != stack || to->max_locals != from->max_locals)
        return "another stack, or other locals";
    /* Compares the bytes before and after the Code attribute. */
    if (from->attribute - pair->old->start != to->attribute - pair->new->start ||
        memcmp(pair->before->bytes + pair->old->start, pair->after->bytes + pair->new->start,
               from->attribute - pair->old->start) != 0 ||
        pair->old->end - from->end != pair->new->end - to->end ||
        memcmp(pair->before->bytes + from->end, pair->after->bytes + to->end,
               pair->old->end - from->end) != 0)
        return "what is around the code has changed";
    return NULL;
}

static const char *match_method(struct pair *pair)
{
    const char *wrong = NULL;

    if (pair->plan->result != SMP_REWRITE_DONE)
        return pair->old->end - pair->old->start ==
                       pair->new->end -
                           pair->new->start &&memcmp(pair->before->bytes + pair->old->start,
                                                     pair->after->bytes + pair->new->start,
                                                     pair->old->end - pair->old->start) ==
                       0
                   ? NULL
                   : "a method that was left alone has changed";
    wrong = match_heads(pair);
    if (wrong == NULL)
        wrong = match_instructions(pair);
    if (wrong == NULL)
        wrong = match_jumps(pair);
    if (wrong == NULL)
        wrong = match_exceptions(pair);
    return wrong == NULL ? match_attributes(pair) : wrong;
}

/* Compares constants, fields and attributes of the class. Constants may have been added. */
static const char *match_class(const struct smp_class_file *before,
                               const struct smp_class_file *after)
{
    const uint32_t head = before->methods[0].start - before->pool_end;

    if (memcmp(before->bytes, after->bytes, 8) != 0 ||
        memcmp(before->bytes + 10, after->bytes + 10, before->pool_end - 10) != 0 ||
        after->pool_count < before->pool_count)
        return "constants have changed";
    if (after->methods[0].start - after->pool_end != head ||
        memcmp(before->bytes + before->pool_end, after->bytes + after->pool_end, head) != 0)
        return "fields have changed";
    if (before->size - before->methods_end != after->size - after->methods_end ||
        memcmp(before->bytes + before->methods_end, after->bytes + after->methods_end,
               before->size - before->methods_end) != 0)
        return "attributes of the class have changed";
    return NULL;
}

const char *rewritten_class_compare(const struct smp_class_file *before,
                                    const struct smp_class_file *after,
                                    const struct smp_rewriter_method *methods,
                                    const struct smp_probe_hook *hook)
{
    static char text[200];
    struct pair *pair = calloc(1, sizeof(*pair));
    const char *wrong = before->method_count == after->method_count ? match_class(before, after)
                                                                    : "another number of methods";

    if (pair == NULL)
        abort();
    for (uint32_t i = 0; i < before->method_count && wrong == NULL; i++) {
        pair->before = before;
        pair->after = after;
        pair->old = &before->methods[i];
        pair->new = &after->methods[i];
        pair->plan = &methods[i];
        pair->hook = hook;
        wrong = match_method(pair);
        if (wrong != NULL) {
            (void)snprintf(text, sizeof(text), "%.*s: %s", (int)pair->old->name.length % 100,
                           pair->old->name.bytes, wrong);
            wrong = text;
        }
    }
    free(pair);
    return wrong;
}
