/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_errors.h - the error bars of what frames have themselves, over all thread groups, and how a
 * table prints them.
 *
 *   "2,619 ± 310 ms"      95 of 100 such ranges have the true time
 *   "< 930 ms"            it may as well be nothing
 *   "27,060 ms exact"     no part of it is a matter of chance
 *   "27,060 ms ± ?"       not known
 *
 * Threads  any; the profile is immutable.
 * Errors   add: SMP_ENOMEM, sums are not whole then.
 * Cost     add: one pass over the nodes.
 */
#ifndef SMP_EXPORT_OWN_ERRORS_H
#define SMP_EXPORT_OWN_ERRORS_H

#include <stdint.h>

#include "export/export_writers.h"
#include "model/error_range.h"

/* WALL and CPU, the first of the list: of these errors are known. */
enum { SMP_ERROR_MEASURES = 2, SMP_ERROR_CELL_BYTES = 96, SMP_ERROR_CELL_WIDTH = 24 };

/* Adds to sums[numbers[location of a node]]. */
SMP_CHECKED enum smp_status smp_own_errors_add(const struct smp_export_job *job,
                                               enum smp_measure measure, const uint32_t *numbers,
                                               struct smp_error *sums);

/* Writes an amount in nanoseconds as above, at least SMP_ERROR_CELL_WIDTH characters wide. */
void smp_own_errors_print(int64_t amount, struct smp_error error, char cell[SMP_ERROR_CELL_BYTES]);

#endif
