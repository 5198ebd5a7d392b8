/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_quota.h - the CPU quota of the process's control group, and how long the group was stopped
 * because it had used it, as the kernel says them (versions 1 and 2).
 *
 * The time of groups above it is not read.
 *
 * Threads  any.
 * Errors   0: no group, no quota, or the files cannot be read.
 * Cost     two small files; milli: and up to two for each group above it.
 */
#ifndef SMP_JVM_THREADS_CPU_QUOTA_H
#define SMP_JVM_THREADS_CPU_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SMP_CPU_QUOTA_PATH_BYTES = 4096 };

int64_t smp_cpu_quota_throttled_ns(void);
/* The smallest quota of the group and of those above it, in thousandths of a CPU. */
uint32_t smp_cpu_quota_milli(void);

/* groups: the text of /proc/self/cgroup. False: it names no group with CPU figures. */
bool smp_cpu_quota_folder(const char *groups, char *out, size_t size);
/* stat: the text of cpu.stat. */
int64_t smp_cpu_quota_parse(const char *stat);
/* quota, period: microseconds, in text; a quota that is no number is none. */
uint32_t smp_cpu_quota_parse_milli(const char *quota, const char *period);

#endif
