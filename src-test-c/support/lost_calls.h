/* SPDX-License-Identifier: Apache-2.0 */
/* lost_calls.h - the number of calls that an account reports as lost for one reason. */
#ifndef SMP_SUPPORT_LOST_CALLS_H
#define SMP_SUPPORT_LOST_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/counting_account.h"

static inline uint64_t lost_calls(const struct smp_counting_account *account,
                                  enum smp_call_loss loss)
{
    const enum smp_counting code = SMP_COUNTING_CALLS_WITHOUT_PLACE;
    const char *const reason = smp_call_loss_text(loss);
    const size_t length = strlen(reason);

    for (size_t i = 0; account != NULL && i < smp_counting_account_listed(account, code); i++) {
        const char *const name = smp_counting_account_name_at(account, code, i);

        if (strncmp(name, reason, length) == 0 && strncmp(name + length, ": ", 2) == 0)
            return strtoull(name + length + 2, NULL, 10);
    }
    return 0;
}

#endif
