/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_counts.h - what a profile knows of counted calls beside its trees; an interval and a
 * merge gather it, and hand it to the profile they make.
 *
 * Owns     its parts, each made when the first of it is added.
 * Threads  one writer; any number of readers once it is part of a profile.
 * Errors   as root_times.h, caller_calls.h and counting_account.h.
 */
#ifndef SMP_MODEL_PROFILE_COUNTS_H
#define SMP_MODEL_PROFILE_COUNTS_H

#include <stdbool.h>

#include "model/caller_calls.h"
#include "model/counting_account.h"
#include "model/root_times.h"

/* All zero: nothing was counted. */
struct smp_profile_counts {
    struct smp_root_times *root_times;     /* of nodes of counted trees; NULL: none */
    struct smp_counting_account *account;  /* NULL unless calls are counted */
    struct smp_caller_calls *caller_calls; /* NULL: none */
    /* Wall clock: when counting began, or began anew, within the interval; 0: with it. */
    int64_t begin_ms;
    bool is_anew; /* a reset: what intervals before this one have counted does not hold */
};

void smp_profile_counts_fini(struct smp_profile_counts *counts);

/* The tree was folded (tree_fold.h). */
void smp_profile_counts_renumber(struct smp_profile_counts *counts, const uint32_t *places);

SMP_CHECKED enum smp_status smp_profile_counts_add_root_time(struct smp_profile_counts *counts,
                                                             struct smp_quota *quota,
                                                             const struct smp_root_time *time);
SMP_CHECKED enum smp_status smp_profile_counts_add_caller(struct smp_profile_counts *counts,
                                                          struct smp_quota *quota,
                                                          const struct smp_caller_call *call);
SMP_CHECKED enum smp_status smp_profile_counts_add_account(struct smp_profile_counts *counts,
                                                           struct smp_quota *quota,
                                                           const struct smp_counting_account *more);

#endif
