/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor_exits.h - finds the lines at which C1's code leaves a lock that another thread waits for.
 * The calls that leave such a lock have no debug record of their own.
 *
 * These calls are behind the method's own code, among other calls. The JVM uses the record of the
 * next call, which may belong to any inlined method:
 *
 *   own code   record: priceOf, line 20, in handle, line 20
 *              end of the lock  ◄─────────────┐
 *              record: handle, line 21        │
 *   behind it  call of the stub of the exit   │
 *              jmp ───────────────────────────┘
 *              call of another stub, record: handle, line 24  ◄─ what the JVM takes
 *
 * The last record before the jump's target has the frames of the code that ran under the lock. The
 * exit belongs to the innermost of these frames that holds a lock: its method is synchronized, or
 * has a lock that begins before and ends behind the frame's place. If several exits follow the same
 * record, the next exit belongs to the next such frame. The exit gets the record of that frame with
 * the last byte code before the end of the lock. A synchronized method has no such byte code; its
 * exit gets the record next to the code that ran last. An exit through which an exception leaves a
 * method is skipped, because no code before it belongs to it.
 *
 * Threads  those of the JVM's events.
 * Errors   an exit without such a record keeps the JVM's, and so does, on AArch64, one that calls a
 *          distant stub.
 * Cost     a pass over the code; for each exit the byte codes of some methods.
 */
#ifndef SMP_JVM_CODE_MONITOR_EXITS_H
#define SMP_JVM_CODE_MONITOR_EXITS_H

#include <jvmti.h>
#include <stddef.h>

/* For a method that was just added to code_map.h; info: from its event. */
void smp_monitor_exits_make(jvmtiEnv *jvmti, const void *start, size_t size, const void *info);

#endif
