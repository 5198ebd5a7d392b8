/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h - a buffered writer: many small puts become few calls of an output.
 *
 * Owns     its buffer.
 * Threads  one at a time.
 * Errors   init: SMP_ENOMEM. A failure of the output is remembered: later puts do nothing, so the
 *          caller checks once, at finish; a caller with much left to write checks has_failed.
 * Cost     put: a copy.
 */
#ifndef SMP_BASE_WRITER_H
#define SMP_BASE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

enum { SMP_WRITER_BYTES = 64 * 1024 };

/* The output that bytes go to, at most SMP_WRITER_BYTES a call. */
struct smp_output {
    /* Returns false if the output failed; it is not called again then. length > 0. */
    bool (*write)(void *self, const char *bytes, size_t length);
    void *self;
};

struct smp_writer {
    struct smp_output output;
    struct smp_quota *quota;
    char *bytes; /* SMP_WRITER_BYTES */
    size_t used;
    bool has_failed;
};

SMP_CHECKED enum smp_status smp_writer_init(struct smp_writer *writer, struct smp_quota *quota,
                                            const struct smp_output *output);
/* Writes the rest of the buffer. SMP_EIO: the output has failed, now or before. */
SMP_CHECKED enum smp_status smp_writer_finish(struct smp_writer *writer);
void smp_writer_fini(struct smp_writer *writer); /* all zero is fine */

/* Slow path of put: the bytes do not fit into the buffer. */
void smp_writer_put_on(struct smp_writer *writer, const char *bytes, size_t length);

static inline void smp_writer_put(struct smp_writer *writer, const char *bytes, size_t length)
{
    if (length > SMP_WRITER_BYTES - writer->used) {
        smp_writer_put_on(writer, bytes, length);
        return;
    }
    memcpy(writer->bytes + writer->used, bytes, length);
    writer->used += length;
}

static inline void smp_writer_put_byte(struct smp_writer *writer, char byte)
{
    smp_writer_put(writer, &byte, 1);
}

static inline void smp_writer_puts(struct smp_writer *writer, const char *text)
{
    smp_writer_put(writer, text, strlen(text));
}

void smp_writer_put_i64(struct smp_writer *writer, int64_t value);
void smp_writer_put_u64(struct smp_writer *writer, uint64_t value);

#endif
