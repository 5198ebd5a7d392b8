/* SPDX-License-Identifier: Apache-2.0 */
/*
 * super_call.h - finds the super() or this() call of a constructor, behind which "this" is
 * initialised.
 *
 * The verifier refuses a handler that covers code before that call. The call is the first
 * invokespecial of an <init> without a matching "new" before it. The code behind it counts as
 * initialised only if no jump and no handler leads there past the call, and no frame behind it has
 * an uninitialised "this": a wrong result would be a VerifyError in the application.
 *
 * Threads  any.
 * Errors   0 if anything is in doubt.
 * Cost     one pass over the code and the frames.
 */
#ifndef SMP_CLASSFILE_SUPER_CALL_H
#define SMP_CLASSFILE_SUPER_CALL_H

#include <stdint.h>

#include "classfile/class_file.h"

/* Returns the offset behind the call; 0: not known, or no code follows. method is a constructor
 * whose code has only known instructions. */
uint32_t smp_super_call_end(const struct smp_class_file *file,
                            const struct smp_class_method *method);

#endif
