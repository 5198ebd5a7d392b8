/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign_record.h - recognizes a debug record that has the line of another place of its method.
 *
 * C2 writes a record where an instruction ends. One that takes no bytes, as "the thread's object",
 * which always is in a register, ends where the instruction before it does, and takes that one's
 * place. C2 shares it among all that need the thread's object, so its line is that of the first
 * one: of Thread.currentThread(), say, in another inlined method. A poll of a safepoint needs it:
 *
 *   0x7ba  call *%r10             System.nanoTime() of a loop, line 253: its record was at 0x7c5
 *   0x7c5                         the thread's object: line 207, of the loop's caller, at 0x7c5
 *   0x7c5  mov 0x30(%r15), %r10   address of the page; other instructions may follow
 *   0x7c9  test %eax, (%r10)      the poll's own record, line 253
 *
 * What is before the poll then has the poll's line: the record at the load is not believed.
 * Other instructions that need the thread's object are not looked for: their own line is not
 * always that of what is before them.
 *
 * Threads  any, signal handlers included.
 * Cost     constant.
 */
#ifndef SMP_HOTSPOT_FOREIGN_RECORD_H
#define SMP_HOTSPOT_FOREIGN_RECORD_H

#include "hotspot/code.h"

/*
 * Of a record at this offset in the code of a compiled method: the offset of the poll's record,
 * which counts in its place; 0: it is not foreign.
 */
int32_t smp_foreign_record_poll(const struct smp_blob *blob, int32_t offset);

#endif
