/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls_table.h - counted calls as a table for people, one line a method, class or package:
 *
 *   Counted methods: 2 of 2, by total time, over 9 ms: 9002 calls, 2 of them by no counted method
 *       calls   total ms     own ms    us/call     min us     max us  method <- callers
 *           2      5.100      0.900   2550.000   1900.000   3200.000  A.handle <- [root] 2
 *        9000      4.200      4.200      0.466                        A.price <- A.handle 9000
 *
 * (Columns are wider than here.) us/call is the mean of the calls that are not inside of another
 * one of the same row (method_table.h); a cell is empty where nothing is known. Without times there
 * are no columns for them.
 *
 * Calls of all levels of a recursion are in the row of their method, so a fold changes nothing.
 *
 * Threads  any; the profile is immutable.
 * Errors   those of method_table.h. That the output refused is known to the writer.
 * Cost     that of method_table.h.
 */
#ifndef SMP_EXPORT_CALLS_TABLE_H
#define SMP_EXPORT_CALLS_TABLE_H

#include <stddef.h>

#include "export/export_writers.h"

/* At most so many rows, in the order, of the kind and inside of the focus that the style names. */
SMP_CHECKED enum smp_status smp_calls_table_put(const struct smp_export_job *job, size_t most);

#endif
