/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm_tasks.h - the process's threads as the operating system sees them: what those used that are
 * no Java threads, and whether one of them wants a CPU.
 *
 * A thread's kind follows from its name (comm), which the JVM sets: whole up to 15 characters,
 * of longer ones the first 15, or "1234567..123456". So a kind is told by the first few characters.
 * The whole name is found in a list of those the JVM gives; of "C2 CompilerThread0" the number is
 * lost where the system has the first 15 characters only.
 *
 * Owns     what each thread had used at the last read.
 * Threads  one at a time.
 * Errors   create: SMP_ENOMEM. read: where /proc cannot be read, or there is no memory, nothing is
 *          told; what was used is told by the next read.
 * Cost     read: a directory scan, one clock per thread that is not Java's, one file per new one.
 *          is_runnable: one file (about 3 us).
 */
#ifndef SMP_VM_JVM_TASKS_H
#define SMP_VM_JVM_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "core/walker.h"

enum { SMP_JVM_TASKS_MAX = 65536, SMP_JVM_TASK_NAME_BYTES = 32 };

struct smp_jvm_tasks;

SMP_CHECKED enum smp_status smp_jvm_tasks_create(struct smp_jvm_tasks **out);
void smp_jvm_tasks_destroy(struct smp_jvm_tasks *tasks); /* NULL is fine */
/* Valid until destroy. */
struct smp_task_source smp_jvm_tasks_source(struct smp_jvm_tasks *tasks);

enum smp_task_kind smp_jvm_task_kind(const char *name);
/* The whole name for a comm, or the comm itself. */
void smp_jvm_task_whole_name(const char *comm, char name[SMP_JVM_TASK_NAME_BYTES]);

#endif
