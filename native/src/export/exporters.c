/* SPDX-License-Identifier: Apache-2.0 */
#include "export/exporters.h"

#include "export/export_writers.h"
#include "model/profile_merge.h"

static enum smp_status (*const writers[SMP_FORMAT_COUNT])(const struct smp_export_job *job) = {
    [SMP_FORMAT_TEXT] = smp_export_text,   [SMP_FORMAT_COLLAPSED] = smp_export_collapsed,
    [SMP_FORMAT_PPROF] = smp_export_pprof, [SMP_FORMAT_SPEEDSCOPE] = smp_export_speedscope,
    [SMP_FORMAT_JSON] = smp_export_json,   [SMP_FORMAT_TOP] = smp_export_top,
    [SMP_FORMAT_OTLP] = smp_export_otlp,   [SMP_FORMAT_CALLS] = smp_export_calls,
};

/* The arguments come from Java and may be any number. */
static bool is_known_export(enum smp_format format, const struct smp_export_style *style)
{
    return (unsigned)format < SMP_FORMAT_COUNT && (unsigned)style->measure < SMP_MEASURE_COUNT &&
           (unsigned)style->per <= SMP_PER_PACKAGE;
}

static enum smp_status export_as(const struct smp_profile *profile, const struct smp_profile *whole,
                                 enum smp_format format, const struct smp_export_style *style,
                                 struct smp_quota *quota, const struct smp_output *output)
{
    struct smp_hot_groups groups[SMP_GROUP_KINDS] = { 0 };
    struct smp_writer out = { 0 };
    const struct smp_export_job job = { .profile = profile,
                                        .whole = whole,
                                        .style = style,
                                        .quota = quota,
                                        .groups = groups,
                                        .out = &out };
    enum smp_status status;
    enum smp_status written;

    status = smp_writer_init(&out, quota, output);
    if (status != SMP_OK)
        goto done;
    status = smp_hot_groups_init_all(groups, quota, profile);
    if (status != SMP_OK)
        goto done;
    status = writers[format](&job);
    written = smp_writer_finish(&out);
    if (status == SMP_OK)
        status = written;
done:
    smp_hot_groups_fini_all(groups);
    smp_writer_fini(&out);
    return status;
}

enum smp_status smp_export(const struct smp_profile *profile, enum smp_format format,
                           const struct smp_export_style *style, struct smp_quota *quota,
                           const struct smp_output *output)
{
    struct smp_profile *folded = NULL;
    enum smp_status status;

    if (!is_known_export(format, style))
        return SMP_EINVAL;
    /* Without memory for the folded profile all levels of a recursion are written. */
    if (style->fold_recursion && format != SMP_FORMAT_CALLS)
        (void)!smp_profile_fold_recursion(quota, profile, &folded);
    status = export_as(folded != NULL ? folded : profile, profile, format, style, quota, output);
    smp_profile_release(folded);
    return status;
}
