/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_writers.h - one writer per format; exporters.c has the table of them.
 *
 * Threads  any; the profile is immutable.
 * Errors   SMP_ENOMEM, SMP_EQUOTA: no working memory. out remembers a failure of the output, after
 *          which a writer may continue or stop.
 * Cost     see each .c.
 */
#ifndef SMP_EXPORT_EXPORT_WRITERS_H
#define SMP_EXPORT_EXPORT_WRITERS_H

#include "base/writer.h"
#include "export/hot_groups.h"
#include "export/style.h"
#include "export/tree_walk.h"

struct smp_export_job {
    const struct smp_profile *profile;
    const struct smp_profile *whole; /* the same profile before recursions were folded */
    const struct smp_export_style *style;
    struct smp_quota *quota;
    const struct smp_hot_groups *groups; /* by kind */
    struct smp_writer *out;
};

SMP_CHECKED enum smp_status smp_export_text(const struct smp_export_job *job);
SMP_CHECKED enum smp_status smp_export_collapsed(const struct smp_export_job *job);
SMP_CHECKED enum smp_status smp_export_pprof(const struct smp_export_job *job);
SMP_CHECKED enum smp_status smp_export_speedscope(const struct smp_export_job *job);
SMP_CHECKED enum smp_status smp_export_json(const struct smp_export_job *job);
SMP_CHECKED enum smp_status smp_export_top(const struct smp_export_job *job);
SMP_CHECKED enum smp_status smp_export_otlp(const struct smp_export_job *job);
SMP_CHECKED enum smp_status smp_export_calls(const struct smp_export_job *job);
/* Writes the table with at most `most` rows, as a part of TOP. */
SMP_CHECKED enum smp_status smp_calls_table_put(const struct smp_export_job *job, size_t most);

/* Returns whether calls are counted. */
static inline bool smp_export_has_counted(const struct smp_export_job *job)
{
    return job->groups[SMP_GROUP_COUNTED].count > 0;
}

/* Returns whether the profile holds the measure. */
static inline bool smp_export_holds(const struct smp_export_job *job, enum smp_measure measure)
{
    return (smp_tree_measures(job->profile->tree) & SMP_MEASURE_BIT(measure)) != 0;
}

/* Returns the title of the style's measure. With the CPU clock wall time is shown as CPU time. */
static inline const char *smp_export_measure_title(const struct smp_export_job *job)
{
    return smp_measure_info(smp_profile_measure(job->profile, job->style->measure))->title;
}

/* Returns the groups that a sum of the style's measure includes. */
static inline const struct smp_hot_groups *smp_export_weighed(const struct smp_export_job *job)
{
    return &job->groups[smp_profile_kind_of(job->style->measure)];
}

static inline const struct smp_group_info *
smp_export_group(const struct smp_export_job *job, const struct smp_hot_groups *groups, size_t rank)
{
    return smp_profile_group_info(job->profile, groups->indices[rank]);
}

/* Reads the own amounts of the current node; kind is that of its group. A counted group gets only
 * its calls, because a sampled group has the same time. Returns false if there is no amount. */
static inline bool smp_export_own_amounts(const struct smp_tree_walk *walk,
                                          enum smp_group_kind kind, struct smp_amounts *self)
{
    *self = smp_tree_self_all(walk->tree, smp_tree_walk_node(walk));
    if (kind == SMP_GROUP_COUNTED)
        smp_amounts_keep(self, SMP_OWN_MEASURES);
    return smp_amounts_has_any(self);
}

#endif
