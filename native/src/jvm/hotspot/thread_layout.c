/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/hotspot/thread_layout.h"

#include <string.h>

#include "jvm/hotspot/fields.h"
#include "jvm/hotspot/memory.h"

enum {
    MAX_DISTANCE_BYTES = 1024 * 1024, /* from here up to the last Java frame */
    FIELD_COUNT = 5,
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
    };

    if (java_thread == 0 || env_offset == 0 || env_offset >= SMP_FIELD_MAX_OFFSET ||
        !smp_fields_read(fields, FIELD_COUNT) || !read_states(&states))
        return none;
    const uint32_t anchor = (uint32_t)fields[1].offset;
    const struct smp_thread_layout found = {
        .jvm = { .states = states,
                 .state = (uint32_t)fields[0].offset,
                 .last_sp = anchor + (uint32_t)fields[2].offset,
                 .last_pc = anchor + (uint32_t)fields[3].offset,
                 .last_fp = anchor + (uint32_t)fields[4].offset },
        .env_offset = env_offset,
    };
    return is_layout_plausible(&found.jvm, java_thread, stack_high, is_java_code) ? found : none;
}
