/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_quota.h - how long the process's control group was stopped because it had used its CPU quota,
 * as the kernel counts it in cpu.stat (versions 1 and 2).
 *
 * Of groups above it nothing is read.
 *
 * Threads  one at a time.
 * Errors   0: no group, no quota, or the files cannot be read.
 * Cost     two small files.
 */
#ifndef SMP_JVM_THREADS_CPU_QUOTA_H
#define SMP_JVM_THREADS_CPU_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SMP_CPU_QUOTA_PATH_BYTES = 4096 };

int64_t smp_cpu_quota_throttled_ns(void);

/* groups: the text of /proc/self/cgroup. False: it names no group with CPU figures. */
bool smp_cpu_quota_path(const char *groups, char *out, size_t size);
/* stat: the text of cpu.stat. */
int64_t smp_cpu_quota_parse(const char *stat);

#endif
