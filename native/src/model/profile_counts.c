/* SPDX-License-Identifier: Apache-2.0 */
#include "model/profile_counts.h"

void smp_profile_counts_fini(struct smp_profile_counts *counts)
{
    smp_root_times_destroy(counts->root_times);
    smp_caller_calls_destroy(counts->caller_calls);
    smp_counting_account_destroy(counts->account);
}

void smp_profile_counts_renumber(struct smp_profile_counts *counts, const uint32_t *places)
{
    if (counts->root_times != NULL)
        smp_root_times_renumber(counts->root_times, places);
    if (counts->caller_calls != NULL)
        smp_caller_calls_renumber(counts->caller_calls, places);
}

enum smp_status smp_profile_counts_add_root_time(struct smp_profile_counts *counts,
                                                 struct smp_quota *quota,
                                                 const struct smp_root_time *time)
{
    enum smp_status status = SMP_OK;

    if (counts->root_times == NULL)
        status = smp_root_times_create(quota, &counts->root_times);
    return status == SMP_OK ? smp_root_times_add(counts->root_times, time) : status;
}

enum smp_status smp_profile_counts_add_caller(struct smp_profile_counts *counts,
                                              struct smp_quota *quota,
                                              const struct smp_caller_call *call)
{
    enum smp_status status = SMP_OK;

    if (counts->caller_calls == NULL)
        status = smp_caller_calls_create(quota, &counts->caller_calls);
    return status == SMP_OK ? smp_caller_calls_add(counts->caller_calls, call) : status;
}

enum smp_status smp_profile_counts_add_account(struct smp_profile_counts *counts,
                                               struct smp_quota *quota,
                                               const struct smp_counting_account *more)
{
    enum smp_status status = SMP_OK;

    if (counts->account == NULL)
        status = smp_counting_account_create(quota, &counts->account);
    return status == SMP_OK ? smp_counting_account_merge(counts->account, more) : status;
}
