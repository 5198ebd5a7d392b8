/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers.h - prints figures for people, the same in each locale. "%.1f" would follow the locale
 * that the JVM has set.
 *
 *   count    "12,345"
 *   seconds  "0", "<0.01", "0.14", "5.3", "20.7", "128", "12,345": three digits
 *   ratio    the same for a plain number
 *   amount   milliseconds with an error bar, for a cell of a table:
 *            "2,619 ± 310 ms"      95 of 100 such ranges have the true time
 *            "< 930 ms"            it may as well be nothing
 *            "27,060 ms exact"     no part of it is a matter of chance
 *            "27,060 ms ± ?"       not known
 *
 * Threads  any.
 */
#ifndef SMP_EXPORT_NUMBERS_H
#define SMP_EXPORT_NUMBERS_H

#include <stdint.h>

#include "model/error_range.h"

enum { SMP_NUMBER_BYTES = 32, SMP_ERROR_CELL_BYTES = 96, SMP_ERROR_CELL_WIDTH = 24 };

void smp_number_count(uint64_t count, char text[SMP_NUMBER_BYTES]);
void smp_number_seconds(int64_t ns, char text[SMP_NUMBER_BYTES]); /* ns: 0 or more */
void smp_number_ratio(double ratio, char text[SMP_NUMBER_BYTES]); /* 0 or more */
/* Prints seconds with as many digits after the point as of_ns would have. */
void smp_number_seconds_like(int64_t ns, int64_t of_ns, char text[SMP_NUMBER_BYTES]);
/* ns: 0 or more. Pads the text on the left to SMP_ERROR_CELL_WIDTH columns. */
void smp_error_cell_print(int64_t ns, struct smp_error error, char cell[SMP_ERROR_CELL_BYTES]);

#endif
