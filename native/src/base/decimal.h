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

/* Reads digits only, no blanks and no sign; INT64_MAX if the number is larger. *end is behind the
 * last digit. If there is no digit, *end is text and the result is 0. */
static inline int64_t smp_decimal_parse_long(const char *text, const char **end)
{
    int64_t value = 0;

    for (; *text >= '0' && *text <= '9'; text++) {
        const int64_t digit = *text - '0';
        value = value <= (INT64_MAX - digit) / 10 ? value * 10 + digit : INT64_MAX;
    }
    *end = text;
    return value;
}

/* As above, but UINT32_MAX if the number is larger. */
static inline uint32_t smp_decimal_parse(const char *text, const char **end)
{
    const int64_t value = smp_decimal_parse_long(text, end);

    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

#endif
