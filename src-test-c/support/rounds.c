/* SPDX-License-Identifier: Apache-2.0 */
#include "support/rounds.h"

#include <stdlib.h>

enum { DAYTIME_SHARE = 4 };

long test_rounds(long usual)
{
    const char *const wanted = getenv("SMP_TEST_ROUNDS");
    const char *const share = getenv("SMP_TEST_SHARE");
    const long parts = share != NULL && atol(share) > 0 ? atol(share) : DAYTIME_SHARE;
    const long rounds = wanted != NULL ? atol(wanted) : usual / parts;

    return rounds > 0 ? rounds : 1;
}
