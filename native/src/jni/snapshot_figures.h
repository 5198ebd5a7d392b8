/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_figures.h - what Java asks of a snapshot, as arrays of long in the order that
 * NativeBridge documents.
 *
 * Owns     nothing.
 * Threads  any; the snapshot is immutable.
 * Errors   SMP_ENOMEM, SMP_EQUOTA where working memory is needed.
 * Cost     figures, groups: a pass over the nodes. account: constant.
 */
#ifndef SMP_JNI_SNAPSHOT_FIGURES_H
#define SMP_JNI_SNAPSHOT_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "model/snapshot.h"
#include "report/hot_groups.h"

enum smp_jni_snapshot_figure {
    SMP_JNI_SNAPSHOT_FROM_MS,
    SMP_JNI_SNAPSHOT_TILL_MS,
    SMP_JNI_SNAPSHOT_ELAPSED_NS,
    SMP_JNI_SNAPSHOT_OWN_CPU_NS,
    SMP_JNI_SNAPSHOT_MEMORY_USED,
    SMP_JNI_SNAPSHOT_MEMORY_LIMIT,
    SMP_JNI_SNAPSHOT_ATTEMPTS,
    SMP_JNI_SNAPSHOT_GROUPS,
    SMP_JNI_SNAPSHOT_NODES,
    SMP_JNI_SNAPSHOT_WALL_NS,
    SMP_JNI_SNAPSHOT_CPU_NS,
    SMP_JNI_SNAPSHOT_SAMPLES,
    SMP_JNI_SNAPSHOT_FIGURE_COUNT
};

enum smp_jni_group_figure {
    SMP_JNI_GROUP_WALL_NS,
    SMP_JNI_GROUP_CPU_NS,
    SMP_JNI_GROUP_SAMPLES,
    SMP_JNI_GROUP_THREADS,
    SMP_JNI_GROUP_MAX_DEPTH,
    SMP_JNI_GROUP_ATTEMPTS,
    SMP_JNI_GROUP_FIGURE_COUNT
};

enum {
    SMP_JNI_ACCOUNT_COUNT = SMP_OUTCOME_COUNT + SMP_COUNTER_COUNT,
    SMP_JNI_ACCOUNT_NAME_BYTES = 128
};

void smp_jni_snapshot_figures(const struct smp_snapshot *snapshot,
                              const struct smp_hot_groups *groups,
                              int64_t values[SMP_JNI_SNAPSHOT_FIGURE_COUNT]);
/* values has room for SMP_JNI_GROUP_FIGURE_COUNT of each group. */
SMP_CHECKED enum smp_status smp_jni_group_figures(const struct smp_snapshot *snapshot,
                                                  const struct smp_hot_groups *groups,
                                                  int64_t *values);
void smp_jni_account_values(const struct smp_snapshot *snapshot,
                            int64_t values[SMP_JNI_ACCOUNT_COUNT]);
void smp_jni_account_name(size_t index, char name[SMP_JNI_ACCOUNT_NAME_BYTES]);

#endif
