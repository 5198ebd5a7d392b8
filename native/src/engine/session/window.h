/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h - the last minutes, and how long the intervals may be of which they are put together.
 *
 *   age         0 ... 1 min      15 min and more
 *   length      15 s .. 60 s     any: one interval, of all that is older
 *
 * A window begins within an interval, which it has whole: the last minute is at most a quarter
 * longer than a minute, the last 5 and 15 minutes one minute longer at most. The age is that of the
 * interval's end. Pure: time is a parameter.
 *
 * Threads  any.
 * Cost     a few additions.
 */
#ifndef SMP_ENGINE_SESSION_WINDOW_H
#define SMP_ENGINE_SESSION_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

enum smp_window {
    SMP_WINDOW_1_MINUTE,
    SMP_WINDOW_5_MINUTES,
    SMP_WINDOW_15_MINUTES,
    SMP_WINDOW_START, /* since windows are kept */
    SMP_WINDOW_COUNT
};

#define SMP_WINDOW_SLOT_NS INT64_C(15000000000) /* an interval ends as often as that at least */

/* When the window begins that ends now. */
int64_t smp_window_from(enum smp_window window, int64_t now_ns);

/* May what was sampled between the two be one interval? */
bool smp_window_may_join(int64_t from_ns, int64_t till_ns, int64_t now_ns);

#endif
