/* SPDX-License-Identifier: Apache-2.0 */
#include "support/rounds.h"

#include <stdlib.h>

long test_rounds(long usual)
{
    const char *const wanted = getenv("SMP_TEST_ROUNDS");
    const char *const share = getenv("SMP_TEST_SHARE");
    long rounds = usual;

    if (wanted != NULL)
        rounds = atol(wanted);
    else if (share != NULL && atol(share) > 0)
        rounds = usual / atol(share);
    return rounds > 0 ? rounds : 1;
}
