/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session/window.h"

#define MINUTE_NS INT64_C(60000000000)
#define LONGEST_NS (15 * MINUTE_NS)

enum { AGE_SHARE = 4 }; /* an interval is at most a quarter of its age long */

int64_t smp_window_from(enum smp_window window, int64_t now_ns)
{
    static const int64_t lengths_ns[SMP_WINDOW_COUNT] = {
        [SMP_WINDOW_1_MINUTE] = MINUTE_NS,
        [SMP_WINDOW_5_MINUTES] = 5 * MINUTE_NS,
        [SMP_WINDOW_15_MINUTES] = LONGEST_NS,
    };

    return window == SMP_WINDOW_START ? INT64_MIN : now_ns - lengths_ns[window];
}

bool smp_window_may_join(int64_t from_ns, int64_t till_ns, int64_t now_ns)
{
    const int64_t age_ns = now_ns - till_ns;
    const int64_t length_ns = till_ns - from_ns;

    if (age_ns >= LONGEST_NS || length_ns <= SMP_WINDOW_SLOT_NS)
        return true;
    return length_ns <= MINUTE_NS && length_ns <= age_ns / AGE_SHARE;
}
