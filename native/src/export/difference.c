/* SPDX-License-Identifier: Apache-2.0 */
#include "export/difference.h"

#include <string.h>

#include "export/difference_writers.h"

/* Both may come from another language: any number. */
static bool is_known_difference(enum smp_format format, enum smp_measure measure)
{
    return (format == SMP_FORMAT_COLLAPSED || format == SMP_FORMAT_JSON) &&
           (unsigned)measure < SMP_MEASURE_COUNT;
}

static enum smp_status find_groups(struct smp_difference_job *job)
{
    enum smp_status status = SMP_OK;

    for (int side = 0; side < SMP_DIFF_SIDES && status == SMP_OK; side++) {
        const struct smp_profile *const profile = job->profiles[side];
        if (profile == NULL)
            continue;
        status = smp_hot_groups_init(&job->groups[side], job->quota, profile, SMP_GROUP_SAMPLED);
        if (status == SMP_OK)
            status =
                smp_hot_groups_init(&job->counted[side], job->quota, profile, SMP_GROUP_COUNTED);
    }
    return status;
}

enum smp_status smp_export_difference(const struct smp_profile *const profiles[SMP_DIFF_SIDES],
                                      enum smp_format format, enum smp_measure measure,
                                      struct smp_quota *quota, const struct smp_output *output)
{
    const bool is_lines = format == SMP_FORMAT_COLLAPSED;
    struct smp_writer out = { 0 };
    struct smp_difference_job job = { .measure = measure, .quota = quota, .out = &out };
    enum smp_status status;
    enum smp_status written;

    if (!is_known_difference(format, measure))
        return SMP_EINVAL;
    memcpy(job.profiles, profiles, sizeof(job.profiles));
    status = smp_writer_init(&out, quota, output);
    if (status == SMP_OK)
        status = find_groups(&job);
    if (status == SMP_OK)
        status = smp_profile_diff_create(quota, profiles, is_lines, &job.diff);
    if (status != SMP_OK)
        goto done;
    status = is_lines ? smp_difference_lines(&job) : smp_difference_tree(&job);
    written = smp_writer_finish(&out);
    if (status == SMP_OK)
        status = written;
done:
    smp_profile_diff_destroy(job.diff);
    for (int side = 0; side < SMP_DIFF_SIDES; side++) {
        smp_hot_groups_fini(&job.counted[side]);
        smp_hot_groups_fini(&job.groups[side]);
    }
    smp_writer_fini(&out);
    return status;
}
