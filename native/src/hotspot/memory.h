/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - loads from addresses that are known to be mapped: the code heap, libjvm's own
 * variables, words of a stack within its bounds. Any other address is read by base/safe_read.h.
 *
 * Threads  any, signal handlers included.
 * Cost     one load.
 */
#ifndef SMP_HOTSPOT_MEMORY_H
#define SMP_HOTSPOT_MEMORY_H

#include <stdint.h>
#include <string.h>

static inline uintptr_t smp_load_word(uintptr_t address)
{
    uintptr_t value;

    memcpy(&value, (const void *)address, sizeof(value)); /* NOLINT(performance-no-int-to-ptr) */
    return value;
}

static inline uint32_t smp_load_u32(uintptr_t address)
{
    uint32_t value;

    memcpy(&value, (const void *)address, sizeof(value)); /* NOLINT(performance-no-int-to-ptr) */
    return value;
}

static inline uint16_t smp_load_u16(uintptr_t address)
{
    uint16_t value;

    memcpy(&value, (const void *)address, sizeof(value)); /* NOLINT(performance-no-int-to-ptr) */
    return value;
}

static inline uint8_t smp_load_u8(uintptr_t address)
{
    uint8_t value;

    memcpy(&value, (const void *)address, sizeof(value)); /* NOLINT(performance-no-int-to-ptr) */
    return value;
}

#endif
