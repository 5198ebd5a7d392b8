/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/signal_mask.h"

#include <string.h>

#include "base/task_file.h"

static const char HEXADECIMAL[] = "0123456789abcdef";

enum { DIGITS = 16 };

uint64_t smp_signal_mask_parse(const char *digits)
{
    uint64_t mask = 0;

    for (int i = 0; i < DIGITS; i++) {
        const char *digit = digits[i] != '\0' ? strchr(HEXADECIMAL, digits[i]) : NULL;
        if (digit == NULL)
            return 0;
        mask = mask << 4 | (uint64_t)(digit - HEXADECIMAL);
    }
    return mask;
}

uint64_t smp_signal_mask_of_tid(int32_t tid)
{
    char digits[DIGITS + 1];

    return smp_task_file_find(tid, "status", "\nSigBlk:\t", digits, sizeof(digits))
               ? smp_signal_mask_parse(digits)
               : 0;
}
