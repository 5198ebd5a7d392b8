/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/thread_layout.h"

#include <string.h>

#include "base/safe_read.h"
#include "hotspot/fields.h"
#include "hotspot/memory.h"

enum {
    MAX_DISTANCE_BYTES = 1024 * 1024, /* from here up to the last Java frame */
    STACK_FIELD = 5,                  /* base, size: of these alone may be none */
    EXCEPTION_FIELD = 7,              /* may be missing */
    OS_THREAD_FIELD = 8,              /* three: one of the first two, and the third, or none */
    FIELD_COUNT = 11,
    STATE_COUNT = 4
};

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

static bool read_states(struct smp_jvm_states *out)
{
    struct smp_constant states[STATE_COUNT] = {
        { .name = "_thread_in_native" },
        { .name = "_thread_in_vm" },
        { .name = "_thread_in_Java" },
        { .name = "_thread_blocked" },
    };

    if (!smp_constants_read(states, STATE_COUNT))
        return false;
    *out = (struct smp_jvm_states){ .in_native = states[0].value,
                                    .in_vm = states[1].value,
                                    .in_java = states[2].value,
                                    .blocked = states[3].value };
    return true;
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

/* The thread's own bounds, read as those of any other thread, are what the C library says. */
static void find_stack_fields(const struct smp_field *fields, uintptr_t java_thread,
                              uintptr_t stack_high, struct smp_jvm_layout *layout)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t low = 0;
    uintptr_t high = 0;

    layout->stack_base = fields[0].found ? (uint32_t)fields[0].offset : 0;
    layout->stack_size = fields[1].found ? (uint32_t)fields[1].offset : 0;
    if (layout->stack_size == 0 || smp_safe_read_refusal() != NULL ||
        !smp_thread_layout_stack(layout, java_thread, &low, &high) || high != stack_high ||
        low >= here)
        layout->stack_base = layout->stack_size = 0;
}

static void find_os_thread_fields(const struct smp_field *fields, struct smp_jvm_layout *layout)
{
    const struct smp_field *const os_thread = fields[0].found ? &fields[0] : &fields[1];

    if (!os_thread->found || !fields[2].found)
        return;
    layout->os_thread = (uint32_t)os_thread->offset;
    layout->os_state = (uint32_t)fields[2].offset;
}

static bool are_found(const struct smp_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!fields[i].found)
            return false;
    }
    return true;
}

struct smp_thread_layout smp_thread_layout_find(const void *env, uintptr_t java_thread,
                                                uintptr_t stack_high,
                                                bool (*is_java_code)(uintptr_t pc))
{
    const struct smp_thread_layout none = { 0 };
    struct smp_jvm_states states;
    const uintptr_t env_offset = (uintptr_t)env - java_thread;
    struct smp_field fields[FIELD_COUNT] = {
        { .type = "JavaThread", .name = "_thread_state" },
        { .type = "JavaThread", .name = "_anchor" },
        { .type = "JavaFrameAnchor", .name = "_last_Java_sp" },
        { .type = "JavaFrameAnchor", .name = "_last_Java_pc" },
        { .type = "JavaFrameAnchor", .name = "_last_Java_fp" },
        { .type = "JavaThread", .name = "_stack_base" },
        { .type = "JavaThread", .name = "_stack_size" },
        { .type = "JavaThread", .name = "_exception_pc" },
        { .type = "JavaThread", .name = "_osthread" }, /* up to JDK 21 */
        { .type = "Thread", .name = "_osthread" },
        { .type = "OSThread", .name = "_state" },
    };

    if (java_thread == 0 || env_offset == 0 || env_offset >= SMP_FIELD_MAX_OFFSET)
        return none;
    (void)smp_fields_read(fields, FIELD_COUNT);
    if (!are_found(fields, STACK_FIELD) || !read_states(&states))
        return none;
    const uint32_t anchor = (uint32_t)fields[1].offset;
    struct smp_thread_layout found = {
        .jvm = { .states = states,
                 .state = (uint32_t)fields[0].offset,
                 .last_sp = anchor + (uint32_t)fields[2].offset,
                 .last_pc = anchor + (uint32_t)fields[3].offset,
                 .last_fp = anchor + (uint32_t)fields[4].offset,
                 .exception_pc =
                     fields[EXCEPTION_FIELD].found ? (uint32_t)fields[EXCEPTION_FIELD].offset : 0 },
        .env_offset = env_offset,
    };
    find_os_thread_fields(&fields[OS_THREAD_FIELD], &found.jvm);
    find_stack_fields(&fields[STACK_FIELD], java_thread, stack_high, &found.jvm);
    return is_layout_plausible(&found.jvm, java_thread, stack_high, is_java_code) ? found : none;
}
