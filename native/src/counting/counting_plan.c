/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/counting_plan.h"

enum smp_status smp_counting_plan_create(struct smp_quota *quota, const char *roots,
                                         const char *filter, struct smp_counting_plan **out)
{
    struct smp_counting_plan *const plan = smp_alloc(quota, sizeof(*plan));
    enum smp_status status;

    if (plan == NULL)
        return SMP_ENOMEM;
    atomic_init(&plan->holds, 1);
    plan->quota = smp_quota_hold(quota);
    plan->max_bytes = quota != NULL ? quota->limit_bytes : SIZE_MAX;
    plan->max_methods = SMP_PLAN_MAX_METHODS;
    plan->look_ahead = SMP_PLAN_LOOK_AHEAD;
    status = smp_root_rules_create(quota, roots, &plan->rules);
    if (status == SMP_OK)
        status = smp_call_filter_create(quota, filter, &plan->filter);
    if (status == SMP_OK)
        *out = plan;
    else
        smp_counting_plan_release(plan);
    return status;
}

struct smp_counting_plan *smp_counting_plan_hold(struct smp_counting_plan *plan)
{
    atomic_fetch_add(&plan->holds, 1);
    return plan;
}

void smp_counting_plan_release(struct smp_counting_plan *plan)
{
    struct smp_quota *quota = NULL;

    if (plan == NULL || atomic_fetch_sub(&plan->holds, 1) > 1)
        return;
    quota = plan->quota;
    smp_call_filter_destroy(plan->filter);
    smp_root_rules_destroy(plan->rules);
    smp_free(quota, plan);
    smp_quota_release(quota);
}
