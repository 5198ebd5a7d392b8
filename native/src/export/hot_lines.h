/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_lines.h - the lines of code with the most own time, each in one thread group.
 *
 * A line is the last frame of a stack, as the collapsed form writes it; frames of a group with the
 * same text are one line. Lines without any own amount are left out. They are in descending order
 * of wall time, ties in byte order of their texts, then in the order of their groups.
 *
 * Owns     the lines and their texts.
 * Threads  immutable after init.
 * Errors   init: SMP_ENOMEM, SMP_EQUOTA; there is nothing to fini then.
 * Cost     init: one pass over the nodes, the text of each frame, and for each group a sort of its
 *          frames.
 */
#ifndef SMP_EXPORT_HOT_LINES_H
#define SMP_EXPORT_HOT_LINES_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/status.h"
#include "export/line_texts.h"
#include "export/tree_walk.h"
#include "model/profile.h"

struct smp_hot_line {
    const char *text;  /* NUL-terminated */
    uint32_t group;    /* its index in the profile */
    uint32_t location; /* of a frame with that text */
    struct smp_amounts self;
};

struct smp_hot_lines {
    struct smp_quota *quota;
    struct smp_line_texts texts;
    struct smp_hot_line *lines;
    size_t count;
};

/* Finds at most `most` lines. quota: for the result and the working memory; may be NULL. */
SMP_CHECKED enum smp_status smp_hot_lines_init(struct smp_hot_lines *hot, struct smp_quota *quota,
                                               const struct smp_profile *profile, size_t most);
void smp_hot_lines_fini(struct smp_hot_lines *hot); /* all zero is fine */

#endif
