/* SPDX-License-Identifier: Apache-2.0 */
#include "model/error_sums.h"

#include <math.h>

_Static_assert(sizeof(struct smp_error_sum) == SMP_ERROR_SUM_BYTES, "one array");

float smp_error_change(int64_t weight_ns, double probability)
{
    static const double ms = 1e-6;
    /* The factor of a thread that is polled at each tick, like all running ones */
    static const float always = 0.70710678F;
    const float weight_ms = (float)((double)weight_ns * ms);

    if (probability >= 1)
        return weight_ms * always;
    return weight_ms * (float)sqrt(1 - probability / 2);
}

enum smp_status smp_error_sums_init(struct smp_error_sums *sums, struct smp_quota *quota,
                                    size_t max_nodes)
{
    const enum smp_status status =
        smp_arena_create(quota, max_nodes * SMP_ERROR_SUM_BYTES, &sums->arena);

    if (status == SMP_OK)
        sums->of = smp_arena_base(sums->arena);
    return status;
}

void smp_error_sums_fini(struct smp_error_sums *sums)
{
    smp_arena_destroy(sums->arena);
}

size_t smp_error_sums_bytes(const struct smp_error_sums *sums)
{
    return smp_arena_committed(sums->arena);
}

bool smp_error_sums_grow(struct smp_error_sums *sums, size_t count)
{
    return smp_arena_alloc(sums->arena, count * SMP_ERROR_SUM_BYTES,
                           _Alignof(struct smp_error_sum)) != NULL;
}
