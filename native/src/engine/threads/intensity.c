/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/threads/intensity.h"

#include "base/random.h"

int64_t smp_intensity_odds(double mean_ticks)
{
    const double odds = mean_ticks > 1 ? (double)SMP_CERTAIN / mean_ticks : (double)SMP_CERTAIN;

    return odds > 1 ? (int64_t)odds : 1;
}

int64_t smp_intensity_both(int64_t odds, int64_t others)
{
    const int64_t both = (int64_t)((double)odds * ((double)others / (double)SMP_CERTAIN));

    return both > 1 ? both : 1;
}

struct smp_next_poll smp_intensity_next(uint64_t salt, uint64_t now, int64_t odds,
                                        uint64_t most_ticks)
{
    struct smp_next_poll next = { .tick = now + 1, .odds = odds };

    for (; next.tick < now + most_ticks; next.tick++) {
        if ((int64_t)(uint32_t)smp_random_of(salt + next.tick) < odds)
            return next;
    }
    next.odds = SMP_CERTAIN;
    return next;
}

/*
 * The number of ticks before the poll has a geometric distribution, so its binary digits are
 * independent: with q the probability of no poll at a tick, digit k is 1 with the odds q^(2^k) to
 * 1.
 */
struct smp_next_poll smp_intensity_next_alone(uint64_t *random, uint64_t now, int64_t odds,
                                              uint64_t most_ticks)
{
    enum { DIGITS = 20 };
    double power = 1 - (double)odds / (double)SMP_CERTAIN;
    uint64_t before = 0;

    for (int digit = 0; digit < DIGITS && power > 0; digit++) {
        const double share = power / (1 + power);
        const uint32_t number = (uint32_t)(smp_random_next(random) >> 16);
        before |= (uint64_t)((double)number < share * (double)SMP_CERTAIN) << digit;
        power *= power;
    }
    if (before + 1 < most_ticks)
        return (struct smp_next_poll){ .tick = now + before + 1, .odds = odds };
    return (struct smp_next_poll){ .tick = now + most_ticks, .odds = SMP_CERTAIN };
}

int64_t smp_intensity_weight_ns(int64_t tick_ns, int64_t odds)
{
    return odds >= SMP_CERTAIN ? tick_ns
                               : (int64_t)((double)tick_ns / ((double)odds / (double)SMP_CERTAIN));
}
