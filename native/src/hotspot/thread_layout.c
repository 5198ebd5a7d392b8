/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/thread_layout.h"

#include <string.h>

#include "base/safe_read.h"
#include "hotspot/exports.h"
#include "hotspot/memory.h"

enum { MAX_DISTANCE_BYTES = 1024 * 1024 }; /* from here up to the last Java frame */

enum field {
    /* required */
    STATE,
    ANCHOR,
    LAST_SP,
    LAST_PC,
    LAST_FP,
    IN_NATIVE,
    IN_VM,
    IN_JAVA,
    BLOCKED,
    /* optional, each group on its own */
    STACK_BASE,
    STACK_SIZE,
    EXCEPTION_PC,
    OS_THREAD_21, /* up to JDK 21 */
    OS_THREAD,
    OS_STATE,
    FIELDS
};

static const struct smp_wanted names[FIELDS] = {
    [STATE] = { .type = "JavaThread", .name = "_thread_state" },
    [ANCHOR] = { .type = "JavaThread", .name = "_anchor" },
    [LAST_SP] = { .type = "JavaFrameAnchor", .name = "_last_Java_sp" },
    [LAST_PC] = { .type = "JavaFrameAnchor", .name = "_last_Java_pc" },
    [LAST_FP] = { .type = "JavaFrameAnchor", .name = "_last_Java_fp" },
    [IN_NATIVE] = { .list = SMP_EXPORT_INT_CONSTANTS, .name = "_thread_in_native" },
    [IN_VM] = { .list = SMP_EXPORT_INT_CONSTANTS, .name = "_thread_in_vm" },
    [IN_JAVA] = { .list = SMP_EXPORT_INT_CONSTANTS, .name = "_thread_in_Java" },
    [BLOCKED] = { .list = SMP_EXPORT_INT_CONSTANTS, .name = "_thread_blocked" },
    [STACK_BASE] = { .type = "JavaThread", .name = "_stack_base" },
    [STACK_SIZE] = { .type = "JavaThread", .name = "_stack_size" },
    [EXCEPTION_PC] = { .type = "JavaThread", .name = "_exception_pc" },
    [OS_THREAD_21] = { .type = "JavaThread", .name = "_osthread" },
    [OS_THREAD] = { .type = "Thread", .name = "_osthread" },
    [OS_STATE] = { .type = "OSThread", .name = "_state" },
};

/* Returns 0 if the field was not found. */
static uint32_t field_offset(const struct smp_wanted *field)
{
    return field->is_found ? (uint32_t)field->value : 0;
}

static bool is_layout_plausible(const struct smp_jvm_layout *layout, uintptr_t java_thread,
                                uintptr_t stack_high, bool (*is_java_code)(uintptr_t pc))
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t sp = smp_load_word(java_thread + layout->last_sp);
    uintptr_t pc = smp_load_word(java_thread + layout->last_pc);
    int32_t state = 0;

    memcpy(&state, (const char *)java_thread + layout->state, sizeof(state)); /* NOLINT */
    if (state != layout->states.in_native || sp <= here || sp - here > MAX_DISTANCE_BYTES ||
        sp >= stack_high || sp % sizeof(uintptr_t) != 0)
        return false;
    if (pc == 0)
        pc = smp_load_word(sp - sizeof(uintptr_t));
    return is_java_code(pc);
}

bool smp_thread_layout_stack(const struct smp_jvm_layout *layout, uintptr_t java_thread,
                             uintptr_t *low, uintptr_t *high)
{
    uintptr_t size = 0;

    if (java_thread == 0 || layout->stack_base == 0 ||
        !smp_safe_read(high, java_thread + layout->stack_base, sizeof(*high)) ||
        !smp_safe_read(&size, java_thread + layout->stack_size, sizeof(size)) ||
        *high % sizeof(uintptr_t) != 0 || size == 0 || size > *high)
        return false;
    *low = *high - size;
    return true;
}

/* Reads the calling thread's bounds as those of any other thread, and compares them with the C
 * library's. */
static void find_stack_fields(const struct smp_wanted *found, uintptr_t java_thread,
                              uintptr_t stack_high, struct smp_jvm_layout *layout)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t low = 0;
    uintptr_t high = 0;

    layout->stack_base = field_offset(&found[STACK_BASE]);
    layout->stack_size = field_offset(&found[STACK_SIZE]);
    if (layout->stack_size == 0 || smp_safe_read_refusal() != NULL ||
        !smp_thread_layout_stack(layout, java_thread, &low, &high) || high != stack_high ||
        low >= here)
        layout->stack_base = layout->stack_size = 0;
}

static void find_os_thread_fields(const struct smp_wanted *found, struct smp_jvm_layout *layout)
{
    const struct smp_wanted *const os_thread =
        found[OS_THREAD_21].is_found ? &found[OS_THREAD_21] : &found[OS_THREAD];

    if (!os_thread->is_found || !found[OS_STATE].is_found)
        return;
    layout->os_thread = (uint32_t)os_thread->value;
    layout->os_state = (uint32_t)found[OS_STATE].value;
}

struct smp_thread_layout smp_thread_layout_find(const void *env, uintptr_t java_thread,
                                                uintptr_t stack_high,
                                                bool (*is_java_code)(uintptr_t pc))
{
    const struct smp_thread_layout none = { 0 };
    const uintptr_t env_offset = (uintptr_t)env - java_thread;
    struct smp_wanted found[FIELDS];

    if (java_thread == 0 || env_offset == 0 || env_offset >= SMP_EXPORT_MAX_OFFSET)
        return none;
    memcpy(found, names, sizeof(found));
    (void)smp_exports_find(NULL, found, FIELDS);
    for (size_t i = STATE; i <= BLOCKED; i++) {
        if (!found[i].is_found)
            return none;
    }
    const uint32_t anchor = field_offset(&found[ANCHOR]);
    struct smp_thread_layout layout = {
        .jvm = { .states = { .in_native = (int32_t)found[IN_NATIVE].value,
                             .in_vm = (int32_t)found[IN_VM].value,
                             .in_java = (int32_t)found[IN_JAVA].value,
                             .blocked = (int32_t)found[BLOCKED].value },
                 .state = field_offset(&found[STATE]),
                 .last_sp = anchor + field_offset(&found[LAST_SP]),
                 .last_pc = anchor + field_offset(&found[LAST_PC]),
                 .last_fp = anchor + field_offset(&found[LAST_FP]),
                 .exception_pc = field_offset(&found[EXCEPTION_PC]) },
        .env_offset = env_offset,
    };
    find_os_thread_fields(found, &layout.jvm);
    find_stack_fields(found, java_thread, stack_high, &layout.jvm);
    return is_layout_plausible(&layout.jvm, java_thread, stack_high, is_java_code) ? layout : none;
}
