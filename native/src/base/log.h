/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - a small ring of messages, from threads that must not do output to the thread that may.
 *
 * The sampler thread puts messages; the reporter takes them and hands them to Java. A message of
 * one kind (format pointer) is kept at most once per SMP_LOG_QUIET_NS, and the next one says how
 * many were held back. smp_log_put_once has no such limit.
 *
 * A record is a longer text with a title, printed as it is: a deadlock.
 *
 * Owns     its messages and records.
 * Threads  any (one mutex, held for a vsnprintf or a copy of one message).
 * Errors   a full ring drops the newest message and counts it; once the ring is empty, take returns
 *          a message with the count. put_record returns false if there is no room.
 * Cost     a vsnprintf; no allocation after create.
 */
#ifndef SMP_BASE_LOG_H
#define SMP_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"

enum { SMP_LOG_MESSAGES = 32, SMP_LOG_MESSAGE_BYTES = 256, SMP_LOG_RECORDS = 8 };
#define SMP_LOG_QUIET_NS 60000000000LL

enum smp_log_level { SMP_LOG_INFO, SMP_LOG_WARNING, SMP_LOG_ERROR };

struct smp_log;

SMP_CHECKED enum smp_status smp_log_create(struct smp_quota *quota, struct smp_log **out);
void smp_log_destroy(struct smp_log *log);
/* Does nothing if log is NULL. format is a string literal; a text too long for
 * SMP_LOG_MESSAGE_BYTES is cut between two characters. */
void smp_log_put(struct smp_log *log, enum smp_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* As put, without the limit for its kind: for messages that are put only once, so that none would
 * follow a dropped one. */
void smp_log_put_once(struct smp_log *log, enum smp_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Takes ownership of both texts. Returns false if SMP_LOG_RECORDS records are waiting already, or
 * log is NULL; the caller then still owns the texts. */
bool smp_log_put_record(struct smp_log *log, struct smp_bytes *title, struct smp_bytes *rows);
/* Moves the oldest record, if there is one, to the caller, who must call fini on both texts. */
bool smp_log_take_record(struct smp_log *log, struct smp_bytes *title, struct smp_bytes *rows);
/* Returns whether a message or record was added since the last call; false if log is NULL. */
bool smp_log_take_news(struct smp_log *log);
/* Takes the oldest message. Returns false if there is none. */
bool smp_log_take(struct smp_log *log, enum smp_log_level *level, char text[SMP_LOG_MESSAGE_BYTES]);

#endif
