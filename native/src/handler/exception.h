/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exception.h - the frame that an exception passes while C1's runtime stub
 * handle_exception_from_callee looks for its handler. A method that C1 has compiled calls the stub
 * with the exception's pc, which is the return address of the call that threw, in a register:
 *
 *   in the method, at the call            the register
 *   stub, before it calls the JVM         its return address still follows the call; the register
 *   then, and in the JVM                  its return address is the exception's pc
 *   after it, until the stub jumps        its return address is the handler's, which no call
 *                                         precedes; the JVM's thread object still has the
 *                                         exception's pc
 *
 * The frame is walked at the exception's pc: its line is that of the call that threw.
 *
 * Threads  the interrupted thread. Nothing here allocates, locks or calls into the JVM.
 * Errors   false: not there, or no walk reaches the thread's root. Also on processors where a call
 *          leaves its return address in a register.
 * Cost     at_call: a look at the code, and a search of the code map where that is a call. in_stub:
 *          at most four walks.
 */
#ifndef SMP_HANDLER_EXCEPTION_H
#define SMP_HANDLER_EXCEPTION_H

#include <stdbool.h>

#include "handler/one_walk.h"

/* In a compiled method. */
bool smp_exception_walk_at_call(struct smp_walk *walk, const struct smp_blob *method);
/* In a stub, this one or another; NULL: not known. The leaf is the stub's name. */
bool smp_exception_walk_in_stub(struct smp_walk *walk, const struct smp_code_piece *stub);

#endif
