/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decimal.h - a number at the start of a text. Not strtol(): on newer headers that is a function
 * which older C libraries do not have.
 *
 * Threads  any.
 * Cost     a few instructions a digit.
 */
#ifndef SMP_BASE_DECIMAL_H
#define SMP_BASE_DECIMAL_H

#include <stdint.h>

/* Digits only, no blanks and no sign; UINT32_MAX if the number is more. *end is behind the last
 * digit; it is text, and the result 0, if there is none. */
static inline uint32_t smp_decimal_parse(const char *text, const char **end)
{
    uint64_t value = 0;

    for (; *text >= '0' && *text <= '9'; text++) {
        value = value * 10 + (uint64_t)(*text - '0');
        if (value > UINT32_MAX)
            value = UINT32_MAX;
    }
    *end = text;
    return (uint32_t)value;
}

#endif
