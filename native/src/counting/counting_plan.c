/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/counting_plan.h"

#include <string.h>

enum smp_status smp_counting_plan_create(struct smp_quota *quota, const char *roots,
                                         const char *filter, struct smp_counting_plan **out)
{
    struct smp_counting_plan *const plan = smp_alloc(quota, sizeof(*plan));

    if (plan == NULL)
        return SMP_ENOMEM;
    atomic_init(&plan->holds, 1);
    plan->quota = smp_quota_hold(quota);
    plan->max_bytes = quota != NULL ? quota->limit_bytes : SIZE_MAX;
    plan->max_methods = SMP_PLAN_MAX_METHODS;
    plan->look_ahead = SMP_PLAN_LOOK_AHEAD;
    plan->roots = smp_strndup(quota, roots, strlen(roots));
    plan->filter = smp_strndup(quota, filter, strlen(filter));
    if (plan->roots == NULL || plan->filter == NULL) {
        smp_counting_plan_release(plan);
        return SMP_ENOMEM;
    }
    *out = plan;
    return SMP_OK;
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
    smp_free(quota, plan->filter);
    smp_free(quota, plan->roots);
    smp_free(quota, plan);
    smp_quota_release(quota);
}
