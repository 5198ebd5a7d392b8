/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pauses.h - the longest times for which the sampler has stopped a thread: by a handshake, from the
 * request to the answer, and by a walk in its handler. Short ones are not kept. Times are wall
 * time: a thread that has no CPU meanwhile is stopped as well.
 *
 * Each session takes the longest pauses since its last take. They are those of the whole process,
 * because another session may sample the thread that one session stops.
 *
 * Owns     a static table.
 * Threads  any; note runs in handlers, too.
 * Errors   sessions beyond SMP_PAUSES_SESSIONS have no pauses.
 * Cost     a comparison for a short pause.
 */
#ifndef SMP_HANDLER_PAUSES_H
#define SMP_HANDLER_PAUSES_H

#include <stdint.h>

enum smp_pause { SMP_PAUSE_HANDSHAKE, SMP_PAUSE_HANDLER, SMP_PAUSE_COUNT };

enum { SMP_PAUSE_LEAST_NS = 10000000, SMP_PAUSES_SESSIONS = 64 };

void smp_pauses_note(enum smp_pause kind, int64_t ns);

/* Returns the session's number; SMP_PAUSES_SESSIONS: none is left. */
int smp_pauses_open(void);
void smp_pauses_close(int session);
/* The longest pause since the last call; 0: none of SMP_PAUSE_LEAST_NS or more. */
int64_t smp_pauses_take(int session, enum smp_pause kind);

#endif
