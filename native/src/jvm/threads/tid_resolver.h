/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tid_resolver.h - finds the tids of registered threads that are older than the library, and tries
 * again, at growing intervals, for those that could not be distinguished. Ends the registry's entry
 * of a thread that turns out to have ended: its ThreadEnd may have come before the scan
 * registered it.
 *
 * Threads  any attached one; of several at once one does it.
 * Errors   a thread that was not found is tried again.
 * Cost     nothing to do, or too early: two loads. Else tids.h.
 */
#ifndef SMP_JVM_THREADS_TID_RESOLVER_H
#define SMP_JVM_THREADS_TID_RESOLVER_H

#include "jvm/threads/registry.h"

/* The next run does not wait. */
void smp_tid_resolver_restart(void);
/* dispose: of an entry whose last hold was given up here. */
void smp_tid_resolver_run(struct smp_registry *registry,
                          void (*dispose)(struct smp_jvm_thread *entry));

#endif
