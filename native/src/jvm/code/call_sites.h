/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_sites.h - finds the lines of array copies whose calls have no debug record of their own.
 *
 * The JVM gives an instruction the line of the next debug record. A call of Java code has a record
 * of its own, and so have most other calls. But the compiler inserts the call of a stub that copies
 * an array late, without a record. The next record may belong to any statement, so the copy would
 * be shown at another line.
 *
 *   call of the stub ... record: some other line      ...      record: System.arraycopy, line 33
 *        └── the JVM takes ───┘                                         └── this file takes
 *
 * A copy begins with checks, so the method mostly has a record of the copy: its byte code calls a
 * method that copies. If there are several such records, the nearest one is used.
 *
 * Owns     a cache of what byte codes call.
 * Threads  those of the JVM's events.
 * Errors   a copy without such a record gets no call site.
 * Cost     a pass over the code; for a copy without a record also the byte codes of all records,
 *          cached.
 */
#ifndef SMP_JVM_CODE_CALL_SITES_H
#define SMP_JVM_CODE_CALL_SITES_H

#include <jvmti.h>
#include <stddef.h>

enum { SMP_CALL_SITES_CACHE = 1024 /* byte codes whose calls are remembered */ };

/* For a method that was just added to code_map.h; info: from its event. */
void smp_call_sites_make(jvmtiEnv *jvmti, const void *start, size_t size, const void *info);

#endif
