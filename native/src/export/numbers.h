/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers.h - figures as people read them, the same in each locale: "%.1f" would follow the one
 * that the JVM has set.
 *
 *   count    "12,345"
 *   seconds  "0", "<0.01", "0.14", "5.3", "20.7", "128", "12,345": three digits
 *   ratio    the same, of a number
 *
 * Threads  any.
 */
#ifndef SMP_EXPORT_NUMBERS_H
#define SMP_EXPORT_NUMBERS_H

#include <stdint.h>

enum { SMP_NUMBER_BYTES = 32 };

void smp_number_count(uint64_t count, char text[SMP_NUMBER_BYTES]);
void smp_number_seconds(int64_t ns, char text[SMP_NUMBER_BYTES]); /* ns: 0 or more */
void smp_number_ratio(double ratio, char text[SMP_NUMBER_BYTES]); /* 0 or more */
/* Seconds with as many digits behind the point as those of of_ns have. */
void smp_number_seconds_like(int64_t ns, int64_t of_ns, char text[SMP_NUMBER_BYTES]);

#endif
