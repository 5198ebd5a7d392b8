/* SPDX-License-Identifier: Apache-2.0 */
/* tally_sum.h - the sum over all outcomes, which must be the tally's number of polls. */
#ifndef SMP_TEST_TALLY_SUM_H
#define SMP_TEST_TALLY_SUM_H

#include <stddef.h>
#include <stdint.h>

#include "model/outcome.h"

static inline uint64_t tally_sum(const struct smp_tally *tally)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < SMP_OUTCOME_COUNT; i++)
        sum += tally->outcomes[i];
    return sum;
}

#endif
