/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces.h - what a writer writes, gathered into pieces that are worth a call of the sink.
 *
 * Owns     one piece's memory.
 * Threads  one at a time.
 * Errors   init: SMP_ENOMEM. A sink that refuses is remembered: later puts do nothing, so a writer
 *          may check once, at the end, and has_failed where it would go on for long.
 * Cost     put: a copy.
 */
#ifndef SMP_REPORT_PIECES_H
#define SMP_REPORT_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "report/exporters.h"

struct smp_pieces {
    struct smp_byte_sink sink;
    struct smp_quota *quota;
    char *bytes; /* SMP_EXPORT_PIECE_BYTES */
    size_t used;
    bool has_failed;
};

SMP_CHECKED enum smp_status smp_pieces_init(struct smp_pieces *pieces, struct smp_quota *quota,
                                            const struct smp_byte_sink *sink);
/* Hands on what is left. SMP_EIO: not everything has been taken. */
SMP_CHECKED enum smp_status smp_pieces_finish(struct smp_pieces *pieces);
void smp_pieces_fini(struct smp_pieces *pieces); /* all zero is fine */

/* What does not fit into the piece as it is. */
void smp_pieces_put_on(struct smp_pieces *pieces, const char *bytes, size_t length);

static inline void smp_pieces_put(struct smp_pieces *pieces, const char *bytes, size_t length)
{
    if (length > SMP_EXPORT_PIECE_BYTES - pieces->used) {
        smp_pieces_put_on(pieces, bytes, length);
        return;
    }
    memcpy(pieces->bytes + pieces->used, bytes, length);
    pieces->used += length;
}

static inline void smp_pieces_put_byte(struct smp_pieces *pieces, char byte)
{
    smp_pieces_put(pieces, &byte, 1);
}

static inline void smp_pieces_puts(struct smp_pieces *pieces, const char *text)
{
    smp_pieces_put(pieces, text, strlen(text));
}

void smp_pieces_put_i64(struct smp_pieces *pieces, int64_t value);
void smp_pieces_put_u64(struct smp_pieces *pieces, uint64_t value);

#endif
