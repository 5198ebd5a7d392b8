/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.h - cells of tables for people: figures, the same in each locale ("%.1f" would follow the
 * locale that the JVM has set), and texts that are cut to a number of columns.
 *
 *   count    "12,345"
 *   seconds  "0", "<0.01", "0.14", "5.3", "20.7", "128", "12,345": three digits
 *   ratio    the same for a plain number
 *   amount   milliseconds with an error bar:
 *            "2,619 ± 310 ms"      95 of 100 such ranges have the true time
 *            "< 930 ms"            it may as well be nothing
 *            "27,060 ms exact"     no part of it is a matter of chance
 *            "27,060 ms ± ?"       not known
 *   fitted   "…ler.handle(Handler.java:31)": "…" replaces the part that was cut
 *
 * Threads  any.
 * Errors   an output remembers a failure (bytes.h, writer.h).
 * Cost     O(length).
 */
#ifndef SMP_EXPORT_CELLS_H
#define SMP_EXPORT_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/writer.h"
#include "model/error_range.h"

enum { SMP_NUMBER_BYTES = 32, SMP_ERROR_CELL_BYTES = 96, SMP_ERROR_CELL_WIDTH = 24 };

void smp_number_count(uint64_t count, char text[SMP_NUMBER_BYTES]);
void smp_number_seconds(int64_t ns, char text[SMP_NUMBER_BYTES]); /* ns: 0 or more */
void smp_number_ratio(double ratio, char text[SMP_NUMBER_BYTES]); /* 0 or more */
/* Prints seconds with as many digits after the point as of_ns would have. */
void smp_number_seconds_like(int64_t ns, int64_t of_ns, char text[SMP_NUMBER_BYTES]);
/* ns: 0 or more. Pads the text on the left to SMP_ERROR_CELL_WIDTH columns. */
void smp_error_cell_print(int64_t ns, struct smp_error error, char cell[SMP_ERROR_CELL_BYTES]);

size_t smp_fitted_columns(const char *text);
/* Returns the end of the first columns of the text, which must have more. */
const char *smp_fitted_last(const char *text, size_t columns);
/* Keeps the end of a text that is too long. columns > 0. */
void smp_fitted_put_end(struct smp_bytes *out, const char *text, size_t columns);
/* Keeps the beginning. */
void smp_fitted_put_begin(struct smp_bytes *out, const char *text, size_t columns);

/* Writes a space, then a text or figure, aligned right. */
void smp_cell_put(struct smp_writer *out, int width, const char *text);
void smp_cell_put_figure(struct smp_writer *out, int width, int64_t figure);

#endif
