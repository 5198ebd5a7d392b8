/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_sites.h - finds the lines of array copies, for which the compiler has left no note.
 *
 * For an instruction the JVM takes the next note of a line after it. A call of Java code has one of
 * its own, and so have most others; but the call of a stub that copies an array is put in late,
 * without, and what comes next may be any statement: the copy then shows under another line.
 *
 *   call of the stub ... note: some other line       ...       note: System.arraycopy, line 33
 *        └── the JVM's ──────────┘                                         └── ours
 *
 * Somewhere in the method there mostly is a note of the copy itself, as it begins with checks: one
 * whose byte code calls a method that copies. Of several the nearest is taken.
 *
 * Owns     a cache of what byte codes call.
 * Threads  those of the JVM's events.
 * Errors   none: where nothing better is known, nothing is noted.
 * Cost     a pass over the code; for a copy without a note, the byte codes of all notes, cached.
 */
#ifndef SMP_JVM_CODE_CALL_SITES_H
#define SMP_JVM_CODE_CALL_SITES_H

#include <jvmti.h>
#include <stddef.h>

enum { SMP_CALL_SITES_CACHE = 1024 /* byte codes whose calls are remembered */ };

/* Of a method just added to vm_code; info as its event gives it. */
void smp_call_sites_make(jvmtiEnv *jvmti, const void *start, size_t size, const void *info);

#endif
