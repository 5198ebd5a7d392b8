/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exception.h - walks from the frame that an exception passes while C1's runtime stub
 * handle_exception_from_callee looks for its handler. A method that C1 has compiled calls the stub
 * with the exception's pc, which is the return address of the call that threw, in a register:
 *
 *   in the method, at the call            the exception's pc is in the register
 *   in the stub, before it calls the JVM  the stub's return address still follows the call; the
 *                                         exception's pc is in the register
 *   then, and in the JVM                  the stub's return address is the exception's pc
 *   after it, until the stub jumps        the stub's return address is the handler's, which no
 *                                         call precedes; the JVM's thread object still has the
 *                                         exception's pc
 *
 * The walk begins at the exception's pc, so the line is that of the call that threw.
 *
 * Threads  the interrupted thread. Nothing here allocates, locks or calls into the JVM.
 * Errors   false: the pc is elsewhere, or no walk reaches the thread's root. Always on processors
 *          whose calls leave the return address in a register.
 * Cost     at_call: reads the code, and searches the code map if that is a call. in_stub: at most
 *          four walks.
 */
#ifndef SMP_HANDLER_EXCEPTION_H
#define SMP_HANDLER_EXCEPTION_H

#include <stdbool.h>

#include "handler/one_walk.h"

/* The pc is in a compiled method. */
bool smp_exception_walk_at_call(struct smp_walk *walk, const struct smp_blob *method);
/* The pc is in a stub; NULL: not known. The leaf is the stub's name. */
bool smp_exception_walk_in_stub(struct smp_walk *walk, const struct smp_code_piece *stub);

#endif
