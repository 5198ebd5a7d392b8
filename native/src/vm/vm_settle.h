/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_settle.h - finds the tids of registered threads that were there before us, and tries again,
 * at growing intervals, for those that could not be told apart. One that turns out to have ended
 * is told so: its ThreadEnd may have come before the scan registered it.
 *
 * Owns     nothing.
 * Threads  any attached one; of several at once one does it.
 * Errors   none: what was not found is tried again.
 * Cost     nothing to do, or not due: two loads. Else vm_tids.h.
 */
#ifndef SMP_VM_VM_SETTLE_H
#define SMP_VM_VM_SETTLE_H

#include "vm/vm_registry.h"

/* The next settle is due at once. */
void smp_vm_settle_restart(void);
/* dispose: of an entry that was held last by us. */
void smp_vm_settle(struct smp_vm_registry *registry, void (*dispose)(struct smp_vm_thread *entry));

#endif
