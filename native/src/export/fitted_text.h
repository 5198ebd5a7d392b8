/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fitted_text.h - cuts texts to a number of columns; "…" replaces the part that was cut.
 *
 * Threads  any.
 * Errors   out remembers a failure (bytes.h).
 * Cost     O(length).
 */
#ifndef SMP_EXPORT_FITTED_TEXT_H
#define SMP_EXPORT_FITTED_TEXT_H

#include "base/bytes.h"

size_t smp_fitted_columns(const char *text);
/* Returns the end of text that has so many columns. text must have more. */
const char *smp_fitted_last(const char *text, size_t columns);
/* Keeps the end of a text that is too long. columns > 0. */
void smp_fitted_put_end(struct smp_bytes *out, const char *text, size_t columns);
/* Keeps the beginning. */
void smp_fitted_put_begin(struct smp_bytes *out, const char *text, size_t columns);

#endif
