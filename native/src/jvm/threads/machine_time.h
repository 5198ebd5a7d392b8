/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_time.h - what the machine's CPUs have worked, and what a virtual machine's host has taken
 * from them: the first line of /proc/stat.
 *
 * Threads  any.
 * Errors   both are 0: the file cannot be read, or has no such line.
 * Cost     20 us with two CPUs; it grows with their number.
 */
#ifndef SMP_JVM_THREADS_MACHINE_TIME_H
#define SMP_JVM_THREADS_MACHINE_TIME_H

#include "engine/jvm.h"

void smp_machine_time_read(struct smp_machine_time *out);

/* stat: "cpu <user> <nice> <system> <idle> <iowait> <irq> <softirq> <stolen> ...", in units of
 * ns_per_tick. */
void smp_machine_time_parse(const char *stat, int64_t ns_per_tick, struct smp_machine_time *out);

#endif
