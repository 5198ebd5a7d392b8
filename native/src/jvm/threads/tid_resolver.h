/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tid_resolver.h - finds the tids of registered threads that were there before us, and tries again,
 * at growing intervals, for those that could not be told apart. One that turns out to have ended
 * is told so: its ThreadEnd may have come before the scan registered it.
 *
 * Owns     nothing.
 * Threads  any attached one; of several at once one does it.
 * Errors   none: what was not found is tried again.
 * Cost     nothing to do, or not due: two loads. Else tids.h.
 */
#ifndef SMP_JVM_THREADS_TID_RESOLVER_H
#define SMP_JVM_THREADS_TID_RESOLVER_H

#include "jvm/threads/registry.h"

/* The next settle is due at once. */
void smp_tid_resolver_restart(void);
/* dispose: of an entry that was held last by us. */
void smp_tid_resolver_run(struct smp_registry *registry,
                          void (*dispose)(struct smp_jvm_thread *entry));

#endif
