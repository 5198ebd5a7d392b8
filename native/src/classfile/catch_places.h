/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catch_places.h - where a method catches an exception: there a probe says that the method runs
 * again, and that all calls below it are over.
 *
 *   try { parse(); } catch (RuntimeException e) { report(e); }
 *                                               ^ here
 *
 * The place is the handler's first instruction: the exception is on the stack there. The probe's
 * own call fails where the stack is full, and no handler may send it back to itself then, for ever:
 * of the handlers that cover a place all come later in the code. Where that is not so for the first
 * instruction, as it is not for the handlers of "finally" that old compilers made, the place may be
 * behind it, if it is a store or a pop. A handler that covers more of itself has no place: that of
 * "synchronized", which only lets go of the lock and throws the exception on.
 *
 * Code may also jump to a place. The probe does nothing then.
 *
 * Threads  any.
 * Errors   a method with more than SMP_CATCH_MOST_ROWS handlers has no places.
 * Cost     for each handler a pass over the exception table.
 */
#ifndef SMP_CLASSFILE_CATCH_PLACES_H
#define SMP_CLASSFILE_CATCH_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "classfile/class_file.h"

enum { SMP_CATCH_MOST_ROWS = 1024 };

struct smp_catch_place {
    uint16_t pc;
    bool has_exception; /* on the stack; false: what is there is not known */
};

/* By their offsets, each once. places has room for as many as smp_catch_places_most says. */
uint32_t smp_catch_places_find(const struct smp_class_file *file, const struct smp_class_code *code,
                               struct smp_catch_place *places);

static inline uint32_t smp_catch_places_most(const struct smp_class_code *code)
{
    return code->exception_count <= SMP_CATCH_MOST_ROWS ? code->exception_count : 0;
}

#endif
