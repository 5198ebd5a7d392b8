/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pauses.h - the longest times for which the sampler has stopped a thread, where they are long: by
 * a handshake, from the request to the answer, and by a walk in its handler. Both by the clock on
 * the wall: a thread that has no CPU meanwhile is stopped as well.
 *
 * Each session takes what has come since it last did. The pauses are those of the process: a thread
 * that one session stops may be another's.
 *
 * Owns     a static table.
 * Threads  any; note runs in handlers, too.
 * Errors   with more than SMP_PAUSES_SESSIONS sessions the others have none.
 * Cost     nothing for a short one.
 */
#ifndef SMP_HANDLER_PAUSES_H
#define SMP_HANDLER_PAUSES_H

#include <stdint.h>

enum smp_pause { SMP_PAUSE_HANDSHAKE, SMP_PAUSE_HANDLER, SMP_PAUSE_COUNT };

enum { SMP_PAUSE_LEAST_NS = 10000000, SMP_PAUSES_SESSIONS = 64 };

void smp_pauses_note(enum smp_pause kind, int64_t ns);

/* The session's number; SMP_PAUSES_SESSIONS: there is none left. */
int smp_pauses_open(void);
void smp_pauses_close(int session);
/* The longest one since the last call; 0: none of SMP_PAUSE_LEAST_NS or more. */
int64_t smp_pauses_take(int session, enum smp_pause kind);

#endif
