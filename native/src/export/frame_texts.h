/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_texts.h - the printed text of every frame of one report, made once.
 *
 *   location ──► {text, width}
 *
 * Owns     its texts.
 * Threads  immutable after create.
 * Errors   SMP_ENOMEM, SMP_EQUOTA from create.
 * Cost     create: one text per distinct location, however many nodes show it. get: two loads.
 */
#ifndef SMP_EXPORT_FRAME_TEXTS_H
#define SMP_EXPORT_FRAME_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/profile.h"

enum { SMP_MAX_FRAME_TEXTS_BYTES = 1 << 30 }; /* of all texts together */

struct smp_frame_texts;

struct smp_frame_text {
    size_t offset; /* of the text within all texts */
    uint32_t length;
    uint32_t width; /* in columns: code points */
};

/* The texts of the locations of its nodes kept[0..count). */
SMP_CHECKED enum smp_status smp_frame_texts_create(struct smp_quota *quota,
                                                   const struct smp_profile *profile,
                                                   const uint32_t *kept, size_t count,
                                                   struct smp_frame_texts **out);
void smp_frame_texts_destroy(struct smp_frame_texts *texts); /* NULL is fine */

/* location is one of those given to create. */
const struct smp_frame_text *smp_frame_texts_get(const struct smp_frame_texts *texts,
                                                 uint32_t location);
/* Borrowed; not NUL-terminated. */
const char *smp_frame_texts_bytes(const struct smp_frame_texts *texts,
                                  const struct smp_frame_text *text);
/* Of two locations: < 0, 0 or > 0, by the bytes of their texts. */
int smp_frame_texts_compare(const struct smp_frame_texts *texts, uint32_t a, uint32_t b);

#endif
