/* SPDX-License-Identifier: Apache-2.0 */
/*
 * difference_writers.h - one writer per format of difference.h.
 *
 * Threads  any; the profiles are immutable.
 * Errors   SMP_ENOMEM, SMP_EQUOTA: no working memory. That the output refused is known to out.
 * Cost     see each .c.
 */
#ifndef SMP_EXPORT_DIFFERENCE_WRITERS_H
#define SMP_EXPORT_DIFFERENCE_WRITERS_H

#include "base/writer.h"
#include "export/exporters.h"
#include "export/hot_groups.h"
#include "model/profile_diff.h"

struct smp_difference_job {
    const struct smp_profile *profiles[SMP_DIFF_SIDES]; /* NULL: nothing was sampled */
    struct smp_hot_groups groups[SMP_DIFF_SIDES];       /* none where there is no profile */
    struct smp_hot_groups counted[SMP_DIFF_SIDES];      /* nor where no calls are counted */
    struct smp_profile_diff *diff;
    enum smp_measure measure;
    struct smp_quota *quota;
    struct smp_writer *out;
};

/* diff is by line. */
SMP_CHECKED enum smp_status smp_difference_lines(const struct smp_difference_job *job);
/* diff is by method. */
SMP_CHECKED enum smp_status smp_difference_tree(const struct smp_difference_job *job);

#endif
