/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - keeps a thread from ending while its stack is read from outside.
 *
 *   reader   enter ─► reads the JVM's thread object and the stack ─► leave
 *   thread   runs ─► close: no reader enters any more; waits for those that are in ─► is freed
 *
 * A thread closes its gate in its ThreadEnd event, which comes before the JVM frees its thread
 * object and the system unmaps its stack. A reader is in for one walk, a few microseconds; it calls
 * nothing that waits, and holds nothing that the thread could need. So the thread waits for one
 * walk, or longer if the reader is preempted. After SMP_GATE_MOST_MS the thread continues, and
 * leave returns false: the reader must not use the values that it read. Such a reader may read
 * memory that is unmapped by then, so the limit is longer than a thread waits for a CPU on any
 * machine that works. Time in which the whole process stands still does not count.
 *
 * Cases that could go wrong, and what prevents each:
 *
 *   the thread ends while it is read    close waits; the reader is in before it reads anything
 *   it ends before it is read           closed: enter refuses, for ever
 *   it ended before it was registered:  such a gate begins as unsure and refuses. It is opened
 *   a scan lists threads that are past  (smp_gate_confirm) by a stack with frames after the thread
 *   their ThreadEnd, or whose ThreadEnd was registered: a thread past its ThreadEnd runs no Java,
 *   came before the event was on        so this one's is still to come, and is seen
 *                                       or by its Thread object, where that says after the
 *                                       registration that the thread waits: only Java code makes
 *                                       it say so (sleep, park, Object.wait)
 *   it is such a one, and another       JVMTI goes by the Thread object; frames from the tid count
 *   thread with its tid answers         only if that object says afterwards that the thread lives
 *   native code detaches it             that is an end like any other, with ThreadEnd
 *   the JVM shuts down: no ThreadEnd,   smp_gate_process, which each reader enters as well, is
 *   or one that must not call the JVM   closed at VMDeath; such a ThreadEnd waits for that one
 *   events are switched off             only after the last session has ended, with its readers
 *   the registry's entry is freed       the reader's session holds it; the thread holds it too
 *                                       while it waits
 *
 * Owns     one word; the waiting thread and the last reader meet at it by the system's futex.
 * Threads  any.
 * Errors   see each function.
 * Cost     enter, leave: an atomic addition each. close: one. wait: the rest of a reader's walk.
 */
#ifndef SMP_JVM_THREADS_GATE_H
#define SMP_JVM_THREADS_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    SMP_GATE_SPINS = 2000, /* about as long as a walk lasts; then the thread sleeps */
    /* The longest that a thread waits for a reader, which may have lost its CPU in a walk. */
    SMP_GATE_MOST_MS = 10000,
    SMP_GATE_SLEEP_MS = 10, /* for one sleep */
    SMP_GATE_READERS = 4096 /* at the same time; further readers are refused */
};

/* Zeroed: open. */
struct smp_gate {
    _Atomic uint32_t word;
};

/* Open while threads are read from outside; closed at the JVM's end. */
extern struct smp_gate smp_gate_process;

/* Called before others know the gate, because its thread may have ended already. */
void smp_gate_init_unsure(struct smp_gate *gate);
/* The thread has not ended: opens the gate, unless it was closed meanwhile. */
void smp_gate_confirm(struct smp_gate *gate);
bool smp_gate_is_unsure(const struct smp_gate *gate);

/* Returns false if the gate is closed or unsure; then leave must not be called. */
bool smp_gate_enter(struct smp_gate *gate);
/* Returns false if close has given up waiting; then the values read may be anything. */
bool smp_gate_leave(struct smp_gate *gate);

/* No reader enters after this call. May be called more than once. */
void smp_gate_close(struct smp_gate *gate);
/* Only for smp_gate_process: a thread's gate is never opened again. */
void smp_gate_open(struct smp_gate *gate);
/* Called after close. Returns when no reader is in any more, or false after most_ms. */
bool smp_gate_wait(struct smp_gate *gate, int64_t most_ms);

#endif
