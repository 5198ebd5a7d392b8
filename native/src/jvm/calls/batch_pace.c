/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/batch_pace.h"

int64_t smp_batch_pace_wait_ns(struct smp_batch_pace *pace, int64_t start_ns, int64_t end_ns)
{
    int64_t wait_ns;

    if (!pace->has_any || start_ns - pace->ended_ns > SMP_BATCH_CALM_NS)
        pace->first_ns = start_ns;
    pace->has_any = true;
    pace->ended_ns = end_ns;
    wait_ns = (end_ns - pace->first_ns) / SMP_BATCH_PAUSE_SHARE;
    if (wait_ns > SMP_BATCH_MOST_PAUSE_NS)
        wait_ns = SMP_BATCH_MOST_PAUSE_NS;
    if (wait_ns < SMP_BATCH_LEAST_PAUSE_NS)
        wait_ns = SMP_BATCH_LEAST_PAUSE_NS;
    if (wait_ns < (end_ns - start_ns) * SMP_BATCH_RUN_SHARE)
        wait_ns = (end_ns - start_ns) * SMP_BATCH_RUN_SHARE;
    return wait_ns;
}
