/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol.h - a symbol the JVM exports.
 *
 * Threads  any.
 * Errors   NULL: there is none.
 * Cost     a look-up in the dynamic linker's tables.
 */
#ifndef SMP_JVM_AGENT_SYMBOL_H
#define SMP_JVM_AGENT_SYMBOL_H

void *smp_symbol(const char *name);

#endif
