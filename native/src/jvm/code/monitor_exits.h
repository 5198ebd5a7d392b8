/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor_exits.h - finds the lines where C1's code ends a lock that another thread waits for: the
 * calls that do it have no debug record of their own.
 *
 * They lie behind the method's own code, among other such calls. The JVM takes the record of the
 * next one, which may be of any inlined method:
 *
 *   own code   record: priceOf, line 20, in handle, line 20
 *              end of the lock  ◄─────────────┐
 *              record: handle, line 21        │
 *   behind it  call of the stub of the exit   │
 *              jmp ───────────────────────────┘
 *              call of another stub, record: handle, line 24  ◄─ what the JVM takes
 *
 * The last record before the place that is jumped to has the frames of what was done under the
 * lock. The innermost of them that holds a lock is the one: its method is synchronized, or has a
 * lock that begins before and ends behind where it is. Where several exits follow the same record,
 * the next one is of the next such frame. The exit gets the record of that very frame with the
 * last byte code before the end of the lock; a synchronized method has no such byte code:
 * there it is the one next to what was done last. An exit where an exception leaves a method is
 * left out: nothing that lies before it belongs to it.
 *
 * Threads  those of the JVM's events.
 * Errors   an exit without such a record keeps the JVM's. On AArch64 so does one that calls a stub
 *          far away.
 * Cost     a pass over the code; for each exit the byte codes of some methods.
 */
#ifndef SMP_JVM_CODE_MONITOR_EXITS_H
#define SMP_JVM_CODE_MONITOR_EXITS_H

#include <jvmti.h>
#include <stddef.h>

/* For a method just added to code_map.h; info as its event gives it. */
void smp_monitor_exits_make(jvmtiEnv *jvmti, const void *start, size_t size, const void *info);

#endif
