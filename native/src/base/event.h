/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - one thread sleeps until a time, or until another thread wakes it up.
 *
 * This is not a condition variable, because with glibc the sleeper locks the mutex again as a
 * contended lock, so that every unlock after a sleep makes the kernel look for a thread to wake up.
 * The kernel then walks a list of sleeping threads, which takes longer than all else in a tick if
 * 10,000 threads are parked.
 *
 *   lock                              lock
 *   nothing to do? seen = calls       there is something to do
 *   unlock                            unlock
 *   smp_event_sleep(seen)             smp_event_call
 *
 * Without such a lock, read calls before checking whether there is something to do.
 *
 * Threads  one sleeps; any may call.
 * Errors   sleep may return for no reason, so the sleeper checks again.
 * Cost     sleep, call: one system call.
 */
#ifndef SMP_BASE_EVENT_H
#define SMP_BASE_EVENT_H

#include <stdatomic.h>
#include <stdint.h>

/* Zeroed: not called yet. */
struct smp_event {
    _Atomic uint32_t calls;
};

uint32_t smp_event_calls(struct smp_event *event);
/* Returns at once if there was a call after seen was read. */
void smp_event_sleep(struct smp_event *event, uint32_t seen, int64_t most_ns);
void smp_event_call(struct smp_event *event);

#endif
