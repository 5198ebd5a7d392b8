/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_figures.h - a profile's figures for Java, as arrays of long in the order that
 * NativeBridge documents.
 *
 * Threads  any; the profile is immutable.
 * Cost     groups: constant for each group. The others: constant.
 */
#ifndef SMP_JNI_PROFILE_FIGURES_H
#define SMP_JNI_PROFILE_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "export/hot_groups.h"
#include "export/hot_lines.h"
#include "model/profile.h"

enum smp_jni_profile_figure {
    SMP_JNI_PROFILE_FROM_MS,
    SMP_JNI_PROFILE_TILL_MS,
    SMP_JNI_PROFILE_ELAPSED_NS,
    SMP_JNI_PROFILE_OWN_CPU_NS,
    SMP_JNI_PROFILE_MEMORY_USED,
    SMP_JNI_PROFILE_MEMORY_LIMIT,
    SMP_JNI_PROFILE_POLLS,
    SMP_JNI_PROFILE_GROUPS,
    SMP_JNI_PROFILE_NODES,
    SMP_JNI_PROFILE_AMOUNTS, /* from here on: of each measure the total */
    SMP_JNI_PROFILE_FIGURE_COUNT = SMP_JNI_PROFILE_AMOUNTS + SMP_MEASURE_COUNT
};

enum smp_jni_group_figure {
    SMP_JNI_GROUP_THREADS,
    SMP_JNI_GROUP_MAX_DEPTH,
    SMP_JNI_GROUP_POLLS,
    SMP_JNI_GROUP_AMOUNTS, /* from here on: of each measure the total */
    SMP_JNI_GROUP_FIGURE_COUNT = SMP_JNI_GROUP_AMOUNTS + SMP_MEASURE_COUNT
};

enum {
    SMP_JNI_ACCOUNT_COUNT = SMP_OUTCOME_COUNT + SMP_COUNTER_COUNT,
    SMP_JNI_ACCOUNT_NAME_BYTES = 128
};

void smp_jni_profile_figures(const struct smp_profile *profile, const struct smp_hot_groups *groups,
                             int64_t values[SMP_JNI_PROFILE_FIGURE_COUNT]);
/* values has room for SMP_JNI_GROUP_FIGURE_COUNT of each group. */
void smp_jni_group_figures(const struct smp_profile *profile, const struct smp_hot_groups *groups,
                           int64_t *values);
void smp_jni_account_values(const struct smp_profile *profile,
                            int64_t values[SMP_JNI_ACCOUNT_COUNT]);
void smp_jni_account_name(size_t index, char name[SMP_JNI_ACCOUNT_NAME_BYTES]);

#endif
