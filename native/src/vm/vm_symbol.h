/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_symbol.h - a symbol the JVM exports.
 *
 * Owns     nothing.
 * Threads  any.
 * Errors   NULL: there is none.
 * Cost     a look-up in the dynamic linker's tables.
 */
#ifndef SMP_VM_VM_SYMBOL_H
#define SMP_VM_VM_SYMBOL_H

void *smp_vm_symbol(const char *name);

#endif
