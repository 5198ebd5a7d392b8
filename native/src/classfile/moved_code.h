/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moved_code.h - writes a method's Code attribute anew, with its probes: every jump and switch, the
 * exception table, line numbers, local variables and stack maps are made right again.
 *
 *   old   0: iload_1      new    0: probe of the entry
 *         1: ifeq 6              6: iload_1                a jump to 0 comes here
 *         4: iconst_1            7: ifeq 18
 *         5: ireturn            10: iconst_1
 *         6: ...                11: probe of the exit      a jump to 5 comes here
 *                               17: ireturn
 *                               18: ...
 *                         body_end: probe of the exit, athrow      the handler, if there is one
 *
 * A method that only hands out at its entry has neither probes of the exit nor a handler. If the
 * probe of the entry stands later in the code, a nop takes its place.
 *
 * A method that catches an exception has a probe there, too: it tells the hook that the method runs
 * again, and that all calls below it are over.
 *
 *   try { parse(); } catch (RuntimeException e) { report(e); }
 *                                               ^ here
 *
 * The place of that probe is before the handler's first instruction, with the exception on the
 * stack. Code may also jump to the place; the probe does nothing then. The probe's call fails if
 * the stack is full, and must not return to itself for ever: so all handlers that cover the place
 * stand behind it in the code. Handlers of "finally" from old compilers cover their own first
 * instruction; if that is a store or a pop, the place is behind it. A handler that covers more of
 * itself has no place, as that of "synchronized", which releases the lock and throws again.
 *
 * The handler has the last row of the exception table, and the last frame of the StackMapTable: a
 * full one without locals, with an exception on the stack. Type annotations of code are dropped,
 * unknown attributes are copied.
 *
 * Owns     no memory; the map is the caller's.
 * Threads  one at a time.
 * Errors   a result other than DONE: the method is left alone. After a failed write, any result.
 * Cost     two passes over the code, one over its tables; for each handler one over the exception
 *          table.
 */
#ifndef SMP_CLASSFILE_MOVED_CODE_H
#define SMP_CLASSFILE_MOVED_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "classfile/class_file.h"
#include "classfile/probes.h"

enum { SMP_CATCH_MOST_ROWS = 1024 }; /* a method with more handlers has no probes of catches */

struct smp_moved_code {
    const struct smp_class_file *file;
    const struct smp_class_code *code; /* as it was */
    const struct smp_probe_pool *pool;
    const struct smp_probe *probe;
    struct smp_bytes *out;
    uint32_t entry;        /* old offset of the instruction that the probe of the entry precedes */
    uint32_t covered_from; /* old offset of the first instruction that the handler covers */
    bool has_handler;
    bool is_constructor;
    /* By old offset, length + 1 of them: where a jump to it lands now. 0: no instruction begins
     * there. */
    uint16_t *map;
    size_t start;      /* of the code in out */
    uint32_t body_end; /* of what was moved; the handler begins here */
};

/* Writes the contents of the attribute. The caller sets all but start and body_end. */
enum smp_rewrite smp_moved_code_write(struct smp_moved_code *moved);

/* The number of handlers that are searched for places of catches. */
static inline uint32_t smp_moved_catch_rows(const struct smp_class_code *code)
{
    return code->exception_count <= SMP_CATCH_MOST_ROWS ? code->exception_count : 0;
}

#endif
