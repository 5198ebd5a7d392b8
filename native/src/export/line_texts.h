/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_texts.h - the texts of frames as the lines of the collapsed form have them, made once.
 *
 * A ';' inside a text is written as ','. Each text ends in a ';', so a line is nothing but copies:
 *
 *   a.B.run(B.java:1);c.D.run(D.java:2);      text n: bytes[starts[n]..starts[n + 1])
 *
 * Owns     its texts.
 * Threads  immutable after init.
 * Errors   init: SMP_ENOMEM, SMP_EQUOTA, and there is nothing to fini.
 * Cost     one text per frame; 8 bytes a frame beside it.
 */
#ifndef SMP_EXPORT_LINE_TEXTS_H
#define SMP_EXPORT_LINE_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/writer.h"
#include "model/methods.h"

enum { SMP_MAX_LINE_TEXTS_BYTES = 1 << 30 }; /* of all frames together */

/* Visible so that look-ups can be inlined. */
struct smp_line_texts {
    struct smp_bytes bytes;
    size_t *starts; /* one more for the end */
};

/* Text n is that of locations[n]; of location n where locations is NULL. */
SMP_CHECKED enum smp_status smp_line_texts_init(struct smp_line_texts *texts,
                                                struct smp_quota *quota,
                                                const struct smp_methods *methods,
                                                const uint32_t *locations, uint32_t count);
void smp_line_texts_fini(struct smp_line_texts *texts); /* all zero is fine */

/* Ends bytes as a frame's text ends that starts at from: no ';' in it, one behind it. */
void smp_line_text_end(struct smp_bytes *bytes, size_t from);

static inline const char *smp_line_text(const struct smp_line_texts *texts, uint32_t number)
{
    return texts->bytes.data + texts->starts[number];
}

/* Without the ';' behind it. */
static inline size_t smp_line_text_length(const struct smp_line_texts *texts, uint32_t number)
{
    return texts->starts[number + 1] - texts->starts[number] - 1;
}

/* The last frame of a line has no ';' behind it. */
static inline void smp_line_text_put(struct smp_writer *out, const struct smp_line_texts *texts,
                                     uint32_t number, bool is_last)
{
    smp_writer_put(out, smp_line_text(texts, number),
                   smp_line_text_length(texts, number) + !is_last);
}

#endif
