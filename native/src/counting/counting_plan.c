/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/counting_plan.h"

#include <string.h>

enum { ROOTS, FILTER };

static enum smp_status read_rules(struct smp_counting_plan *plan)
{
    const char *list = plan->texts[ROOTS];
    const size_t count = smp_slice_count_parts(list);
    struct smp_slice part = { 0 };

    if (count == 0)
        return SMP_OK;
    plan->rules = smp_alloc(plan->quota, count * sizeof(*plan->rules));
    if (plan->rules == NULL)
        return SMP_ENOMEM;
    while (smp_slice_next_part(&list, &part))
        plan->rules[plan->rule_count++] = smp_root_rule_read(part);
    return SMP_OK;
}

static enum smp_status read_lists(struct smp_counting_plan *plan, const char *roots,
                                  const char *filter)
{
    plan->texts[ROOTS] = smp_strndup(plan->quota, roots, strlen(roots));
    plan->texts[FILTER] = smp_strndup(plan->quota, filter, strlen(filter));
    if (plan->texts[ROOTS] == NULL || plan->texts[FILTER] == NULL ||
        !smp_call_filter_open(&plan->filter, plan->quota, plan->texts[FILTER]))
        return SMP_ENOMEM;
    return read_rules(plan);
}

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
    status = read_lists(plan, roots, filter);
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
    smp_call_filter_close(&plan->filter, quota);
    smp_free(quota, plan->rules);
    smp_free(quota, plan->texts[FILTER]);
    smp_free(quota, plan->texts[ROOTS]);
    smp_free(quota, plan);
    smp_quota_release(quota);
}
