/* SPDX-License-Identifier: Apache-2.0 */
/*
 * give_way.h - one round of a wait for another thread that is done within microseconds, unless it
 * has no CPU.
 *
 * A thread of real-time priority that only yields gets the CPU back at once from a thread of normal
 * priority, which then never ends what is waited for. So the first rounds yield, and later ones
 * sleep.
 *
 * Threads  any; in a signal handler, too.
 */
#ifndef SMP_BASE_GIVE_WAY_H
#define SMP_BASE_GIVE_WAY_H

enum { SMP_GIVE_WAY_YIELDS = 64, SMP_GIVE_WAY_SLEEP_NS = 100000 };

/* round: of this wait, from 0. */
void smp_give_way(unsigned round);

#endif
