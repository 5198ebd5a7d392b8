/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session/demand.h"

#define NS_PER_MS INT64_C(1000000)

static int64_t income_of_ms(int64_t ms)
{
    return ms * NS_PER_MS / 1000 * SMP_DEMAND_PER_MILLE;
}

static void take_income(struct smp_demand *demand, int64_t now_ns)
{
    const int64_t full_ns = income_of_ms(SMP_DEMAND_FULL_MS);

    demand->balance_ns += (now_ns - demand->now_ns) / 1000 * SMP_DEMAND_PER_MILLE;
    if (demand->balance_ns > full_ns)
        demand->balance_ns = full_ns;
    demand->now_ns = now_ns;
}

void smp_demand_init(struct smp_demand *demand, int64_t now_ns)
{
    *demand =
        (struct smp_demand){ .balance_ns = income_of_ms(SMP_DEMAND_FULL_MS), .now_ns = now_ns };
}

bool smp_demand_allows(struct smp_demand *demand, int64_t now_ns)
{
    if (demand->has_window && now_ns - demand->window_ns < SMP_DEMAND_GAP_MS * NS_PER_MS)
        return false;
    take_income(demand, now_ns);
    return demand->balance_ns >= 0;
}

void smp_demand_renewed(struct smp_demand *demand, int64_t now_ns)
{
    demand->has_window = true;
    demand->window_ns = now_ns;
}

void smp_demand_pay(struct smp_demand *demand, int64_t now_ns, int64_t cpu_ns)
{
    take_income(demand, now_ns);
    demand->balance_ns -= cpu_ns;
    if (demand->balance_ns < -income_of_ms(SMP_DEMAND_MOST_DEBT_MS))
        demand->balance_ns = -income_of_ms(SMP_DEMAND_MOST_DEBT_MS);
}
