/* SPDX-License-Identifier: Apache-2.0 */
/*
 * super_call.h - from where on "this" is initialised in a constructor: behind its super() or
 * this() call.
 *
 * The verifier refuses a handler that covers code before that call. The call is the first
 * invokespecial of an <init> that no "new" before it accounts for. The code behind it counts as
 * initialised only if no jump and no handler leads there past the call, and no frame behind it says
 * otherwise: a wrong answer would be a VerifyError in the application.
 *
 * Threads  any.
 * Errors   no answer, where any of it is in doubt.
 * Cost     one pass over the code and the frames.
 */
#ifndef SMP_CLASSFILE_SUPER_CALL_H
#define SMP_CLASSFILE_SUPER_CALL_H

#include <stdint.h>

#include "classfile/class_file.h"

/* The offset behind the call; 0: not known, or nothing follows. method is a constructor with code
 * whose instructions are known. */
uint32_t smp_super_call_end(const struct smp_class_file *file,
                            const struct smp_class_method *method);

#endif
