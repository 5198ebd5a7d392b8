/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pauses.h - the longest times for which the sampler has stopped a thread: by a handshake, from
 * request to answer, or by a walk in its handler. Times are wall time, including waits for a CPU.
 * Short pauses are ignored.
 *
 * Each session reads the longest pauses since its last read. They are of the whole process,
 * because a thread may be sampled by one session and stopped by another.
 *
 * Owns     a static table.
 * Threads  any; note runs in handlers, too.
 * Errors   sessions beyond SMP_PAUSES_SESSIONS see no pauses.
 * Cost     a short pause: a comparison.
 */
#ifndef SMP_HANDLER_PAUSES_H
#define SMP_HANDLER_PAUSES_H

#include <stdint.h>

enum smp_pause { SMP_PAUSE_HANDSHAKE, SMP_PAUSE_HANDLER, SMP_PAUSE_COUNT };

enum { SMP_PAUSE_LEAST_NS = 10000000, SMP_PAUSES_SESSIONS = 64 };

void smp_pauses_note(enum smp_pause kind, int64_t ns);

/* Returns the session's number, or SMP_PAUSES_SESSIONS if none is left. */
int smp_pauses_open(void);
void smp_pauses_close(int session);
/* Returns the longest pause since the last call; 0: none reached SMP_PAUSE_LEAST_NS. */
int64_t smp_pauses_take(int session, enum smp_pause kind);

#endif
