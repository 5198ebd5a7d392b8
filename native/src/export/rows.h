/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - the rows of a report: which nodes are printed, below which row, and in which order.
 *
 *   tree:  g ── run ── a ── b ── m ─┬─ x     rows of g:  run
 *                                   └─ y                   b      a, b and m have no time of their
 *                                                            x    own and all of their parent's; a
 *                                                            y    and b are the user's code
 *
 * A node continues a chain if it is not a root, its method time is zero and its cumulative time
 * equals its parent's, both as printed, in whole milliseconds. The printed rows of a chain get the
 * children of the others:
 *
 *   no package list      the outermost, as in the original, and the innermost whose class is not of
 *                        the JDK; otherwise a stack could be reduced to a pool's worker and a
 *                        method of the JDK, without the user's line between them
 *   a package list       the innermost whose class is monitored, which is the line of the user's
 *                        code where the time branches; the outermost if there is none
 *
 * Roots always stay, and so do pseudo-frames ("[64..127 frames omitted]"), which end a chain. With
 * zero_time_packages a node stays, and begins a chain, if its package differs from its parent's. In
 * counted trees a node with calls always stays. In the group [JVM], which is measured, not sampled,
 * kinds of threads with 0 ms are left out.
 *
 * With min_per_mille, a row of a sampled group or of holders is hidden if it has less than this
 * share of its group's active time (wall time that is not idle), and so are the rows below it. One
 * row replaces all rows hidden right below the same row, after those that are shown:
 *
 *   run  C 1000, M 10                       run                   C 1000, M 10
 *     a    C 900, M 900                       a                     C 900, M 900
 *     b    C 4, M 1                           [4 rows below 0.5 %]  C 90, M 90
 *       c    C 3, M 3
 *     d    C 86, M 0, all of it idle
 *       e    C 86, M 86
 *
 * It counts all these rows, with those below them. Its time is the time of the row above, less its
 * method time and the rows shown, in whole milliseconds, so that the sum is exact; all of it is
 * method time. It shows the sums of the hidden rows' columns, but no calls. A group that was idle
 * throughout (hot_groups.h) shows only its outermost row with the most time, with all of it as
 * method time. Rows of counted groups, which are exact, and of [JVM], which are few, are never
 * hidden.
 *
 * Owns     the links between rows and the texts of their frames; borrows the profile.
 * Threads  immutable after create.
 * Errors   SMP_ENOMEM, SMP_EQUOTA from create.
 * Cost     create: a few passes over the nodes, one sort of each family. No recursion. first, next,
 *          up: O(1).
 */
#ifndef SMP_EXPORT_ROWS_H
#define SMP_EXPORT_ROWS_H

#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "export/row_since.h"
#include "export/style.h"
#include "model/profile.h"

struct smp_rows;

SMP_CHECKED enum smp_status smp_rows_create(const struct smp_profile *profile,
                                            struct smp_export_style style, struct smp_quota *quota,
                                            struct smp_rows **out);
void smp_rows_destroy(struct smp_rows *rows); /* NULL is fine */

/*
 * These return the first row below a row, its next sibling, and the row above it; 0 if there is
 * none. A row is identified by its node or, if it replaces hidden ones, by a number that is not a
 * node. A group's root is not a row, but is above the group's first rows.
 */
uint32_t smp_rows_first(const struct smp_rows *rows, uint32_t node);
uint32_t smp_rows_next(const struct smp_rows *rows, uint32_t node);
uint32_t smp_rows_up(const struct smp_rows *rows, uint32_t node);

/* How long a call took; all 0: unknown. */
struct smp_call_time {
    int64_t mean_ns;
    int64_t min_ns; /* of finished calls; 0 with max_ns 0: not known */
    int64_t max_ns;
};

enum { SMP_HIDDEN_TEXT_BYTES = 48 }; /* "[4294967295 rows below 100.0 %]" */

struct smp_row {
    int64_t total_ms;
    int64_t self_ms;
    uint32_t shown;             /* the shown measures besides wall time */
    struct smp_amounts columns; /* the amounts of shown, as printed */
    uint32_t paths;            /* callers that share the calls (row_calls.h); 1 in a counted tree */
    struct smp_call_time call; /* in a counted tree */
    uint32_t levels;           /* depth of a folded recursion; 0: none */
    struct smp_since since;    /* in a counted tree */
    const char *text;          /* length bytes; valid as long as the rows and this structure */
    uint32_t length;
    uint32_t width;                     /* in columns */
    char hidden[SMP_HIDDEN_TEXT_BYTES]; /* the text of a row that replaces hidden ones */
};
/* Returns the node's share of the time below root, in tenths of a percent; -1 if the style has no
 * such column. */
int smp_rows_tenths(const struct smp_rows *rows, uint32_t root, uint32_t node);
/* Fills out. A row shows the style's columns that the profile holds (states only if they are not 0;
 * in a counted tree no CPU time if the account says that none was measured), and any measure that
 * adds up as OWN if it is not 0, whatever the style. */
void smp_rows_get(const struct smp_rows *rows, uint32_t node, struct smp_row *out);

#endif
