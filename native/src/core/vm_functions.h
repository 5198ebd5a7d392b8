/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_functions.h - the JVM as the core sees it: all that vm/ and jni/ implement, in one struct.
 *
 * Owns     nothing.
 * Threads  as walker.h says.
 * Errors   none.
 * Cost     none.
 */
#ifndef SMP_CORE_VM_FUNCTIONS_H
#define SMP_CORE_VM_FUNCTIONS_H

#include "core/walker.h"
#include "model/sample.h"

/* namer.group_names is used only while options say !default_name_rule. */
struct smp_vm {
    struct smp_thread_source threads;
    struct smp_walker walker;
    struct smp_cpu_timers cpu;     /* all NULL: clock CPU is not to be had */
    struct smp_async_walker async; /* all NULL: every stack is walked by walker */
    struct smp_name_source names;
    struct smp_namer namer;
    struct smp_task_source tasks; /* all NULL: the JVM's own threads are not reported */
};

#endif
