/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error_cell.h - a time with its error bar, as a table prints it.
 *
 *   "2,619 ± 310 ms"      95 of 100 such ranges have the true time
 *   "< 930 ms"            it may as well be nothing
 *   "27,060 ms exact"     no part of it is a matter of chance
 *   "27,060 ms ± ?"       not known
 *
 * Threads  any.
 */
#ifndef SMP_EXPORT_ERROR_CELL_H
#define SMP_EXPORT_ERROR_CELL_H

#include <stdint.h>

#include "model/error_range.h"

enum { SMP_ERROR_CELL_BYTES = 96, SMP_ERROR_CELL_WIDTH = 24 };

/* Writes an amount in nanoseconds as above, at least SMP_ERROR_CELL_WIDTH characters wide. */
void smp_error_cell_print(int64_t amount, struct smp_error error, char cell[SMP_ERROR_CELL_BYTES]);

#endif
