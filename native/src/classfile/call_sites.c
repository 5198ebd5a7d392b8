/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/call_sites.h"

#include <string.h>

#include "classfile/opcodes.h"

enum {
    MOST_TRIVIAL = 5,       /* instructions */
    MAX_NESTED = 64,        /* most dynamic constants that one constant leads to */
    REF_INVOKE_VIRTUAL = 5, /* kinds of method handles; lower ones are for fields */
    REF_NEW_INVOKE_SPECIAL = 8,
    REF_INVOKE_INTERFACE = 9
};

struct call_walk {
    const struct smp_class_file *file;
    smp_class_each_call *each;
    void *self;
    uint32_t pc;
};

static bool report_site(const struct call_walk *walk, enum smp_call_kind kind, bool is_handle,
                        struct smp_class_member method)
{
    const struct smp_class_call_site site = {
        .kind = kind, .is_handle = is_handle, .pc = walk->pc, .method = method
    };

    return walk->each(walk->self, &site);
}

/* Does not report a new array, because arrays have no class of their own. */
static bool report_new(const struct call_walk *walk, struct smp_slice made)
{
    const struct smp_class_member method = { .owner = made,
                                             .name = { .bytes = "<new>", .length = 5 } };

    return made.length == 0 || made.bytes[0] == '[' ||
           report_site(walk, SMP_CALL_NEW, false, method);
}

/* Reads 2 bytes of a constant, at an offset behind its tag. */
static uint16_t operand_of(const struct smp_class_file *file, uint16_t constant, uint32_t at)
{
    return smp_class_u2(file->bytes + file->pool[constant] + 1 + at);
}

static struct smp_slice string_text(const struct smp_class_file *file, uint16_t constant)
{
    return smp_class_file_utf8(file, operand_of(file, constant, 0));
}

static bool report_string(const struct call_walk *walk, uint16_t constant)
{
    const struct smp_class_member method = { .name = string_text(walk->file, constant) };

    return method.name.length == 0 || report_site(walk, SMP_CALL_STRING, false, method);
}

static bool report_handle(const struct call_walk *walk, uint16_t constant)
{
    static const enum smp_call_kind kinds[] = { SMP_CALL_VIRTUAL, SMP_CALL_STATIC, SMP_CALL_SPECIAL,
                                                SMP_CALL_SPECIAL, SMP_CALL_INTERFACE };
    const uint8_t kind = walk->file->bytes[walk->file->pool[constant] + 1];
    struct smp_class_member method;

    if (kind < REF_INVOKE_VIRTUAL || kind > REF_INVOKE_INTERFACE ||
        !smp_class_file_member(walk->file, operand_of(walk->file, constant, 1), &method))
        return true;
    return (kind != REF_NEW_INVOKE_SPECIAL || report_new(walk, method.owner)) &&
           report_site(walk, kinds[kind - REF_INVOKE_VIRTUAL], true, method);
}

/* A row of BootstrapMethods. */
struct bootstrap {
    uint16_t handle;
    uint16_t count;
    const uint8_t *arguments;
};

/* Returns the row that a dynamic constant names; all zero if there is none. */
static struct bootstrap bootstrap_of(const struct smp_class_file *file, uint16_t constant)
{
    struct smp_class_reader rows = { .at = file->bytes + file->bootstraps,
                                     .end = file->bytes + file->bootstraps_end };
    const uint32_t row = operand_of(file, constant, 0);
    struct bootstrap found = { 0 };

    if (row >= smp_class_next_u2(&rows))
        return found;
    for (uint32_t i = 0; i <= row && !rows.is_past_end; i++) {
        found.handle = smp_class_next_u2(&rows);
        found.count = smp_class_next_u2(&rows);
        found.arguments = smp_class_skip(&rows, 2 * (size_t)found.count);
    }
    if (rows.is_past_end)
        found = (struct bootstrap){ 0 };
    return found;
}

static bool is_of_the_jdk(const struct smp_class_file *file, const struct bootstrap *bootstrap)
{
    struct smp_class_member method;

    return smp_class_file_tag(file, bootstrap->handle) != SMP_CONSTANT_METHOD_HANDLE ||
           !smp_class_file_member(file, operand_of(file, bootstrap->handle, 1), &method) ||
           smp_slice_begins(method.owner, "java/", 5);
}

/* Reports the names by which a dynamic language looks methods up. They are arguments of bootstrap
 * methods outside of the JDK. */
static bool report_names(const struct call_walk *walk, uint16_t constant)
{
    const struct smp_class_file *const file = walk->file;
    struct smp_class_member method = { 0 };

    if (smp_class_file_tag(file, constant) != SMP_CONSTANT_INVOKE_DYNAMIC)
        return true;
    const struct bootstrap bootstrap = bootstrap_of(file, constant);
    const uint16_t type = operand_of(file, constant, 2);
    if (is_of_the_jdk(file, &bootstrap) ||
        smp_class_file_tag(file, type) != SMP_CONSTANT_NAME_AND_TYPE)
        return true;
    method.descriptor = smp_class_file_utf8(file, operand_of(file, type, 2));
    for (uint32_t i = 0; i < bootstrap.count; i++) {
        const uint16_t argument = smp_class_u2(bootstrap.arguments + 2 * (size_t)i);
        if (smp_class_file_tag(file, argument) != SMP_CONSTANT_STRING)
            continue;
        method.name = string_text(file, argument);
        if (!report_site(walk, SMP_CALL_BY_NAME, false, method))
            return false;
    }
    return true;
}

static bool report_constant(const struct call_walk *walk, uint16_t constant)
{
    switch (smp_class_file_tag(walk->file, constant)) {
    case SMP_CONSTANT_METHOD_HANDLE:
        return report_handle(walk, constant);
    case SMP_CONSTANT_STRING:
        return report_string(walk, constant);
    case SMP_CONSTANT_CLASS:
        return report_new(walk, smp_class_file_class_name(walk->file, constant));
    default:
        return true;
    }
}

/* Adds the arguments of a dynamic constant that may hold method handles, and returns the new
 * count. Arguments that do not fit are ignored, because no compiler makes so many. */
static uint32_t push_arguments(const struct smp_class_file *file, uint16_t constant,
                               uint16_t *waiting, uint32_t count)
{
    const uint8_t tag = smp_class_file_tag(file, constant);

    if (tag != SMP_CONSTANT_DYNAMIC && tag != SMP_CONSTANT_INVOKE_DYNAMIC)
        return count;
    const struct bootstrap bootstrap = bootstrap_of(file, constant);
    /* The last one is pushed first, because the top is taken first. */
    for (uint32_t i = bootstrap.count; i > 0 && count < MAX_NESTED; i--) {
        const uint16_t argument = smp_class_u2(bootstrap.arguments + 2 * (size_t)(i - 1));
        const uint8_t kind = smp_class_file_tag(file, argument);
        if (kind == SMP_CONSTANT_METHOD_HANDLE || kind == SMP_CONSTANT_DYNAMIC)
            waiting[count++] = argument;
    }
    return count;
}

/* Reports a constant and the method handles among the arguments of its bootstrap method. The limit
 * ends a circle of constants, as a broken file may have it. */
static bool report_constants(const struct call_walk *walk, uint16_t constant)
{
    uint16_t waiting[MAX_NESTED] = { constant };
    uint32_t count = 1;

    for (uint32_t i = 0; count > 0 && i < MAX_NESTED; i++) {
        const uint16_t index = waiting[--count];
        if (!report_constant(walk, index))
            return false;
        count = push_arguments(walk->file, index, waiting, count);
    }
    return true;
}

static bool report_invoke(const struct call_walk *walk, uint8_t opcode, uint16_t constant)
{
    struct smp_class_member method;

    if (opcode == SMP_OP_INVOKEDYNAMIC)
        return report_constants(walk, constant) && report_names(walk, constant);
    return !smp_class_file_member(walk->file, constant, &method) ||
           report_site(walk, (enum smp_call_kind)(opcode - SMP_OP_INVOKEVIRTUAL), false, method);
}

/* Reports the class of a static field. The code's own class is initialised already. */
static bool report_initialiser(const struct call_walk *walk, uint16_t constant)
{
    struct smp_class_member method;

    if (!smp_class_file_member(walk->file, constant, &method) ||
        smp_slice_equals(method.owner, walk->file->name))
        return true;
    method.name = (struct smp_slice){ .bytes = "<clinit>", .length = 8 };
    method.descriptor = (struct smp_slice){ .bytes = "()V", .length = 3 };
    return report_site(walk, SMP_CALL_INITIALISER, false, method);
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
        return report_constants(walk, constant);
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

/* Returns a letter for an instruction: t loads local 0 as a reference, l any other local, r
 * returns a value, v nothing; G and P read and write a static field, g and p a field; 0:
 * another. */
static char letter_of(uint8_t opcode)
{
    if (opcode == SMP_OP_ALOAD_0)
        return 't';
    if ((opcode >= SMP_OP_ILOAD && opcode <= SMP_OP_ALOAD) ||
        (opcode >= SMP_OP_ILOAD_0 && opcode <= SMP_OP_ALOAD_3))
        return 'l';
    if (opcode >= SMP_OP_IRETURN && opcode <= SMP_OP_ARETURN)
        return 'r';
    switch (opcode) {
    case SMP_OP_RETURN:
        return 'v';
    case SMP_OP_GETSTATIC:
        return 'G';
    case SMP_OP_PUTSTATIC:
        return 'P';
    case SMP_OP_GETFIELD:
        return 'g';
    case SMP_OP_PUTFIELD:
        return 'p';
    default:
        return 0;
    }
}

bool smp_class_method_is_trivial(const struct smp_class_file *file,
                                 const struct smp_class_method *method)
{
    static const char *const trivial[] = { "v",   "lr",   "tr",   "Gr",    "lPv",  "tPv",
                                           "tgr", "ttpv", "tlpv", "ttptr", "tlptr" };
    const uint8_t *const code = file->bytes + method->code.bytes;
    char letters[MOST_TRIVIAL + 1] = { 0 };
    struct smp_instruction instruction;
    uint32_t pc = 0;

    for (size_t i = 0; i < MOST_TRIVIAL && pc < method->code.length; i++) {
        instruction = smp_opcode_at(code, method->code.length, pc);
        letters[i] = letter_of(code[pc]);
        if (letters[i] == 0 || instruction.length == 0)
            return false;
        pc += instruction.length;
    }
    for (size_t i = 0; pc == method->code.length && i < sizeof(trivial) / sizeof(trivial[0]); i++) {
        if (strcmp(letters, trivial[i]) == 0)
            return true;
    }
    return false;
}

/* True for total_aroundBody0 and total_aroundBody1$advice. */
static bool is_woven_body(struct smp_slice name)
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

static bool is_resumption(const struct smp_class_file *file, struct smp_slice name)
{
    const struct smp_slice super = file->super_name;

    return smp_slice_is(name, "invokeSuspend") &&
           (smp_slice_is(super, "kotlin/coroutines/jvm/internal/ContinuationImpl") ||
            smp_slice_is(super, "kotlin/coroutines/jvm/internal/RestrictedContinuationImpl"));
}

bool smp_class_method_passes_on(const struct smp_class_file *file,
                                const struct smp_class_method *method)
{
    const bool is_added = (method->access & SMP_ACCESS_SYNTHETIC) != 0;
    const bool is_static = (method->access & SMP_ACCESS_STATIC) != 0;

    if (method->code.attribute == 0)
        return false;
    return (method->access & SMP_ACCESS_BRIDGE) != 0 ||
           (is_added && is_static &&
            (smp_slice_begins(method->name, "access$", 7) ||
             smp_slice_ends(method->name, "$default"))) ||
           (is_static && is_woven_body(method->name)) || is_resumption(file, method->name);
}
