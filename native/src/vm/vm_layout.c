/* SPDX-License-Identifier: Apache-2.0 */
#include "vm/vm_layout.h"

#include <string.h>

#include "vm/vm_code_view.h"
#include "vm/vm_symbol.h"

enum {
    MAX_ENTRIES = 20000,              /* a list without an end is none */
    MAX_THREAD_BYTES = 64 * 1024,     /* the size of the JVM's thread object, at most */
    MAX_DISTANCE_BYTES = 1024 * 1024, /* from here up to the last Java frame */
    FIELD_COUNT = 5
};

/* How an entry of the list is laid out: told by further exported numbers. */
struct list {
    const char *at;
    uint64_t stride;
    uint64_t type_name;
    uint64_t field_name;
    uint64_t offset;
};

struct field {
    const char *type;
    const char *name;
    uint64_t offset;
    bool found;
};

static bool read_number(const char *name, uint64_t *out)
{
    const uint64_t *number = smp_vm_symbol(name);

    if (number == NULL)
        return false;
    *out = *number;
    return true;
}

static bool open_list(struct list *list)
{
    const char *const *at = smp_vm_symbol("gHotSpotVMStructs");

    if (at == NULL || *at == NULL)
        return false;
    list->at = *at;
    return read_number("gHotSpotVMStructEntryArrayStride", &list->stride) &&
           read_number("gHotSpotVMStructEntryTypeNameOffset", &list->type_name) &&
           read_number("gHotSpotVMStructEntryFieldNameOffset", &list->field_name) &&
           read_number("gHotSpotVMStructEntryOffsetOffset", &list->offset);
}

static const char *text_in(const char *entry, uint64_t offset)
{
    const char *text = NULL;

    memcpy(&text, entry + offset, sizeof(text));
    return text;
}

static void take(const struct list *list, const char *entry, struct field *fields)
{
    const char *type = text_in(entry, list->type_name);
    const char *name = text_in(entry, list->field_name);

    for (size_t i = 0; type != NULL && name != NULL && i < FIELD_COUNT; i++) {
        if (strcmp(type, fields[i].type) == 0 && strcmp(name, fields[i].name) == 0) {
            memcpy(&fields[i].offset, entry + list->offset, sizeof(fields[i].offset));
            fields[i].found = fields[i].offset < MAX_THREAD_BYTES;
        }
    }
}

static bool read_fields(struct field *fields)
{
    struct list list = { 0 };
    bool all = true;

    if (!open_list(&list))
        return false;
    for (size_t i = 0; i < MAX_ENTRIES; i++) {
        const char *entry = list.at + i * list.stride;
        if (text_in(entry, list.type_name) == NULL)
            break;
        take(&list, entry, fields);
    }
    for (size_t i = 0; i < FIELD_COUNT; i++)
        all = all && fields[i].found;
    return all;
}

static uintptr_t word_in(uintptr_t object, uint32_t offset)
{
    return *(const uintptr_t *)(object + offset); /* NOLINT(performance-no-int-to-ptr) */
}

static bool is_known_code(uintptr_t pc)
{
    const struct smp_code_piece *piece = smp_code_find(smp_code_enter(), pc);
    const bool is_java = piece != NULL && piece->kind != SMP_CODE_STUB;

    smp_code_leave();
    return is_java;
}

static bool is_believable(const struct smp_jvm_layout *layout, uintptr_t java_thread,
                          uintptr_t stack_high)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t sp = word_in(java_thread, layout->last_sp);
    uintptr_t pc = word_in(java_thread, layout->last_pc);
    int32_t state = 0;

    memcpy(&state, (const char *)java_thread + layout->state, sizeof(state)); /* NOLINT */
    if (state != SMP_JVM_IN_NATIVE || sp <= here || sp - here > MAX_DISTANCE_BYTES ||
        sp >= stack_high || sp % sizeof(uintptr_t) != 0)
        return false;
    if (pc == 0)
        pc = word_in(sp - sizeof(uintptr_t), 0);
    return is_known_code(pc);
}

struct smp_vm_layout smp_vm_layout_find(const JNIEnv *env, uintptr_t java_thread,
                                        uintptr_t stack_high)
{
    const struct smp_vm_layout none = { 0 };
    const uintptr_t env_offset = (uintptr_t)env - java_thread;
    struct field fields[FIELD_COUNT] = {
        { .type = "JavaThread", .name = "_thread_state" },
        { .type = "JavaThread", .name = "_anchor" },
        { .type = "JavaFrameAnchor", .name = "_last_Java_sp" },
        { .type = "JavaFrameAnchor", .name = "_last_Java_pc" },
        { .type = "JavaFrameAnchor", .name = "_last_Java_fp" },
    };

    if (java_thread == 0 || env_offset == 0 || env_offset >= MAX_THREAD_BYTES ||
        !read_fields(fields))
        return none;
    const uint32_t anchor = (uint32_t)fields[1].offset;
    const struct smp_vm_layout found = {
        .jvm = { .state = (uint32_t)fields[0].offset,
                 .last_sp = anchor + (uint32_t)fields[2].offset,
                 .last_pc = anchor + (uint32_t)fields[3].offset,
                 .last_fp = anchor + (uint32_t)fields[4].offset },
        .env_offset = env_offset,
    };
    return is_believable(&found.jvm, java_thread, stack_high) ? found : none;
}
