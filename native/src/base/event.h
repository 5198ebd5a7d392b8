/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - how one thread sleeps until a time, or until somebody calls.
 *
 * Not a condition variable: glibc lets the sleeper take the mutex back as one that others want,
 * and so every unlock after a sleep asks the kernel to wake somebody up. The kernel looks through a
 * list of sleeping threads then, which in a process with 10,000 parked ones takes longer than all
 * else in a tick.
 *
 *   lock                              lock
 *   nothing to do? seen = calls       there is something to do
 *   unlock                            unlock
 *   smp_event_sleep(seen)             smp_event_call
 *
 * Where there is no such lock calls are seen before it is looked whether there is something to do.
 *
 * Owns     nothing; plain data.
 * Threads  one sleeps; any may call.
 * Errors   none: it may wake up for no reason, so the sleeper looks again.
 * Cost     sleep, call: one system call.
 */
#ifndef SMP_BASE_EVENT_H
#define SMP_BASE_EVENT_H

#include <stdatomic.h>
#include <stdint.h>

/* Zeroed: nobody has called. */
struct smp_event {
    _Atomic uint32_t calls;
};

uint32_t smp_event_calls(struct smp_event *event);
/* Returns at once where somebody has called since calls was seen. */
void smp_event_sleep(struct smp_event *event, uint32_t seen, int64_t most_ns);
void smp_event_call(struct smp_event *event);

#endif
