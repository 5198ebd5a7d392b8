/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moved_code.h - writes a method's Code attribute with its probes, and corrects every jump and
 * switch, the exception table, line numbers, local variables and stack maps.
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
 * A method that only hands out objects at its entry has neither exit probes nor a handler. If the
 * entry probe comes later in the code, a nop is at offset 0.
 *
 * A method that catches an exception has a probe there, too. It tells the hook that the method
 * continues, and that all calls below it have ended.
 *
 *   try { parse(); } catch (RuntimeException e) { report(e); }
 *                                               ^ here
 *
 * That probe comes before the handler's first instruction, with the exception on the stack. If
 * code jumps there, the probe does nothing. The call in the probe fails if the stack is full. So
 * that this does not lead back to the probe for ever, all handlers that cover it must come behind
 * it in the code. Handlers of "finally" from old compilers cover their own first instruction; if
 * that is a store or a pop, the probe comes behind it. A handler that covers more of itself gets
 * no probe: for example the handler of "synchronized", which releases the lock and throws again.
 *
 * The added handler has the last row of the exception table and the last frame of the
 * StackMapTable: a full frame without locals and with an exception on the stack. Type annotations
 * of code are dropped, unknown attributes are copied.
 *
 * Owns     no memory; the map is the caller's.
 * Threads  one at a time.
 * Errors   with a result other than DONE the method is left alone. After a failed write the result
 *          may be any.
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
    uint32_t entry;        /* old offset of the instruction behind the entry probe */
    uint32_t covered_from; /* old offset of the first instruction that the handler covers */
    bool has_handler;
    bool is_constructor;
    /* By old offset, length + 1 entries: the new target of jumps there. 0: no instruction begins
     * there. */
    uint16_t *map;
    size_t start;      /* of the code in out */
    uint32_t body_end; /* of the moved code; the added handler begins here */
};

/* Writes the contents of the attribute. The caller sets all but start and body_end. */
enum smp_rewrite smp_moved_code_write(struct smp_moved_code *moved);

/* Returns the number of handlers that may get catch probes. */
static inline uint32_t smp_moved_catch_rows(const struct smp_class_code *code)
{
    return code->exception_count <= SMP_CATCH_MOST_ROWS ? code->exception_count : 0;
}

#endif
