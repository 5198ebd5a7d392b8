/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/signal_mask.h"

#include <string.h>

#include "base/task_file.h"

#define BLOCKED "\nSigBlk:\t"

static const char HEXADECIMAL[] = "0123456789abcdef";

enum { STATUS_BYTES = 4096, DIGITS = 16 };

uint64_t smp_signal_mask_parse(const char *status)
{
    const char *at = strstr(status, BLOCKED);
    uint64_t mask = 0;

    if (at == NULL)
        return 0;
    at += sizeof(BLOCKED) - 1;
    for (int i = 0; i < DIGITS; i++, at++) {
        const char *digit = *at != '\0' ? strchr(HEXADECIMAL, *at) : NULL;
        if (digit == NULL)
            return 0;
        mask = mask << 4 | (uint64_t)(digit - HEXADECIMAL);
    }
    return mask;
}

uint64_t smp_signal_mask_of_tid(int32_t tid)
{
    char status[STATUS_BYTES];

    return smp_task_file_read(tid, "status", status, sizeof(status)) ? smp_signal_mask_parse(status)
                                                                     : 0;
}
