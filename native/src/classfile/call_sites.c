/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/call_sites.h"

#include <string.h>

#include "classfile/opcodes.h"

enum {
    ACC_STATIC = 0x0008,
    ACC_BRIDGE = 0x0040,
    ACC_SYNTHETIC = 0x1000,
    MAX_NESTED = 64, /* arguments that are dynamic constants themselves, waiting to be looked at */
    REF_INVOKE_VIRTUAL = 5,
    REF_INVOKE_STATIC = 6,
    REF_INVOKE_SPECIAL = 7,
    REF_NEW_INVOKE_SPECIAL = 8,
    REF_INVOKE_INTERFACE = 9
};

struct call_walk {
    const struct smp_class_file *file;
    smp_class_each_call *each;
    void *self;
    uint32_t pc;
};

static bool report_site(const struct call_walk *walk, enum smp_call_kind kind,
                        enum smp_call_kind handle_kind, struct smp_class_member method)
{
    const struct smp_class_call_site site = {
        .kind = kind, .handle_kind = handle_kind, .pc = walk->pc, .method = method
    };

    return walk->each(walk->self, &site);
}

static bool report_call(const struct call_walk *walk, enum smp_call_kind kind,
                        enum smp_call_kind handle_kind, uint16_t constant)
{
    struct smp_class_member method;

    return !smp_class_file_member(walk->file, constant, &method) ||
           report_site(walk, kind, handle_kind, method);
}

/* Arrays have no class of their own. */
static bool report_new(const struct call_walk *walk, struct smp_class_text made)
{
    const struct smp_class_member method = { .owner = made,
                                             .name = { .bytes = "<new>", .length = 5 } };

    return made.length == 0 || made.bytes[0] == '[' ||
           report_site(walk, SMP_CALL_NEW, SMP_CALL_NEW, method);
}

static struct smp_class_text string_text(const struct smp_class_file *file, uint16_t constant)
{
    return smp_class_file_utf8(file, smp_class_u2(file->bytes + file->pool[constant] + 1));
}

static bool report_string(const struct call_walk *walk, uint16_t constant)
{
    const struct smp_class_member method = { .name = string_text(walk->file, constant) };

    return method.name.length == 0 || report_site(walk, SMP_CALL_STRING, SMP_CALL_STRING, method);
}

static bool report_handle(const struct call_walk *walk, uint16_t constant)
{
    static const enum smp_call_kind kinds[] = { [REF_INVOKE_VIRTUAL] = SMP_CALL_VIRTUAL,
                                                [REF_INVOKE_STATIC] = SMP_CALL_STATIC,
                                                [REF_INVOKE_SPECIAL] = SMP_CALL_SPECIAL,
                                                [REF_NEW_INVOKE_SPECIAL] = SMP_CALL_SPECIAL,
                                                [REF_INVOKE_INTERFACE] = SMP_CALL_INTERFACE };
    const uint8_t *at = walk->file->bytes + walk->file->pool[constant] + 1;

    if (at[0] < REF_INVOKE_VIRTUAL || at[0] > REF_INVOKE_INTERFACE)
        return true; /* of a field */
    struct smp_class_member member;
    if (at[0] == REF_NEW_INVOKE_SPECIAL &&
        smp_class_file_member(walk->file, smp_class_u2(at + 1), &member) &&
        !report_new(walk, member.owner))
        return false;
    return report_call(walk, SMP_CALL_HANDLE, kinds[at[0]], smp_class_u2(at + 1));
}

/* The arguments of a row of BootstrapMethods; NULL: there is no such row. */
static const uint8_t *bootstrap_arguments(const struct smp_class_file *file, uint32_t row,
                                          uint32_t *count)
{
    const uint8_t *at = file->bytes + file->bootstraps;
    const uint8_t *end = file->bytes + file->bootstraps_end;

    if (end - at < 2 || row >= smp_class_u2(at))
        return NULL;
    at += 2;
    for (uint32_t i = 0; end - at >= 4; i++) {
        const uint32_t arguments = smp_class_u2(at + 2);
        if ((uint32_t)(end - at - 4) / 2 < arguments)
            return NULL;
        if (i == row) {
            *count = arguments;
            return at + 4;
        }
        at += 4 + 2 * (size_t)arguments;
    }
    return NULL;
}

/* NULL bytes: there is no such row. */
static struct smp_class_text bootstrap_owner(const struct smp_class_file *file, uint32_t row)
{
    uint32_t count = 0;
    const uint8_t *const arguments = bootstrap_arguments(file, row, &count);
    struct smp_class_member member;

    if (arguments == NULL)
        return (struct smp_class_text){ 0 };
    const uint16_t handle = smp_class_u2(arguments - 4);
    if (smp_class_file_tag(file, handle) != SMP_CONSTANT_METHOD_HANDLE ||
        !smp_class_file_member(file, smp_class_u2(file->bytes + file->pool[handle] + 2), &member))
        return (struct smp_class_text){ 0 };
    return member.owner;
}

/* The names that a dynamic language looks methods up by: arguments of a bootstrap method that is
 * not the JDK's. */
static bool report_names(const struct call_walk *walk, uint16_t constant)
{
    const struct smp_class_file *const file = walk->file;
    const uint8_t *const at = file->bytes + file->pool[constant];
    const uint32_t row = smp_class_u2(at + 1);
    const uint16_t type = smp_class_u2(at + 3);
    const struct smp_class_text owner = bootstrap_owner(file, row);
    uint32_t count = 0;
    const uint8_t *const arguments = bootstrap_arguments(file, row, &count);

    if (owner.length < 5 || memcmp(owner.bytes, "java/", 5) == 0 ||
        smp_class_file_tag(file, type) != SMP_CONSTANT_NAME_AND_TYPE)
        return true;
    for (uint32_t i = 0; i < count; i++) {
        const uint16_t argument = smp_class_u2(arguments + 2 * (size_t)i);
        if (smp_class_file_tag(file, argument) != SMP_CONSTANT_STRING)
            continue;
        const struct smp_class_member method = {
            .name = string_text(file, argument),
            .descriptor =
                smp_class_file_utf8(file, smp_class_u2(file->bytes + file->pool[type] + 3))
        };
        if (!report_site(walk, SMP_CALL_BY_NAME, SMP_CALL_BY_NAME, method))
            return false;
    }
    return true;
}

/* Constants that are still to be looked at. Each is a node of a tree; one that does not fit is left
 * out, which no compiler's code comes near. */
struct nested_constants {
    uint16_t indexes[MAX_NESTED];
    uint32_t count;
    uint32_t looked_at;
};

static void push_arguments(const struct smp_class_file *file, uint16_t constant,
                           struct nested_constants *nested)
{
    uint32_t count = 0;
    const uint32_t row = smp_class_u2(file->bytes + file->pool[constant] + 1);
    const uint8_t *arguments = bootstrap_arguments(file, row, &count);

    /* The last one first, as it is taken last. */
    for (uint32_t i = arguments == NULL ? 0 : count; i > 0; i--) {
        const uint16_t argument = smp_class_u2(arguments + 2 * (size_t)(i - 1));
        const uint8_t tag = smp_class_file_tag(file, argument);
        if ((tag == SMP_CONSTANT_METHOD_HANDLE || tag == SMP_CONSTANT_DYNAMIC) &&
            nested->count < MAX_NESTED)
            nested->indexes[nested->count++] = argument;
    }
}

/* A constant that may hold method handles, itself or as arguments of a bootstrap method; or a
 * string or a class. Constants of a broken file may name each other in a circle, so there is a
 * limit. */
static bool report_handles(const struct call_walk *walk, uint16_t constant)
{
    struct nested_constants nested = { .indexes = { constant }, .count = 1 };

    while (nested.count > 0 && nested.looked_at++ < MAX_NESTED) {
        const uint16_t index = nested.indexes[--nested.count];
        const uint8_t tag = smp_class_file_tag(walk->file, index);
        if (tag == SMP_CONSTANT_METHOD_HANDLE && !report_handle(walk, index))
            return false;
        if (tag == SMP_CONSTANT_STRING && !report_string(walk, index))
            return false;
        if (tag == SMP_CONSTANT_CLASS &&
            !report_new(walk, smp_class_file_class_name(walk->file, index)))
            return false;
        if (tag == SMP_CONSTANT_DYNAMIC || tag == SMP_CONSTANT_INVOKE_DYNAMIC)
            push_arguments(walk->file, index, &nested);
    }
    return true;
}

static bool report_invoke(const struct call_walk *walk, uint8_t opcode, uint16_t constant)
{
    static const enum smp_call_kind kinds[] = { SMP_CALL_VIRTUAL, SMP_CALL_SPECIAL, SMP_CALL_STATIC,
                                                SMP_CALL_INTERFACE };

    if (opcode == SMP_OP_INVOKEDYNAMIC)
        return report_handles(walk, constant) &&
               (smp_class_file_tag(walk->file, constant) != SMP_CONSTANT_INVOKE_DYNAMIC ||
                report_names(walk, constant));
    const enum smp_call_kind kind = kinds[opcode - SMP_OP_INVOKEVIRTUAL];
    return report_call(walk, kind, kind, constant);
}

/* The class of a static field. Its own is initialised: this is its code. */
static bool report_initialiser(const struct call_walk *walk, uint16_t constant)
{
    struct smp_class_member method;

    if (!smp_class_file_member(walk->file, constant, &method) ||
        smp_class_text_equals(method.owner, smp_class_file_this_name(walk->file)))
        return true;
    method.name = (struct smp_class_text){ .bytes = "<clinit>", .length = 8 };
    method.descriptor = (struct smp_class_text){ .bytes = "()V", .length = 3 };
    return report_site(walk, SMP_CALL_INITIALISER, SMP_CALL_INITIALISER, method);
}

static bool report_instruction(const struct call_walk *walk, enum smp_opcode_kind kind,
                               const uint8_t *at)
{
    const uint16_t constant = at[0] == SMP_OP_LDC ? (uint16_t)at[1] : smp_class_u2(at + 1);

    switch (kind) {
    case SMP_OPCODE_INVOKE:
        return report_invoke(walk, at[0], constant);
    case SMP_OPCODE_STATIC_FIELD:
        return report_initialiser(walk, constant);
    case SMP_OPCODE_NEW:
        return report_new(walk, smp_class_file_class_name(walk->file, constant));
    case SMP_OPCODE_CONSTANT:
        return report_handles(walk, constant);
    default:
        return true;
    }
}

bool smp_class_each_call_site(const struct smp_class_file *file,
                              const struct smp_class_method *method, smp_class_each_call *each,
                              void *self)
{
    struct call_walk walk = { .file = file, .each = each, .self = self };
    struct smp_instruction instruction = { 0 };
    const uint8_t *code = file->bytes + method->code.bytes;

    for (; walk.pc < method->code.length; walk.pc += instruction.length) {
        instruction = smp_opcode_at(code, method->code.length, walk.pc);
        if (instruction.length == 0)
            return false;
        if (instruction.kind >= SMP_OPCODE_INVOKE &&
            !report_instruction(&walk, instruction.kind, code + walk.pc))
            return false;
    }
    return true;
}

/* The length of a load of a local; 0: it is none. */
static uint32_t local_load_length(const uint8_t *code, uint32_t left)
{
    if (left >= 1 && code[0] >= SMP_OP_ILOAD_0 && code[0] <= SMP_OP_ALOAD_3)
        return 1;
    return left >= 2 && code[0] >= SMP_OP_ILOAD && code[0] <= SMP_OP_ALOAD ? 2 : 0;
}

static bool is_value_return(const uint8_t *code, uint32_t left)
{
    return left == 1 && code[0] >= SMP_OP_IRETURN && code[0] <= SMP_OP_ARETURN;
}

/* Behind a store: return, or return this. */
static bool is_setter_end(const uint8_t *code, uint32_t left, bool is_static)
{
    return (left == 1 && code[0] == SMP_OP_RETURN) ||
           (!is_static && left == 2 && code[0] == SMP_OP_ALOAD_0 && code[1] == SMP_OP_ARETURN);
}

static bool is_static_accessor(const uint8_t *code, uint32_t length)
{
    if (code[0] == SMP_OP_GETSTATIC)
        return length > 3 && is_value_return(code + 3, length - 3);
    const uint32_t load = local_load_length(code, length);
    if (load == 0)
        return false;
    if (is_value_return(code + load, length - load))
        return true;
    return length > load + 3 && code[load] == SMP_OP_PUTSTATIC &&
           is_setter_end(code + load + 3, length - load - 3, true);
}

static bool is_field_accessor(const uint8_t *code, uint32_t length)
{
    if (code[0] != SMP_OP_ALOAD_0 || length < 2)
        return false;
    if (code[1] == SMP_OP_GETFIELD)
        return length > 4 && is_value_return(code + 4, length - 4);
    const uint32_t load = local_load_length(code + 1, length - 1);
    const uint32_t end = 1 + load + 3;
    return load != 0 && length > end && code[1 + load] == SMP_OP_PUTFIELD &&
           is_setter_end(code + end, length - end, false);
}

bool smp_class_method_is_trivial(const struct smp_class_file *file,
                                 const struct smp_class_method *method)
{
    const uint8_t *code = file->bytes + method->code.bytes;
    const uint32_t length = method->code.length;

    if (method->code.attribute == 0)
        return false;
    return (length == 1 && code[0] == SMP_OP_RETURN) || is_static_accessor(code, length) ||
           is_field_accessor(code, length);
}

static bool has_end(struct smp_class_text text, const char *end)
{
    const size_t length = strlen(end);

    return text.length >= length && memcmp(text.bytes + text.length - length, end, length) == 0;
}

static bool has_start(struct smp_class_text text, const char *start)
{
    const size_t length = strlen(start);

    return text.length >= length && memcmp(text.bytes, start, length) == 0;
}

/* As total_aroundBody0, total_aroundBody1$advice. */
static bool is_woven_body(struct smp_class_text name)
{
    static const char part[] = "_aroundBody";
    const size_t length = sizeof(part) - 1;

    for (size_t i = 1; i + length < name.length; i++) {
        if (memcmp(name.bytes + i, part, length) == 0 && name.bytes[i + length] >= '0' &&
            name.bytes[i + length] <= '9')
            return true;
    }
    return false;
}

static bool is_resumption(const struct smp_class_file *file, struct smp_class_text name)
{
    const struct smp_class_text super = smp_class_file_super_name(file);

    return smp_class_text_is(name, "invokeSuspend") &&
           (smp_class_text_is(super, "kotlin/coroutines/jvm/internal/ContinuationImpl") ||
            smp_class_text_is(super, "kotlin/coroutines/jvm/internal/RestrictedContinuationImpl"));
}

bool smp_class_method_passes_on(const struct smp_class_file *file,
                                const struct smp_class_method *method)
{
    const bool is_added = (method->access & ACC_SYNTHETIC) != 0;
    const bool is_static = (method->access & ACC_STATIC) != 0;

    if (method->code.attribute == 0)
        return false;
    return (method->access & ACC_BRIDGE) != 0 ||
           (is_added && is_static &&
            (has_start(method->name, "access$") || has_end(method->name, "$default"))) ||
           (is_static && is_woven_body(method->name)) || is_resumption(file, method->name);
}
