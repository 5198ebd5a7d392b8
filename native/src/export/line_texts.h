/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_texts.h - the texts of frames as the lines of the collapsed form have them, made once.
 *
 * A ';' inside a text is written as \u003b, so that names which differ stay different: "a;b" and
 * "a,b". Each text ends in a ';', so a line is nothing but copies:
 *
 *   a.B.run(B.java:1);c.D.run(D.java:2);      text n: bytes[starts[n]..starts[n + 1])
 *
 * Stacks that follow each other in a walk share most of their frames, so a stack's line is kept and
 * changed at its end: a frame is copied once for each node, not for each line it is in.
 *
 * Owns     its texts.
 * Threads  immutable after init.
 * Errors   init: SMP_ENOMEM, SMP_EQUOTA, and there is nothing to fini.
 * Cost     one text per frame; 8 bytes a frame beside it. A stack's line: its own bytes.
 */
#ifndef SMP_EXPORT_LINE_TEXTS_H
#define SMP_EXPORT_LINE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "model/profile.h"

enum { SMP_MAX_LINE_TEXTS_BYTES = 1 << 30 }; /* of all frames together */

/* Visible so that look-ups can be inlined. */
struct smp_line_texts {
    struct smp_bytes bytes;
    size_t *starts; /* one more for the end */
};

/*
 * How frames of Java methods are written, for readers that colour by it; frames in brackets are as
 * they are. flamegraph.pl --color=java and async-profiler's converter know both forms:
 *
 *   slashes   a/b/C.run(C.java:1)
 *   types     a.b.C.run(C.java:1)_[j]
 *
 * Their "_[i]", inlined, and the types for tiers of compilation are never written: no sample knows.
 */
struct smp_line_form {
    bool is_plain; /* a ';' stays one: for readers that do not join texts */
    bool slashes;
    bool types;
};

/* Text n is that of location n. */
SMP_CHECKED enum smp_status smp_line_texts_init(struct smp_line_texts *texts,
                                                struct smp_quota *quota,
                                                const struct smp_methods *methods, uint32_t count);
/* Text n is that of locations[n], in a form. */
SMP_CHECKED enum smp_status smp_line_texts_init_as(struct smp_line_texts *texts,
                                                   struct smp_line_form form,
                                                   struct smp_quota *quota,
                                                   const struct smp_profile *profile,
                                                   const uint32_t *locations, uint32_t count);
void smp_line_texts_fini(struct smp_line_texts *texts); /* all zero is fine */

static inline const char *smp_line_text(const struct smp_line_texts *texts, uint32_t number)
{
    return texts->bytes.data + texts->starts[number];
}

/* Without the ';' behind it. */
static inline size_t smp_line_text_length(const struct smp_line_texts *texts, uint32_t number)
{
    return texts->starts[number + 1] - texts->starts[number] - 1;
}

/* < 0, 0 or > 0, by the bytes of two texts. */
int smp_line_texts_compare(const struct smp_line_texts *texts, uint32_t a, uint32_t b);

/* The line of the stack that a walk is at. Visible so that it can live on a stack. */
struct smp_stack_line {
    struct smp_bytes text; /* the group's, then a frame's after the other, each with its ';' */
    size_t depth;          /* frames */
};

void smp_stack_line_init(struct smp_stack_line *line, struct smp_quota *quota);
void smp_stack_line_fini(struct smp_stack_line *line); /* all zero is fine */

/* A line without frames, of a group; "[unnamed]" stands for an empty name. */
void smp_stack_line_begin(struct smp_stack_line *line, const char *group);
/* Text number becomes the frame at depth (1: the first), and the last one; those before it stay.
 * depth is at most one more than the line has. Failures are in line->text.status. */
void smp_stack_line_put(struct smp_stack_line *line, size_t depth,
                        const struct smp_line_texts *texts, uint32_t number);

#endif
