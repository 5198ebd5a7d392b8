/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exception.h - walks from a frame whose exception handler is being searched by C1's runtime stub
 * handle_exception_from_callee. C1's code calls the stub with the exception's pc in a register.
 * That pc is the return address of the call that threw:
 *
 *   in the method, at the call            the exception's pc is in the register
 *   in the stub, before it calls the JVM  the stub's return address follows the call of the stub;
 *                                         the exception's pc is in the register
 *   then, and in the JVM                  the stub's return address is the exception's pc
 *   after it, until the stub jumps        the stub's return address is the handler, which does not
 *                                         follow a call; the exception's pc is in the JVM's thread
 *                                         object
 *
 * The walk begins at the exception's pc, so that it reports the line of the call that threw.
 *
 * Threads  the interrupted thread. Nothing here allocates, locks or calls into the JVM.
 * Errors   false: the pc is somewhere else, or no walk reaches the thread's root. Always false on
 *          processors whose calls leave the return address in a register.
 * Cost     at_call: reads the code, and searches the code map if it is a call. in_stub: at most
 *          four walks.
 */
#ifndef SMP_HANDLER_EXCEPTION_H
#define SMP_HANDLER_EXCEPTION_H

#include <stdbool.h>

#include "handler/one_walk.h"

/* For a pc in a compiled method. */
bool smp_exception_walk_at_call(struct smp_walk *walk, const struct smp_blob *method);
/* For a pc in a stub, which is NULL if unknown. The leaf is the stub's name. */
bool smp_exception_walk_in_stub(struct smp_walk *walk, const struct smp_code_piece *stub);

#endif
