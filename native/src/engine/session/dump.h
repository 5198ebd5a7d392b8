/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump.h - writes the live state of a session as text.
 *
 * Threads  any.
 * Errors   `out` keeps the first failure (bytes.h).
 * Cost     constant: at most SMP_DUMP_MAX_BYTES.
 */
#ifndef SMP_ENGINE_SESSION_DUMP_H
#define SMP_ENGINE_SESSION_DUMP_H

#include <stdint.h>

#include "base/bytes.h"
#include "engine/session/session.h"

enum { SMP_DUMP_MAX_BYTES = 16384 };

/* Writes lines "name: value". Names and their order may change. now_ns is monotonic. */
void smp_dump_write(const struct smp_statistics *statistics, const char *engine, int64_t now_ns,
                    struct smp_bytes *out);
/* Writes the state of a session and the name of its engine. Waits for no thread of the session. */
void smp_dump_session(struct smp_session *session, const char *engine, struct smp_bytes *out);

#endif
