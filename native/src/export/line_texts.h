/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_texts.h - the texts of frames, each made once: for lines of the collapsed form, and for rows
 * that are ordered or joined by their text.
 *
 * A ';' inside a text of the collapsed form is written as \u003b, so that different names stay
 * different. Each text ends in a ';', so a line is a concatenation:
 *
 *   a.B.run(B.java:1);c.D.run(D.java:2);      text n: bytes[starts[n]..starts[n + 1])
 *
 * Consecutive stacks of a walk share most of their frames, so the line is kept and changed at its
 * end. A frame is copied once for each node, not for each line it is in.
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

enum { SMP_MAX_LINE_TEXTS_BYTES = 1 << 30 }; /* all frames together */

/* Visible so that look-ups can be inlined. */
struct smp_line_texts {
    struct smp_bytes bytes;
    size_t *starts; /* one more for the end */
};

/* The part of a frame that a text shows. Frames in brackets are shown unchanged. */
enum smp_line_unit {
    SMP_LINE_FRAME,   /* a.b.C.run(C.java:1) */
    SMP_LINE_METHOD,  /* a.b.C.run */
    SMP_LINE_CLASS,   /* a.b.C */
    SMP_LINE_PACKAGE, /* a.b */
};

/*
 * How frames of Java methods are written, for readers that colour by it. Frames in brackets do not
 * change. flamegraph.pl --color=java and async-profiler's converter know both forms:
 *
 *   slashes   a/b/C.run(C.java:1)
 *   types     a.b.C.run(C.java:1)_[j]
 *
 * Their "_[i]", inlined, and the suffixes for tiers of compilation are never written, because no
 * sample knows them.
 */
struct smp_line_form {
    enum smp_line_unit unit;
    bool is_plain; /* a ';' is not escaped, and the text ends in a NUL */
    bool slashes;
    bool types;
};

/* Makes text n from location n. */
SMP_CHECKED enum smp_status smp_line_texts_init(struct smp_line_texts *texts,
                                                struct smp_quota *quota,
                                                const struct smp_methods *methods, uint32_t count);
/* Makes text n from locations[n], in a form. */
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

/* Excludes the last byte. */
static inline size_t smp_line_text_length(const struct smp_line_texts *texts, uint32_t number)
{
    return texts->starts[number + 1] - texts->starts[number] - 1;
}

/* Compares the bytes of two texts: < 0, 0 or > 0. */
int smp_line_texts_compare(const struct smp_line_texts *texts, uint32_t a, uint32_t b);

/* Sets numbers[text] to a number from 0 for each of count texts. Numbers are in the order of texts;
 * equal texts have the same number. Returns how many numbers there are. order: working memory for
 * twice as many; afterwards order[number] is a text with this number. */
uint32_t smp_line_texts_number(const struct smp_line_texts *texts, uint32_t count,
                               uint32_t *numbers, uint32_t *order);

/* The line of a walk's current stack. Visible so that it can be a local variable. */
struct smp_stack_line {
    struct smp_bytes text; /* the group's name, then the frames, each with its ';' */
    size_t depth;          /* frames */
};

void smp_stack_line_init(struct smp_stack_line *line, struct smp_quota *quota);
void smp_stack_line_fini(struct smp_stack_line *line); /* all zero is fine */

/* Begins a line with a group's name and no frames. */
void smp_stack_line_begin(struct smp_stack_line *line, const char *group);
/* Sets the frame at depth (1: the first) to text number and drops the frames behind it. depth is at
 * most one more than the line has. Failures are in line->text.status. */
void smp_stack_line_put(struct smp_stack_line *line, size_t depth,
                        const struct smp_line_texts *texts, uint32_t number);

#endif
