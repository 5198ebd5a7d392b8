/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stay_mapped.h - keeps a library's file mapped after the JVM has unloaded it with its class
 * loader, because its code may still be called.
 *
 * Threads  any, but no signal handler.
 * Errors   false: the dynamic linker refuses.
 * Cost     a look-up among the mapped files.
 */
#ifndef SMP_BASE_STAY_MAPPED_H
#define SMP_BASE_STAY_MAPPED_H

#include <stdbool.h>

#include "base/status.h"

/* address: points to code or data of that library. */
SMP_CHECKED bool smp_stay_mapped(const void *address);

#endif
