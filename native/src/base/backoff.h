/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.h - one round of a wait for another thread, which needs only microseconds unless it has
 * no CPU.
 *
 * A waiter of real-time priority that only yields gets the CPU back at once, and a thread of normal
 * priority never finishes. So the first rounds yield, and later ones sleep.
 *
 * Threads  any; in a signal handler, too.
 */
#ifndef SMP_BASE_BACKOFF_H
#define SMP_BASE_BACKOFF_H

enum { SMP_BACKOFF_YIELDS = 64, SMP_BACKOFF_SLEEP_NS = 100000 };

/* round: counts the rounds of this wait, from 0. */
void smp_backoff(unsigned round);

#endif
