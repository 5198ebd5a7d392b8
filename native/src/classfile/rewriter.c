/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/rewriter.h"

#include <string.h>

#include "base/alloc.h"
#include "classfile/moved_code.h"
#include "classfile/opcodes.h"
#include "classfile/stack_map.h"

enum { POOL_COUNT_AT = 8, ATTRIBUTE_HEAD = 6 };

struct rewriting {
    const struct smp_class_file *file;
    struct smp_rewriter_method *methods;
    struct smp_probe_pool pool;
    struct smp_bytes *out;
    uint16_t *map; /* of the method that is written */
};

/* Finds the methods to rewrite, and the constants that their probes need. Returns the length of
 * the longest method's code, or 0 if there is none. */
static size_t choose_methods(const struct rewriting *rewriting, struct smp_probe_needs *needs)
{
    const struct smp_class_file *const file = rewriting->file;
    size_t longest = 0;

    *needs = (struct smp_probe_needs){ 0 };
    for (uint32_t i = 0; i < file->method_count; i++) {
        const struct smp_class_code *const code = &file->methods[i].code;
        struct smp_rewriter_method *const method = &rewriting->methods[i];
        method->has_handler = false;
        method->result = SMP_REWRITE_NOT_PLANNED;
        if (method->id < 0 && method->hands == SMP_HANDS_NOTHING)
            continue;
        method->result = SMP_REWRITE_NATIVE_OR_ABSTRACT;
        if (code->attribute == 0)
            continue;
        method->result = SMP_REWRITE_DONE;
        needs->roots |= method->id >= 0 && method->is_root;
        needs->hands |= method->hands != SMP_HANDS_NOTHING;
        needs->catches |= method->id >= 0 && smp_moved_catch_rows(code) > 0;
        longest = code->length > longest ? code->length : longest;
    }
    return longest;
}

/* Writes the class up to its first method. */
static void write_head(struct rewriting *rewriting, const struct smp_probe_hook *hook,
                       struct smp_probe_needs needs)
{
    const struct smp_class_file *const file = rewriting->file;
    const uint32_t methods = file->methods[0].start;

    /* Most classes grow by less than a half. If this fails, the writes reserve less. */
    (void)smp_bytes_reserve(rewriting->out, file->size + file->size / 2);
    smp_class_put(rewriting->out, file->bytes, file->pool_end);
    rewriting->pool.end = file->pool_count;
    smp_probe_pool_write(&rewriting->pool, hook, needs, rewriting->out);
    for (uint32_t i = 0; i < file->method_count; i++) {
        if (rewriting->methods[i].result == SMP_REWRITE_DONE)
            smp_probe_number_write(&rewriting->pool, rewriting->methods[i].id, rewriting->out);
    }
    smp_class_put(rewriting->out, file->bytes + file->pool_end, methods - file->pool_end);
    uint8_t *const written = smp_class_written(rewriting->out, POOL_COUNT_AT);
    if (written != NULL)
        smp_class_set_u2(written, rewriting->pool.end);
}

/* --- where a handler of a constructor may begin --- */

/*
 * The verifier refuses a handler that covers code before the super() or this() call of a
 * constructor. That call is the first invokespecial of an <init> without a matching "new" before
 * it. A wrong result would cause a VerifyError in the application. So the code behind the call
 * counts as initialised only if no jump and no handler leads there around the call, and no frame
 * behind it has an uninitialised "this".
 */

enum { CALL_BYTES = 3, NO_CALL = -1 };

static bool is_init(const struct smp_class_file *file, const uint8_t *call,
                    struct smp_class_member *member)
{
    return call[0] == SMP_OP_INVOKESPECIAL &&
           smp_class_file_member(file, smp_class_u2(call + 1), member) &&
           smp_slice_is(member->name, "<init>");
}

static bool names_own_class(const struct smp_class_file *file, struct smp_slice owner)
{
    return smp_slice_equals(owner, file->name) || smp_slice_equals(owner, file->super_name);
}

/* Returns the offset of the call, or NO_CALL if there is none, it is on another class, or a jump
 * leads around it. */
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

/* Returns whether an exception before the call, or in it, leads behind it. */
static bool has_handler_past(const struct smp_class_file *file, const struct smp_class_code *code,
                             uint32_t call)
{
    for (uint32_t i = 0; i < code->exception_count; i++) {
        const struct smp_class_exception row = smp_class_file_exception(file, code, i);
        if (row.start <= call && row.handler > call)
            return true;
    }
    return false;
}

/* Counts "this" and the parameters, each of which is one entry in a frame. */
static uint32_t constructor_locals(struct smp_slice descriptor)
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
        if (!smp_slice_is(attribute.name, "StackMapTable"))
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

/* --- methods --- */

static enum smp_rewrite write_code(struct rewriting *rewriting, uint32_t i)
{
    const struct smp_class_file *const file = rewriting->file;
    const struct smp_class_method *const method = &file->methods[i];
    struct smp_rewriter_method *const plan = &rewriting->methods[i];
    const bool is_constructor = smp_slice_is(method->name, "<init>");
    const bool has_probes = plan->id >= 0;
    struct smp_probe probe;

    if (!smp_probe_make(&rewriting->pool, plan->id, plan->is_root, plan->hands, &probe))
        return SMP_REWRITE_NO_ROOM_IN_POOL;
    const uint32_t super_end = has_probes && is_constructor ? smp_super_call_end(file, method) : 0;
    struct smp_moved_code moved = {
        .file = file,
        .code = &method->code,
        .pool = &rewriting->pool,
        .probe = &probe,
        .out = rewriting->out,
        .map = rewriting->map,
        /* A root that lost its exit would keep its thread inside of the root. */
        .entry = plan->is_root && plan->hands == SMP_HANDS_NOTHING ? super_end : 0,
        .covered_from = super_end,
        .has_handler = has_probes && (!is_constructor || super_end != 0),
        .is_constructor = is_constructor
    };
    plan->has_handler = moved.has_handler;
    return smp_moved_code_write(&moved);
}

static void write_method(struct rewriting *rewriting, uint32_t i)
{
    const struct smp_class_method *const method = &rewriting->file->methods[i];
    struct smp_rewriter_method *const plan = &rewriting->methods[i];
    const uint8_t *const bytes = rewriting->file->bytes;
    struct smp_bytes *const out = rewriting->out;
    const size_t start = out->length;

    if (plan->result == SMP_REWRITE_DONE) {
        const size_t code = start + method->code.attribute - method->start;
        smp_class_put(out, bytes + method->start,
                      method->code.attribute - method->start + ATTRIBUTE_HEAD);
        plan->result = write_code(rewriting, i);
        uint8_t *const written = smp_class_written(out, code);
        if (plan->result == SMP_REWRITE_DONE && written != NULL) {
            smp_class_set_u4(written + 2, (uint32_t)(out->length - code - ATTRIBUTE_HEAD));
            smp_class_put(out, bytes + method->code.end, method->end - method->code.end);
            return;
        }
        plan->has_handler = false;
        if (written != NULL)
            smp_bytes_truncate(out, start);
    }
    smp_class_put(out, bytes + method->start, method->end - method->start);
}

/* Returns whether any method has changed. */
static bool write_methods(struct rewriting *rewriting)
{
    const struct smp_class_file *const file = rewriting->file;
    bool has_changed = false;

    for (uint32_t i = 0; i < file->method_count; i++) {
        write_method(rewriting, i);
        has_changed |= rewriting->methods[i].result == SMP_REWRITE_DONE;
    }
    smp_class_put(rewriting->out, file->bytes + file->methods_end, file->size - file->methods_end);
    return has_changed;
}

enum smp_status smp_rewriter_run(const struct smp_class_file *file,
                                 const struct smp_probe_hook *hook,
                                 struct smp_rewriter_method *methods, struct smp_bytes *out)
{
    struct rewriting rewriting = { .file = file, .methods = methods, .out = out };
    struct smp_probe_needs needs;
    const size_t longest = choose_methods(&rewriting, &needs);

    if (longest == 0)
        return SMP_OK;
    rewriting.map = smp_alloc(NULL, (longest + 1) * sizeof(*rewriting.map));
    if (rewriting.map == NULL)
        return SMP_ENOMEM;
    write_head(&rewriting, hook, needs);
    const bool has_changed = write_methods(&rewriting);
    smp_free(NULL, rewriting.map);
    const enum smp_status status = out->status == SMP_OK ? SMP_OK : SMP_ENOMEM;
    if (status != SMP_OK || !has_changed)
        smp_bytes_clear(out);
    return status;
}

const char *smp_rewrite_text(enum smp_rewrite rewrite)
{
    static const char *const texts[] = {
#define X(code, text) text,
        SMP_REWRITE_MAP(X)
#undef X
    };

    return (unsigned)rewrite < SMP_REWRITE_COUNT ? texts[rewrite] : "unknown";
}
