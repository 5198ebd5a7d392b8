/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_supply.h - the CPU time that this process may use and cannot get, as the kernel says: the
 * quota of its control group (versions 1 and 2), how long the group was stopped because it had used
 * its quota, what the machine's CPUs have worked, and what a virtual machine's host has taken from
 * them.
 *
 * The time for which groups above the process's own were stopped is not read.
 *
 * Threads  any.
 * Errors   0: no group, no quota, or the files cannot be read.
 * Cost     throttled_ns: two small files. quota_milli: up to two more for each group above the
 *          process's own. machine_time: 20 us with two CPUs; it grows with their number.
 */
#ifndef SMP_JVM_THREADS_CPU_SUPPLY_H
#define SMP_JVM_THREADS_CPU_SUPPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/jvm.h"

enum { SMP_CPU_QUOTA_PATH_BYTES = 4096 };

int64_t smp_cpu_quota_throttled_ns(void);
/* Returns the smallest quota of the group and of those above it, in thousandths of a CPU. */
uint32_t smp_cpu_quota_milli(void);
void smp_machine_time_read(struct smp_machine_time *out);

/* groups: the text of /proc/self/cgroup. Returns false if it names no group with CPU figures. */
bool smp_cpu_quota_folder(const char *groups, char *out, size_t size);
/* stat: the text of cpu.stat. */
int64_t smp_cpu_quota_parse(const char *stat);
/* quota, period: microseconds, as text. A quota that is not a number counts as no quota. */
uint32_t smp_cpu_quota_parse_milli(const char *quota, const char *period);
/* stat: the first line of /proc/stat, "cpu <user> <nice> <system> <idle> <iowait> <irq> <softirq>
 * <stolen> ...", in units of ns_per_tick. Any other text gives zeros. */
void smp_machine_time_parse(const char *stat, int64_t ns_per_tick, struct smp_machine_time *out);

#endif
